import { offsetOf, type Place, placeOf } from './error.ts'
import { statementLimits } from './limits.ts'
import { parse } from './parser.ts'
import { descendants } from './walk.ts'

/** Real table names may be longer than logical ones. */
const limits = { ...statementLimits, bytes: Infinity, tokens: Infinity }

/**
 * Maps a place between two texts of one query that differ in layout and table names: the node at `place` in `from`
 * is found in `to` by its number in the tree. `null` if no node stands at or before the place.
 * @throws SqlError if one of the texts does not parse
 */
export function placeInOther(from: string, place: Place, to: string): Place | null {
  const at = offsetOf(from, place)
  const nodes = [...descendants(parse(from, limits))]
  const before = nodes.filter(node => node.at <= at).map(node => node.at)
  const number = nodes.findIndex(node => node.at === Math.max(...before))
  const other = number < 0 ? undefined : [...descendants(parse(to, limits))][number]
  return other ? placeOf(to, other.at) : null
}

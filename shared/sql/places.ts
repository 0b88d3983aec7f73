import { offsetOf, type Place, placeOf } from './error.ts'
import { statementLimits } from './limits.ts'
import { parse } from './parser.ts'
import { descendants } from './walk.ts'

/** Real names may be longer than logical ones. */
const limits = { ...statementLimits, bytes: Infinity, tokens: Infinity }

/**
 * Where in `to` stands what is at `place` in `from`, two texts of one query that differ in layout and table names: a
 * node of the one tree is found in the other by its number. `null` where there is none before the place.
 */
export function placeInOther(from: string, place: Place, to: string): Place | null {
  const at = offsetOf(from, place)
  const nodes = [...descendants(parse(from, limits))]
  const before = nodes.filter(node => node.at <= at).map(node => node.at)
  const number = nodes.findIndex(node => node.at === Math.max(...before))
  const other = number < 0 ? undefined : [...descendants(parse(to, limits))][number]
  return other ? placeOf(to, other.at) : null
}

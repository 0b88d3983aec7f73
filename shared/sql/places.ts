import { offsetOf, type Place, placeOf } from './error.ts'
import { statementLimits } from './limits.ts'
import { parse } from './parser.ts'
import type { AnyNode, Query } from './tree.ts'
import { descendants } from './walk.ts'

/** Real table names may be longer than logical ones. */
const limits = { ...statementLimits, bytes: Infinity, tokens: Infinity }

/**
 * Maps a place between two texts of one query that differ in layout and table names: the node at `place` in `from`
 * is found in `to` by its number in the tree. `null` if no node stands at or before the place.
 * @throws SqlError if one of the texts does not parse
 */
export function placeInOther(from: string, place: Place, to: string): Place | null {
  const node = nodeAt(from, offsetOf(from, place), parse(to, limits))
  return node && placeOf(to, node.at)
}

/** The node of `tree` that corresponds to the node at offset `at` in `text`, another text of the same tree. */
export function nodeAt(text: string, at: number, tree: Query): AnyNode | null {
  const nodes = [...descendants(parse(text, limits))]
  const last = nodes.reduce((most, node) => (node.at <= at ? Math.max(most, node.at) : most), -1)
  const number = nodes.findIndex(node => node.at === last)
  return number < 0 ? null : ([...descendants(tree)][number] ?? null)
}

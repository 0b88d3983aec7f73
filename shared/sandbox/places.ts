/** Where an engine's complaint about the composed statement stands in the text that the caller sent. */
import { offsetOf, type Place, placeOf } from '../sql/error.ts'
import { parse } from '../sql/parser.ts'
import { descendants } from '../sql/walk.ts'
import type { Sandboxed } from './sandbox.ts'

/**
 * The same query, parsed from its normal form and from the caller's text, is the same tree: the node at the one place
 * is found in the other by its number.
 * @param place in `sandboxed.sql`
 * @returns `null` where the place is not in the caller's part
 */
export function placeInCaller(
  { sql, normal }: Pick<Sandboxed, 'sql' | 'normal'>,
  callerSql: string,
  place: Place,
): Place | null {
  const start = sql === normal ? 0 : sql.length - normal.length - 1
  const at = offsetOf(sql, place) - start
  if (at < 0 || at >= normal.length || !sql.startsWith(normal, start)) return null
  const nodes = [...descendants(parse(normal))]
  const number = nodes.findIndex(node => node.at === at)
  const node = number < 0 ? undefined : [...descendants(parse(callerSql))][number]
  return node ? placeOf(callerSql, node.at) : null
}

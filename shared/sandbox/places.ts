/** Where an engine's complaint about the composed statement stands in the text that the caller sent. */
import { offsetOf, type Place, placeOf } from '../sql/error.ts'
import { placeInOther } from '../sql/places.ts'
import type { Sandboxed } from './sandbox.ts'

/**
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
  return placeInOther(normal, placeOf(normal, at), callerSql)
}

/** The last look at a composed statement: its text is read again and has to be what was meant. */
import { ApiError } from '../errors.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { print } from '../sql/printer.ts'
import { tablesOf } from '../sql/relations.ts'
import type { Query, TableReference } from '../sql/tree.ts'
import type { EndpointTables } from './tables.ts'

/**
 * The statement's text. Nothing that came before is trusted here: should the parser, the printer or the walk over
 * the caller's query be wrong, what runs is still one query whose real tables are the endpoint's, in its own WITH.
 * @throws ApiError `internal`, since a caller cannot bring this about by a mistake of theirs
 */
export function statementOf(composed: Query, caller: Query, tables: EndpointTables): string {
  try {
    const sql = print(composed)
    const again = parse(sql, statementLimits)
    if (!sameTree(again, composed)) throw new Error('the printed statement reads differently')
    // Without the endpoint's WITH, the caller's query is all there is, and may read no real table at all.
    const callerBegins = composed === caller ? 0 : again.body.at
    const own = new Set(tables.real.map(pathKey))
    if (!tablesOf(again).every(table => table.at < callerBegins && own.has(pathKey(table)))) {
      throw new Error('the printed statement reads a table outside')
    }
    return sql
  } catch (cause) {
    throw new ApiError('internal', 'An internal error.', { cause })
  }
}

/** Equal in everything but the places. */
export function sameTree(left: unknown, right: unknown): boolean {
  if (!isObject(left) || !isObject(right)) return left === right
  const keys = Object.keys(left)
  return (
    Array.isArray(left) === Array.isArray(right) &&
    keys.length === Object.keys(right).length &&
    keys.every(key => key in right && (key === 'at' || sameTree(left[key], right[key])))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Real names tell capitals apart, so they are compared as written. */
function pathKey({ path }: TableReference): string {
  return JSON.stringify(path.map(({ name }) => name))
}

/**
 * SQL of a caller's own, over the tables that an endpoint defines and nothing else. What runs is printed from a
 * tree that was checked, never pasted from a text: a comment to one reader is a UNION ALL to another (rule 1).
 */
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { offsetOf, type Place, placeOf, SqlError } from '../sql/error.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { placeInOther } from '../sql/places.ts'
import { print } from '../sql/printer.ts'
import { tablesOf } from '../sql/relations.ts'
import type { Query, TableReference } from '../sql/tree.ts'
import { parameterNames } from '../sql/walk.ts'
import { check, Violation } from './rules.ts'
import { compose, type EndpointTables, tablesOfEndpoint } from './tables.ts'

export interface Sandboxed {
  /** The statement to run. */
  sql: string
  /** The caller's query in its normal form, for the cache key: layout and comments make no difference. */
  normal: string
  /** The endpoint's tables that it reads, in the endpoint's spelling and order. */
  tables: string[]
  /** Names of the parameters in the statement. */
  parameters: string[]
}

/**
 * @throws ApiError `invalid_query` for what is no query or breaks a limit, `sandbox_violation` for one that reaches
 * outside; both with the place in the caller's text, and nothing that is not the caller's or the endpoint's offer
 */
export function sandbox(endpoint: Pick<Endpoint, 'sql' | 'parameters'>, callerSql: string): Sandboxed {
  const tables = tablesOfEndpoint(endpoint)
  const query = parseCaller(callerSql)
  const used = checkCaller(query, callerSql, tables, endpoint.parameters)
  const composed = compose(tables, used, query)
  return {
    sql: statementOf(composed, query, tables),
    normal: print(query),
    tables: [...tables.byKey].filter(([key]) => used.has(key)).map(([, { name }]) => name),
    parameters: [...parameterNames(composed).keys()],
  }
}

/**
 * Where an engine's complaint about the composed statement stands in the text that the caller sent.
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

function parseCaller(sql: string): Query {
  try {
    return parse(sql)
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    const detail = error.message.slice(0, 300).toWellFormed()
    throw new ApiError('invalid_query', sentence(detail), {
      problems: [{ parameter: 'sql', ...error.place, detail }],
      cause: error,
    })
  }
}

function checkCaller(
  query: Query,
  sql: string,
  tables: EndpointTables,
  parameters: Endpoint['parameters'],
): Set<string> {
  try {
    return check(query, { tables: tables.byKey, parameters: new Set(Object.keys(parameters)) })
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    const names = [...tables.byKey.values()].map(({ name }) => name)
    const offer =
      names.length > 0 ? `The query may read ${names.join(', ')}.` : 'The query may read no table.'
    throw new ApiError(error.code, `${sentence(error.message)} ${offer}`, {
      problems: [{ parameter: 'sql', ...placeOf(sql, error.at), detail: error.message }],
      cause: error,
    })
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/**
 * The statement's text. Nothing that came before is trusted here: should the parser, the printer or the walk over
 * the caller's query be wrong, what runs is still one query whose real tables are the endpoint's, in its own WITH.
 * @throws ApiError `internal`, since a caller cannot bring this about by a mistake of theirs
 */
function statementOf(composed: Query, caller: Query, tables: EndpointTables): string {
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
function sameTree(left: unknown, right: unknown): boolean {
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

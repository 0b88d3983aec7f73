/**
 * A caller's own SQL over the tables that an endpoint defines, and nothing else. The statement that runs is printed
 * from a checked tree, never pasted from text: `shared/sandbox/README.md`, "Rules".
 */
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { offsetOf, type Place, placeOf, SqlError } from '../sql/error.ts'
import { callerLimits, statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { nodeAt } from '../sql/places.ts'
import { print } from '../sql/printer.ts'
import { outerReferences } from '../sql/relations.ts'
import type { Query, TableReference } from '../sql/tree.ts'
import { descendants, parameterNames } from '../sql/walk.ts'
import { expandStars, resolveOver, starOfTable, unnestPaths } from './written-out.ts'
import type { Columns, Resolution } from '../sql/resolve/resolution.ts'
import { check, type Offer, ofClickHouse, Violation } from './caller-rules.ts'
import { apart, type EndpointTables, tablesOfEndpoint, withTables } from './offered-tables.ts'

export interface Sandboxed {
  /** The statement to run. */
  sql: string
  /** The caller's query in its normal form, for the cache key: layout and comments make no difference. */
  normal: string
  /** The tree of `normal`, with the offsets of the caller's text. */
  tree: Query
  /** The endpoint's tables that it reads, in the endpoint's spelling and order. */
  tables: string[]
  /** What the names of `tree` stand for. */
  resolution: Resolution
  /** Names of the parameters in the statement. */
  parameters: string[]
}

/**
 * Checks the caller's query and composes it with the endpoint's tables.
 * @param known the columns of those whose own SQL does not say them, by key: `columnsByEngine`
 * @throws ApiError `invalid_query` for text that is not one query within the limits, `sandbox_violation` for a query
 * that breaks a rule; both with the place in the caller's text, and with no name that the caller may not see
 */
export function sandbox(
  endpoint: Pick<Endpoint, 'sql' | 'parameters'>,
  callerSql: string,
  known: ReadonlyMap<string, Columns> = new Map(),
): Sandboxed {
  const offered = tablesOfEndpoint(endpoint)
  const query = parseCaller(callerSql)
  const offer: Offer = { tables: new Map(), parameters: new Set(Object.keys(endpoint.parameters)) }
  for (const [key, { name, columns }] of offered.byKey)
    offer.tables.set(key, { name, columns: known.get(key) ?? columns })
  const { used, resolution } = checkCaller(query, callerSql, offer)
  const tables = apart(offered, query)
  const composed = withTables(tables, used, query)
  return {
    sql: statementOf(composed, query, tables),
    normal: print(query),
    tree: query,
    tables: [...tables.byKey].filter(([key]) => used.has(key)).map(([, { name }]) => name),
    resolution,
    parameters: [...parameterNames(composed).keys()],
  }
}

/** Whether a place in a composed statement is in the caller's part. @param normal the caller's query */
export function isInCaller(composed: Pick<Sandboxed, 'sql' | 'normal'>, place: Place): boolean {
  return offsetInCaller(composed, place) !== null
}

/**
 * The offset in `normal` of a place in `sql`, `null` outside it. The caller's query is all of a statement, or stands in
 * parentheses at its end; from its first table on where its WITH RECURSIVE continues the endpoint's.
 */
function offsetInCaller({ sql, normal }: Pick<Sandboxed, 'sql' | 'normal'>, place: Place): number | null {
  const isAll = sql === normal
  const start = 'WITH RECURSIVE '
  const shared = !isAll && normal.startsWith(start) ? start.length : 0
  const before = sql.length - normal.length - (isAll || shared > 0 ? 0 : 1)
  const at = offsetOf(sql, place) - before
  const isWithin = at >= shared && at < normal.length
  return isWithin && sql.startsWith(normal.slice(shared), before + shared) ? at : null
}

/**
 * Maps the place of an engine's error from the composed statement to the text that the caller sent.
 * @param place in `sql`
 * @returns `null` where the place is not in the caller's part
 */
export function placeInCaller(
  composed: Pick<Sandboxed, 'sql' | 'normal' | 'tree'>,
  callerSql: string,
  place: Place,
): Place | null {
  const at = offsetInCaller(composed, place)
  const node = at === null ? null : nodeAt(composed.normal, at, composed.tree)
  return node && placeOf(callerSql, node.at)
}

function parseCaller(sql: string, limits = callerLimits): Query {
  try {
    return parse(sql, limits)
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    const hint = /\blog_attributes\b/.test(sql) ? `; ${ofClickHouse}` : ''
    const detail = error.message.slice(0, 300).toWellFormed() + hint
    throw new ApiError('invalid_query', sentence(detail), {
      problems: [{ parameter: 'sql', ...error.place, detail }],
      cause: error,
    })
  }
}

/** Checks the query, and writes out what it leaves out (`written-out.ts`). Returns the keys of the tables that it reads. */
function checkCaller(query: Query, sql: string, offer: Offer): { used: Set<string>; resolution: Resolution } {
  try {
    const resolution = resolveOver(query, offer.tables)
    unnestPaths(resolution)
    const used = check(query, offer, resolution)
    expandStars(query, resolution)
    const left = starOfTable(query)
    if (left) throw new Violation('* cannot stand for columns here: name the columns', left.at)
    return { used, resolution }
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    const tables = [...offer.tables.values()].map(({ name }) => name)
    // The message names no table but the one that is missing: `infra/docs/moving-in.md`, "Callers".
    const detail = error.message + (error.unknownTable?.near ?? '')
    throw new ApiError(error.code, sentence(error.message), {
      problems: [
        { parameter: 'sql', ...placeOf(sql, error.at), ...(error.unknownTable ? { tables } : {}), detail },
      ],
      cause: error,
    })
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('?') ? '' : '.'}`
}

/**
 * The statement's text, parsed again and compared with the tree. Should the parser, the printer, the resolver or the rules be
 * wrong, the statement is still one query whose real tables are the endpoint's, in the endpoint's own WITH.
 * @throws ApiError `internal`, since no mistake of a caller brings this about
 */
function statementOf(composed: Query, caller: Query, tables: EndpointTables): string {
  try {
    const sql = print(composed)
    const again = reparse(sql, caller)
    if (!sameTree(again, composed)) throw new Error('the printed statement reads differently')
    const read = outerReferences(again)
    const offered = outerReferences(tables.query).filter(({ at }) => at < tables.query.body.at)
    const own = new Set(offered.map(pathKey))
    const begins = beginOfCaller(again, composed, caller)
    if (!read.every(table => table.at < begins && own.has(pathKey(table)))) {
      throw new Error('the printed statement reads a table outside')
    }
    const parts = new Set(descendants(composed))
    if (read.length !== offered.filter(table => parts.has(table)).length) {
      throw new Error("a common table of the printed statement hides one that the endpoint's tables read")
    }
    if (starOfTable(caller)) throw new Error('the printed statement has columns without a name')
    return sql
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('internal', 'An internal error.', { cause })
  }
}

/** Without the endpoint's WITH, the statement is the caller's query alone, which may read no real table. */
function beginOfCaller(again: Query, composed: Query, { with: common }: Query): number {
  if (composed.with === null || composed.with === common) return 0
  return common?.recursive ? again.with!.ctes.at(-common.ctes.length)!.at : again.body.at
}

/** @throws ApiError `invalid_query` where the caller's query has grown beyond the limits as it was written out */
function reparse(sql: string, caller: Query): Query {
  try {
    return parse(sql, statementLimits)
  } catch (error) {
    parseCaller(print(caller), statementLimits)
    throw error
  }
}

/** Equal in everything but the offsets. */
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

/** Names of real tables are case-sensitive, so they are compared as written. */
function pathKey({ path }: TableReference): string {
  return JSON.stringify(path.map(({ name }) => name))
}

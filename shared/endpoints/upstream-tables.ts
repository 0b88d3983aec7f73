/** Endpoints that read the rows of others: finding those, and defining their tables in the SQL. */
import { LRUCache } from 'lru-cache'
import { EngineError } from '../engines/engine.ts'
import { offsetOf, type Place, placeOf } from '../sql/error.ts'
import { parse } from '../sql/parser.ts'
import { nameKey, plainNamesIn } from '../sql/relations.ts'
import type { SqlType } from '../sql/types.ts'
import type { ColumnsOf } from './columns.ts'
import type { Endpoint, UpstreamTable } from './definition.ts'

/**
 * The endpoint with its `upstreamTables`, and with them defined in its SQL. One that reads no others is given back as it is.
 * @throws EngineError `misconfigured` for a circle, or an endpoint that is not there, and what a dry run throws
 */
export type FindUpstream = (endpoint: Endpoint) => Promise<Endpoint>

/** The longest chain of endpoints that read each other: it bounds the requests that one call leads to. */
const maxDepth = 4

/** @param find by name, as `Endpoints` has it */
export function openUpstream(
  find: (name: string) => Promise<Endpoint | null>,
  columnsOf: ColumnsOf,
): FindUpstream {
  const resolve = async (endpoint: Endpoint, path: string[]): Promise<Endpoint> => {
    const { upstream, upstreamTables } = endpoint
    if (!upstream || upstreamTables) return endpoint
    const tables = Object.entries(upstream).map(async ([name, { endpoint: other, parameters }]) => {
      const chain = [...path, other]
      if (path.includes(other)) throw broken(endpoint, `reads itself: ${chain.join(' -> ')}`)
      if (path.length === maxDepth)
        throw broken(endpoint, `is too far from ${path[0]}: ${chain.join(' -> ')}`)
      const found = await find(other)
      if (!found) throw broken(endpoint, `reads ${other}, which is not there`)
      const whole = await resolve(found, chain)
      return { name, endpoint: whole, columns: await columnsOf(whole), parameters }
    })
    return withTables(endpoint, await Promise.all(tables))
  }
  return endpoint => resolve(endpoint, [endpoint.name])
}

/** Where one of the others redacts, so does this one: its own query could show its rows in another form. */
function withTables(endpoint: Endpoint, upstreamTables: UpstreamTable[]): Endpoint {
  const redact = endpoint.redact || upstreamTables.some(table => table.endpoint.redact)
  return { ...endpoint, sql: withDefinitions(endpoint.sql, upstreamTables), redact, upstreamTables }
}

/** By the query, and the tables with their columns. */
const defined = new LRUCache<string, string, { sql: string; tables: UpstreamTable[] }>({
  max: 400,
  memoMethod: (_key, _stale, { context: { sql, tables } }) => define(sql, tables),
})

function withDefinitions(sql: string, tables: UpstreamTable[]): string {
  const key = JSON.stringify([sql, tables.map(({ name, columns }) => [name, columns.map(one => one.name)])])
  return defined.memo(key, { context: { sql, tables } })
}

/** In the first line of the query, so that the other lines keep their numbers. Throws SqlError. */
function define(sql: string, tables: UpstreamTable[]): string {
  const ctes = tables.map(({ name, columns }) => {
    const items = columns.map(column => `r.\`${column.name}\``).join(', ')
    return `\`${name}\` AS (SELECT ${items} FROM UNNEST(@${name}) AS r)`
  })
  const [first] = parse(sql).with?.ctes ?? []
  if (!first) return `WITH ${ctes.join(', ')} ${sql}`
  return `${sql.slice(0, first.at)}${ctes.join(', ')}, ${sql.slice(first.at)}`
}

/** The place in the SQL as it is written of one in the SQL with the tables. */
export function placeInDeclared(declared: Endpoint, { sql }: Endpoint, place: Place): Place {
  const [at, added] = [offsetOf(sql, place), sql.length - declared.sql.length]
  const isBehind = at >= added && sql.slice(at) === declared.sql.slice(at - added)
  return isBehind ? placeOf(declared.sql, at - added) : place
}

/** The tables of `upstream` that the query does not read. Throws SqlError. */
export function unreadUpstream({ sql, upstream = {} }: Pick<Endpoint, 'sql' | 'upstream'>): string[] {
  const plain = plainNamesIn(parse(sql))
  return Object.keys(upstream).filter(name => !plain.includes(nameKey(name)))
}

/** Whether a value keeps its type on the way through an answer. */
export function canBePassed(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return canBePassed(type.element)
  if (type.kind === 'STRUCT') return type.fields.every(field => canBePassed(field.type))
  return type.kind !== 'INTERVAL'
}

function broken({ name }: Endpoint, words: string): EngineError {
  return new EngineError('misconfigured', `${name} ${words}`)
}

/** A saved query for many parameter sets: one statement (`shared/sql/batch/` makes it), whose rows are split by set. */
import { LRUCache } from 'lru-cache'
import { type Endpoint, parameterColumns } from '../endpoints/definition.ts'
import { type SavedQuery, statementOf } from '../endpoints/saved-query.ts'
import {
  type Binding,
  EngineError,
  type QueryEngine,
  type Result,
  type Statement,
} from '../engines/engine.ts'
import { ResultRows } from '../engines/rows.ts'
import { batchOf } from '../sql/batch/batch.ts'
import { fewParameter, fieldOf, setColumn, setsParameter, typeOfSet } from '../sql/batch/sets.ts'
import { parse } from '../sql/parser.ts'
import type { Columns } from '../sql/resolve/resolution.ts'
import { tablesOf } from '../sql/tables.ts'

/** One binding for each parameter of the endpoint, sorted by name. */
export type ParameterSet = Binding[]

/** The parameters of a set whose values callers sent, or may have sent. */
export function sentOf(set: ParameterSet): string[] {
  return set.flatMap(({ name, value }) => (value === null ? [] : name))
}

/** Makes the statement for many sets; of none for a dry run. */
export type Batch = (sets: ParameterSet[]) => Statement

/** How long the columns of tables are taken to stay as they are. */
const rememberedMs = 3_600_000
const remembered = new WeakMap<QueryEngine, LRUCache<string, Promise<Batch>>>()

/**
 * The batch of a saved query, remembered by its text.
 * @throws SqlError, at the place, for a query of a shape that no batch can have
 */
export function batchFor(engine: QueryEngine, endpoint: Endpoint, query: SavedQuery): Promise<Batch> {
  const known = remembered.get(engine) ?? new LRUCache({ max: 200, ttl: rememberedMs })
  remembered.set(engine, known)
  const key = JSON.stringify([query, parameterColumns(endpoint)])
  const found = known.get(key)
  if (found) return found
  const made = madeFor(engine, endpoint, query, () => known.delete(key))
  known.set(key, made)
  return made
}

/** @param doubt is called where the engine does not tell a table's columns, as it may the next time */
async function madeFor(
  engine: QueryEngine,
  endpoint: Endpoint,
  query: SavedQuery,
  doubt: () => void,
): Promise<Batch> {
  const catalog = await catalogOf(engine, query, doubt)
  const parameters = parameterColumns(endpoint)
  const type = { kind: 'ARRAY', element: typeOfSet(parameters) } as const
  const batch: Batch = sets => {
    const few = new Set<number>()
    const representatives = (names: string[], ends: boolean) =>
      representativesOf(sets, names, ends)?.map(place => [...few.add(place)].indexOf(place)) ?? null
    const sql = batchOf(query.sql, catalog, { parameters, representatives })
    const value = sets.map((set, at) => ({
      [setColumn]: at,
      ...Object.fromEntries(set.map(({ name, value }) => [fieldOf(name), value])),
    }))
    const bindings = [{ name: setsParameter, type, value }]
    const bounds = { name: fewParameter, type, value: [...few].map(place => value[place]!) }
    return statementOf({ ...query, sql }, few.size > 0 ? [...bindings, bounds] : bindings)
  }
  batch([])
  return batch
}

/** The columns of the tables that a query reads, as the engine has them. */
async function catalogOf(engine: QueryEngine, { sql, rollups }: SavedQuery, doubt: () => void) {
  const tables = new Set(tablesOf(parse(sql)).map(({ path }) => path.map(({ name }) => name).join('.')))
  const columnsOf = async (table: string): Promise<Columns> => {
    const statement = statementOf({ sql: `SELECT * FROM \`${table}\``, rollups }, [])
    return engine.describe(statement).then(
      ({ columns }) => columns,
      () => {
        doubt()
        // Such as a table that BigQuery shows to none who name no partition.
        return { unknown: `the columns of ${table} are not known` }
      },
    )
  }
  const columns = new Map<string, Columns>()
  for (const table of tables) columns.set(table, await columnsOf(table))
  return { columnsOf: (table: string) => columns.get(table), tables }
}

/** The most values by which a batch bounds the rows it reads: each value is compared with each row. */
const mostRepresentatives = 16
/** Types whose bound values are in the order of their texts or numbers. */
const ordered = new Set<string>(['INT64', 'FLOAT64', 'TIMESTAMP'])

/** Places of sets that have all values of these parameters, or the least and the greatest of one; `null` where there are too many. */
function representativesOf(sets: ParameterSet[], names: string[], ends: boolean): number[] | null {
  const wanted = new Set(names)
  const places = new Map<string, number>()
  for (const [at, set] of sets.entries()) {
    const key = JSON.stringify(
      set.flatMap(({ name, value }) => (wanted.has(name.toLowerCase()) ? [value] : [])),
    )
    if (!places.has(key)) places.set(key, at)
  }
  const all = [...places.values()]
  if (all.length <= mostRepresentatives) return all
  const of = sets[0]!.findIndex(({ name }) => wanted.has(name.toLowerCase()))
  const { type } = sets[0]![of]!
  if (!ends || names.length > 1 || !ordered.has(type.kind)) return null
  const value = (at: number) => sets[at]![of]!.value as number | string
  const known = all.filter(at => typeof value(at) === (type.kind === 'TIMESTAMP' ? 'string' : 'number'))
  if (known.length < all.filter(at => sets[at]![of]!.value !== null).length) return null
  const sorted = known.toSorted((a, b) => (value(a) < value(b) ? -1 : 1))
  return [sorted[0]!, sorted.at(-1)!]
}

/** Of a run for all sets, whose rows are in memory twice while they are split. What is past a set's own limit is cut then. */
export const batchLimits = { maxRows: 1_000_000, maxResultBytes: 50_000_000 }

/**
 * The rows of a batch for each of `count` sets, as the endpoint's own query would give them: the same columns, cut at the same
 * number of rows, within the same limit of bytes. A set without rows gets an empty result.
 * @throws EngineError `result_too_large` for too many rows together, and for a set that is too large by itself
 */
export function splitRows(
  { maxRows, maxResultBytes }: Pick<Endpoint, 'maxRows' | 'maxResultBytes'>,
  count: number,
  result: Result,
): Result[] {
  if (result.truncated)
    throw new EngineError('result_too_large', 'The batch has more rows than are read together')
  const columns = result.columns.slice(0, -1)
  const limits = { maxRows, ...(maxResultBytes === null ? {} : { maxResultBytes }) }
  const sets = Array.from({ length: count }, () => new ResultRows(limits))
  for (const { [setColumn]: set, ...row } of result.rows) sets[set as number]!.add(row)
  return sets.map(({ result: rows }) => ({ columns, ...rows }))
}

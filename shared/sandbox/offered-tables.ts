/** The tables that an endpoint offers to callers: the common tables of its own outermost WITH. */
import { LRUCache } from 'lru-cache'
import type { Endpoint } from '../endpoints/definition.ts'
import { EngineError } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { parse } from '../sql/parser.ts'
import { queryOf } from '../sql/nodes.ts'
import { print } from '../sql/printer.ts'
import { nameKey, plainNamesIn } from '../sql/relations.ts'
import { tablesOf } from '../sql/tables.ts'
import type { AnyNode, CommonTable, Identifier, Query, TableReference } from '../sql/tree.ts'
import type { Column } from '../sql/types.ts'
import { descendants } from '../sql/walk.ts'
import { columnsOfTables, resolveOver } from './written-out.ts'
import type { Columns, Resolution } from '../sql/resolve/resolution.ts'

interface EndpointTable {
  /** In the endpoint's spelling. */
  name: string
  cte: CommonTable
  columns: Columns
  /** Keys of the tables before it that it reads. */
  reads: ReadonlySet<string>
}

export interface EndpointTables {
  recursive: boolean
  /** By `nameKey`, in the order of the WITH. */
  byKey: ReadonlyMap<string, EndpointTable>
  /** The references to real tables inside the WITH. */
  real: readonly TableReference[]
  query: Query
  resolution: Resolution
}

/** By the endpoint's SQL, which they are a pure function of. */
const parsed = new LRUCache<string, EndpointTables>({
  max: 200,
  memoMethod: sql => readTables(parseEndpoint(sql)),
})

/** @throws ApiError `internal` for an endpoint that does not parse, since a caller may not see its SQL */
export function tablesOfEndpoint({ sql }: Pick<Endpoint, 'sql'>): EndpointTables {
  return parsed.memo(sql)
}

/** For each table, in the order of the WITH, a statement that selects all its columns. */
export function tableQueries(endpoint: Pick<Endpoint, 'sql'>): { name: string; sql: string }[] {
  const tables = tablesOfEndpoint(endpoint)
  return [...tables.byKey.values()].map(({ name }) => ({ name, sql: tableQuery(tables, name) }))
}

function tableQuery(tables: EndpointTables, name: string): string {
  return print(withTables(tables, new Set([nameKey(name)]), parse(`SELECT * FROM \`${name}\``)))
}

/**
 * By key, the columns of tables that a caller's query may name and whose own SQL does not say them, as `SELECT t.*` over a
 * real table: the engine knows those, by a dry run.
 * @param typed whether their types count as well, which a table's own SQL does not say of the columns of a real one
 * @throws EngineError for any other reason than two columns of one name, which a query that names others may read
 */
export async function columnsByEngine(
  endpoint: Pick<Endpoint, 'sql'>,
  callerSql: string,
  columnsOf: (sql: string) => Promise<Column[]>,
  typed = false,
): Promise<Map<string, Columns>> {
  const tables = tablesOfEndpoint(endpoint)
  const text = callerSql.toLowerCase()
  const isOpen = (columns: Columns) => 'unknown' in columns || (typed && columns.some(({ type }) => !type))
  const asked = [...tables.byKey].filter(([key, { columns }]) => isOpen(columns) && text.includes(key))
  const found = asked.map(async ([key, { name, columns }]) => {
    const own = await columnsOf(tableQuery(tables, name)).catch((error: unknown) => {
      if (error instanceof EngineError && error.reason === 'rejected') return columns
      throw error
    })
    return [key, own] as const
  })
  return new Map(await Promise.all(found))
}

/**
 * `WITH <the tables that the query needs> (<the caller's query>)`, or the query alone if it needs none. Rule 9 of
 * `shared/sandbox/README.md`, "Rules": other tables do not run, and real names stand in the endpoint's tables only.
 * BigQuery takes RECURSIVE in the outermost WITH alone, so a recursive one of the caller's continues the endpoint's.
 * @param used keys of the tables that `caller` reads
 */
export function withTables(tables: EndpointTables, used: ReadonlySet<string>, caller: Query): Query {
  const needed = withThoseTheyRead(tables, used)
  const ctes = [...tables.byKey].filter(([key]) => needed.has(key)).map(([, { cte }]) => cte)
  if (ctes.length === 0) return caller
  if (caller.with?.recursive)
    return { ...caller, with: { ...caller.with, ctes: [...ctes, ...caller.with.ctes] } }
  const inParentheses = { kind: 'QueryInParentheses', query: caller, at: 0 } as const
  return queryOf(inParentheses, { with: { kind: 'With', recursive: tables.recursive, ctes, at: 0 } })
}

/**
 * The tables for a query with a WITH RECURSIVE, in which each common table sees all others: one under the name of a real table
 * that the endpoint reads would be read in its place. Such tables, of the endpoint and of the caller, get other names here; the
 * caller's query keeps the old ones for their rows.
 */
export function apart(tables: EndpointTables, caller: Query): EndpointTables {
  if (!caller.with?.recursive) return tables
  const own = readTables(structuredClone(tables.query))
  const taken = new Set([own.query, caller].flatMap(query => [...descendants(query)].flatMap(namesOf)))
  const real = new Set(own.real.flatMap(table => namesOf(table)))
  const ctes = [...(own.query.with?.ctes ?? []), ...caller.with.ctes]
  const hidden = new Set(ctes.flatMap(namesOf).filter(key => real.has(key)))
  const names = new Map<string, string>()
  for (const key of hidden) names.set(key, freeName(key, taken))
  for (const query of [own.query, caller])
    for (const node of descendants(query)) if (!own.real.includes(node as never)) rename(node, names)
  return own
}

/** The key of the common table that a node is or may read. */
function namesOf(node: AnyNode): string[] {
  if (node.kind === 'CommonTable') return [nameKey(node.name.name)]
  return node.kind === 'TableReference' && node.path.length === 1 ? [nameKey(node.path[0]!.name)] : []
}

/** It is taken from then on. */
function freeName(key: string, taken: Set<string>): string {
  if (taken.has(key)) return freeName(`${key}_`, taken)
  taken.add(key)
  return key
}

function rename(node: AnyNode, names: ReadonlyMap<string, string>): void {
  const [key] = namesOf(node)
  const name = key === undefined ? undefined : names.get(key)
  if (name === undefined) return
  const renamed = (old: Identifier) => ({ ...old, name })
  if (node.kind === 'CommonTable') node.name = renamed(node.name)
  if (node.kind !== 'TableReference') return
  const [old] = node.path as [Identifier]
  node.alias ??= old
  node.path = [renamed(old)]
}

/** A table reads only those before it, so one pass from the last to the first finds all; RECURSIVE needs all. */
function withThoseTheyRead({ byKey, recursive }: EndpointTables, used: ReadonlySet<string>): Set<string> {
  if (recursive && used.size > 0) return new Set(byKey.keys())
  const needed = new Set(used)
  for (const [key, { reads }] of [...byKey].toReversed()) {
    if (needed.has(key)) for (const read of reads) needed.add(read)
  }
  return needed
}

function parseEndpoint(sql: string): Query {
  try {
    return parse(sql)
  } catch (cause) {
    throw new ApiError('internal', 'An internal error.', { cause })
  }
}

function readTables(query: Query): EndpointTables {
  const byKey = new Map<string, EndpointTable>()
  const resolution = resolveOver(query, new Map())
  const columns = columnsOfTables(query, resolution)
  for (const cte of query.with?.ctes ?? []) {
    const reads = new Set(plainNamesIn(cte.query).filter(key => byKey.has(key)))
    const key = nameKey(cte.name.name)
    byKey.set(key, { name: cte.name.name, cte, columns: columns.get(key)!, reads })
  }
  const real = tablesOf(query, resolution).filter(({ at }) => at < query.body.at)
  return { recursive: query.with?.recursive ?? false, byKey, real, query, resolution }
}

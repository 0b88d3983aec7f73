import { LRUCache } from 'lru-cache'
import type { QueryEngine } from '../../shared/engines/engine.ts'
import { emptyBindings, type Endpoint } from '../../shared/endpoints/definition.ts'
import type { Column } from '../../shared/sql/types.ts'

/** A dry run costs time, and its outcome changes only with the definition. */
const described = new WeakMap<QueryEngine, LRUCache<string, Column[]>>()

/**
 * The columns that a query of an endpoint has, from a dry run that is remembered.
 * @param sql the endpoint's own query, or one over its tables
 * @throws EngineError
 */
export async function columnsOf(engine: QueryEngine, endpoint: Endpoint, sql: string): Promise<Column[]> {
  const memory = described.get(engine) ?? new LRUCache<string, Column[]>({ max: 500 })
  described.set(engine, memory)
  const key = `${endpoint.version} ${sql}`
  const known = memory.get(key)
  if (known) return known
  const { columns } = await engine.describe({ sql, bindings: emptyBindings(endpoint) })
  memory.set(key, columns)
  return columns
}

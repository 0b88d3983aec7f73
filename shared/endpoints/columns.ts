import { LRUCache } from 'lru-cache'
import { EngineError, type QueryEngine } from '../engines/engine.ts'
import type { Column } from '../sql/types.ts'
import { emptyBindings, type Endpoint, wholeVersion } from './definition.ts'

/**
 * The result columns of a query.
 * @param sql a query over the endpoint's tables; absent = its own
 * @throws EngineError
 */
export type ColumnsOf = (endpoint: Endpoint, sql?: string) => Promise<Column[]>

/** Columns come from a dry run, which costs time. They change only with the definition, so its version is the key. */
export function rememberColumns(engine: QueryEngine): ColumnsOf {
  const columns = new LRUCache<string, Column[], { endpoint: Endpoint; sql: string }>({
    max: 500,
    ignoreFetchAbort: true,
    async fetchMethod(_, __, { context: { endpoint, sql } }) {
      return (await engine.describe({ sql, bindings: emptyBindings(endpoint) })).columns
    },
  })
  return (endpoint, sql = endpoint.sql) =>
    columns.forceFetch(`${wholeVersion(endpoint)} ${sql}`, { context: { endpoint, sql } })
}

/** The columns of an endpoint's own query; `null` where the engine cannot describe them at the moment. */
export async function columnsIfKnown(columnsOf: ColumnsOf, endpoint: Endpoint): Promise<Column[] | null> {
  return columnsOf(endpoint).catch((error: unknown) => {
    if (error instanceof EngineError) return null
    throw error
  })
}

/** For tests: the BigQuery adapter with the real client, against a server on this machine that answers from DuckDB. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type BigQueryServer,
  type BigQueryServerOptions,
  startBigQueryServer,
} from '../../../infra/google/bigquery/server.ts'
import type { Column } from '../../sql/types.ts'
import { type BigQueryOptions, openBigQuery } from '../bigquery/engine.ts'
import type { QueryEngine, Row } from '../engine.ts'
import { addRows } from './parquet.ts'

export interface LocalBigQuery {
  engine: QueryEngine
  server: BigQueryServer
  append(table: string, rows: Row[]): Promise<void>
  /** Another engine, as of another process. */
  another(options?: Partial<BigQueryOptions>): QueryEngine
  close(): Promise<void>
}

export const project = 'local-project'
const dataset = 'local-project.app_logs'

export async function openLocalBigQuery(
  tables: Record<string, Column[]>,
  options: Pick<BigQueryServerOptions, 'now' | 'partition' | 'pageRows' | 'pageBytes'> = {},
): Promise<LocalBigQuery> {
  const logsFolder = mkdtempSync(join(tmpdir(), 'engine-'))
  const server = await startBigQueryServer({
    logsFolder,
    tables: new Map(Object.entries(tables)),
    dataset,
    ...options,
  })
  const another: LocalBigQuery['another'] = more =>
    openBigQuery({
      project,
      dataset,
      tables: new Map(),
      endpoint: server.url,
      location: null,
      maxBytesBilled: null,
      retryMs: 1,
      ...more,
    })
  const engine = another()
  return {
    engine,
    server,
    another,
    append: (table, rows) => addRows(logsFolder, table, tables[table]!, rows),
    async close() {
      await engine.close()
      await server.close()
      rmSync(logsFolder, { recursive: true, force: true })
    },
  }
}

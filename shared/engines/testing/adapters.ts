/** For tests: every QueryEngine adapter there is to test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueryEngine, Row } from '../../engine.ts'
import { startBigQueryServer } from '../../../infra/local/bigquery-server.ts'
import type { Column } from '../../sql/types.ts'
import { openBigQuery } from '../bigquery/engine.ts'
import { openDuckDb } from '../duckdb/engine.ts'
import { addRows } from './parquet.ts'

export interface Adapter {
  name: string
  /** An engine over empty tables, with the current moment fixed at `fixedNow`. */
  open(tables: Record<string, Column[]>): Promise<OpenEngine>
}

export interface OpenEngine {
  engine: QueryEngine
  /** Adds rows to a table while the engine runs. Timestamps are ISO text. */
  append(table: string, rows: Row[]): Promise<void>
  close(): Promise<void>
}

export const fixedNow = '2026-01-07T12:34:56.789Z'

export const duckDb: Adapter = { name: 'DuckDB', open: openDuckDbOnRows }

export const bigQuery: Adapter = { name: 'BigQuery', open: openBigQueryOnRows }

export const adapters: Adapter[] = [duckDb, bigQuery]

async function openDuckDbOnRows(tables: Record<string, Column[]>): Promise<OpenEngine> {
  const logsFolder = mkdtempSync(join(tmpdir(), 'engine-'))
  const engine = openDuckDb({ logsFolder, tables: new Map(Object.entries(tables)), now: fixedNow })
  return {
    engine,
    append: (table, rows) => addRows(logsFolder, table, tables[table]!, rows),
    async close() {
      await engine.close()
      rmSync(logsFolder, { recursive: true, force: true })
    },
  }
}

/** The real client, against a server on this machine that answers from DuckDB. */
async function openBigQueryOnRows(tables: Record<string, Column[]>): Promise<OpenEngine> {
  const logsFolder = mkdtempSync(join(tmpdir(), 'engine-'))
  const dataset = 'local-project.app_logs'
  const server = await startBigQueryServer({
    logsFolder,
    tables: new Map(Object.entries(tables)),
    dataset,
    now: fixedNow,
  })
  const engine = openBigQuery({
    project: 'local-project',
    endpoint: server.url,
    dataset,
    tables: new Map(),
    location: null,
    maxBytesBilled: null,
  })
  return {
    engine,
    append: (table, rows) => addRows(logsFolder, table, tables[table]!, rows),
    async close() {
      await engine.close()
      await server.close()
      rmSync(logsFolder, { recursive: true, force: true })
    },
  }
}

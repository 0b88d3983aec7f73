/** For tests: every QueryEngine adapter there is to test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Column } from '../../sql/types.ts'
import { openDuckDb } from '../duckdb/engine.ts'
import type { QueryEngine, Row } from '../engine.ts'
import { openLocalBigQuery } from './bigquery.ts'
import { addRows } from './parquet.ts'

export interface Adapter {
  name: string
  /** An engine over empty tables, with the current time fixed at `fixedNow`. */
  open(tables: Record<string, Column[]>): Promise<OpenEngine>
}

export interface OpenEngine {
  engine: QueryEngine
  /** Adds rows to a table while the engine runs. Timestamps are ISO text. */
  append(table: string, rows: Row[]): Promise<void>
  close(): Promise<void>
}

const fixedNow = '2026-01-07T12:34:56.789Z'

export const duckDb: Adapter = { name: 'DuckDB', open: openDuckDbOnRows }

const bigQuery: Adapter = {
  name: 'BigQuery',
  open: tables => openLocalBigQuery(tables, { now: fixedNow }),
}

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

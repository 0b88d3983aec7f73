/** For tests: every QueryEngine adapter there is to test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Column } from '../../sql/types.ts'
import { openDuckDb } from '../duckdb/engine.ts'
import { openDuckDbProcesses } from '../duckdb/processes.ts'
import type { QueryEngine, Row } from '../engine.ts'
import type { FieldSchema } from '../schema.ts'
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

const duckDbProcesses: Adapter = { name: 'DuckDB in processes', open: openProcesses }

export const adapters: Adapter[] = [duckDb, duckDbProcesses, bigQuery]

async function openDuckDbOnRows(tables: Record<string, Column[]>): Promise<OpenEngine> {
  const logsFolder = mkdtempSync(join(tmpdir(), 'engine-'))
  const engine = openDuckDb({ logsFolder, tables: new Map(Object.entries(tables)), now: fixedNow })
  return overFolder(engine, logsFolder, logsFolder, tables)
}

async function openProcesses(tables: Record<string, Column[]>): Promise<OpenEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const [logsFolder, tablesFolder] = [join(folder, 'logs'), writeSchemas(join(folder, 'tables'), tables)]
  const engine = openDuckDbProcesses({
    logsFolder,
    tablesFolder,
    memoryBytes: 500_000_000,
    atOnce: 3,
    now: fixedNow,
  })
  return overFolder(engine, folder, logsFolder, tables)
}

function overFolder(
  engine: QueryEngine,
  folder: string,
  logsFolder: string,
  tables: Record<string, Column[]>,
): OpenEngine {
  return {
    engine,
    append: (table, rows) => addRows(logsFolder, table, tables[table]!, rows),
    async close() {
      await engine.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Makes the folder, with a schema file for each table, and for one more. @returns the folder */
export function writeSchemas(folder: string, tables: Record<string, Column[]>): string {
  mkdirSync(folder, { recursive: true })
  const all = { 'of.nothing': [{ name: 'id', type: { kind: 'STRING' } as const }], ...tables }
  for (const [table, columns] of Object.entries(all))
    writeFileSync(join(folder, `${table}.json`), JSON.stringify(columns.map(fieldOf)))
  return folder
}

function fieldOf({ name, type }: Column): FieldSchema {
  const [own, mode] =
    type.kind === 'ARRAY' ? ([type.element, 'REPEATED'] as const) : ([type, 'NULLABLE'] as const)
  if (own.kind !== 'STRUCT') return { name, type: own.kind, mode }
  return {
    name,
    type: 'RECORD',
    mode,
    fields: own.fields.map(field => fieldOf({ ...field, name: field.name ?? '' })),
  }
}

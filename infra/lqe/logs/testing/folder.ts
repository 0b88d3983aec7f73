/** Folders for tests of logs, and a table's rows as DuckDB reads them. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Json } from '../entries.ts'

export const tablesFolder = 'infra/tables'

const made: string[] = []
afterAll(() => made.forEach(folder => rmSync(folder, { recursive: true, force: true })))

/** An empty folder, removed after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'logs-'))
  made.push(folder)
  return folder
}

let instance: Promise<DuckDBInstance> | undefined
afterAll(async () => (await instance)?.closeSync())

/** Rows of SQL over a table's Parquet files, as `logs`; integers are text, objects are objects. */
export async function query(folder: string, table: string, sql: string): Promise<Record<string, Json>[]> {
  const connection = await (await (instance ??= DuckDBInstance.create(':memory:'))).connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    const files = join(folder, table, '*.parquet')
    await connection.run(
      `CREATE OR REPLACE TEMP VIEW logs AS SELECT * FROM read_parquet('${files}', filename = true)`,
    )
    const result = await connection.runAndReadAll(sql)
    return result.getRowObjectsJson()
  } finally {
    connection.closeSync()
  }
}

/** The Parquet files of a table, sorted. */
export function files(folder: string, table: string): string[] {
  return existsSync(join(folder, table)) ? readdirSync(join(folder, table)).sort() : []
}

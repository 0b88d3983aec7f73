/** For tests of logs: a folder of one's own, and what is in a table as DuckDB reads it. */
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

/** Rows of SQL over the Parquet files of a table, which it names `logs`; integers are text, objects are objects. */
export async function query(folder: string, table: string, sql: string): Promise<Record<string, Json>[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    const files = join(folder, table, '*.parquet')
    await connection.run(`CREATE VIEW logs AS SELECT * FROM read_parquet('${files}', filename = true)`)
    const result = await connection.runAndReadAll(sql)
    return result.getRowObjectsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The Parquet files of a table, sorted. */
export function files(folder: string, table: string): string[] {
  return existsSync(join(folder, table)) ? readdirSync(join(folder, table)).sort() : []
}

/** Folders for tests of logs, and a table's rows as DuckDB reads them. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll } from '@jest/globals'
import { DuckDBInstance } from '@duckdb/node-api'
import { logFiles } from '../../../../shared/engines/duckdb/loads.ts'
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
    const list = files(folder, table).map(file => `'${join(folder, table, file)}'`)
    await connection.run(
      `CREATE OR REPLACE TEMP VIEW logs AS SELECT * FROM read_parquet([${list.join(', ')}], filename = true)`,
    )
    const result = await connection.runAndReadAll(sql)
    return result.getRowObjectsJson()
  } finally {
    connection.closeSync()
  }
}

/** The Parquet files that hold a table's rows, sorted, as paths in its folder. */
export function files(folder: string, table: string): string[] {
  const own = join(folder, table)
  return existsSync(own) ? logFiles(own).map(file => relative(own, file)) : []
}

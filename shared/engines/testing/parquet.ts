import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Row } from '../../engine.ts'
import type { Column, SqlType } from '../../sql/types.ts'
import { tableFolder } from '../duckdb/tables.ts'
import { quoteText } from '../duckdb/text.ts'
import { duckType } from '../duckdb/types.ts'

/** Adds one Parquet file with these rows to a table's folder; it appears whole. */
export async function addRows(
  logsFolder: string,
  table: string,
  columns: Column[],
  rows: Row[],
): Promise<void> {
  const folder = tableFolder(logsFolder, table)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${randomUUID()}.parquet`)
  const row: SqlType = { kind: 'STRUCT', fields: columns }
  const list = `CAST(CAST($1 AS JSON) AS ${duckType(row)}[])`
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  await connection.run(`SET TimeZone = 'UTC'`)
  await connection.run(`CREATE TABLE added AS SELECT UNNEST(${list}, max_depth := 2)`, [JSON.stringify(rows)])
  await connection.run(`COPY added TO ${quoteText(`${file}.tmp`)} (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
  renameSync(`${file}.tmp`, file)
}

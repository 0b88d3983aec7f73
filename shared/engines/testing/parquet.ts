import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Column, SqlType } from '../../sql/types.ts'
import { duckType, quoteText } from '../duckdb/syntax.ts'
import { tableFolder } from '../duckdb/tables.ts'
import type { Row } from '../engine.ts'

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
  const list = `from_json($1, ${quoteText(JSON.stringify([structure({ kind: 'STRUCT', fields: columns })]))})`
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  await connection.run(`SET TimeZone = 'UTC'`)
  await connection.run(`CREATE TABLE added AS SELECT UNNEST(${list}, max_depth := 2)`, [JSON.stringify(rows)])
  await connection.run(`COPY added TO ${quoteText(`${file}.tmp`)} (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
  renameSync(`${file}.tmp`, file)
}

/** A type as DuckDB's `from_json` takes it; fields that a row lacks are NULL. */
function structure(type: SqlType): unknown {
  if (type.kind === 'ARRAY') return [structure(type.element)]
  if (type.kind !== 'STRUCT') return duckType(type)
  return Object.fromEntries(type.fields.map(field => [field.name, structure(field.type)]))
}

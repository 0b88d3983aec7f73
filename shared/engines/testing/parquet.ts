import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Column } from '../../sql/types.ts'
import { writeParquet } from '../duckdb/database.ts'
import { tableFolder } from '../duckdb/tables.ts'
import type { Row } from '../engine.ts'

/** Adds one Parquet file with these rows to a table's folder; it appears whole. Fields that a row lacks are NULL. */
export async function addRows(
  logsFolder: string,
  table: string,
  columns: Column[],
  rows: Row[],
): Promise<void> {
  const folder = tableFolder(logsFolder, table)
  mkdirSync(folder, { recursive: true })
  await writeParquet(join(folder, `${randomUUID()}.parquet`), columns, rows)
}

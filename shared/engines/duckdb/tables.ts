import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column } from '../../sql/types.ts'
import { columnsOf, type FieldSchema } from '../schema.ts'
import { duckType, quoteName, quoteText } from './syntax.ts'

/**
 * Reads the BigQuery schema files `<table name>.json` of a folder.
 * Throws Error, with the file's name, for a file that is not such a schema.
 */
export function readTableSchemas(folder: string): Map<string, Column[]> {
  const files = readdirSync(folder).filter(file => file.endsWith('.json'))
  return new Map(
    files.sort().map(file => [basename(file, '.json'), readTableSchema(join(folder, file))] as const),
  )
}

function readTableSchema(file: string): Column[] {
  try {
    const fields = JSON.parse(readFileSync(file, 'utf8')) as FieldSchema[]
    return columnsOf(fields, ({ name, type }) => new Error(`field ${name} has the unknown type ${type}`))
  } catch (error) {
    throw new Error(`${file} is not a BigQuery table schema: ${(error as Error).message}`, { cause: error })
  }
}

/** The folder that holds a table's Parquet files: one for each table, by its logical name. */
export function tableFolder(logsFolder: string, table: string): string {
  return join(logsFolder, table)
}

/**
 * Makes `folder` if it is missing and, when it holds no Parquet file, puts an empty one with these columns
 * into it, so that `*.parquet` always matches. The file appears whole: it is written beside and renamed.
 */
export async function prepareTableFolder(
  connection: DuckDBConnection,
  folder: string,
  columns: Column[],
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).some(file => file.endsWith('.parquet'))) return
  const list = columns.map(column => `CAST(NULL AS ${duckType(column.type)}) AS ${quoteName(column.name)}`)
  const file = join(folder, 'empty.parquet')
  const beside = `${file}.${process.pid}.tmp`
  await connection.run(
    `COPY (SELECT ${list.join(', ')} WHERE false) TO ${quoteText(beside)} (FORMAT parquet)`,
  )
  renameSync(beside, file)
}

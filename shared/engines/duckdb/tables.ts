import { mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column, ScalarName, SqlType } from '../../sql/types.ts'
import { scalarAliases, scalarNames } from '../../sql/types.ts'
import { quoteName, quoteText } from './text.ts'
import { duckType } from './types.ts'

/** A field of a BigQuery table schema, as `bq show --schema` prints it. */
interface SchemaField {
  name: string
  type: string
  mode?: 'NULLABLE' | 'REQUIRED' | 'REPEATED'
  fields?: SchemaField[]
}

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
    const fields = JSON.parse(readFileSync(file, 'utf8')) as SchemaField[]
    return fields.map(field => ({ name: field.name, type: fieldType(field) }))
  } catch (error) {
    throw new Error(`${file} is not a BigQuery table schema: ${(error as Error).message}`, { cause: error })
  }
}

function fieldType(field: SchemaField): SqlType {
  const type = itemType(field)
  return field.mode === 'REPEATED' ? { kind: 'ARRAY', element: type } : type
}

function itemType(field: SchemaField): SqlType {
  const name = field.type.toUpperCase()
  if (name === 'RECORD' || name === 'STRUCT')
    return {
      kind: 'STRUCT',
      fields: (field.fields ?? []).map(inner => ({ name: inner.name, type: fieldType(inner) })),
    }
  const kind = name === 'FLOAT' ? 'FLOAT64' : (scalarAliases[name] ?? name)
  if (!isScalarName(kind)) throw new Error(`field ${field.name} has the unknown type ${field.type}`)
  return { kind }
}

function isScalarName(name: string): name is ScalarName {
  return (scalarNames as readonly string[]).includes(name)
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

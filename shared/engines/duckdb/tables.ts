import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConfigError } from '../../config.ts'
import { packageFolder } from '../../package-folder.ts'
import { isDeepJson, tooDeep } from '../../nesting.ts'
import type { Column } from '../../sql/types.ts'
import { writeWhole } from '../../whole-file.ts'
import { columnsOf, type FieldSchema, requestsTable } from '../schema.ts'
import { duckType, quoteName, quoteText } from './syntax.ts'

/**
 * Reads the BigQuery schema files `<table name>.json` of a folder. The service's own table is there in any case.
 * @throws ConfigError with the file's name for one that is not such a schema, and for a folder without any
 */
export function readTableSchemas(folder: string): Map<string, Column[]> {
  const files = namesIn(folder).filter(file => file.endsWith('.json'))
  if (files.length === 0)
    throw new ConfigError(`TABLES_DIR: ${folder} has no schema files, as infra/tables has (<table>.json)`)
  const odd = files.find(file => !tableFile.test(file))
  if (odd !== undefined)
    throw new ConfigError(
      `TABLES_DIR: ${JSON.stringify(join(folder, odd))} names no table that SQL can quote: rename it`,
    )
  const own = `${requestsTable}.json`
  const paths = files.map(file => join(folder, file))
  if (!files.includes(own)) paths.push(join(packageFolder, 'infra/tables', own))
  return new Map(paths.sort().map(file => [basename(file, '.json'), readTableSchema(file)] as const))
}

const tableFile = /^[\p{L}\p{N}_][^`\\\p{C}]{0,199}\.json$/u

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw new ConfigError(`TABLES_DIR: ${folder} cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
}

function readTableSchema(file: string): Column[] {
  try {
    const text = readFileSync(file, 'utf8')
    if (isDeepJson(text)) throw new TypeError(`it ${tooDeep}`)
    const fields = JSON.parse(text) as FieldSchema[]
    return columnsOf(fields, ({ name, type }) => new TypeError(`field ${name} has the unknown type ${type}`))
  } catch (error) {
    throw new ConfigError(`${file} is not a BigQuery table schema: ${(error as Error).message}`)
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
  await writeWhole(join(folder, 'empty.parquet'), file =>
    connection.run(`COPY (SELECT ${list.join(', ')} WHERE false) TO ${quoteText(file)} (FORMAT parquet)`),
  )
}

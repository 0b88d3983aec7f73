/** The Parquet files behind the tables: how many bytes a statement reads of them, and the rows of load jobs. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { Ajv, type ErrorObject } from 'ajv'
import { logFiles } from '../../../shared/engines/duckdb/loads.ts'
import { duckType, quoteName, quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { prepareTableFolder } from '../../../shared/engines/duckdb/tables.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { nameKey } from '../../../shared/sql/relations.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'
import { BigQueryError } from './errors.ts'
import type { ServerTable } from './tables.ts'

export class Files {
  private readonly connection = DuckDBInstance.create(':memory:').then(instance => instance.connect())

  async close(): Promise<void> {
    ;(await this.connection).closeSync()
  }

  /** Gives tables without rows a file with their columns. */
  async prepare(tables: ServerTable[]): Promise<void> {
    const connection = await this.connection
    for (const { folder, columns, view } of tables)
      if (!view && !existsSync(folder)) await prepareTableFolder(connection, folder, columns)
  }

  /**
   * Eight for each value of the columns that are named, which is enough to test limits and budgets. BigQuery counts the size
   * of each value (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#data_type_sizes), and only in
   * partitions that the statement does not leave out.
   * @param sql with the local engine's names. Throws SqlError
   */
  async bytesOf(sql: string, tables: ServerTable[]): Promise<number> {
    const nodes = [...descendants(parse(sql))]
    const named = nodes.flatMap(node => (node.kind === 'Path' ? node.parts.map(({ name }) => name) : []))
    const texts = (all: string[]) => `[${all.map(quoteText).join(', ')}]::VARCHAR[]`
    const files = tables.flatMap(({ folder }) => (existsSync(folder) ? logFiles(folder) : []))
    if (files.length === 0) return 0
    const connection = await this.connection
    const read = await connection.runAndReadAll(
      `SELECT coalesce(sum(num_values), 0)::DOUBLE FROM parquet_metadata(${texts(files)})
       WHERE ${nodes.some(({ kind }) => kind === 'SelectStar')}
         OR list_contains(${texts(named.map(nameKey))}, lower(split_part(path_in_schema, ', ', 1)))`,
    )
    return 8 * Number(read.getRows()[0]![0])
  }

  /**
   * Adds rows of newline-delimited JSON to a table: all, or none where one does not fit its columns.
   * @param name of the new file, in the folder of the table
   * @throws BigQueryError as a load job fails
   */
  async load({ columns, folder }: ServerTable, name: string, json: Buffer): Promise<void> {
    const lines = json.toString().split(/\s*\n/).filter(Boolean)
    const fits = new Ajv({ verbose: true, strict: false }).compile(rowSchema(columns))
    for (const [at, line] of lines.entries())
      if (!fits(parsed(line, at))) throw unreadable(at, faultOf(fits.errors![0]!))
    mkdirSync(folder, { recursive: true })
    const [from, to] = ['json', 'tmp'].map(end => join(folder, `.${name}.${end}`)) as [string, string]
    const types = columns.map(column => `${quoteName(column.name)}: ${quoteText(duckType(column.type))}`)
    try {
      writeFileSync(from, lines.join('\n'))
      await (
        await this.connection
      ).run(
        `SET TimeZone = 'UTC'; COPY (SELECT * FROM read_json(${quoteText(from)}, format = 'newline_delimited',
          maximum_object_size = 100000000, columns = {${types.join(', ')}})) TO ${quoteText(to)} (FORMAT parquet)`,
      )
      renameSync(to, join(folder, `${name}.parquet`))
    } finally {
      for (const file of [from, to]) rmSync(file, { force: true })
    }
  }
}

/** The columns that are REQUIRED in every log table of infra/tables. */
const required = ['id', 'timestamp']

function rowSchema(columns: Column[]): object {
  const own = required.filter(name => columns.some(column => column.name === name))
  const notNull = Object.fromEntries(own.map(name => [name, { not: { type: 'null' } }]))
  return { allOf: [{ required: own, properties: notNull }, schemaOf({ kind: 'STRUCT', fields: columns })] }
}

/** "Loading JSON data", "Data types": what a value of a type may be, where it is not a text. */
const scalars: Partial<Record<ScalarName, object>> = {
  BOOL: { type: ['boolean', 'string', 'null'], pattern: '^([Tt]rue|[Ff]alse)$' },
  FLOAT64: { type: ['number', 'string', 'null'], pattern: '^[-+]?[\\d.]+([eE][-+]?\\d+)?$' },
  INT64: { type: ['integer', 'string', 'null'], pattern: '^-?\\d{1,19}$' },
  JSON: {},
  TIMESTAMP: { type: ['number', 'string', 'null'], pattern: '^\\d{4}-\\d\\d-\\d\\d' },
}

function schemaOf(type: SqlType): object {
  if (type.kind === 'ARRAY') return { title: 'list', type: 'array', items: schemaOf(type.element) }
  if (type.kind !== 'STRUCT')
    return { title: type.kind.toLowerCase(), ...(scalars[type.kind] ?? { type: ['string', 'null'] }) }
  const properties = Object.fromEntries(type.fields.map(field => [field.name, schemaOf(field.type)]))
  return { title: 'record', type: ['object', 'null'], properties, additionalProperties: false }
}

/** Why a value does not fit, in BigQuery's words. */
function faultOf({ keyword, instancePath, params, parentSchema, data }: ErrorObject): string {
  const names = instancePath.split('/').filter(name => /\D/.test(name))
  const { title } = parentSchema as { title?: string }
  if (keyword === 'additionalProperties')
    return `No such field: ${[...names, params['additionalProperty']].join('.')}.`
  if (keyword === 'required' || keyword === 'not')
    return `Missing required field: ${String(params['missingProperty'] ?? names[0])}.`
  if (title === 'list')
    return `Only optional fields can be set to NULL. Field: ${names.join('.')}; Value: NULL`
  return `Could not convert value to ${title}. Field: ${names.join('.')}; Value: ${String(data)}`
}

function parsed(line: string, at: number): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw unreadable(at, 'Parser terminated before end of string')
  }
}

function unreadable(at: number, fault: string): BigQueryError {
  const message = `JSON parsing error in row ${at + 1}: ${fault}`
  return new BigQueryError('invalid', `Error while reading data, error message: ${message}`)
}

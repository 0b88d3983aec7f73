/** The Parquet files behind the tables: how many bytes a statement reads of them, and the rows of load jobs. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { logFiles } from '../../../shared/engines/duckdb/loads.ts'
import { duckType, quoteName, quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { nameKey } from '../../../shared/sql/relations.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'
import { BigQueryError } from './errors.ts'

export interface ServerTable {
  /** `project.dataset.table` */
  real: string
  logical: string
  columns: Column[]
  /** Of its Parquet files. */
  folder: string
  /** The tables whose rows it has, by real name: a view's is another one. */
  reads: string[]
  /** How it is partitioned by the time; `null` = it is not. */
  unit: PartitionUnit | null
}

/** Absolute paths of a table's Parquet files at the moment. */
function filesOf({ folder }: ServerTable): string[] {
  return existsSync(folder) ? logFiles(folder) : []
}

export class Files {
  private readonly connection = DuckDBInstance.create(':memory:').then(instance => instance.connect())

  async close(): Promise<void> {
    ;(await this.connection).closeSync()
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
    const texts = (all: string[]) => `[${all.map(quoteText).join(', ')}]`
    const files = tables.flatMap(filesOf)
    if (files.length === 0) return 0
    const read = await (
      await this.connection
    ).runAndReadAll(
      `SELECT coalesce(sum(num_values), 0)::DOUBLE FROM parquet_metadata(${texts(files)})
       WHERE ${nodes.some(({ kind }) => kind === 'SelectStar')}
         OR list_contains(${texts(named.map(nameKey))}::VARCHAR[], lower(split_part(path_in_schema, ', ', 1)))`,
    )
    return 8 * Number(read.getRows()[0]![0])
  }

  /**
   * Adds rows of newline-delimited JSON to a table: all, or none where one does not fit its columns.
   * @param name of the new file, in the folder of the table
   * @returns how many rows
   * @throws BigQueryError as a load job fails
   */
  async load({ columns, folder }: ServerTable, name: string, json: Buffer): Promise<number> {
    const lines = json
      .toString()
      .split('\n')
      .filter(line => line.trim() !== '')
    for (const [row, line] of lines.entries()) {
      const fault = faultIn(line, columns)
      if (fault !== null) throw unreadable(row + 1, fault)
    }
    mkdirSync(folder, { recursive: true })
    const [from, to] = ['json', 'tmp'].map(end => join(folder, `.${name}.${end}`)) as [string, string]
    writeFileSync(from, lines.join('\n'))
    const types = columns.map(column => `${quoteName(column.name)}: ${quoteText(duckType(column.type))}`)
    try {
      await (
        await this.connection
      ).run(
        `SET TimeZone = 'UTC'; COPY (SELECT * FROM read_json(${quoteText(from)}, format = 'newline_delimited',
          maximum_object_size = 100000000, columns = {${types.join(', ')}})) TO ${quoteText(to)} (FORMAT parquet)`,
      )
      renameSync(to, join(folder, `${name}.parquet`))
    } catch (error) {
      throw unreadable(1, String(error))
    } finally {
      for (const file of [from, to]) rmSync(file, { force: true })
    }
    return lines.length
  }
}

/** The columns that are REQUIRED in every log table of infra/tables. */
const required = ['id', 'timestamp']

/** Why a line is no row of a table, in BigQuery's words. */
function faultIn(line: string, columns: Column[]): string | null {
  try {
    const row = JSON.parse(line) as Record<string, unknown>
    const missing = columns.find(({ name }) => required.includes(name) && (row[name] ?? null) === null)
    if (missing) return `Missing required field: ${missing.name}.`
    return faultOf(row, { kind: 'STRUCT', fields: columns }, '')
  } catch {
    return 'Parser terminated before end of string'
  }
}

/** "Loading JSON data", "Data types": what a value of a type may be, where it is not every text. */
const scalars: Partial<Record<ScalarName, (value: unknown) => boolean>> = {
  BOOL: value => typeof value === 'boolean' || /^(true|false)$/i.test(String(value)),
  FLOAT64: value =>
    typeof value === 'number' || (typeof value === 'string' && Number.isFinite(Number(value))),
  INT64: value => Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,19}$/.test(value)),
  JSON: () => true,
  STRING: value => typeof value === 'string',
  TIMESTAMP: value => typeof value === 'number' || !Number.isNaN(Date.parse(String(value))),
}

function faultOf(value: unknown, type: SqlType, path: string): string | null {
  if (type.kind === 'ARRAY') {
    if (!Array.isArray(value)) return `Only optional fields can be set to NULL. Field: ${path}; Value: NULL`
    return first(value, each => faultOf(each, type.element, path))
  }
  if (type.kind === 'STRUCT') {
    if (typeof value !== 'object' || value === null) return `Expected an object. Field: ${path}`
    return first(Object.entries(value), ([name, item]) => {
      const field = type.fields.find(one => one.name?.toLowerCase() === name.toLowerCase())
      const own = path === '' ? name : `${path}.${name}`
      if (!field) return `No such field: ${own}.`
      return item === null && field.type.kind !== 'ARRAY' ? null : faultOf(item, field.type, own)
    })
  }
  const fits = scalars[type.kind]?.(value) ?? typeof value === 'string'
  return fits
    ? null
    : `Could not convert value to ${type.kind.toLowerCase()}. Field: ${path}; Value: ${String(value)}`
}

function first<T>(items: T[], find: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}

function unreadable(row: number, fault: string): BigQueryError {
  const message = `JSON parsing error in row ${row}: ${fault}`
  return new BigQueryError('invalid', `Error while reading data, error message: ${message}`)
}

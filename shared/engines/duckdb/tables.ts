/** The log tables: their schemas, their folders, and the views over the files that hold their rows at the moment of a run. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConfigError } from '../../config.ts'
import { engineError, isOutOfMemory } from './failures.ts'
import { logFiles } from './loads.ts'
import { duckType, quoteName, quoteText } from './syntax.ts'
import { EngineError } from '../engine.ts'
import { columnsOf, type FieldSchema, requestsTable } from '../schema.ts'
import { isDeepJson, tooDeep } from '../../nesting.ts'
import { packageFolder } from '../../package-folder.ts'
import type { Column } from '../../sql/types.ts'
import { writeWhole } from '../../data-folder.ts'

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

/**
 * Faults of log files and of their folders, which are the operator's: EngineError `failed`. The files of a load never
 * change, but people put files into the folders, and take them out.
 */
export class LogViews {
  private readonly connection: DuckDBConnection
  private readonly root: string
  private readonly tables: ReadonlyMap<string, Column[]>
  /** By table, what its folder held when its view was made. */
  private readonly seen = new Map<string, string>()
  /** Views are made one after the other: DuckDB refuses two writers of one. */
  private making: Promise<unknown> = Promise.resolve()

  constructor(connection: DuckDBConnection, logsFolder: string, tables: ReadonlyMap<string, Column[]>) {
    this.connection = connection
    this.root = resolve(logsFolder)
    this.tables = tables
  }

  /**
   * Lets these tables read the files that are there now.
   * @returns whether the files have changed
   * @throws EngineError `failed`
   */
  async refresh(names: string[]): Promise<boolean> {
    let changed = false
    for (const table of this.known(names)) {
      const content = contentOf(table, tableFolder(this.root, table))
      if (content === this.seen.get(table)) continue
      await this.make(table)
      this.seen.set(table, content)
      changed = true
    }
    return changed
  }

  /**
   * After an error that may come from files with other columns than the table's.
   * @throws EngineError `failed` where it does
   */
  async check(names: string[]): Promise<void> {
    for (const table of this.known(names)) {
      await this.make(table)
      const columns = this.tables.get(table)!
      const empty = columns.map(({ name, type }) => `CAST(NULL AS ${duckType(type)}) AS ${quoteName(name)}`)
      const [found, expected] = [quoteName(table), `SELECT ${empty.join(', ')}`].map(of => this.typesOf(of))
      if ((await found) !== (await expected)) throw fileError(table, 'have other columns than the table')
    }
  }

  close(): void {
    this.connection.closeSync()
  }

  private known(names: string[]): string[] {
    return names.filter(name => this.tables.has(name))
  }

  private async make(table: string): Promise<void> {
    const made = this.making.then(() => this.makeNow(table))
    this.making = made.catch(() => {})
    await made
  }

  private async makeNow(table: string): Promise<void> {
    // From the last to the first: loads are numbered in order of time, and once the first rows of a sorted query are found,
    // DuckDB leaves out the files whose rows would all stand behind them.
    const folder = tableFolder(this.root, table)
    const files = filesOf(table, folder).map(quoteText).reverse()
    const columns = this.tables.get(table)!
    const names = columns.map(({ name }) => quoteName(name))
    const loaded = `SELECT ${names.join(', ')} FROM read_parquet([${files.join(', ')}])`
    const lines = table === requestsTable ? rowsOfLines(folder, columns) : null
    const rows = lines === null ? loaded : `${loaded} UNION ALL ${lines}`
    try {
      await this.connection.run(`CREATE OR REPLACE VIEW ${quoteName(table)} AS ${rows}`)
    } catch (error) {
      if (isOutOfMemory(error)) throw error
      const known = engineError(error)
      throw known.reason === 'failed' ? known : fileError(table, 'have other columns than the table', error)
    }
  }

  private async typesOf(of: string): Promise<string> {
    const result = await this.connection.runAndReadAll(`SELECT column_type FROM (DESCRIBE ${of})`)
    return String(result.getRows())
  }
}

/** Records of loads and the files beside them never change under a name, so the names tell whether anything has. */
function contentOf(table: string, folder: string): string {
  try {
    return readdirSync(folder).sort().join('\n')
  } catch (cause) {
    throw fileError(table, 'are missing', cause)
  }
}

function filesOf(table: string, folder: string): string[] {
  let files: string[]
  try {
    files = logFiles(folder)
  } catch (cause) {
    throw cause instanceof EngineError ? cause : fileError(table, 'cannot be listed', cause)
  }
  if (files.length === 0) throw fileError(table, 'are missing')
  return files
}

function fileError(table: string, what: string, cause?: unknown): EngineError {
  return new EngineError('failed', `The log files of ${table} ${what}`, { cause })
}

/** What columns are called in a line, where it is not their name. */
const fields: Record<string, string> = { id: 'requestId', timestamp: 'time' }

/**
 * DuckDB SQL that selects the columns from the log's lines in the folder of `service.requests` (`shared/request-log.ts`);
 * `null` where there are none. Lines of something else than a request have no `how`, and neither has one that is cut short, at the end of a file that is being written.
 */
function rowsOfLines(folder: string, columns: Column[]): string | null {
  const files = readdirSync(folder).filter(name => name.endsWith('.ndjson'))
  if (files.length === 0) return null
  const fieldOf = ({ name }: Column) => fields[name] ?? name
  const types = columns.map(column => `${quoteName(fieldOf(column))}: ${quoteText(duckType(column.type))}`)
  const items = columns.map(column => `${quoteName(fieldOf(column))} AS ${quoteName(column.name)}`)
  const paths = files.sort().map(name => quoteText(join(folder, name)))
  const read = [
    `[${paths.join(', ')}]`,
    "format = 'newline_delimited'",
    'ignore_errors = true',
    `columns = {${types.join(', ')}}`,
  ]
  return `SELECT ${items.join(', ')} FROM read_json(${read.join(', ')}) WHERE "how" IS NOT NULL`
}

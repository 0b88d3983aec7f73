/** Log entries become Parquet files, on a stage where these wait until they move into their table (`publish.ts`). */
import { randomUUID } from 'node:crypto'
import { appendFileSync, closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { openDataFolder } from '../../../shared/data-folder.ts'
import { loadDuckDb } from '../../../shared/engines/duckdb/database.ts'
import { loadPrefix } from '../../../shared/engines/duckdb/loads.ts'
import { duckType, quoteName, quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import type { Column } from '../../../shared/sql/types.ts'
import type { LogEntry } from './entries.ts'
import { CommandError } from '../command.ts'

/** A file is sorted within, so with few rows in many files every query would open them all. */
export const rowsPerFile = 50_000
export const charactersPerFile = 256_000_000
/** Small enough for a query of an hour to skip most of a file, large enough to compress well. */
const rowsPerGroup = 16_384
/** Text gathered before it goes to the disk. */
const bufferedCharacters = 1_000_000
/** The dot sets it apart from the tables' folders. It is beside them because a rename cannot cross file systems. */
const stagePrefix = '.stage-'
const day = 86_400_000

export interface Folders {
  /** Of the tables; where rows are sent elsewhere, they wait here alone. */
  logsFolder: string
  tablesFolder: string
  /** Takes rows in place of the tables' folders. */
  send?: Send | undefined
}

export interface Sent {
  /** Finished ones of one table, with lines. */
  writers: ParquetWriter[]
  /** What the rows are made of. The same content is added once in the six months for which BigQuery remembers a job. */
  content: string
  /** Microseconds that are added to each row's timestamp. */
  shift?: bigint
  /** Ends the load for as long as rows are sent; there is no job then. */
  signal?: AbortSignal | undefined
}

/** Adds rows to their table. @returns `false` where the same content was added before */
export type Send = (sent: Sent) => Promise<boolean>

/**
 * The columns of a log table, from its schema file.
 * @throws CommandError that lists the tables there are
 */
export function tableColumns(tablesFolder: string, table: string): Column[] {
  const schemas = readTableSchemas(tablesFolder)
  const columns = schemas.get(table)
  if (columns) return columns
  const names = [...schemas.keys()].map(name => `\n  ${name}`)
  throw new CommandError(`There is no log table ${JSON.stringify(table)}. The tables are:${names.join('')}`)
}

/** Where rows wait as whole Parquet files until all of them move into their tables. */
export interface Stage {
  connection: DuckDBConnection
  logsFolder: string
  folder: string
}

/** Opens a stage, and removes it at the end or after an error; every table is then as it was before. */
export async function withStage<T>(logsFolder: string, act: (stage: Stage) => Promise<T>): Promise<T> {
  openDataFolder(dirname(logsFolder))
  mkdirSync(logsFolder, { recursive: true })
  // A killed process leaves its stage behind. No load takes a day, so an older one is abandoned.
  for (const name of readdirSync(logsFolder))
    if (name.startsWith(stagePrefix)) removeIfOld(join(logsFolder, name))
  const folder = mkdtempSync(join(logsFolder, stagePrefix))
  const { DuckDBInstance } = await loadDuckDb()
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: join(folder, 'spill') })
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    return await act({ connection, logsFolder, folder })
  } finally {
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
}

export function removeIfOld(folder: string): void {
  const made = statSync(folder, { throwIfNoEntry: false })
  if (made && made.mtimeMs < Date.now() - day) rmSync(folder, { recursive: true, force: true })
}

/**
 * Turns the entries of one table into Parquet files, sorted by timestamp, in a folder of the stage. They pass through
 * newline-delimited JSON, which DuckDB reads many times faster than JSON handed over as a value.
 */
export class ParquetWriter {
  readonly table: string
  readonly columns: Column[]
  readonly files: string[] = []
  /** Files with the same rows as JSON, where they are kept: one a line, the time at its end. */
  readonly lines: string[] = []
  rows = 0
  /** The times of the earliest and the latest row; empty without any. */
  first = ''
  last = ''
  readonly #stage: Stage
  readonly #types: string
  readonly #folder: string
  readonly #json: string
  readonly #keepsLines: boolean
  #text = ''
  #longest = 0
  /** Characters written since the last file. */
  #pending = 0

  constructor(stage: Stage, table: string, columns: Column[], keepsLines = false) {
    this.table = table
    this.#stage = stage
    this.#keepsLines = keepsLines
    this.columns = columns
    this.#types = columns
      .map(({ name, type }) => `${quoteName(name)}: ${quoteText(duckType(type))}`)
      .join(', ')
    this.#folder = mkdtempSync(join(stage.folder, 'rows-'))
    this.#json = join(this.#folder, 'rows.json')
  }

  async write(entry: LogEntry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`
    this.#text += line
    this.#longest = Math.max(this.#longest, line.length)
    if (this.rows === 0 || entry.timestamp < this.first) this.first = entry.timestamp
    if (entry.timestamp > this.last) this.last = entry.timestamp
    this.rows += 1
    this.#pending += line.length
    if (this.#text.length >= bufferedCharacters) this.#spill()
    if (this.rows % rowsPerFile === 0 || this.#pending >= charactersPerFile) await this.finish()
  }

  #spill(): void {
    appendFileSync(this.#json, this.#text)
    this.#text = ''
  }

  /** Turns the remaining rows into the last file. */
  async finish(): Promise<void> {
    if (this.#pending === 0) return
    this.#spill()
    const file = join(this.#folder, `${String(this.files.length + 1).padStart(4, '0')}.parquet`)
    // A character is at most three bytes of UTF-8 for each unit that `length` counts.
    const longest = Math.max(1_048_576, this.#longest * 3)
    await copySorted(
      this.#stage,
      `SELECT * FROM read_json(${quoteText(this.#json)}, format = 'newline_delimited',
        maximum_object_size = ${longest}, columns = {${this.#types}})`,
      file,
    )
    if (this.#keepsLines) {
      renameSync(this.#json, `${file}.json`)
      this.lines.push(`${file}.json`)
    } else rmSync(this.#json)
    this.files.push(file)
    this.#pending = 0
  }

  /** Adds this many microseconds to the timestamp of every row of the finished files. */
  async shift(micros: bigint): Promise<void> {
    const timestamp = `make_timestamptz(epoch_us(timestamp) + (${micros})) AS timestamp`
    for (const file of this.files) {
      const rows = `SELECT * REPLACE (${timestamp}) FROM read_parquet(${quoteText(file)})`
      await copySorted(this.#stage, rows, `${file}.shifted`)
      renameSync(`${file}.shifted`, file)
    }
  }

  /** Moves the finished files into a folder of their own in that of the table. @returns their paths in the table's */
  moveTo(tableFolder: string): string[] {
    const name = `${loadPrefix}${randomUUID()}`
    renameSync(this.#folder, join(tableFolder, name))
    return this.files.map(file => join(name, basename(file)))
  }
}

/** Returns when the file is on the disk. */
export async function copySorted({ connection }: Stage, query: string, file: string): Promise<void> {
  await connection.run(
    `COPY (${query} ORDER BY timestamp) TO ${quoteText(file)}
      (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup})`,
  )
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

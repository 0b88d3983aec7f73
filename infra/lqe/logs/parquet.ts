/** The log tables of this machine, a folder of Parquet files each, and the stage where new files wait. */
import { randomUUID } from 'node:crypto'
import { appendFileSync, closeSync, existsSync, fsyncSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { openDataFolder } from '../../../shared/data-folder.ts'
import { commitLoads, type LoadedSource, readLoads } from '../../../shared/engines/duckdb/loads.ts'
import { duckType, quoteName, quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { prepareTableFolder, readTableSchemas, tableFolder } from '../../../shared/engines/duckdb/tables.ts'
import type { Column } from '../../../shared/sql/types.ts'
import type { LogEntry } from './entries.ts'
import { LogsError } from './error.ts'

/** A file is sorted within, so with few rows in many files every query would open them all. */
const rowsPerFile = 50_000
const charactersPerFile = 256_000_000
/** Small enough for a query of an hour to skip most of a file, large enough to compress well. */
const rowsPerGroup = 16_384
/** Text gathered before it goes to the disk. */
const bufferedCharacters = 1_000_000
/** The dot sets it apart from the tables' folders. It is beside them because a rename cannot cross file systems. */
const stagePrefix = '.stage-'
/** Of the folder of a source's files, in its table's. */
const loadPrefix = 'load-'
const day = 86_400_000

export interface Folders {
  logsFolder: string
  tablesFolder: string
}

/**
 * The columns of a log table, from its schema file.
 * @throws LogsError that lists the tables there are
 */
export function tableColumns(tablesFolder: string, table: string): Column[] {
  const schemas = readTableSchemas(tablesFolder)
  const columns = schemas.get(table)
  if (columns) return columns
  const names = [...schemas.keys()].map(name => `\n  ${name}`)
  throw new LogsError(`There is no log table ${JSON.stringify(table)}. The tables are:${names.join('')}`)
}

/** Where rows wait as whole Parquet files until all of them move into their tables. */
interface Stage {
  connection: DuckDBConnection
  logsFolder: string
  folder: string
}

/** Opens a stage, and removes it at the end or after an error; every table is then as it was before. */
export async function withStage<T>(logsFolder: string, act: (stage: Stage) => Promise<T>): Promise<T> {
  openDataFolder(dirname(logsFolder))
  mkdirSync(logsFolder, { recursive: true })
  removeAbandoned(logsFolder)
  const folder = mkdtempSync(join(logsFolder, stagePrefix))
  const { DuckDBInstance } = await import('@duckdb/node-api')
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

/** A killed process leaves its stage behind. No load takes a day, so an older one is abandoned. */
function removeAbandoned(logsFolder: string): void {
  for (const name of readdirSync(logsFolder))
    if (name.startsWith(stagePrefix)) removeIfOld(join(logsFolder, name))
}

function removeIfOld(folder: string): void {
  const made = statSync(folder, { throwIfNoEntry: false })
  if (made && made.mtimeMs < Date.now() - day) rmSync(folder, { recursive: true, force: true })
}

/**
 * Turns the entries of one table into Parquet files, sorted by timestamp, in a folder of the stage. They pass through
 * newline-delimited JSON, which DuckDB reads many times faster than JSON handed over as a value.
 */
export class ParquetWriter {
  readonly table: string
  readonly files: string[] = []
  rows = 0
  readonly #stage: Stage
  readonly #columns: string
  readonly #folder: string
  readonly #json: string
  #text = ''
  #longest = 0
  /** Characters written since the last file. */
  #pending = 0

  constructor(stage: Stage, table: string, columns: Column[]) {
    this.table = table
    this.#stage = stage
    this.#columns = columns
      .map(({ name, type }) => `${quoteName(name)}: ${quoteText(duckType(type))}`)
      .join(', ')
    this.#folder = mkdtempSync(join(stage.folder, 'rows-'))
    this.#json = join(this.#folder, 'rows.json')
  }

  async write(entry: LogEntry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`
    this.#text += line
    this.#longest = Math.max(this.#longest, line.length)
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
        maximum_object_size = ${longest}, columns = {${this.#columns}})`,
      file,
    )
    rmSync(this.#json)
    this.files.push(file)
    this.#pending = 0
  }

  /** Moves the finished files into a folder of their own in that of the table. @returns their paths in the table's */
  moveTo(tableFolder: string): string[] {
    const name = `${loadPrefix}${randomUUID()}`
    renameSync(this.#folder, join(tableFolder, name))
    return this.files.map(file => join(name, basename(file)))
  }
}

/** Returns when the file is on the disk. */
async function copySorted({ connection }: Stage, query: string, file: string): Promise<void> {
  await connection.run(
    `COPY (${query} ORDER BY timestamp) TO ${quoteText(file)}
      (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup})`,
  )
  flush(file)
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** First and last timestamp of finished writers with rows, in microseconds since 1970. */
export async function timeRange({ connection }: Stage, writers: ParquetWriter[]): Promise<[bigint, bigint]> {
  const files = writers.flatMap(writer => writer.files.map(quoteText))
  const result = await connection.runAndReadAll(
    `SELECT epoch_us(min(timestamp)), epoch_us(max(timestamp)) FROM read_parquet([${files.join(', ')}])`,
  )
  return result.getRows()[0] as [bigint, bigint]
}

/** Adds this many microseconds to the timestamp of every row of a finished writer. */
export async function shiftTimes(stage: Stage, { files }: ParquetWriter, micros: bigint): Promise<void> {
  for (const file of files) {
    const shifted = `${file}.shifted`
    const timestamp = `make_timestamptz(epoch_us(timestamp) + (${micros})) AS timestamp`
    await copySorted(stage, `SELECT * REPLACE (${timestamp}) FROM read_parquet(${quoteText(file)})`, shifted)
    renameSync(shifted, file)
  }
}

/** A source on the stage. */
export interface NewSource extends Omit<LoadedSource, 'rows' | 'files'> {
  writer: ParquetWriter
}

/** What earlier loads brought to a table. */
export function sourcesOf(logsFolder: string, table: string): LoadedSource[] {
  const folder = tableFolder(logsFolder, table)
  return existsSync(folder) ? recordIn(folder).sources : []
}

/** @throws LogsError for a record that is none; loads write whole ones */
function recordIn(folder: string): ReturnType<typeof readLoads> {
  try {
    return readLoads(folder)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new LogsError(
      `The record of loads in ${folder} is damaged. Remove loads.*.json there, and load again.`,
    )
  }
}

/**
 * Adds sources to a table in one step, in place of earlier ones: their files go into its folder, where no query looks for
 * them, and then a record of loads that names them takes the place of the one before. Nothing slow is left to do: the files
 * are on the disk.
 * @param isReplaced whether an earlier source goes
 * @returns the sources that are gone
 */
export function publish(
  stage: Stage,
  table: string,
  added: NewSource[],
  isReplaced: (earlier: LoadedSource) => boolean,
): LoadedSource[] {
  const folder = tableFolder(stage.logsFolder, table)
  mkdirSync(folder, { recursive: true })
  const sources = added
    .filter(({ writer }) => writer.rows > 0)
    .map(({ writer, ...source }) => ({ ...source, rows: writer.rows, files: writer.moveTo(folder) }))
  const gone = replaceRecord(stage, folder, earlier => [
    ...earlier.filter(source => !isReplaced(source)),
    ...sources,
  ])
  removeUnnamed(folder)
  return gone
}

/** @returns the sources that the new record does not have */
function replaceRecord(
  stage: Stage,
  folder: string,
  change: (sources: LoadedSource[]) => LoadedSource[],
): LoadedSource[] {
  for (;;) {
    const before = recordIn(folder)
    const sources = change(before.sources)
    const gone = before.sources.filter(source => !sources.includes(source))
    const record = join(stage.folder, `${randomUUID()}.json`)
    writeFileSync(record, JSON.stringify({ sources, replaced: gone.flatMap(({ files }) => files) }))
    flush(record)
    // Otherwise another load was faster: this one is made again from its record.
    if (!commitLoads(folder, record, before.number)) continue
    removeFiles(folder, before.replaced)
    return gone
  }
}

/** Files that were replaced by the record before: a query that still reads them would have begun two loads ago. */
function removeFiles(folder: string, files: string[]): void {
  for (const name of foldersOf(files)) rmSync(join(folder, name), { recursive: true, force: true })
}

function foldersOf(files: string[]): Set<string> {
  return new Set(files.map(file => dirname(file)).filter(name => name.startsWith(loadPrefix)))
}

/** A killed load leaves files that no record names. */
function removeUnnamed(folder: string): void {
  const { sources, replaced } = recordIn(folder)
  const named = foldersOf([...sources.flatMap(({ files }) => files), ...replaced])
  for (const name of readdirSync(folder))
    if (name.startsWith(loadPrefix) && !named.has(name)) removeIfOld(join(folder, name))
}

/**
 * Removes a table's rows. The table stays, with an empty file, because a running service expects one.
 * @returns how many Parquet files were removed
 * @throws LogsError for an unknown table
 */
export async function clearLogs({
  logsFolder,
  tablesFolder,
  table,
}: Folders & { table: string }): Promise<number> {
  const columns = tableColumns(tablesFolder, table)
  const folder = tableFolder(logsFolder, table)
  return withStage(logsFolder, async stage => {
    const made = mkdtempSync(join(stage.folder, 'empty-'))
    await prepareTableFolder(stage.connection, made, columns)
    const [empty] = readdirSync(made) as [string]
    mkdirSync(folder, { recursive: true })
    renameSync(join(made, empty), join(folder, empty))
    const loaded = replaceRecord(stage, folder, () => []).flatMap(({ files }) => files)
    const full = readdirSync(folder).filter(file => file.endsWith('.parquet') && file !== empty)
    for (const file of full) rmSync(join(folder, file), { recursive: true })
    removeFiles(folder, loaded)
    return full.length + loaded.length
  })
}

/** Loading log files into a table, with a report of what could not be loaded. */
import { createHash } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Column } from '../../../shared/sql/types.ts'
import { edgeTable, parseCombined } from './combined.ts'
import { BadEntry, entryReader, type Json, type LogEntry, parseJson } from './entries.ts'
import { fromMicros } from '../../../shared/endpoints/timestamps.ts'
import { LogsError } from './error.ts'
import { type Line, longestLine, readLines } from './lines.ts'
import {
  type Folders,
  ParquetWriter,
  publish,
  shiftTimes,
  tableColumns,
  timeRange,
  withStage,
} from './parquet.ts'

export const formats = ['ndjson', 'combined'] as const
type Format = (typeof formats)[number]

export interface LoadOptions extends Folders {
  table: string
  /** Paths; `-` is standard input. Gzip is recognized by its first bytes. */
  files: string[]
  format?: Format
  /** For the combined format, which has neither: the entries' project and the host of their URLs. */
  project?: string
  host?: string
  /** Moves the newest entry of the load to `now`, and all others by as much. */
  shiftToNow?: boolean
  now?: Date
  /** Gets the report on the lines, in sentences. */
  out: (line: string) => void
  /** Called with the bytes read since the last call. */
  onBytes?: (count: number) => void
  signal?: AbortSignal
  stdin?: Readable
}

export interface Loaded {
  rows: number
  badLines: number
  /** Time of the first and last entry as loaded, ISO 8601 in UTC; `null` without any. */
  first: string | null
  last: string | null
}

/**
 * Loads log files into a table. Bad lines are reported to `out`, the rest is loaded; an error leaves the table as it
 * was. Loading a file again, with the same format, project and host, replaces its entries of the first time.
 * @throws LogsError naming the argument, before anything is touched, or the file that cannot be read to its end;
 *   the signal's reason
 */
export async function loadLogs(options: LoadOptions): Promise<Loaded> {
  const { table, shiftToNow, now = new Date(), signal } = options
  const columns = tableColumns(options.tablesFolder, table)
  const report = new LoadReport()
  const readLine = lineReader(options, columns, report)
  const files = [...new Set(options.files)]
  for (const file of files) checkFile(file)
  return withStage(options.logsFolder, async stage => {
    // Copies of one file have one name, and go in once.
    const batches = new Map<string, ParquetWriter>()
    for (const file of files) {
      const writer = new ParquetWriter(stage, table, columns)
      const name = await stageFile(file, options, writer, readLine)
      if (writer.rows > 0) batches.set(name, writer)
    }
    report.print(options.out)
    const writers = [...batches.values()]
    const { badLines } = report
    if (writers.length === 0) return { rows: 0, badLines, first: null, last: null }
    const [first, last] = await timeRange(stage, writers)
    const shift = shiftToNow ? BigInt(now.getTime()) * 1000n - last : 0n
    if (shift !== 0n) for (const writer of writers) await shiftTimes(stage, writer, shift)
    signal?.throwIfAborted()
    for (const [name, writer] of batches) publish(stage, name, writer)
    const rows = writers.reduce((sum, writer) => sum + writer.rows, 0)
    return { rows, badLines, first: fromMicros(first + shift), last: fromMicros(last + shift) }
  })
}

type LineReader = (file: string, line: Line) => LogEntry | null

/** @returns the batch's name, made of the file's content and of the options that decide how it is read */
async function stageFile(
  file: string,
  { format = 'ndjson', project, host, signal, stdin, onBytes }: LoadOptions,
  writer: ParquetWriter,
  readLine: LineReader,
): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([format, project, host]))
  const onText = (bytes: Buffer) => void hash.update(bytes)
  for await (const line of readLines({ file, stdin, signal, onBytes, onText })) {
    const entry = readLine(file, line)
    if (entry) await writer.write(entry)
  }
  await writer.finish()
  return `load-${hash.digest('hex').slice(0, 16)}`
}

/** Turns a line into an entry, or into a sentence of the report and `null`. Blank lines are skipped. */
function lineReader(options: LoadOptions, columns: Column[], report: LoadReport): LineReader {
  const parse = lineParser(options)
  const read = entryReader(columns, field => report.unknown(field))
  return (file, line) => {
    try {
      if (line.text === null) throw new BadEntry(`longer than ${longestLine} bytes`)
      if (!line.utf8) report.notUtf8 += 1
      return line.text.trim() === '' ? null : read(parse(line.text), line.number)
    } catch (error) {
      if (!(error instanceof BadEntry)) throw error
      report.bad(file, line.number, error.message)
      return null
    }
  }
}

function lineParser({ format = 'ndjson', table, project, host }: LoadOptions): (line: string) => Json {
  if (format === 'ndjson') {
    if (project === undefined && host === undefined) return parseJson
    throw new LogsError(
      '--project and --host are for --format combined; NDJSON names the project in each line',
    )
  }
  if (table !== edgeTable)
    throw new LogsError(`--format combined holds web requests: load it into ${edgeTable}, not ${table}`)
  if (!project)
    throw new LogsError('--format combined needs --project: the project that the requests belong to')
  if (!host || !/^[^\s/?#@]+$/.test(host))
    throw new LogsError('--format combined needs --host: the requested host, such as www.example.com')
  return line => parseCombined(line, { project, host })
}

function checkFile(file: string): void {
  if (file === '-') return
  const stats = statSync(file, { throwIfNoEntry: false })
  const named = JSON.stringify(file)
  if (!stats) throw new LogsError(`There is no file ${named}. Name log files, or - for standard input.`)
  if (stats.isDirectory()) throw new LogsError(`${named} is a folder. Name the log files in it.`)
  try {
    accessSync(file, constants.R_OK)
  } catch {
    throw new LogsError(`${named} cannot be read. Check who may read it.`)
  }
}

/** More bad lines or unknown fields than these are only counted. */
const shown = 20
/** Names come from the data, so their number has to be bounded. */
const keptNames = 1000

/** Bad lines, fields that the table lacks, and bytes that are not UTF-8, for the operator. */
class LoadReport {
  badLines = 0
  notUtf8 = 0
  readonly #lines: string[] = []
  readonly #unknown = new Map<string, number>()

  bad(file: string, line: number, reason: string): void {
    this.badLines += 1
    if (this.#lines.length < shown) this.#lines.push(`${file}:${line}: ${reason}`)
  }

  unknown(field: string): void {
    const count = this.#unknown.get(field) ?? 0
    if (count > 0 || this.#unknown.size < keptNames) this.#unknown.set(field, count + 1)
  }

  print(out: (line: string) => void): void {
    for (const line of this.#lines) out(printable(line))
    if (this.badLines > shown) out(`... and ${this.badLines - shown} more`)
    const names = [...this.#unknown].slice(0, shown)
    for (const [name, count] of names)
      out(printable(`left out: ${name}, unknown to the table; lines: ${count}`))
    if (this.#unknown.size > shown) out(`... and ${this.#unknown.size - shown} more unknown fields`)
    if (this.notUtf8 > 0) out(`bytes that are not UTF-8 became U+FFFD; lines: ${this.notUtf8}`)
  }
}

/** Log lines may hold control sequences of a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\ufffd')
}

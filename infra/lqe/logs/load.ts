/** Loading log files into a table, with a report of what could not be loaded. */
import { realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { createHash, type Hash } from 'node:crypto'
import type { LoadedSource } from '../../../shared/engines/duckdb/loads.ts'
import { fromMicros, toMicros } from '../../../shared/endpoints/timestamps.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { readCsv } from './csv.ts'
import { BadEntry, entryReader, hasProject, type LogEntry, projectField } from './entries.ts'
import { faultOf } from '../path.ts'
import { CommandError } from '../command.ts'
import { type FormatOptions, lineParser, otherFormat } from './formats.ts'
import { type Line, longestLine, readLines } from './lines.ts'
import { type Folders, ParquetWriter, type Send, type Stage, tableColumns, withStage } from './parquet.ts'
import { publish, sourcesOf } from './publish.ts'

export interface LoadOptions extends Folders, Omit<FormatOptions, 'columns'> {
  /** The field with an entry's time, where its name is not one of those that are known. */
  time?: string
  /** Paths; `-` is standard input. Gzip is recognized by its first bytes. */
  files: string[]
  /** Moves the newest entry of the load to `now`, and all others by as much. */
  shiftToNow?: boolean
  now?: Date
  /** Reads and checks the files, and loads nothing. */
  dryRun?: boolean
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
  /** Fields that the table lacks, which are left out. */
  unknownFields: number
  /** Rows without the field that names their project: no endpoint that asks for a project finds them. */
  withoutProject: number
  /** Time of the first and last entry as loaded, ISO 8601 in UTC; `null` without any. */
  first: string | null
  last: string | null
}

/**
 * Loads log files into a table, in one step: a query sees all of them or none. Bad lines are reported to `out`, the rest is
 * loaded; an error leaves the table as it was. What the same path brought before, with the same format, project and host,
 * is replaced, and so is what a file brought that this one begins with: it has grown, or has another name now. Where rows
 * are sent elsewhere, they are added, and the same files once.
 * @throws CommandError naming the argument, before anything is touched, or the file that cannot be read to its end, or is
 *   in another format; the signal's reason
 */
export async function loadLogs(options: LoadOptions): Promise<Loaded> {
  const { logsFolder, table, shiftToNow, now = new Date(), signal, send, dryRun, out } = options
  const columns = tableColumns(options.tablesFolder, table)
  const report = new LoadReport()
  const readLine = lineReader({ ...options, columns }, report)
  const files = [...new Set(options.files)]
  for (const file of files) checkFile(file)
  const earlier = send ? [] : sourcesOf(logsFolder, table)
  return withStage(logsFolder, async stage => {
    // Copies of one file have one content, and go in once.
    const contents = new Map<string, StagedFile>()
    for (const file of files) {
      const writer = new ParquetWriter(stage, table, columns, send !== undefined)
      const staged = await stageFile(file, { ...options, columns }, writer, readLine, earlier)
      if (staged.writer.rows > 0) contents.set(staged.content.hash, staged)
    }
    report.print(out)
    const staged = [...contents.values()]
    const { badLines, unknownFields, withoutProject } = report
    const counts = { badLines, unknownFields, withoutProject }
    if (staged.length === 0) return { rows: 0, ...counts, first: null, last: null }
    const writers = staged.map(({ writer }) => writer)
    const times = writers.flatMap(({ first, last }) => [first, last]).toSorted()
    const [first, last] = [toMicros(times[0]!), toMicros(times.at(-1)!)]
    const shift = shiftToNow ? BigInt(now.getTime()) * 1000n - last : 0n
    signal?.throwIfAborted()
    if (send && !dryRun) await sendStaged(send, staged, shift, options)
    else if (!dryRun) await publishStaged(stage, staged, shift, options)
    const rows = writers.reduce((sum, writer) => sum + writer.rows, 0)
    return { rows, ...counts, first: fromMicros(first + shift), last: fromMicros(last + shift) }
  })
}

interface StagedFile {
  source: string
  options: string
  content: Content
  writer: ParquetWriter
}

type WithColumns = LoadOptions & { columns: Column[] }

type LineReader = (file: string, line: Line) => LogEntry | null

async function stageFile(
  file: string,
  { table, columns, format = 'ndjson', project, host, time, signal, stdin, onBytes }: WithColumns,
  writer: ParquetWriter,
  readLine: LineReader,
  earlier: LoadedSource[],
): Promise<StagedFile> {
  // Without a time, as in records of before there was one.
  const options = JSON.stringify([format, project, host, ...(time === undefined ? [] : [time])])
  const lengths = earlier.map(({ bytes }) => bytes)
  const content = new Content(options, lengths)
  const onText = (bytes: Buffer) => content.add(bytes)
  let begun = false
  const readFile = format === 'csv' ? readCsv : readLines
  for await (const line of readFile({ file, stdin, signal, onBytes, onText })) {
    const hint = begun ? null : otherFormat(file, line.text?.trim() ?? '', { format, table, columns })
    if (hint !== null) throw new CommandError(`${hint}. Nothing was loaded.`)
    begun ||= line.text?.trim() !== ''
    const entry = readLine(file, line)
    if (entry) await writer.write(entry)
  }
  await writer.finish()
  return { source: file === '-' ? file : realpathSync(file), options, content, writer }
}

async function publishStaged(stage: Stage, staged: StagedFile[], shift: bigint, options: LoadOptions) {
  const writers = staged.map(({ writer }) => writer)
  if (shift !== 0n) for (const writer of writers) await writer.shift(shift)
  options.signal?.throwIfAborted()
  const added = staged.map(({ content: { bytes, hash }, ...file }) => ({ ...file, bytes, hash }))
  const isReplaced = (before: LoadedSource) => staged.some(file => replaces(file, before))
  const gone = await publish(stage, writers[0]!, added, isReplaced)
  for (const before of gone) options.out(whyGone(before, staged))
}

/** Files whose times are shifted are others on another day. */
async function sendStaged(send: Send, staged: StagedFile[], shift: bigint, options: LoadOptions) {
  const { table, now = new Date(), signal, out } = options
  const day = shift === 0n ? '' : now.toISOString().slice(0, 10)
  const content = [...staged.map(each => each.content.hash), day].sort().join(' ')
  const isNew = await send({ writers: staged.map(({ writer }) => writer), content, shift, signal })
  if (!isNew) out(`${table}: an earlier load has brought these rows; they are there once`)
}

function replaces({ source, options, content }: StagedFile, before: LoadedSource): boolean {
  if (content.beginsWith(before)) return true
  return before.source === source && before.options === options && source !== '-'
}

/** Of a source that is gone, why. A file that does not begin with what it held may be a new one under the old name. */
function whyGone(before: LoadedSource, staged: StagedFile[]): string {
  const { source, rows } = before
  const by =
    staged.find(({ content }) => content.beginsWith(before)) ?? staged.find(file => replaces(file, before))
  if (by?.source !== source) return `${by?.source}: replaces the rows that ${source} brought: ${rows}`
  const again = `${source}: replaces the rows that it brought before: ${rows}`
  if (by.content.beginsWith(before)) return again
  return `${again}. It has other content now; if that was rotated away, load the older file under its new name`
}

/** Turns a line into an entry, or into a sentence of the report and `null`. Blank lines are skipped. */
function lineReader(options: WithColumns, report: LoadReport): LineReader {
  const { columns, time = null } = options
  const parse = lineParser(options)
  const read = entryReader(columns, field => report.unknown(field), time)
  const field = projectField(columns)
  return (file, line) => {
    try {
      if (line.text === null) throw new BadEntry(`longer than ${longestLine} bytes; is it one JSON array?`)
      if (!line.utf8) report.notUtf8 += 1
      if (line.text.trim() === '') return null
      const entry = read(parse(line.text), line.number)
      if (field !== null && !hasProject(entry, field)) report.lacking(field)
      return entry
    } catch (error) {
      if (!(error instanceof BadEntry)) throw error
      report.bad(file, line.number, error)
      return null
    }
  }
}

/** @throws CommandError for a path that is no file which may be read */
export function checkFile(file: string): void {
  const fault = faultOf(file, 'pipe it in, cat FILE | ... logs load -')
  if (fault !== null) throw new CommandError(`${JSON.stringify(file)} ${fault}`)
}

// ---- the report

/** More bad lines or unknown fields than these are only counted. */
const shown = 20
/** Names come from the data, so their number has to be bounded. */
const keptNames = 1000

/** What could not be loaded as it is, for the operator. */
class LoadReport {
  badLines = 0
  withoutProject = 0
  notUtf8 = 0
  readonly #lines: string[] = []
  /** By field, the lines that are left out for the lack of it. */
  readonly #missing = new Map<string, number>()
  readonly #unknown = new Map<string, number>()
  #projectField = ''

  get unknownFields(): number {
    return this.#unknown.size
  }

  bad(file: string, line: number, { message, missing }: BadEntry): void {
    this.badLines += 1
    if (missing !== null) this.#missing.set(missing, (this.#missing.get(missing) ?? 0) + 1)
    if (this.#lines.length < shown) this.#lines.push(`${file}:${line}: ${message}`)
  }

  /** A row that is loaded without its project. */
  lacking(field: string): void {
    this.withoutProject += 1
    this.#projectField = field
  }

  unknown(field: string): void {
    const count = this.#unknown.get(field) ?? 0
    if (count > 0 || this.#unknown.size < keptNames) this.#unknown.set(field, count + 1)
  }

  print(out: (line: string) => void): void {
    for (const line of this.#lines) out(line)
    if (this.badLines > shown) out(`... and ${this.badLines - shown} more`)
    for (const [field, count] of this.#missing) out(`left out, as they have no ${field}; lines: ${count}`)
    const names = [...this.#unknown].slice(0, shown)
    for (const [name, count] of names) out(`left out: ${name}, unknown to the table; lines: ${count}`)
    if (this.#unknown.size > shown) out(`... and ${this.#unknown.size - shown} more unknown fields`)
    if (this.withoutProject > 0)
      out(
        `without ${this.#projectField}, so that an endpoint such as logs.all does not find them; rows: ${this.withoutProject}`,
      )
    if (this.notUtf8 > 0) out(`bytes that are not UTF-8 became U+FFFD; lines: ${this.notUtf8}`)
  }
}

// ---- what was loaded before

/** The length and the hash of a content that is read piece by piece, and of its beginnings of some lengths. */
class Content {
  /** Bytes so far. */
  bytes = 0
  readonly #hash: Hash
  /** Lengths to come, the next one last. */
  readonly #lengths: number[]
  readonly #beginnings = new Map<number, string>()

  /** @param options what else decides which entries are read; contents of other options are others */
  constructor(options: string, lengths: number[]) {
    this.#hash = createHash('sha256').update(options)
    this.#lengths = [...new Set(lengths)].sort((a, b) => b - a)
  }

  add(piece: Buffer): void {
    let from = 0
    for (let next = this.#lengths.at(-1); next !== undefined; next = this.#lengths.at(-1)) {
      if (next > this.bytes + piece.length) break
      this.#hash.update(piece.subarray(from, next - this.bytes))
      from = next - this.bytes
      this.#beginnings.set(next, this.hash)
      this.#lengths.pop()
    }
    this.#hash.update(piece.subarray(from))
    this.bytes += piece.length
  }

  /** Of all so far. */
  get hash(): string {
    return this.#hash.copy().digest('hex')
  }

  beginsWith({ bytes, hash }: { bytes: number; hash: string }): boolean {
    return this.#beginnings.get(bytes) === hash
  }
}

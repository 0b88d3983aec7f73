import { createHash } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Column } from '../../../shared/sql/types.ts'
import { parseCombined } from './combined.ts'
import { edgeTable } from './edge.ts'
import { entryReader, type Json, type LogEntry } from './entries.ts'
import { BadEntry, LogsError } from './error.ts'
import { parseJson } from './json.ts'
import { type Line, longestLine, readLines } from './lines.ts'
import type { ParquetWriter } from './parquet.ts'
import { LoadReport } from './report.ts'
import { type Batch, type Stage, withStage } from './stage.ts'
import { tableColumns } from './tables.ts'
import { fromMicros, toMicros } from './timestamp.ts'

export const formats = ['ndjson', 'combined'] as const
export type Format = (typeof formats)[number]

export interface LoadOptions {
  logsFolder: string
  tablesFolder: string
  table: string
  /** Paths; `-` is standard input. Gzip is told by its first bytes. */
  files: string[]
  format?: Format
  /** For the combined format, which says neither: the entries' project and the host of their URLs. */
  project?: string
  host?: string
  /** Moves the newest entry of the load to `now`, and all others by as much. */
  shiftToNow?: boolean
  now?: Date
  /** Gets what there is to say about the lines, in sentences. */
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
 * Loads log files into a table. Bad lines are reported to `out`, the rest is loaded; whatever ends the load early
 * leaves the table as it was. Loading a file again, with the same format, project and host, puts its entries in the
 * place of those of the first time.
 * @throws LogsError naming the argument, before anything is touched, or the file that cannot be read to its end;
 *   the signal's reason
 */
export async function loadLogs(options: LoadOptions): Promise<Loaded> {
  const columns = tableColumns(options.tablesFolder, options.table)
  const report = new LoadReport()
  const readLine = lineReader(options, columns, report)
  const files = [...new Set(options.files)]
  for (const file of files) checkFile(file)
  return withStage(options.logsFolder, async stage => {
    const sources: Source[] = []
    for (const file of files)
      sources.push(await stageFile(file, options, stage.writer(options.table, columns), readLine))
    report.print(options.out)
    return publish(stage, sources, report.badLines, options)
  })
}

/** A file whose entries are staged. */
interface Source extends Batch {
  first: string | null
  last: string | null
}

type LineReader = (file: string, line: Line) => LogEntry | null

async function stageFile(
  file: string,
  { format = 'ndjson', project, host, signal, stdin, onBytes }: LoadOptions,
  writer: ParquetWriter,
  readLine: LineReader,
): Promise<Source> {
  const hash = createHash('sha256').update(JSON.stringify([format, project, host]))
  const onText = (bytes: Buffer) => void hash.update(bytes)
  let first: string | null = null
  let last: string | null = null
  for await (const line of readLines({ file, stdin, signal, onBytes, onText })) {
    const entry = readLine(file, line)
    if (!entry) continue
    if (first === null || entry.timestamp < first) first = entry.timestamp
    if (last === null || entry.timestamp > last) last = entry.timestamp
    await writer.write(entry)
  }
  await writer.finish()
  return { name: `load-${hash.digest('hex').slice(0, 16)}`, writer, first, last }
}

/** Moves in what was staged, at its own times or, where asked, moved to end now. */
async function publish(
  stage: Stage,
  sources: Source[],
  badLines: number,
  { shiftToNow, now = new Date(), signal }: LoadOptions,
): Promise<Loaded> {
  // Copies of one file have one name, and go in once.
  const batches = [...new Map(sources.map(source => [source.name, source])).values()].filter(
    ({ writer }) => writer.rows > 0,
  )
  const rows = batches.reduce((sum, { writer }) => sum + writer.rows, 0)
  const times = batches.flatMap(({ first, last }) => [first!, last!]).sort()
  const [first, last] = [times[0] ?? null, times.at(-1) ?? null]
  const shift = shiftToNow && last !== null ? BigInt(now.getTime()) * 1000n - toMicros(last) : 0n
  if (shift !== 0n) for (const { writer } of batches) await stage.shift(writer, shift)
  signal?.throwIfAborted()
  stage.publish(batches)
  const moved = (time: string | null) => time && fromMicros(toMicros(time) + shift)
  return { rows, badLines, first: moved(first), last: moved(last) }
}

/** Turns a line into an entry, or into a sentence of the report and `null`. Blank lines are nothing. */
function lineReader(options: LoadOptions, columns: Column[], report: LoadReport): LineReader {
  const parse = lineParser(options)
  const read = entryReader(columns, field => report.unknown(field))
  return (file, line) => {
    try {
      if (line.text === null) throw new BadEntry(`longer than ${longestLine} bytes`)
      if (!line.utf8) report.notUtf8()
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
    if (project !== undefined || host !== undefined)
      throw new LogsError(
        '--project and --host are for --format combined; NDJSON names the project in each line',
      )
    return parseJson
  }
  if (table !== edgeTable)
    throw new LogsError(`--format combined holds web requests: load it into ${edgeTable}, not ${table}`)
  if (!project)
    throw new LogsError('--format combined needs --project: the project that the requests belong to')
  if (!host || !/^[^\s/?#@]+$/.test(host))
    throw new LogsError('--format combined needs --host: the host that was asked, such as www.example.com')
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

/** CSV files with a line of names at the top, read by DuckDB: also with ; or a tab between values, and with gzip. */
import { closeSync, openSync, readSync } from 'node:fs'
import { quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { BadEntry, columnFinder, type Json } from './entries.ts'
import { LogsError } from './error.ts'
import { type Line, longestLine } from './lines.ts'

/** The name of a file of CSV: `.csv` or `.tsv`, packed or not. */
export function isNamedCsv(file: string): boolean {
  return /\.[ct]sv(\.gz)?$/i.test(file)
}

/**
 * The rows of a file, each as JSON in which every value is a text, or `null` where there is none. A row that is none is a
 * JSON text: why not. They come last.
 * @throws LogsError for a file that is no CSV; the signal's reason
 */
export async function* readCsv(file: string, signal?: AbortSignal): AsyncGenerator<Line> {
  if (file === '-') throw new LogsError('CSV is read from a file that has a name, not from -')
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const compression = isGzip(file) ? 'gzip' : 'none'
  const options = `header = true, all_varchar = true, store_rejects = true, max_line_size = ${longestLine}`
  try {
    const from = `read_csv(${quoteText(file)}, ${options}, compression = '${compression}')`
    const rows = await connection.stream(`SELECT to_json(r) FROM ${from} AS r`)
    let number = 1 // the line of names
    for await (const chunk of rows.yieldRows())
      for (const [text] of chunk) {
        signal?.throwIfAborted()
        yield { number: ++number, text: String(text), utf8: true }
      }
    const bad = await connection.runAndReadAll(
      'SELECT line, MIN(error_message) FROM reject_errors GROUP BY line ORDER BY line',
    )
    for (const [line, why] of bad.getRows())
      yield { number: Number(line), text: JSON.stringify(why), utf8: true }
  } catch (error) {
    signal?.throwIfAborted()
    throw new LogsError(`${file}: ${(error as Error).message.split('\n')[0]}`)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Begins with gzip's magic number, 1f 8b (RFC 1952). */
function isGzip(file: string): boolean {
  const [descriptor, head] = [openSync(file, 'r'), Buffer.alloc(2)]
  readSync(descriptor, head)
  closeSync(descriptor)
  return head[0] === 0x1f && head[1] === 0x8b
}

type Texts = { [name: string]: string | null }

/** @throws BadEntry for a row that is none */
function textsIn(line: string): Texts {
  const row = JSON.parse(line) as Texts | string
  if (typeof row === 'string') throw new BadEntry(row)
  return row
}

/** A row with each text as what it may be, to guess a column's type from. `007` is no number: it would lose its zeros. */
export function guessedRow(line: string): { [name: string]: Json } {
  return Object.fromEntries(Object.entries(textsIn(line)).map(([name, text]) => [name, guessed(text)]))
}

function guessed(text: string | null): Json {
  if (text === null) return null
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (/^-?(0|[1-9]\d{0,18})$/.test(text)) return BigInt(text)
  return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text
}

/** Reads a row for a table with these columns: numbers with a point, and true or false, are texts in CSV. */
export function rowParser(columns: Column[]): (line: string) => Json {
  const kinds = new Map(columns.map(({ name, type }) => [name, type.kind]))
  const columnOf = columnFinder(kinds.keys())
  const typed = (name: string, text: string | null) =>
    ['FLOAT64', 'BOOL'].includes(kinds.get(columnOf(name) ?? '') ?? '') ? guessed(text) : text
  return line =>
    Object.fromEntries(Object.entries(textsIn(line)).map(([name, text]) => [name, typed(name, text)]))
}

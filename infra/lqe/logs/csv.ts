/** CSV files (RFC 4180) with a line of names at the top: also with ;, a tab or | between values. */
import type { Column } from '../../../shared/sql/types.ts'
import { BadEntry, columnFinder, type Json } from './entries.ts'
import { CommandError } from '../command.ts'
import { type Line, longestLine, readLines, type Source } from './lines.ts'

/** The name of a file of CSV: `.csv` or `.tsv`, packed or not. */
export function isNamedCsv(file: string): boolean {
  return /\.[ct]sv(\.gz)?$/i.test(file)
}

const delimiters = [',', ';', '\t', '|']

/**
 * The rows of a file, each as JSON in which every value is a text, or `null` where there is none. A row that is none is a
 * JSON text: why not. The line of names is a blank one.
 * @throws CommandError for a file whose line of names cannot be read; as `readLines`
 */
export async function* readCsv(source: Source): AsyncGenerator<Line> {
  const lines = csvLines(source)
  const head = await readHead(lines)
  if (head === null) return
  const { number, utf8 } = head.lines[0]!
  if (head.fault !== null)
    throw new CommandError(
      `${source.file}:${number}: the line of names has ${head.fault}. Nothing was loaded.`,
    )
  yield { number, text: '', utf8 }
  const names = distinct(head.values.map((name, i) => name.trim() || `column${i}`))
  const begun: { record: CsvRecord | null } = { record: null }
  const add = function* (line: Line): Generator<Line> {
    if (begun.record === null && isBlank(line)) return
    begun.record = (begun.record ?? new CsvRecord(head.delimiter)).add(line)
    if (!begun.record.isOpen) yield* end(begun.record)
  }
  // Where a record is bad, a quote too many or too few may have made its lines one: each of the others is read by itself,
  // and the last one may begin another record.
  const end = function* (record: CsvRecord): Generator<Line> {
    begun.record = null
    const row = rowOf(record, names)
    yield row
    if (record.lines.length === 1 || row.text!.startsWith('{')) return
    for (const line of record.lines.slice(1, -1))
      if (!isBlank(line)) yield rowOf(new CsvRecord(head.delimiter).add(line), names)
    yield* add(record.lines.at(-1)!)
  }
  for await (const line of lines) for (const row of add(line)) yield row
  while (begun.record) for (const row of end(begun.record)) yield row
}

/** The lines of a file. CR alone ends one, too, as in files of old Macs. */
async function* csvLines(source: Source): AsyncGenerator<Line> {
  for await (const line of readLines(source)) {
    if (!line.text?.includes('\r')) yield line
    else
      for (const [i, text] of line.text.split('\r').entries())
        yield { ...line, number: line.number + i, text }
  }
}

/** The first record; `null` of an empty file. Its delimiter is the one by which its first line has most values. */
async function readHead(lines: AsyncGenerator<Line>): Promise<CsvRecord | null> {
  let record: CsvRecord | null = null
  while (record === null || record.isOpen) {
    const { value: line, done } = await lines.next()
    if (done) break
    if (record !== null) record.add(line)
    else if (!isBlank(line)) record = widest(line)
  }
  return record
}

function widest(line: Line): CsvRecord {
  const read = delimiters.map(delimiter => new CsvRecord(delimiter).add(line))
  return read.reduce((most, each) => (each.values.length > most.values.length ? each : most))
}

function isBlank({ text }: Line): boolean {
  return text?.trim() === ''
}

/** One record as RFC 4180 has it, which is read line by line. A quote within a value that is not quoted is a part of it. */
class CsvRecord {
  readonly delimiter: string
  readonly lines: Line[] = []
  readonly values: string[] = []
  /** What a quoted value holds so far. */
  #quoted: string | null = null
  /** With a line end between lines. */
  #length = -1
  #fault: string | null = null

  constructor(delimiter: string) {
    this.delimiter = delimiter
  }

  /** Whether it goes on in the next line. */
  get isOpen(): boolean {
    return this.#fault === null && this.#quoted !== null
  }

  get fault(): string | null {
    return this.#fault ?? (this.#quoted === null ? null : 'a quoted value without its closing quote')
  }

  add(line: Line): this {
    this.lines.push(line)
    this.#length += 1 + (line.text?.length ?? Infinity)
    if (this.#length > longestLine) this.#fault = `more than ${longestLine} bytes`
    else this.#read(line.text!)
    return this
  }

  #read(text: string): void {
    for (let at = 0; at <= text.length; at += 1) {
      const start = this.#quoted === null ? afterBlanks(text, at) : at
      if (this.#quoted === null && text[start] !== '"') {
        const end = text.indexOf(this.delimiter, at)
        this.values.push(text.slice(at, (at = end < 0 ? text.length : end)))
        continue
      }
      const from = this.#quoted === null ? start + 1 : at
      const end = closingQuote(text, from)
      this.#quoted = (this.#quoted ?? '') + (end < 0 ? `${text.slice(from)}\n` : text.slice(from, end))
      if (end < 0) return
      this.values.push(this.#quoted.replaceAll('""', '"'))
      this.#quoted = null
      at = afterBlanks(text, end + 1)
      if (at < text.length && text[at] !== this.delimiter) {
        this.#fault = 'text after a closing quote; a quote in a quoted value is written ""'
        return
      }
    }
  }
}

function afterBlanks(text: string, at: number): number {
  while (text[at] === ' ') at += 1
  return at
}

/** @returns -1 where there is none */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at
}

function rowOf({ lines, values, fault }: CsvRecord, names: string[]): Line {
  const utf8 = lines.every(line => line.utf8)
  const isWhole = values.length >= names.length && values.slice(names.length).every(text => text === '')
  const why = fault ?? (isWhole ? null : `values: ${values.length}, names: ${names.length}`)
  const row = why ?? Object.fromEntries(names.map((name, i) => [name, values[i] || null]))
  return { number: lines[0]!.number, text: JSON.stringify(row), utf8 }
}

/** Of equal names, the later ones get a number. */
function distinct(names: string[]): string[] {
  const taken = new Set(names)
  const seen = new Set<string>()
  return names.map(name => {
    let own = name
    for (let i = 1; seen.has(own) || (own !== name && taken.has(own)); i++) own = `${name}_${i}`
    seen.add(own)
    return own
  })
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

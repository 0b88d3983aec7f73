/** Log entries: a line of JSON, and a JSON object as a row of a table. */
import type { Column, ScalarName, SqlType, StructField } from '../../../shared/sql/types.ts'
import { sha256 } from '../../../shared/key-text.ts'
import { isDeepJson, tooDeep } from '../../../shared/nesting.ts'
import { beginning } from '../../../shared/visible-text.ts'
import { CommandError } from '../command.ts'
import { entryTimestamp } from './times.ts'

/** Why one entry cannot be loaded; the others are. */
export class BadEntry extends Error {
  override readonly name = 'BadEntry'
  /** The field that it needs and lacks. */
  readonly missing: string | null

  constructor(message: string, missing: string | null = null) {
    super(message)
    this.missing = missing
  }
}

/** A JSON value as it is read: an integer that a double cannot hold is a bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json }

/**
 * Reads one line of newline-delimited JSON. Integers of up to 64 bits keep all their digits.
 * @throws BadEntry
 */
export function parseJson(line: string): Json {
  if (isDeepJson(line)) throw new BadEntry(`the entry ${tooDeep}`)
  try {
    // An integer past 2^53 may be in the line: only then is the slower reading worth its time.
    return JSON.parse(line, /\d{16}/.test(line) ? keepDigits : undefined) as Json
  } catch (error) {
    throw new BadEntry(`not JSON: ${(error as Error).message}`)
  }
}

function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d{1,20}$/.test(source) ? BigInt(source) : value
}

/** A row of a log table, ready to be written: every field has its column's type, unknown fields are left out, and the time is last. */
export interface LogEntry {
  id: string
  /** UTC, `2026-01-31T12:00:00.000000Z`. */
  timestamp: string
  event_message?: string
  /** Every object in it is a list of one, as in the table's schema. */
  metadata?: Json[]
  project?: string
}

/** Gives a value its column's type; throws BadEntry. */
type Reader = (value: Json) => Json

/** By type, the values in words, and what reads one: `null` where it is not of the type. */
const scalars: Partial<Record<ScalarName, [expected: string, read: Reader]>> = {
  // DuckDB refuses half a surrogate pair.
  STRING: ['a string', value => (typeof value === 'string' ? value.toWellFormed() : null)],
  BOOL: ['true or false', value => (typeof value === 'boolean' ? value : null)],
  INT64: ['a 64-bit integer', readInteger],
  FLOAT64: ['a number', readFloat],
  TIMESTAMP: ['an ISO 8601 time or a time since 1970', entryTimestamp],
  JSON: ['JSON', readJson],
}

/** The column with the time of an entry, which every log table has. */
export const timeColumn = 'timestamp'

/** Fields that hold an entry's time where it has no `timestamp`, the first before the others; in any case of letters. */
const timeFields = 'timestamp time ts t datetime date event_time eventtime created_at createdat'.split(' ')

/**
 * The field of these names that holds an entry's time, `@timestamp` among them.
 * @returns `undefined` where no name is known
 */
export function timeFieldOf(names: string[]): string | undefined {
  const known = names.map(name => ({ name, rank: timeFields.indexOf(columnName(name).toLowerCase()) }))
  return known.filter(({ rank }) => rank >= 0).toSorted((a, b) => a.rank - b.rank)[0]?.name
}

/**
 * BigQuery's columns have 300 characters at most, and these beginnings are its own, in any case of letters
 * (https://cloud.google.com/bigquery/docs/schemas#column_names).
 */
const longestName = 300
const reserved = new RegExp(
  '^(?:__(?=ROOT__)|_(?=TABLE_|FILE_|PARTITION|ROW_TIMESTAMP|COLIDENTIFIER|CHANGE_SEQUENCE_NUMBER|CHANGE_TYPE|CHANGE_TIMESTAMP))',
  'i',
)

/**
 * The column of a field: letters, digits and `_`, as BigQuery's columns are called. `http.status` is `http_status`, and
 * `@level` is `level`. A reserved name loses its `_` in front, and a long one its end.
 * @returns an empty text where nothing of the name is left
 */
export function columnName(field: string): string {
  const name = field.replace(/^[^\p{L}\p{N}_]+/u, '').replaceAll(/[^\p{L}\p{N}_]+/gu, '_')
  const column = /^\p{N}/u.test(name) ? `_${name}` : name.replace(reserved, '')
  return beginning(column, longestName)
}

/**
 * Finds the column of a field among these names: the one of its name, or of what `columnName` makes of it, in any case of
 * letters, as GoogleSQL has it.
 */
export function columnFinder(names: Iterable<string | null>): (field: string) => string | undefined {
  const known = new Set([...names].filter(name => name !== null))
  const byKey = new Map([...known].map(name => [name.toLowerCase(), name]))
  return field => (known.has(field) ? field : byKey.get(columnName(field).toLowerCase()))
}

/**
 * Makes the function that turns a JSON object into a row of the table with these columns; it throws BadEntry. An object
 * may stand for a list of one. Fields that are `null` are left out, and so are unknown ones, whose dotted names go to
 * `unknown`. A field belongs to the column that `columnFinder` finds; of several, the one of its name does, or the first by name. Only
 * the field `id` is an id. An entry without one gets it made of its content and its line's number, so that loading the same lines again gives the same ids, and two equal lines
 * have two.
 * @param time the field with the entry's time; otherwise `timestamp`, or the first of `timeFields` that is no column
 * @throws CommandError for a column of a type that log entries cannot have
 */
export function entryReader(
  columns: Column[],
  unknown: (field: string) => void,
  time: string | null = null,
): (value: Json, line: number) => LogEntry {
  const read = objectReader(columns, '', unknown)
  const columnOf = columnFinder(columns.map(({ name }) => name))
  return (value, line) => {
    const row = read(withTimeAndId(value, columnOf, time)) as Partial<LogEntry>
    const { timestamp, ...others } = row
    const missing = time ?? timeColumn
    if (timestamp === undefined) throw new BadEntry(`${missing} is missing`, missing)
    return { ...others, id: row.id || uuidFor(`${line}\n${JSON.stringify(row)}`), timestamp }
  }
}

/** The same entry with its time as `timestamp`, and with its id as text. */
function withTimeAndId(
  value: Json,
  columnOf: (field: string) => string | undefined,
  time: string | null,
): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { id } = value
  const isText = typeof id !== 'number' && typeof id !== 'bigint'
  if (isText && time === null && value[timeColumn] !== undefined) return value
  const field =
    time ?? timeFieldOf(Object.keys(value).filter(name => (columnOf(name) ?? timeColumn) === timeColumn))
  const entry: { [name: string]: Json } = isText ? value : { ...value, id: String(id) }
  if (field === undefined || field === timeColumn) return entry
  const { [field]: moment = null, ...others } = entry
  return { ...others, [timeColumn]: moment }
}

/** Names of the field in `metadata` by which entries belong to a project, in tables without a column for it. */
const projectNames = ['project', 'project_ref']

/** The field that names an entry's project, `null` where the table has none. */
export function projectField(columns: Column[]): string | null {
  if (columns.some(({ name }) => name === 'project')) return 'project'
  const { type } = columns.find(({ name }) => name === 'metadata') ?? {}
  const element = type?.kind === 'ARRAY' ? type.element : type
  const fields = element?.kind === 'STRUCT' ? element.fields : []
  const field = fields.find(({ name }) => projectNames.includes(name ?? ''))
  return field ? `metadata.${field.name}` : null
}

/** Whether an entry names its project. @param field of its table */
export function hasProject({ project, metadata = [] }: LogEntry, field: string): boolean {
  if (field === 'project') return Boolean(project)
  const name = field.slice('metadata.'.length)
  return metadata.some(item => Boolean((item as { [name: string]: Json } | null)?.[name]))
}

function reader(type: SqlType, path: string, unknown: (field: string) => void): Reader {
  if (type.kind === 'ARRAY') {
    const item = reader(type.element, path, unknown)
    // BigQuery's lists hold no nulls.
    return value =>
      [value]
        .flat()
        .filter(each => each !== null)
        .map(item)
  }
  if (type.kind === 'STRUCT') return objectReader(type.fields, `${path}.`, unknown)
  return scalarReader(type.kind, path)
}

const none: ReadonlyMap<string, string> = new Map()

/** @param prefix of a field's name in messages, such as `metadata.request.` */
function objectReader(fields: StructField[], prefix: string, unknown: (field: string) => void): Reader {
  const readers = new Map(
    fields.map(({ name, type }) => [name, reader(type, `${prefix}${name}`, unknown)] as const),
  )
  const what = prefix === '' ? 'the entry' : prefix.slice(0, -1)
  const columnOf = columnFinder(readers.keys())
  // Elsewhere a field of this name would be the prototype, which has an `id` for a row without one. Such objects are slower.
  const prototype = readers.has('__proto__') ? null : Object.prototype
  /** By field, the columns of those with other names. */
  const columnsOf = (others: string[], value: object) => {
    const first = new Map<string, string>()
    for (const field of others.toSorted()) {
      const name = columnOf(field)
      if (name === undefined || Object.hasOwn(value, name) || `${prefix}${name}` === 'id') continue
      if (!first.has(name)) first.set(name, field)
    }
    return new Map([...first].map(([name, field]) => [field, name]))
  }
  return value => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new BadEntry(`${what} must be an object, not ${kindOf(value)}`)
    const row = Object.create(prototype) as { [name: string]: Json }
    const others = Object.keys(value).filter(field => !readers.has(field))
    const names = others.length > 0 ? columnsOf(others, value) : none
    for (const [field, item] of Object.entries(value)) {
      const name = readers.has(field) ? field : names.get(field)
      if (name === undefined) unknown(`${prefix}${field}`)
      else if (item !== null) row[name] = readers.get(name)!(item)
    }
    return row
  }
}

function scalarReader(kind: ScalarName, path: string): Reader {
  const [expected, read] = scalars[kind] ?? []
  if (!read) throw new CommandError(`The column ${path} has the type ${kind}, which log entries cannot have`)
  return value => {
    const result = read(value)
    if (result === null) throw new BadEntry(`${path} must be ${expected}, not ${kindOf(value)}`)
    return result
  }
}

/** Integers that a double cannot hold stay text on their way into Parquet. */
function readInteger(value: Json): Json {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  if (typeof value === 'string' && !/^-?\d{1,19}$/.test(value)) return null
  if (typeof value !== 'string' && typeof value !== 'bigint') return null
  const integer = BigInt(value)
  return BigInt.asIntN(64, integer) === integer ? String(integer) : null
}

function readFloat(value: Json): Json {
  if (typeof value === 'bigint') return Number(value)
  return Number.isFinite(value) ? value : null
}

/** Integers that a double cannot hold keep their digits. DuckDB refuses half a surrogate pair. */
function readJson(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'bigint') return rawJson(String(value))
  if (Array.isArray(value)) return value.map(readJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name.toWellFormed(), readJson(item)]),
  )
}

/** The types of es2024 lack it. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): Json }

/** A value in words, for a message. */
function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const text = String(value)
  const short = text.length > 40 ? `${text.slice(0, 37)}...` : text
  return typeof value === 'string' ? `the string ${JSON.stringify(short)}` : short
}

/** The same for the same text: a UUID of version 8, the version for custom content (RFC 9562, section 5.8). */
export function uuidFor(text: string): string {
  const hash = sha256(text)
  return uuidOf(hash, 8, Number.parseInt(hash[16]!, 16) & 3)
}

/** A UUID of the version, of hexadecimal digits. @param variant the two free bits of its digit */
export function uuidOf(hex: string, version: number, variant: number): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${'89ab'[variant]}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

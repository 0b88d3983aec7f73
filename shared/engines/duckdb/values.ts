/** Values between the engine port and DuckDB: those of parameters as text, those of results from column vectors. */
import type * as duckdb from '@duckdb/node-api'
import { nameKey } from '../../sql/relations.ts'
import type { ArrayType, Column, ScalarName, SqlType, StructType } from '../../sql/types.ts'
import { type Binding, EngineError, type Row, type Value } from '../engine.ts'
import { intervalText, isInterval } from './udfs/interval.ts'
import {
  boundFields,
  boundItems,
  element,
  fieldName,
  integer,
  invalidBinding,
  parseExactJson,
  recordReader,
  withoutZeros,
} from '../values.ts'

const integerShape = /^[+-]?\d{1,19}$/
const decimalShape = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const date = /^\d{4}-\d{1,2}-\d{1,2}$/
const time = /^\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?$/
const dateTime = /^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,6})?)?)?$/i
const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,9})?)?)?( ?(Z|UTC|[+-]\d{1,2}(:?\d\d)?)| [A-Za-z_]+(\/[A-Za-z_]+)*)?$/i

/** The texts that GoogleSQL reads as each type; DuckDB reads more, `infinity` for one. */
const shapes: Partial<Record<ScalarName, RegExp>> = {
  BIGNUMERIC: decimalShape,
  BOOL: /^(true|false)$/i,
  BYTES: /^[A-Za-z0-9+/]*={0,2}$/,
  DATE: date,
  DATETIME: dateTime,
  FLOAT64: /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)$/i,
  INT64: integerShape,
  NUMERIC: decimalShape,
  TIME: time,
  TIMESTAMP: timestamp,
}

/** The text of a bound value, `null` for NULL. Throws EngineError `rejected` if it is not of its type. */
export function boundText({ name, type, value }: Binding): string | null {
  if (value === null) return null
  if (type.kind === 'JSON') return JSON.stringify(value)
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') return JSON.stringify(boundNested(name, type, value))
  return scalar(name, type, value)
}

function scalar(name: string, type: SqlType, value: Value): string {
  if (typeof value === 'object') throw invalidBinding(name, type)
  const text = String(value)
  const shape = type.kind === 'ARRAY' || type.kind === 'STRUCT' ? undefined : shapes[type.kind]
  if (shape && !shape.test(text)) throw invalidBinding(name, type)
  return text
}

/** The value for JSON: scalars as text, so that no number loses digits; struct fields under their names in DuckDB. */
function boundNested(name: string, type: SqlType, value: Value): Value {
  if (value === null) return null
  if (type.kind === 'ARRAY')
    return boundItems(name, type, value).map(item => boundNested(name, type.element, item))
  if (type.kind === 'STRUCT')
    return boundFields(name, type, value, (field, inner) => boundNested(name, field, inner))
  if (type.kind === 'JSON') return value
  const text = scalar(name, type, value)
  // JSON has no bytes: this is the text that DuckDB casts to them (`literals.ts`).
  return type.kind === 'BYTES' ? Buffer.from(text, 'base64').toString('hex').replaceAll(/../g, '\\x$&') : text
}

type Read = (at: number) => Value

/**
 * A reader of the rows of a chunk, of which column n has the type of `columns[n]`. Reading the vectors takes half the time of
 * DuckDB's value objects and less than JSON made in SQL, which would also lose NULL arrays, large integers and
 * microseconds.
 */
export function rowReader(chunk: duckdb.DuckDBDataChunk, columns: Column[]): (at: number) => Row {
  const names = columns.map(column => column.name)
  const reads = columns.map((column, at) => reader(column.type, chunk.getColumnVector(at)))
  return recordReader(names, reads)
}

function reader(type: SqlType, vector: duckdb.DuckDBVector): Read {
  // DuckDB forgets the type of what is NULL in every row, as `array[NULL]` is, and calls it an integer.
  const untyped = String(vector.type) === 'INTEGER'
  if (type.kind === 'ARRAY') return untyped ? () => [] : arrayReader(type, vector as duckdb.DuckDBListVector)
  if (type.kind === 'STRUCT')
    return untyped ? () => null : structReader(type, vector as duckdb.DuckDBStructVector)
  const form = forms[type.kind]
  return at => {
    const value = vector.getItem(at)
    return value === null ? null : form(value as never)
  }
}

/** A NULL array is `[]`; a NULL in an array is an error, both as in BigQuery's results. */
function arrayReader(type: ArrayType, vector: duckdb.DuckDBListVector): Read {
  const read = reader(type.element, vector.childVector)
  // A private member: publicly only a slice of all that is below would show whether an array is NULL.
  const validity = vector['validity']
  return at => {
    if (!validity.itemValid(at)) return []
    const start = vector.getEntryOffset(at)
    const items: Value[] = []
    for (let item = start; item < start + vector.getEntryLength(at); item++) items.push(element(read(item)))
    return items
  }
}

/** Fields in the order of the GoogleSQL type, found by name. */
function structReader(type: StructType, vector: duckdb.DuckDBStructVector): Read {
  const stored = vector.type.entryNames.map(nameKey)
  const names = type.fields.map((field, at) => fieldName(field.name, at))
  const reads = type.fields.map((field, at) =>
    reader(field.type, vector.entryVectorAt(stored.indexOf(nameKey(names[at]!)))),
  )
  const read = recordReader(names, reads)
  return at => (vector.isItemValid(at) ? read(at) : null)
}

/** From DuckDB's value of a column, whose type the rewriting has settled. */
const forms: Record<ScalarName, (value: never) => Value> = {
  BIGNUMERIC: (value: duckdb.DuckDBDecimalValue) => withoutZeros(value.toString()),
  BOOL: (value: boolean) => value,
  BYTES: (value: duckdb.DuckDBBlobValue) => Buffer.from(value.bytes).toString('base64'),
  DATE: (value: duckdb.DuckDBDateValue) => isoDate(value.days),
  DATETIME: (value: duckdb.DuckDBTimestampValue) => isoDateTime(value.micros),
  FLOAT64: (value: number) => (Number.isFinite(value) ? value : String(value)),
  INT64: integer,
  INTERVAL: interval,
  JSON: parseExactJson,
  NUMERIC: (value: duckdb.DuckDBDecimalValue) => withoutZeros(value.toString()),
  STRING: (value: string) => value,
  TIME: (value: duckdb.DuckDBTimeValue) => isoDateTime(value.micros).slice('1970-01-01T'.length),
  TIMESTAMP: (value: duckdb.DuckDBTimestampTZValue) => integer(inRange(value.micros)),
}

/** Years 1 to 9999, GoogleSQL's range, in microseconds since 1970. DuckDB's is wider, and has infinity. */
const earliest = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1000n
const latest = BigInt(Date.parse('9999-12-31T23:59:59.999Z')) * 1000n + 999n

function inRange(micros: bigint): bigint {
  if (micros < earliest || micros > latest)
    throw new EngineError('rejected', 'A date or time is out of range')
  return micros
}

function isoDate(days: number): string {
  return new Date(Number(inRange(BigInt(days) * 86_400_000_000n) / 1000n)).toISOString().slice(0, 10)
}

/** A DATETIME as BigQuery's API writes it: a fraction of a second only where there is one, without zeros at its end. */
function isoDateTime(micros: bigint): string {
  const fraction = ((inRange(micros) % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19)
  return withoutZeros(`${seconds}.${String(fraction).padStart(6, '0')}`)
}

function interval({ months, days, micros }: duckdb.DuckDBIntervalValue): string {
  if (!isInterval(BigInt(months), BigInt(days), micros))
    throw new EngineError('rejected', 'An INTERVAL is out of range')
  return intervalText({ months, days, micros })
}

/** Rows of a result, from the cells that BigQuery sends to the forms of the engine port. */
import { EngineError, type Row, type Value } from '../engine.ts'
import type { Column, ScalarName, SqlType, StructType } from '../../sql/types.ts'
import { parseExactJson } from '../values.ts'
import type { Cell, Wire } from './rest.ts'
import { fieldName } from './schema.ts'

type Read = (wire: Wire) => Value

/** A reader of rows that have these columns. Timestamps are microseconds (`formatOptions.useInt64Timestamp`). */
export function rowReader(columns: Column[]): (row: { f: Cell[] }) => Row {
  const read = recordReader(
    columns.map(column => column.name),
    columns.map(column => reader(column.type)),
  )
  return row => read(row.f)
}

function reader(type: SqlType): Read {
  if (type.kind === 'ARRAY') return arrayReader(reader(type.element))
  if (type.kind === 'STRUCT') return structReader(type)
  const form = forms[type.kind]
  return wire => (wire === null ? null : form(wire as string))
}

/** A NULL array is `[]`; a NULL in an array cannot be in a result. */
function arrayReader(read: Read): Read {
  return wire =>
    ((wire ?? []) as Cell[]).map(cell => {
      const value = read(cell.v)
      if (value === null) throw new EngineError('rejected', 'An array in the result has a NULL element')
      return value
    })
}

function structReader(type: StructType): Read {
  const read = recordReader(
    type.fields.map((field, at) => fieldName(field.name, at)),
    type.fields.map(field => reader(field.type)),
  )
  return wire => (wire === null ? null : read((wire as { f: Cell[] }).f))
}

/** The name `__proto__` cannot be assigned to, only defined. */
function recordReader(names: string[], reads: Read[]): (cells: Cell[]) => Row {
  if (names.includes('__proto__'))
    return cells => Object.fromEntries(names.map((name, at) => [name, reads[at]!(cells[at]!.v)]))
  return cells => {
    const row: Row = {}
    for (let at = 0; at < names.length; at++) row[names[at]!] = reads[at]!(cells[at]!.v)
    return row
  }
}

const forms: Record<ScalarName, (text: string) => Value> = {
  BIGNUMERIC: withoutZeros,
  BOOL: text => text.toLowerCase() === 'true',
  BYTES: text => text,
  DATE: text => text,
  DATETIME: withoutZeros,
  FLOAT64: float,
  INT64: integer,
  INTERVAL: withoutZeros,
  JSON: parseExactJson,
  NUMERIC: withoutZeros,
  STRING: text => text,
  TIME: withoutZeros,
  TIMESTAMP: integer,
}

/** A number where it is exact, else its digits. */
function integer(text: string): number | string {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** JSON has no number for NaN and the infinities. */
function float(text: string): number | string {
  const number = Number(text.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'))
  return Number.isFinite(number) ? number : String(number)
}

/** A fraction without zeros at its end, and without a point where nothing follows it. */
function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

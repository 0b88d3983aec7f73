/** Rows of a result, from the cells that BigQuery sends to the forms of the engine port. */
import { type Binding, EngineError, type Row, type Value } from '../engine.ts'
import {
  type Column,
  scalarAliases,
  type ScalarName,
  scalarNames,
  type SqlType,
  type StructType,
} from '../../sql/types.ts'
import { parseExactJson } from '../values.ts'
import type { Cell, FieldSchema, ParameterType, ParameterValue, QueryParameter, Wire } from './client.ts'

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

/** The columns of a result. Throws EngineError `unsupported` for a type that has no value form. */
export function columnsOf(fields: FieldSchema[] = []): Column[] {
  return fields.map(field => ({ name: field.name, type: typeOf(field) }))
}

/** The name of a struct's field; GoogleSQL allows none, and BigQuery then calls it by its place. */
export function fieldName(name: string | null, at: number): string {
  return name ?? `_field_${at + 1}`
}

function typeOf(field: FieldSchema): SqlType {
  const element = elementType(field)
  return field.mode === 'REPEATED' ? { kind: 'ARRAY', element } : element
}

function elementType({ type, fields = [] }: FieldSchema): SqlType {
  const name = type.toUpperCase()
  if (name === 'RECORD' || name === 'STRUCT')
    return { kind: 'STRUCT', fields: fields.map(field => ({ name: field.name, type: typeOf(field) })) }
  const kind = name === 'FLOAT' ? 'FLOAT64' : (scalarAliases[name] ?? name)
  if (!isScalarName(kind))
    throw new EngineError('unsupported', `A column of type ${name} in the result is not supported`)
  return { kind }
}

function isScalarName(name: string): name is ScalarName {
  return (scalarNames as readonly string[]).includes(name)
}

/** Bindings as BigQuery's named query parameters: every value is text under its type, so that nothing is guessed. */

/** Throws EngineError `rejected` for a value whose shape is not that of its type; texts are left to BigQuery. */
export function queryParameters(bindings: Binding[]): QueryParameter[] {
  return bindings.map(({ name, type, value }) => ({
    name,
    parameterType: parameterType(type),
    parameterValue: parameterValue(name, type, value),
  }))
}

function parameterType(type: SqlType): ParameterType {
  if (type.kind === 'ARRAY') return { type: 'ARRAY', arrayType: parameterType(type.element) }
  if (type.kind !== 'STRUCT') return { type: type.kind }
  const structTypes = type.fields.map((field, at) => ({
    name: fieldName(field.name, at),
    type: parameterType(field.type),
  }))
  return { type: 'STRUCT', structTypes }
}

function parameterValue(name: string, type: SqlType, value: Value): ParameterValue {
  if (value === null) return { value: null }
  if (type.kind === 'JSON') return { value: JSON.stringify(value) }
  if (type.kind === 'ARRAY') {
    if (!Array.isArray(value)) throw mismatch(name, type)
    return { arrayValues: value.map(item => parameterValue(name, type.element, item)) }
  }
  if (type.kind === 'STRUCT') {
    if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(name, type)
    const fields = type.fields.map((field, at) => {
      const key = fieldName(field.name, at)
      const own = Object.hasOwn(value, key) ? value[key]! : null
      return [key, parameterValue(name, field.type, own)] as const
    })
    return { structValues: Object.fromEntries(fields) }
  }
  if (typeof value === 'object') throw mismatch(name, type)
  return { value: String(value) }
}

function mismatch(name: string, type: SqlType): EngineError {
  return new EngineError('rejected', `The value of parameter @${name} is not a valid ${type.kind}`)
}

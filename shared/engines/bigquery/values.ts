/** Values between the engine port and BigQuery's REST interface: those of parameters, and the cells of results. */
import type { Column, ScalarName, SqlType } from '../../sql/types.ts'
import { type Binding, EngineError, type Row, type Value } from '../engine.ts'
import { columnsOf, type FieldSchema } from '../schema.ts'
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
import type { Cell, ParameterType, ParameterValue, QueryParameter, Wire } from './client.ts'

/**
 * Bindings as named query parameters: every value is text under its type, so that BigQuery guesses nothing.
 * Throws EngineError `rejected` for a value whose shape is not that of its type; texts are left to BigQuery.
 */
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
    const items = boundItems(name, type, value)
    return { arrayValues: items.map(item => parameterValue(name, type.element, item)) }
  }
  if (type.kind === 'STRUCT')
    return {
      structValues: boundFields(name, type, value, (field, inner) => parameterValue(name, field, inner)),
    }
  if (typeof value === 'object') throw invalidBinding(name, type)
  return { value: String(value) }
}

/** The columns of a result. Throws EngineError `unsupported` for a type that has no value form. */
export function resultColumns(fields: FieldSchema[] = []): Column[] {
  return columnsOf(fields, ({ type }) => {
    const message = `A column of type ${type.toUpperCase()} in the result is not supported`
    return new EngineError('unsupported', message)
  })
}

/** A reader of rows that have these columns. Timestamps are microseconds (`formatOptions.useInt64Timestamp`). */
export function rowReader(columns: Column[]): (row: { f: Cell[] }) => Row {
  const read = recordReader(
    columns.map(column => column.name),
    columns.map(({ type }, at) => {
      const read = reader(type)
      return (cells: Cell[]) => read(cells[at]!.v)
    }),
  )
  return row => read(row.f)
}

function reader(type: SqlType): (wire: Wire) => Value {
  if (type.kind === 'ARRAY') {
    const read = reader(type.element)
    // A NULL array is `[]`.
    return wire => ((wire ?? []) as Cell[]).map(cell => element(read(cell.v)))
  }
  if (type.kind === 'STRUCT') {
    const read = rowReader(type.fields.map((field, at) => ({ ...field, name: fieldName(field.name, at) })))
    return wire => (wire === null ? null : read(wire as { f: Cell[] }))
  }
  const form = forms[type.kind]
  return wire => (wire === null ? null : form(wire as string))
}

const forms: Record<ScalarName, (text: string) => Value> = {
  BIGNUMERIC: withoutZeros,
  BOOL: text => text.toLowerCase() === 'true',
  BYTES: text => text,
  DATE: text => text,
  DATETIME: withoutZeros,
  FLOAT64: float,
  INT64: integer,
  INTERVAL: text => text,
  JSON: parseExactJson,
  NUMERIC: withoutZeros,
  STRING: text => text,
  TIME: withoutZeros,
  TIMESTAMP: integer,
}

/** JSON has no number for NaN and the infinities. */
function float(text: string): number | string {
  const number = Number(text.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'))
  return Number.isFinite(number) ? number : String(number)
}

/** Values of parameters as the text that DuckDB casts to their types (see `parameter` in literals.ts). */
import { type Binding, EngineError, type Value } from '../engine.ts'
import type { ScalarName, SqlType } from '../../sql/types.ts'
import { typeName } from './rewrite/typed.ts'
import { fieldName } from './types.ts'

const integer = /^[+-]?\d{1,19}$/
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const date = /^\d{4}-\d{1,2}-\d{1,2}$/
const time = /^\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?$/
const dateTime = /^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,6})?)?)?$/i
const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,9})?)?)?( ?(Z|UTC|[+-]\d{1,2}(:?\d\d)?)| [A-Za-z_]+(\/[A-Za-z_]+)*)?$/i

/** What a value of each type looks like: DuckDB reads more than GoogleSQL does, `infinity` for one. */
const shapes: Partial<Record<ScalarName, RegExp>> = {
  BIGNUMERIC: decimal,
  BOOL: /^(true|false)$/i,
  BYTES: /^[A-Za-z0-9+/]*={0,2}$/,
  DATE: date,
  DATETIME: dateTime,
  FLOAT64: /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)$/i,
  INT64: integer,
  NUMERIC: decimal,
  TIME: time,
  TIMESTAMP: timestamp,
}

/** The text of a bound value, `null` for NULL. Throws EngineError `rejected` if it is not of its type. */
export function boundText({ name, type, value }: Binding): string | null {
  if (value === null) return null
  if (type.kind === 'JSON') return JSON.stringify(value)
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') return JSON.stringify(nested(name, type, value))
  return scalar(name, type, value)
}

function scalar(name: string, type: SqlType, value: Value): string {
  if (typeof value === 'object') throw mismatch(name, type)
  const text = String(value)
  const shape = type.kind === 'ARRAY' || type.kind === 'STRUCT' ? undefined : shapes[type.kind]
  if (shape && !shape.test(text)) throw mismatch(name, type)
  return text
}

/** The value for JSON: every scalar as text, so that no number loses digits; a struct's fields under DuckDB's names. */
function nested(name: string, type: SqlType, value: Value): Value {
  if (value === null) return null
  if (type.kind === 'ARRAY') {
    if (!Array.isArray(value)) throw mismatch(name, type)
    return value.map(item => nested(name, type.element, item))
  }
  if (type.kind === 'STRUCT') {
    if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(name, type)
    const fields = type.fields.map((field, at) => {
      const key = fieldName(field.name, at)
      return [key, nested(name, field.type, Object.hasOwn(value, key) ? value[key]! : null)] as const
    })
    return Object.fromEntries(fields)
  }
  if (type.kind === 'JSON') return value
  // JSON has no bytes, and DuckDB does not decode them from its strings.
  if (type.kind === 'BYTES')
    throw new EngineError(
      'unsupported',
      `BYTES inside parameter @${name} are not supported by the local engine`,
    )
  return scalar(name, type, value)
}

function mismatch(name: string, type: SqlType): EngineError {
  return new EngineError('rejected', `The value of parameter @${name} is not a valid ${typeName(type)}`)
}

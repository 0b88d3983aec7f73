/** Which types are cast to which (https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_functions). */
import { everyPair, isUnknown, sameType, type Type, type Value } from './types.ts'

/** Each to itself as well. */
const casts: Record<string, string> = {
  INT64: 'BOOL NUMERIC BIGNUMERIC FLOAT64 STRING',
  NUMERIC: 'INT64 BIGNUMERIC FLOAT64 STRING',
  BIGNUMERIC: 'INT64 NUMERIC FLOAT64 STRING',
  FLOAT64: 'INT64 NUMERIC BIGNUMERIC STRING',
  BOOL: 'INT64 STRING',
  STRING: 'INT64 NUMERIC BIGNUMERIC FLOAT64 BOOL BYTES DATE DATETIME TIME TIMESTAMP INTERVAL',
  BYTES: 'STRING',
  DATE: 'STRING DATETIME TIMESTAMP',
  DATETIME: 'STRING DATE TIME TIMESTAMP',
  TIME: 'STRING',
  TIMESTAMP: 'STRING DATE DATETIME TIME',
  INTERVAL: 'STRING',
}

export function castable(value: Value, to: Type): boolean {
  const isNothing = value.type === null || (value.empty && to.kind === 'ARRAY')
  return isNothing || casted(value.type!, to, value.origin === 'literal')
}

/** An array is cast only to its own type, unless it is written out; a struct field by field. */
function casted(from: Type, to: Type, isWritten = false): boolean {
  if (isUnknown(from) || isUnknown(to)) return true
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY')
    return isWritten ? casted(from.element, to.element) : sameType(from, to)
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT')
    return everyPair(from.fields, to.fields, (one, other) => casted(one.type, other.type))
  return from.kind === to.kind || (casts[from.kind] ?? '').split(' ').includes(to.kind)
}

/** The casts, as `FROM>TO`, that take a FORMAT. */
export const formatted =
  /^STRING>(BYTES|DATE|DATETIME|TIME|TIMESTAMP)$|^(BYTES|DATE|DATETIME|TIME|TIMESTAMP|INT64|FLOAT64|NUMERIC|BIGNUMERIC)>STRING$/

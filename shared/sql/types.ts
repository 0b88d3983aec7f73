/**
 * GoogleSQL data types, as the front end, the engines and the table schemas name them.
 * Aliases (INT, BOOLEAN, DECIMAL, ...) are resolved when parsed; a type is always in its canonical name here.
 */
export type SqlType = ScalarType | ArrayType | StructType

interface ScalarType {
  kind: ScalarName
  /** The numbers of `STRING(10)` or `NUMERIC(10, 2)`; absent where none were written. */
  size?: number[]
}

/** Whether a size is written in a type, or in one that it holds. */
export function hasSize(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return hasSize(type.element)
  return type.kind === 'STRUCT' ? type.fields.some(field => hasSize(field.type)) : type.size !== undefined
}

export interface ArrayType {
  kind: 'ARRAY'
  element: SqlType
}

export interface StructType {
  kind: 'STRUCT'
  fields: StructField[]
}

export interface StructField {
  /** `null` for an unnamed field of a STRUCT type. */
  name: string | null
  type: SqlType
}

/** A column of a table or of a result. */
export interface Column {
  name: string
  type: SqlType
}

export const scalarNames = [
  'BIGNUMERIC',
  'BOOL',
  'BYTES',
  'DATE',
  'DATETIME',
  'FLOAT64',
  'INT64',
  'INTERVAL',
  'JSON',
  'NUMERIC',
  'STRING',
  'TIME',
  'TIMESTAMP',
] as const

export type ScalarName = (typeof scalarNames)[number]

/** Other spellings that GoogleSQL accepts for a scalar type. */
export const scalarAliases: Record<string, ScalarName> = {
  BIGDECIMAL: 'BIGNUMERIC',
  BIGINT: 'INT64',
  BOOLEAN: 'BOOL',
  BYTEINT: 'INT64',
  DECIMAL: 'NUMERIC',
  INT: 'INT64',
  INTEGER: 'INT64',
  SMALLINT: 'INT64',
  TINYINT: 'INT64',
}

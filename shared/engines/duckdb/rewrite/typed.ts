import type { SqlType } from '../../../sql/types.ts'

/** DuckDB SQL with the GoogleSQL type of its value. The text can stand anywhere without more parentheses. */
export interface Typed {
  sql: string
  /** `null` for a bare NULL, which fits every type. */
  type: SqlType | null
  /** What the text came from, where GoogleSQL coerces it more freely than an ordinary expression. */
  origin?: 'literal' | 'parameter'
  /** The values of a struct that was written out, each of which is coerced by its own rules. */
  fields?: Typed[]
}

export function typed(sql: string, type: SqlType['kind'] | SqlType | null): Typed {
  return { sql, type: typeof type === 'string' ? scalar(type) : type }
}

function scalar(kind: SqlType['kind']): SqlType {
  if (kind === 'ARRAY' || kind === 'STRUCT') throw new Error(`${kind} is not a scalar type`)
  return { kind }
}

export function arrayOf(element: SqlType | null): SqlType {
  return { kind: 'ARRAY', element: element ?? { kind: 'INT64' } }
}

/** A type as GoogleSQL writes it. */
export function typeName(type: SqlType | null): string {
  if (type === null) return 'NULL'
  if (type.kind === 'ARRAY') return `ARRAY<${typeName(type.element)}>`
  if (type.kind !== 'STRUCT') return type.kind
  const fields = type.fields.map(field => [field.name, typeName(field.type)].filter(Boolean).join(' '))
  return `STRUCT<${fields.join(', ')}>`
}

/**
 * DuckDB SQL that fails with `message` once it is evaluated, of type BIGINT or DOUBLE.
 * `error()` would do, but DuckDB takes it for volatile and then refuses it under TRY and inside lambdas.
 */
export function raise(message: RaisedMessage, type: 'BIGINT' | 'DOUBLE' = 'BIGINT'): string {
  return `CAST('${message}' AS ${type})`
}

/** Messages of `raise`; these and no others are passed on to callers. */
export const raisedMessages = [
  'Array index is out of bounds',
  'Array is too large',
  'Bad value for a cast',
  'Division by zero',
  'Length must not be negative',
  'Text is too long',
] as const

type RaisedMessage = (typeof raisedMessages)[number]

/** Names, strings and types in DuckDB SQL. */
import { SqlError } from '../../sql/error.ts'
import type { ScalarName, SqlType } from '../../sql/types.ts'
import { fieldName } from '../values.ts'

/** A name in DuckDB SQL, in double quotes. Throws SqlError on a NUL character. */
export function quoteName(name: string): string {
  if (name.includes('\0'))
    throw new SqlError('A NUL character in a name is not supported by the local engine')
  return `"${name.replaceAll('"', '""')}"`
}

/** A text in DuckDB SQL: nothing but the quote needs escaping, but DuckDB's parser ends its input at a NUL. */
export function quoteText(text: string): string {
  const parts = text.split('\0').map(part => `'${part.replaceAll("'", "''")}'`)
  return parts.length > 1 ? `(${parts.join(' || chr(0) || ')})` : parts[0]!
}

/**
 * Text cast to a DuckDB type. DuckDB (1.5) computes the cast of a struct's field where it reads the field, even if TRY or a
 * condition stands around the cast, and so fails for text that they keep from it: not if the field is part of more.
 */
export function castText(sql: string, to: string): string {
  const isField = /\)\."(?:[^"]|"")*"$/.test(sql)
  return `CAST(${isField ? `(${sql} || '')` : sql} AS ${to})`
}

/** DuckDB's TIMESTAMP is GoogleSQL's DATETIME, and its TIMESTAMPTZ GoogleSQL's TIMESTAMP. */
const scalars: Record<ScalarName, string> = {
  // BigQuery has 76 digits, 38 of them after the point; DuckDB has 38 altogether.
  BIGNUMERIC: 'DECIMAL(38,18)',
  BOOL: 'BOOLEAN',
  BYTES: 'BLOB',
  DATE: 'DATE',
  DATETIME: 'TIMESTAMP',
  FLOAT64: 'DOUBLE',
  INT64: 'BIGINT',
  INTERVAL: 'INTERVAL',
  JSON: 'JSON',
  NUMERIC: 'DECIMAL(38,9)',
  STRING: 'VARCHAR',
  TIME: 'TIME',
  TIMESTAMP: 'TIMESTAMPTZ',
}

/** The DuckDB type that holds values of a GoogleSQL type, as DuckDB SQL. Lengths, as in STRING(10), are not kept. */
export function duckType(type: SqlType): string {
  if (type.kind === 'ARRAY') return `${duckType(type.element)}[]`
  if (type.kind !== 'STRUCT') return scalars[type.kind]
  const fields = type.fields.map(
    (field, at) => `${quoteName(fieldName(field.name, at))} ${duckType(field.type)}`,
  )
  return `STRUCT(${fields.join(', ')})`
}

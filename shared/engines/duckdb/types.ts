import type { ScalarName, SqlType } from '../../sql/types.ts'
import { quoteName } from './text.ts'

/** TIMESTAMP is a moment, DATETIME a wall clock: DuckDB names them the other way round. */
const scalars: Record<ScalarName, string> = {
  // BigQuery has 76 digits, 38 of them after the point; DuckDB has 38 in all.
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

/** The name in DuckDB of a struct's field; GoogleSQL allows none, and BigQuery then writes `_field_1`, ... */
export function fieldName(name: string | null, at: number): string {
  return name ?? `_field_${at + 1}`
}

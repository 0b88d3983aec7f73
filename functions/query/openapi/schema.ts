/** GoogleSQL types as JSON Schema, in the value forms of the contract (design, section 3). */
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'

export type JsonSchema = { [keyword: string]: unknown }

const scalars: Record<ScalarName, JsonSchema> = {
  BIGNUMERIC: { type: ['string', 'null'], description: 'A decimal number' },
  BOOL: { type: ['boolean', 'null'] },
  BYTES: { type: ['string', 'null'], contentEncoding: 'base64' },
  DATE: { type: ['string', 'null'], format: 'date' },
  DATETIME: { type: ['string', 'null'], description: 'Date and time without a zone: 2026-01-31T12:00:00' },
  FLOAT64: { type: ['number', 'string', 'null'], description: 'Text for NaN, Infinity and -Infinity' },
  INT64: { type: ['integer', 'string', 'null'], description: 'Text beyond +-(2^53 - 1)' },
  INTERVAL: { type: ['string', 'null'] },
  JSON: { description: 'Any JSON value' },
  NUMERIC: { type: ['string', 'null'], description: 'A decimal number' },
  STRING: { type: ['string', 'null'] },
  TIME: { type: ['string', 'null'] },
  TIMESTAMP: { type: ['integer', 'null'], description: 'Microseconds since 1970, UTC' },
}

export function schemaOf(type: SqlType): JsonSchema {
  if (type.kind === 'ARRAY') return { type: 'array', items: schemaOf(type.element) }
  if (type.kind === 'STRUCT') return { ...objectOf(type.fields), type: ['object', 'null'] }
  return scalars[type.kind]
}

/** The schema of a row. */
export function rowSchema(columns: Column[]): JsonSchema {
  return objectOf(columns)
}

function objectOf(fields: { name: string | null; type: SqlType }[]): JsonSchema {
  const named = fields.map(({ name, type }, i) => [name ?? `_field_${i + 1}`, schemaOf(type)] as const)
  return {
    type: 'object',
    properties: Object.fromEntries(named),
    required: named.map(([name]) => name),
    additionalProperties: false,
  }
}

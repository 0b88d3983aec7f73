/** Values and types in the forms of BigQuery's REST interface, from those of the engine port. */
import type { Binding, Row, Value } from '../../../shared/engines/engine.ts'
import type {
  Cell,
  FieldSchema,
  ParameterType,
  ParameterValue,
  QueryParameter,
  Wire,
} from '../../../shared/engines/bigquery/rest.ts'
import { fieldName } from '../../../shared/engines/bigquery/schema.ts'
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'

const legacyNames: Partial<Record<ScalarName, string>> = {
  BOOL: 'BOOLEAN',
  FLOAT64: 'FLOAT',
  INT64: 'INTEGER',
}

export function schemaOf(columns: Column[]): { fields: FieldSchema[] } {
  return { fields: columns.map(({ name, type }) => fieldSchema(name, type)) }
}

function fieldSchema(name: string, type: SqlType): FieldSchema {
  if (type.kind === 'ARRAY') return { ...fieldSchema(name, type.element), mode: 'REPEATED' }
  if (type.kind !== 'STRUCT') return { name, type: legacyNames[type.kind] ?? type.kind, mode: 'NULLABLE' }
  const fields = type.fields.map((field, at) => fieldSchema(fieldName(field.name, at), field.type))
  return { name, type: 'RECORD', mode: 'NULLABLE', fields }
}

/** @param int64 `formatOptions.useInt64Timestamp`: microseconds; else seconds as a float, which loses some */
export function wireRow(row: Row, columns: Column[], int64: boolean): { f: Cell[] } {
  return { f: columns.map(({ name, type }) => ({ v: wire(row[name] ?? null, type, int64) })) }
}

function wire(value: Value, type: SqlType, int64: boolean): Wire {
  if (value === null) return null
  if (type.kind === 'ARRAY') return (value as Value[]).map(item => ({ v: wire(item, type.element, int64) }))
  if (type.kind === 'STRUCT') {
    const columns = type.fields.map((field, at) => ({ name: fieldName(field.name, at), type: field.type }))
    return wireRow(value as Row, columns, int64)
  }
  if (type.kind === 'TIMESTAMP' && !int64) return (Number(value) / 1e6).toExponential()
  return type.kind === 'JSON' || typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function bindingOf({ name, parameterType, parameterValue }: QueryParameter): Binding {
  const type = typeOf(parameterType)
  return { name, type, value: valueOf(parameterValue, type) }
}

function typeOf({ type, arrayType, structTypes = [] }: ParameterType): SqlType {
  if (arrayType) return { kind: 'ARRAY', element: typeOf(arrayType) }
  if (type === 'STRUCT')
    return {
      kind: 'STRUCT',
      fields: structTypes.map(field => ({ name: field.name ?? null, type: typeOf(field.type) })),
    }
  return { kind: type as ScalarName }
}

function valueOf({ value = null, arrayValues, structValues }: ParameterValue, type: SqlType): Value {
  if (type.kind === 'ARRAY') return arrayValues?.map(item => valueOf(item, type.element)) ?? null
  if (type.kind === 'STRUCT') {
    if (!structValues) return null
    const fields = type.fields.map(
      field => [field.name!, valueOf(structValues[field.name!] ?? {}, field.type)] as const,
    )
    return Object.fromEntries(fields)
  }
  return value !== null && type.kind === 'JSON' ? (JSON.parse(value) as Value) : value
}

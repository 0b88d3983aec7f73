/**
 * BigQuery's table schemas, as `bq show --schema` prints them and REST answers carry them.
 * Reference: https://cloud.google.com/bigquery/docs/reference/rest/v2/tables#TableFieldSchema
 */
import { type Column, scalarAliases, type ScalarName, scalarNames, type SqlType } from '../sql/types.ts'

/** Logical name of the table of the service's own requests (`shared/request-log.ts`), and its folder's on a laptop. */
export const requestsTable = 'service.requests'

export interface FieldSchema {
  name: string
  /** A GoogleSQL name or a legacy one: INTEGER, FLOAT, BOOLEAN, RECORD. */
  type: string
  mode?: 'NULLABLE' | 'REQUIRED' | 'REPEATED'
  description?: string
  fields?: FieldSchema[]
}

/** The columns of a schema. Throws the error that `unknown` makes for a type with no value form. */
export function columnsOf(fields: FieldSchema[], unknown: (field: FieldSchema) => Error): Column[] {
  return fields.map(field => ({ name: field.name, type: fieldType(field, unknown) }))
}

function fieldType(field: FieldSchema, unknown: (field: FieldSchema) => Error): SqlType {
  const name = field.type.toUpperCase()
  const type: SqlType =
    name === 'RECORD' || name === 'STRUCT'
      ? { kind: 'STRUCT', fields: columnsOf(field.fields ?? [], unknown) }
      : { kind: scalarName(name) ?? raise(unknown(field)) }
  return field.mode === 'REPEATED' ? { kind: 'ARRAY', element: type } : type
}

function scalarName(name: string): ScalarName | undefined {
  const kind = name === 'FLOAT' ? 'FLOAT64' : (scalarAliases[name] ?? name)
  return scalarNames.find(scalar => scalar === kind)
}

function raise(error: Error): never {
  throw error
}

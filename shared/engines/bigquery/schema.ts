import { EngineError } from '../engine.ts'
import { type Column, scalarAliases, scalarNames, type ScalarName, type SqlType } from '../../sql/types.ts'
import type { FieldSchema } from './rest.ts'

/** The columns of a result. Throws EngineError `unsupported` for a type that has no value form. */
export function columnsOf(fields: FieldSchema[] = []): Column[] {
  return fields.map(field => ({ name: field.name, type: typeOf(field) }))
}

/** The name of a struct's field; GoogleSQL allows none, and BigQuery then calls it by its place. */
export function fieldName(name: string | null, at: number): string {
  return name ?? `_field_${at + 1}`
}

function typeOf(field: FieldSchema): SqlType {
  const element = elementType(field)
  return field.mode === 'REPEATED' ? { kind: 'ARRAY', element } : element
}

function elementType({ type, fields = [] }: FieldSchema): SqlType {
  const name = type.toUpperCase()
  if (name === 'RECORD' || name === 'STRUCT')
    return { kind: 'STRUCT', fields: fields.map(field => ({ name: field.name, type: typeOf(field) })) }
  const kind = name === 'FLOAT' ? 'FLOAT64' : (scalarAliases[name] ?? name)
  if (!isScalarName(kind))
    throw new EngineError('unsupported', `A column of type ${name} in the result is not supported`)
  return { kind }
}

function isScalarName(name: string): name is ScalarName {
  return (scalarNames as readonly string[]).includes(name)
}

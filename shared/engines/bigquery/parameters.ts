/** Bindings as BigQuery's named query parameters: every value is text under its type, so that nothing is guessed. */
import { type Binding, EngineError, type Value } from '../engine.ts'
import type { SqlType } from '../../sql/types.ts'
import type { ParameterType, ParameterValue, QueryParameter } from './rest.ts'
import { fieldName } from './schema.ts'

/** Throws EngineError `rejected` for a value whose shape is not that of its type; texts are left to BigQuery. */
export function queryParameters(bindings: Binding[]): QueryParameter[] {
  return bindings.map(({ name, type, value }) => ({
    name,
    parameterType: parameterType(type),
    parameterValue: parameterValue(name, type, value),
  }))
}

function parameterType(type: SqlType): ParameterType {
  if (type.kind === 'ARRAY') return { type: 'ARRAY', arrayType: parameterType(type.element) }
  if (type.kind !== 'STRUCT') return { type: type.kind }
  const structTypes = type.fields.map((field, at) => ({
    name: fieldName(field.name, at),
    type: parameterType(field.type),
  }))
  return { type: 'STRUCT', structTypes }
}

function parameterValue(name: string, type: SqlType, value: Value): ParameterValue {
  if (value === null) return { value: null }
  if (type.kind === 'JSON') return { value: JSON.stringify(value) }
  if (type.kind === 'ARRAY') {
    if (!Array.isArray(value)) throw mismatch(name, type)
    return { arrayValues: value.map(item => parameterValue(name, type.element, item)) }
  }
  if (type.kind === 'STRUCT') {
    if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(name, type)
    const fields = type.fields.map((field, at) => {
      const key = fieldName(field.name, at)
      const own = Object.hasOwn(value, key) ? value[key]! : null
      return [key, parameterValue(name, field.type, own)] as const
    })
    return { structValues: Object.fromEntries(fields) }
  }
  if (typeof value === 'object') throw mismatch(name, type)
  return { value: String(value) }
}

function mismatch(name: string, type: SqlType): EngineError {
  return new EngineError('rejected', `The value of parameter @${name} is not a valid ${type.kind}`)
}

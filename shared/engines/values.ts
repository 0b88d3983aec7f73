/** The forms of values that do not depend on the engine. */
import type { ArrayType, SqlType, StructType } from '../sql/types.ts'
import { typeName } from '../sql/resolve/types.ts'
import { EngineError, type Row, type Value } from './engine.ts'

/** The name of a struct's field; GoogleSQL allows none, and BigQuery then writes `_field_1`, `_field_2`, ... */
export function fieldName(name: string | null, at: number): string {
  return name ?? `_field_${at + 1}`
}

/** A value of a type with each scalar in it changed; NULL stays. A field that is not there is NULL. */
export function mapScalars(
  type: SqlType,
  value: Value,
  change: (type: SqlType, value: Value) => Value,
): Value {
  if (value === null) return null
  if (type.kind === 'ARRAY') return (value as Value[]).map(item => mapScalars(type.element, item, change))
  if (type.kind !== 'STRUCT') return change(type, value)
  const fields = type.fields.map((field, at) => {
    const name = fieldName(field.name, at)
    return [name, mapScalars(field.type, (value as Row)[name] ?? null, change)] as const
  })
  return Object.fromEntries(fields)
}

/** A number where it is exact, else its digits. */
export function integer(value: number | bigint | string): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** Decimal text without zeros at the end of its fraction, and without a point where no fraction is left. */
export function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** How deep BigQuery's JSON values nest; see PARSE_JSON in its JSON functions. */
const deepestJson = 500

/**
 * Parses JSON text; integers that a number would not hold exactly become their digits.
 * @throws EngineError `rejected` for a value that is too deep
 */
export function parseExactJson(text: string): Value {
  if (text.length > deepestJson && depthOfJson(text) > deepestJson)
    throw new EngineError('rejected', `A JSON value is nested more than ${deepestJson} levels deep`)
  // Sixteen digits in a row, in a string too, are rare: only then is each value looked at, which is slow.
  return JSON.parse(text, /\d{16}/.test(text) ? exactInteger : undefined) as Value
}

function depthOfJson(text: string): number {
  let [depth, deepest] = [0, 0]
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{}\]]/g)) {
    if (sign === '[' || sign === '{') deepest = Math.max(deepest, ++depth)
    else if (sign === ']' || sign === '}') depth--
  }
  return deepest
}

/** `context` is the source text of a primitive value (ECMAScript 2025, in Node since 21). */
function exactInteger(_: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const inexact = typeof value === 'number' && !Number.isSafeInteger(value)
  return inexact && source && /^-?\d+$/.test(source) ? source : value
}

/** A reader of objects with these names, whose values `reads` take from one place. */
export function recordReader<Place>(
  names: string[],
  reads: ((place: Place) => Value)[],
): (place: Place) => Row {
  // The name `__proto__` cannot be assigned to, only defined.
  if (names.includes('__proto__'))
    return place => Object.fromEntries(names.map((name, at) => [name, reads[at]!(place)]))
  return place => {
    const row: Row = {}
    for (let at = 0; at < names.length; at++) row[names[at]!] = reads[at]!(place)
    return row
  }
}

/** An element of an array in a result. BigQuery's results cannot hold a NULL there. Throws EngineError `rejected`. */
export function element(value: Value): Value {
  if (value === null) throw new EngineError('rejected', 'An array in the result has a NULL element')
  return value
}

/** The elements of a bound array. Throws EngineError `rejected` for another value. */
export function boundItems(name: string, type: ArrayType, value: Value): Value[] {
  if (!Array.isArray(value)) throw invalidBinding(name, type)
  return value
}

/** The fields of a bound struct in the order of its type. Throws EngineError `rejected` if the value is no object. */
export function boundFields<Bound>(
  name: string,
  type: StructType,
  value: Value,
  bind: (type: SqlType, value: Value) => Bound,
): Record<string, Bound> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidBinding(name, type)
  const fields = type.fields.map((field, at) => {
    const key = fieldName(field.name, at)
    return [key, bind(field.type, Object.hasOwn(value, key) ? value[key]! : null)] as const
  })
  return Object.fromEntries(fields)
}

/** For a parameter's value that is not of its type. */
export function invalidBinding(name: string, type: SqlType): EngineError {
  return new EngineError('rejected', `The value of parameter @${name} is not a valid ${typeName(type)}`)
}

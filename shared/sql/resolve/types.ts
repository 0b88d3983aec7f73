/**
 * The types of values, and which go together, after GoogleSQL's conversion rules
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_rules). What is not known goes with everything.
 */
import type { ArrayType, ScalarName, SqlType, StructType } from '../types.ts'

/** A type, of which not all need be known. */
export type Type = Exclude<SqlType, ArrayType | StructType> | ListType | RecordType | UnknownType

interface ListType {
  kind: 'ARRAY'
  element: Type
}

interface RecordType {
  kind: 'STRUCT'
  fields: { name: string | null; type: Type }[]
}

/** Of a table or a function that is not known. `scalar`: surely no ARRAY and no STRUCT. */
interface UnknownType {
  kind: 'UNKNOWN'
  scalar: boolean
}

export const anything: Type = { kind: 'UNKNOWN', scalar: false }
export const someScalar: Type = { kind: 'UNKNOWN', scalar: true }

/** The value of an expression, as far as its text says it. */
export interface Value {
  /** `null` for a bare NULL, which fits every type. */
  type: Type | null
  /** Where GoogleSQL coerces it more freely than an ordinary expression. */
  origin?: 'literal' | 'parameter' | undefined
  /** The values of a struct that is written out, each of which is coerced by its own rules. */
  fields?: Value[] | undefined
  /** An array without elements that is written out: it has the type of what surrounds it. */
  empty?: boolean | undefined
}

const scalars = new Map<string, Value>()

/** An ordinary value of a scalar type. */
export function valueOf(kind: ScalarName): Value {
  const value = scalars.get(kind) ?? { type: { kind } }
  scalars.set(kind, value)
  return value
}

/** The array of such elements; GoogleSQL takes a bare NULL for an INT64. */
export function arrayOf(element: Type | null): ListType {
  return { kind: 'ARRAY', element: firm(element) }
}

/** A struct of values; more fields than a query can hold are not followed, as each query may double them. */
export function recordOf(values: { name: string | null; type: Type | null }[]): Type {
  const size = values.reduce((sum, { type }) => sum + sizeOf(type), 1)
  if (size > 10_000) return anything
  const record: RecordType = {
    kind: 'STRUCT',
    fields: values.map(({ name, type }) => ({ name, type: firm(type) })),
  }
  sizes.set(record, size)
  return record
}

const sizes = new WeakMap<Type, number>()

function sizeOf(type: Type | null): number {
  if (type?.kind === 'ARRAY') return sizeOf(type.element)
  if (type?.kind !== 'STRUCT') return 1
  const size = sizes.get(type) ?? type.fields.reduce((sum, field) => sum + sizeOf(field.type), 1)
  sizes.set(type, size)
  return size
}

/** The type of a value outside the expression that makes it: a bare NULL is an INT64 there. */
export function firm(type: Type | null): Type {
  return type ?? { kind: 'INT64' }
}

/** The type of an array's elements, `null` for a value that is no array. */
export function elementOf(type: Type | null): Type | null {
  if (type?.kind === 'ARRAY') return type.element
  return type && isUnknown(type) && !type.scalar ? anything : null
}

export function isUnknown(type: Type | null): type is UnknownType {
  return type?.kind === 'UNKNOWN'
}

/** Whether nothing in it is unknown. */
export function isKnown(type: Type): type is SqlType {
  if (type.kind === 'ARRAY') return isKnown(type.element)
  if (type.kind === 'STRUCT') return type.fields.every(field => isKnown(field.type))
  return type.kind !== 'UNKNOWN'
}

/** Whether a value may be of this kind. */
export function mayBe(type: Type | null, ...kinds: Type['kind'][]): boolean {
  if (type === null) return true
  if (isUnknown(type)) return !type.scalar || kinds.some(kind => kind !== 'ARRAY' && kind !== 'STRUCT')
  return kinds.includes(type.kind)
}

/** The types to which a type is coerced. */
const widened: Partial<Record<Type['kind'], ScalarName[]>> = {
  INT64: ['NUMERIC', 'BIGNUMERIC', 'FLOAT64'],
  NUMERIC: ['BIGNUMERIC', 'FLOAT64'],
  BIGNUMERIC: ['FLOAT64'],
  DATE: ['DATETIME'],
}

/** The types to which a STRING literal or parameter is coerced; a column of type STRING never is. */
const readFromText: readonly string[] = ['DATE', 'DATETIME', 'TIME', 'TIMESTAMP']

export const numberKinds: Type['kind'][] = ['INT64', 'NUMERIC', 'BIGNUMERIC', 'FLOAT64']

/** Whether two lists are equally long, and what is at one place goes together. */
export function everyPair<One, Other>(
  all: readonly One[],
  others: readonly Other[],
  goTogether: (one: One, other: Other) => boolean,
): boolean {
  return all.length === others.length && all.every((one, at) => goTogether(one, others[at]!))
}

/** The sizes of types and the names of a STRUCT's fields do not count. */
export function sameType(a: Type, b: Type): boolean {
  if (isUnknown(a)) return isUnknown(b) || mayBe(a, b.kind)
  if (isUnknown(b)) return mayBe(b, a.kind)
  if (a.kind === 'ARRAY' && b.kind === 'ARRAY') return sameType(a.element, b.element)
  if (a.kind === 'STRUCT' && b.kind === 'STRUCT')
    return everyPair(a.fields, b.fields, (one, other) => sameType(one.type, other.type))
  return a.kind === b.kind
}

/** Whether GoogleSQL converts a value to a type by itself. */
export function coerces(value: Value, wanted: Type): boolean {
  if (value.type === null || (value.empty && wanted.kind === 'ARRAY')) return true
  const { fields } = value
  if (fields && wanted.kind === 'STRUCT')
    return everyPair(fields, wanted.fields, (field, { type }) => coerces(field, type))
  return sameType(value.type, wanted) || converts(value, value.type, wanted)
}

function converts(value: Value, from: Type, to: Type): boolean {
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY')
    return value.origin === 'literal' && converts(value, from.element, to.element)
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    const field: Value = { ...value, origin: 'literal' }
    return everyPair(from.fields, to.fields, (one, other) => converts(field, one.type, other.type))
  }
  if (sameType(from, to)) return true
  if (widened[from.kind]?.some(kind => kind === to.kind)) return true
  if (from.kind === 'FLOAT64')
    return value.origin === 'literal' && numberKinds.includes(to.kind) && to.kind !== 'INT64'
  return from.kind === 'STRING' && value.origin !== undefined && readFromText.includes(to.kind)
}

/**
 * The type that all values can take; `undefined` if there is none, `null` if all of them are bare NULLs.
 * The type of an ordinary expression is preferred to that of a literal, and both to a wider one.
 */
export function commonType(values: Value[]): Type | null | undefined {
  const typed = values.filter(({ type }) => type !== null)
  if (typed.length === 0) return null
  if (typed.some(({ type }) => isUnknown(type))) return commonOfSome(typed)
  const types = typed.filter(({ origin }) => origin !== 'literal').concat(typed)
  const candidates = types.map(({ type }) => type!)
  const wider = candidates.flatMap(({ kind }) => (widened[kind] ?? []).map(kind => ({ kind })))
  const all = [...commonStruct(typed), ...candidates, ...wider]
  return all.find(candidate => typed.every(value => coerces(value, candidate)))
}

/** Of values whose type is not known for all: some types are coerced to no other, unless they are written out. */
function commonOfSome(values: Value[]): Type | undefined {
  const known = values.filter(value => !isUnknown(value.type))
  const type = commonType(known)
  if (type === undefined || ownKinds.includes(type?.kind)) return type ?? undefined
  if (type?.kind === 'ARRAY' && known.some(({ origin, empty }) => !origin && !empty)) return type
  const isScalar = type
    ? !mayBe(type, 'ARRAY', 'STRUCT')
    : values.some(value => elementOf(value.type) === null)
  return isScalar ? someScalar : anything
}

const ownKinds: unknown[] = ['BOOL', 'BYTES', 'JSON', 'INTERVAL']

/** Of structs that are written out, field by field, with the names of the first. */
function commonStruct(values: Value[]): Type[] {
  const type = values[0]!.type!
  if (type.kind !== 'STRUCT' || !values.every(({ fields }) => fields)) return []
  const fields = type.fields.flatMap(({ name }, at) => {
    const type = commonType(values.flatMap(({ fields }) => fields![at] ?? []))
    return type === undefined ? [] : [{ name, type }]
  })
  const common = recordOf(fields)
  return isUnknown(common) ? [] : [common]
}

/** Whether equal values are told from others, as groups are. */
export function groupable(type: Type | null): boolean {
  if (type?.kind === 'ARRAY') return groupable(type.element)
  if (type?.kind === 'STRUCT') return type.fields.every(field => groupable(field.type))
  return type?.kind !== 'JSON'
}

/** Whether values have an order. */
export function orderable(type: Type | null): boolean {
  return type === null || !['ARRAY', 'JSON', 'STRUCT'].includes(type.kind)
}

/** Whether values are told from others by `=`. NaN is equal to nothing. */
export function comparable(type: Type | null): boolean {
  if (type?.kind === 'STRUCT') return type.fields.every(field => comparable(field.type))
  return type?.kind !== 'ARRAY' && type?.kind !== 'JSON'
}

/** A type as GoogleSQL writes it; `null` is that of a bare NULL. */
export function typeName(type: Type | null): string {
  if (type === null) return 'NULL'
  if (type.kind === 'ARRAY') return `ARRAY<${typeName(type.element)}>`
  if (type.kind !== 'STRUCT') return type.kind
  const fields = type.fields.map(field => [field.name, typeName(field.type)].filter(Boolean).join(' '))
  return `STRUCT<${fields.join(', ')}>`
}

/** For messages: what is in long types is left out. */
export function briefTypeName(type: Type | null): string {
  const name = typeName(type)
  if (name.length <= 60) return name
  return type?.kind === 'ARRAY' && type.element.kind === 'STRUCT'
    ? 'ARRAY<STRUCT<...>>'
    : `${type?.kind}<...>`
}

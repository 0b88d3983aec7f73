/**
 * Which types go together, after GoogleSQL's conversion rules
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_rules).
 */
import { sameName } from '../../../sql/columns.ts'
import { parametersOf } from '../../../sql/functions.ts'
import type { Node } from '../../../sql/tree.ts'
import type { ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { duckType } from '../syntax.ts'
import { type Context, structSql, type Typed } from './context.ts'
import { noSignature } from './no-signature.ts'

/** The types to which a type is coerced. */
const widened: Partial<Record<ScalarName, ScalarName[]>> = {
  INT64: ['NUMERIC', 'BIGNUMERIC', 'FLOAT64'],
  NUMERIC: ['BIGNUMERIC', 'FLOAT64'],
  BIGNUMERIC: ['FLOAT64'],
  DATE: ['DATETIME'],
}

/** The types to which a STRING literal or parameter is coerced; a column of type STRING never is. */
const readFromText: readonly string[] = ['DATE', 'DATETIME', 'TIME', 'TIMESTAMP'] satisfies ScalarName[]

export const numberKinds: readonly string[] = [
  'INT64',
  'NUMERIC',
  'BIGNUMERIC',
  'FLOAT64',
] satisfies ScalarName[]

/** The sizes of types and the names of a STRUCT's fields do not count. */
export function sameType(a: SqlType, b: SqlType): boolean {
  if (a.kind === 'ARRAY' && b.kind === 'ARRAY') return sameType(a.element, b.element)
  if (a.kind === 'STRUCT' && b.kind === 'STRUCT')
    return (
      a.fields.length === b.fields.length &&
      a.fields.every((field, at) => sameType(field.type, b.fields[at]!.type))
    )
  return a.kind === b.kind
}

/**
 * The same value as DuckDB SQL of type `wanted`, or `null` where GoogleSQL does not convert by itself. Throws SqlError for a
 * literal text that is converted and has no value of that type.
 */
export function coerce(value: Typed, wanted: SqlType): Typed | null {
  if (value.type === null) return { sql: `CAST(${value.sql} AS ${duckType(wanted)})`, type: wanted }
  // An empty array literal is of every array type.
  if (value.sql === '[]' && wanted.kind === 'ARRAY') return { ...value, type: wanted }
  if (value.fields && wanted.kind === 'STRUCT') return coerceFields(value.fields, wanted)
  if (value.empty && wanted.kind === 'ARRAY') return { sql: `CAST([] AS ${duckType(wanted)})`, type: wanted }
  if (sameType(value.type, wanted)) return { ...value, ...renamed(value.sql, value.type, wanted) }
  if (!converts(value, value.type, wanted)) return null
  const sql = value.readAs?.(wanted.kind as ScalarName) ?? renamed(value.sql, value.type, wanted).sql
  return { sql: `CAST(${sql} AS ${duckType(wanted)})`, type: wanted }
}

/** A struct that was written out, as another type. */
function coerceFields(values: Typed[], wanted: StructType): Typed | null {
  const fields = wanted.fields.map((field, at) => values[at] && coerce(values[at], field.type))
  if (values.length !== fields.length || fields.some(field => !field)) return null
  const sql = structSql(wanted.fields.map(({ name }, at) => ({ name, sql: fields[at]!.sql })))
  return { sql, type: wanted, fields: fields.map(field => field!) }
}

/** GoogleSQL matches the fields of structs by place, DuckDB by name: the same value with the names of `wanted`. */
function renamed(sql: string, from: SqlType, wanted: SqlType): Typed {
  return { sql: sameNames(from, wanted) ? sql : withNames(sql, from, wanted, 0), type: wanted }
}

function withNames(sql: string, from: SqlType, wanted: SqlType, depth: number): string {
  if (sameNames(from, wanted)) return sql
  if (from.kind === 'ARRAY' && wanted.kind === 'ARRAY') {
    const element = `n${depth}`
    return `list_transform(${sql}, lambda ${element}: ${withNames(element, from.element, wanted.element, depth + 1)})`
  }
  const fields = structPairs(from, wanted).map(({ name, from, wanted }, at) => ({
    name,
    sql: withNames(`struct_extract_at(${sql}, ${at + 1})`, from, wanted, depth),
  }))
  return `(CASE WHEN ${sql} IS NOT NULL THEN ${structSql(fields)} END)`
}

function sameNames(a: SqlType, b: SqlType): boolean {
  if (a.kind === 'ARRAY' && b.kind === 'ARRAY') return sameNames(a.element, b.element)
  return structPairs(a, b).every(pair => pair.same && sameNames(pair.from, pair.wanted))
}

function structPairs(a: SqlType, b: SqlType) {
  if (a.kind !== 'STRUCT' || b.kind !== 'STRUCT') return []
  return b.fields.map((field, at) => {
    const name = fieldName(field.name, at)
    const other = a.fields[at]!
    const same = sameName(fieldName(other.name, at), name)
    return { name, same, from: other.type, wanted: field.type }
  })
}

function converts(value: Typed, from: SqlType, to: SqlType): boolean {
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY')
    return value.origin === 'literal' && converts(value, from.element, to.element)
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT')
    return (
      from.fields.length === to.fields.length &&
      from.fields.every((field, at) =>
        converts({ ...value, origin: 'literal' }, field.type, to.fields[at]!.type),
      )
    )
  if (sameType(from, to)) return true
  if (from.kind === 'ARRAY' || from.kind === 'STRUCT') return false
  if (widened[from.kind]?.some(kind => kind === to.kind)) return true
  if (from.kind === 'FLOAT64')
    return value.origin === 'literal' && numberKinds.includes(to.kind) && to.kind !== 'INT64'
  return from.kind === 'STRING' && value.origin !== undefined && readFromText.includes(to.kind)
}

/**
 * The type that all values can take; `undefined` if there is none, `null` if all of them are bare NULLs.
 * The type of an ordinary expression is preferred to that of a literal, and both to a wider one.
 */
function commonType(values: Typed[]): SqlType | null | undefined {
  const typedOnes = values.filter(value => value.type !== null)
  if (typedOnes.length === 0) return null
  const firm = typedOnes.filter(value => value.origin !== 'literal')
  const types = [...firm, ...typedOnes].map(value => value.type!)
  const candidates = [...commonStruct(typedOnes), ...types, ...types.flatMap(widerTypes)]
  return candidates.find(candidate => typedOnes.every(value => coerce(value, candidate) !== null))
}

/** Of structs that are written out, field by field, with the names of the first. */
function commonStruct(values: Typed[]): SqlType[] {
  const type = values[0]!.type!
  if (type.kind !== 'STRUCT' || !values.every(({ fields }) => fields)) return []
  const fields = type.fields.flatMap(({ name }, at) => {
    const type = commonType(values.flatMap(({ fields }) => fields![at] ?? []))
    return type === undefined ? [] : [{ name, type: type ?? { kind: 'INT64' as const } }]
  })
  return [{ kind: 'STRUCT', fields }]
}

function widerTypes(type: SqlType): SqlType[] {
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') return []
  return (widened[type.kind] ?? []).map(kind => ({ kind }))
}

/** Values with the type that all of them have; it is `null` if all of them are bare NULLs. */
export interface Unified {
  values: Typed[]
  type: SqlType | null
}

/** All values as their common type; `null` if there is none. */
export function unify(values: Typed[]): Unified | null {
  const type = commonType(values)
  if (type === undefined) return null
  return { values: type === null ? values : values.map(value => coerce(value, type)!), type }
}

/** All values as their common type. Throws SqlError if there is none; `what` names the operator or the like. */
export function unifyOrThrow(context: Context, node: Node, what: string, values: Typed[]): Unified {
  const common = unify(values)
  if (!common) throw noSignature(context, node, what, values)
  return common
}

/** The SQL of a condition. Throws SqlError if it is no BOOL; `what` names the clause or the like. */
export function condition(context: Context, node: Node, what: string, value: Typed): string {
  if (!coerce(value, { kind: 'BOOL' }))
    throw noSignature(context, node, what, [value], [parametersOf('BOOL')])
  return value.sql
}

/** Values as values of other types; `shared/sql/resolve/types.ts` has which types go together. */
import { sameName } from '../../../sql/columns.ts'
import { parametersOf } from '../../../sql/functions.ts'
import { coerces, commonType, sameType } from '../../../sql/resolve/types.ts'
import type { Node } from '../../../sql/tree.ts'
import type { ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { duckType } from '../syntax.ts'
import { type Context, structSql, type Typed } from './context.ts'
import { noSignature } from './no-signature.ts'

export const numberKinds: readonly string[] = [
  'INT64',
  'NUMERIC',
  'BIGNUMERIC',
  'FLOAT64',
] satisfies ScalarName[]

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
  if (!coerces(value, wanted)) return null
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

/** Values with the type that all of them have; it is `null` if all of them are bare NULLs. */
export interface Unified {
  values: Typed[]
  type: SqlType | null
}

/** All values as their common type; `null` if there is none. */
export function unify(values: Typed[]): Unified | null {
  const type = commonType(values) as SqlType | null | undefined
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

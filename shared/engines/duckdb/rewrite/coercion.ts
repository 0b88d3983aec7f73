/** Values as values of other types; `shared/sql/resolve/types.ts` has which types go together. */
import { sameName } from '../../../sql/columns.ts'
import { commonType, isUnknown, sameType } from '../../../sql/resolve/types.ts'
import type { Expression } from '../../../sql/tree.ts'
import type { ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { duckType } from '../syntax.ts'
import { type Context, structSql, type Typed } from './context.ts'

/** The type that the resolver found. Throws UnsupportedError where it gave up. */
export function typeIn(context: Context, node: Expression): SqlType | null {
  const type = context.resolution.values.get(node)?.type ?? null
  if (isUnknown(type)) throw context.unsupported(node, 'A value of so many fields')
  return type as SqlType | null
}

/** A value as the type to which its expression is coerced. Throws SqlError for a literal text that has no such value. */
export function applyCoercion(context: Context, node: Expression, value: Typed): Typed {
  const wanted = context.resolution.coercions.get(node)
  return wanted ? coerce(value, wanted as SqlType) : value
}

/**
 * The same value as DuckDB SQL of another type, to which GoogleSQL coerces it. Throws SqlError for a literal text that has no
 * value of that type.
 */
export function coerce(value: Typed, wanted: SqlType): Typed {
  if (value.type === null) return { sql: `CAST(${value.sql} AS ${duckType(wanted)})`, type: wanted }
  // An empty array literal is of every array type.
  if (value.sql === '[]' && wanted.kind === 'ARRAY') return { ...value, type: wanted }
  if (value.fields && wanted.kind === 'STRUCT') return coerceFields(value.fields, wanted)
  if (value.empty && wanted.kind === 'ARRAY') return { sql: `CAST([] AS ${duckType(wanted)})`, type: wanted }
  if (sameType(value.type, wanted)) return { ...value, ...renameFields(value.sql, value.type, wanted) }
  const sql = value.readAs?.(wanted.kind as ScalarName) ?? renameFields(value.sql, value.type, wanted).sql
  return { sql: `CAST(${sql} AS ${duckType(wanted)})`, type: wanted }
}

function coerceFields(values: Typed[], wanted: StructType): Typed {
  const fields = wanted.fields.map((field, at) => coerce(values[at]!, field.type))
  const sql = structSql(wanted.fields.map(({ name }, at) => ({ name, sql: fields[at]!.sql })))
  return { sql, type: wanted, fields }
}

/** GoogleSQL matches the fields of structs by place, DuckDB by name: the same value with the names of `wanted`. */
function renameFields(sql: string, from: SqlType, wanted: SqlType): Typed {
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

/** The type that values which go together have; `null` if all of them are bare NULLs. */
export function commonOf(values: Typed[]): SqlType | null {
  return commonType(values) as SqlType | null
}

/** Names: the columns that the resolver found, as they stand in DuckDB, and the fields of values. */
import { sameName } from '../../../sql/columns.ts'
import { placeOf } from '../../../sql/resolve/scope.ts'
import type { Column, RangeVariable, Reference, Source } from '../../../sql/resolve/resolution.ts'
import type { AnyNode, Expression, Identifier, Path } from '../../../sql/tree.ts'
import type { SqlType, StructType } from '../../../sql/types.ts'
import { descendants } from '../../../sql/walk.ts'
import { quoteText } from '../syntax.ts'
import { type Context, type Scope, structField, structOf, type Typed, typed } from './context.ts'

/** No names of its own. */
export const noRows: Source = { variables: [], merged: [] }

/** What a path stands for. */
export function path(context: Context, { parts }: Path, reference: Reference, scope: Scope): Typed {
  const key = keyOfPath(context, parts, reference)
  const { column, variable } = reference
  const value = column ? columnValue(context, column, scope) : rowOf(context, variable!, scope)
  const whole = parts.slice(reference.parts).reduce(fieldOf, value)
  return key ? typed(key.sql, whole.type) : whole
}

function keyOfPath(context: Context, parts: Identifier[], reference: Reference) {
  if (context.keys.paths.size === 0) return undefined
  const { root, fields } = placeOf(reference, parts)
  const same = (key: { fields: readonly string[] }) =>
    key.fields.length === fields.length && key.fields.every((name, at) => sameName(name, fields[at]!))
  return root ? context.keys.paths.get(root)?.find(same) : undefined
}

/** The value of a column where it stands now. */
export function columnValue(context: Context, column: Column, scope: Scope): Typed {
  const known = context.columns.get(column)
  if (known) return known
  const { from } = column
  const item = from.kind === 'item' ? context.items.get(from.item) : undefined
  if (item) return item
  if (from.kind === 'field') {
    const { sql, type } = columnValue(context, from.of, scope)
    return structField(sql, type as StructType, from.at!)
  }
  if (from.kind === 'columns' && from.columns.length === 1)
    return columnValue(context, from.columns[0]!, scope)
  // The value whose fields `*` stands for.
  const value = context.expression((from as { node: Expression }).node, scope)
  context.columns.set(column, value)
  return value
}

function rowOf(context: Context, { columns }: RangeVariable, scope: Scope): Typed {
  return structOf(columns.map(column => ({ ...columnValue(context, column, scope), name: column.name })))
}

/** One field of a STRUCT or JSON value. */
export function fieldOf({ type, sql }: Typed, field: Identifier): Typed {
  if (type?.kind !== 'STRUCT') return typed(`json_extract(${sql}, ${jsonKey(field.name)})`, 'JSON')
  const at = type.fields.findIndex(({ name }) => sameName(name, field.name))
  return structField(sql, type, at)
}

/** The path to one key, as a DuckDB literal: in a JSONPath, `*` would stand for every key, in quotes too, and an empty one is none. */
export function jsonKey(key: string): string {
  if (!/["*]|^$/.test(key)) return quoteText(`$."${key}"`)
  return quoteText(`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

/** The same for a key that is computed. */
export const jsonKeyOf = (key: string) =>
  `CASE WHEN regexp_matches(${key}, '["*]|^$') THEN '/' || replace(replace(${key}, '~', '~0'), '/', '~1') ELSE '$."' || ${key} || '"' END`

/** DuckDB counts negative ones from the end. */
export const jsonIndex = (index: string) => `CASE WHEN ${index} >= 0 THEN ${index} END`

/** Of all paths those that stand for something: CURRENT_DATE is a call. */
export function namesIn(context: Context, node: AnyNode): Path[] {
  const paths = [...descendants(node)].filter(part => part.kind === 'Path')
  return paths.filter(path => context.resolution.paths.has(path))
}

/** The query around an expression that has what a path begins with; `null` for a name of WITH. */
export function levelOf(context: Context, path: Path, scope: Scope): Scope | null {
  const reference = context.resolution.paths.get(path)!
  for (let at: Scope | null = scope; at; at = at.outer) if (has(at, reference)) return at
  return null
}

function has({ own: { variables, merged }, list }: Scope, { column, variable }: Reference): boolean {
  const root = column && rootOf(column)
  if (root === null) return variables.includes(variable!)
  if (list?.includes(root)) return true
  return (
    merged.includes(root) ||
    variables.some(({ element, columns }) => element === root || columns.includes(root))
  )
}

function rootOf(column: Column): Column {
  return column.from.kind === 'field' ? rootOf(column.from.of) : column
}

/** The columns that USING or a set operation merges into one. */
export function mergedIn({ from }: Column): readonly Column[] {
  return from.kind === 'columns' ? from.columns : []
}

/** A column's type: the engine knows all tables, so no type is unknown. */
export function typeOf(column: Column): SqlType {
  return (column.type ?? { kind: 'INT64' }) as SqlType
}

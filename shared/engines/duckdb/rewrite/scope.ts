/** Name resolution: range variables, their columns and fields, aliases of the SELECT list. */
import { sameName } from '../../../sql/columns.ts'
import { nameKey } from '../../../sql/relations.ts'
import type { Identifier } from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'
import * as told from '../../../sql/resolve/unknown-names.ts'
import { quoteName, quoteText } from '../syntax.ts'
import {
  type Context,
  type Ctes,
  elementOf,
  type OutputColumn,
  type RangeVariable,
  type Scope,
  structField,
  structOf,
  type Typed,
  typed,
  type VisibleColumn,
} from './context.ts'

/** A column of a relation in FROM, under the relation's name `table` in DuckDB. */
export function visibleColumn(table: string, { name, duck, type }: OutputColumn): VisibleColumn {
  return { name, sql: `${table}.${quoteName(duck)}`, type }
}

/** Common tables alone are in sight, and what `outer` sees; `null` for a query that stands in no other. */
export function newScope(ctes: Ctes, outer: Scope | null): Scope {
  return {
    variables: [],
    merged: new Map(),
    outer,
    ctes,
    aliases: null,
    windows: new Map(),
    aggregation: { found: false },
  }
}

/** FROM, or a part of it. */
export interface Source {
  /** DuckDB SQL that can stand in FROM. */
  sql: string
  /** More than one item: needs parentheses on the right of a join. */
  joined: boolean
  variables: RangeVariable[]
  merged: Scope['merged']
}

/** A scope with the range variables of a source as well. */
export function withSource(scope: Scope, { variables, merged }: Source): Scope {
  return {
    ...scope,
    variables: [...scope.variables, ...variables],
    merged: new Map([...scope.merged, ...merged]),
  }
}

/** The scope of a DuckDB lambda over an array, whose elements `name` stands for, and the lambda's parameter. */
export function lambdaScope(
  context: Context,
  array: Typed,
  name: string | null,
  outer: Scope,
): { element: string; scope: Scope } {
  const element = quoteName(context.uniqueName('x'))
  const value = { sql: element, type: elementOf(array.type) }
  const scope = newScope(outer.ctes, outer)
  return { element, scope: { ...scope, variables: [{ kind: 'value', name, value }] } }
}

/** The value of a path such as `status`, `t.metadata` or `r.headers.host`; `null` if its first name is unknown. */
export function findPath(context: Context, scope: Scope, path: Identifier[]): Typed | null {
  for (let at: Scope | null = scope; at; at = at.outer) {
    const value = findHere(context, at, path)
    if (value) return visibleIn(context, at, path, at.keys?.get(value.sql) ?? value)
  }
  return null
}

function findHere(context: Context, at: Scope, path: Identifier[]): Typed | null {
  const [first, ...fields] = path as [Identifier, ...Identifier[]]
  const variable = at.variables.find(variable => sameName(variable.name, first.name))
  const alias = at.aliases?.get(nameKey(first.name))
  if (alias) return fieldsOf(context, alias, fields, path)
  if (variable) return inVariable(context, variable, fields, path)
  const column = findColumn(context, at, first)
  return column && fieldsOf(context, column, fields, path)
}

/** The value of a path, if SELECT DISTINCT leaves it in sight, or what it is a field of. */
function visibleIn(context: Context, at: Scope, path: Identifier[], value: Typed): Typed {
  const { visible } = at
  const seen = (_: Identifier, last: number) =>
    visible!.has(findHere(context, at, path.slice(0, last + 1))!.sql)
  if (!visible || path.some(seen)) return value
  const ofSeen = at.variables.some(
    variable =>
      variable.kind === 'value' &&
      visible.has(variable.value.sql) &&
      columnsOf(variable).some(column => sameName(column.name, path[0]!.name)),
  )
  if (ofSeen) return value
  const name = path.map(part => part.name).join('.')
  throw context.invalid(
    path[0]!,
    `${name} is not visible after SELECT DISTINCT: ORDER BY takes what is selected, by its name or number`,
  )
}

/** For a path whose first name is unknown. */
export function unknownName(context: Context, scope: Scope, path: Identifier[]) {
  const [first] = path as [Identifier]
  const message = `Unrecognized name: ${first.name}`
  if (scope.later?.has(nameKey(first.name)))
    return context.invalid(
      first,
      `${message}, a name of the SELECT list, which WHERE does not see: repeat its expression, or filter in a query around this one`,
    )
  if (!scope.outer && scope.variables.length === 0)
    return context.invalid(first, `${message}: the query has no FROM, so there are no columns`)
  return context.invalid(first, told.unknownName(path, namesIn(scope), inSight(scope)))
}

function inSight(scope: Scope | null): told.InSight[] {
  return (scope?.variables ?? []).map(variable => ({
    name: variable.name,
    element: variable.kind === 'value' ? variable : null,
    columns: columnsOf(variable),
  }))
}

/** For a field of a value that has none. */
export function noField(context: Context, type: SqlType | null, field: Identifier) {
  return context.invalid(field, told.noField(type, field))
}

function inVariable(
  context: Context,
  variable: RangeVariable,
  fields: Identifier[],
  path: Identifier[],
): Typed {
  if (variable.kind === 'value') return fieldsOf(context, variable.value, fields, path)
  const [first, ...rest] = fields
  if (!first) return structOf(variable.columns)
  const hits = variable.columns.filter(column => sameName(column.name, first.name))
  if (hits.length > 1) throw ambiguous(context, first)
  if (hits[0]) return fieldsOf(context, hits[0], rest, path)
  const names = variable.columns.flatMap(column => column.name ?? [])
  throw unrecognized(context, first, `Name ${first.name} not found inside ${variable.name}`, names)
}

/** The column of that name in one scope, whichever variable has it. Throws SqlError if several have. */
export function findColumn(context: Context, scope: Scope, name: Identifier): Typed | null {
  const merged = scope.merged.get(nameKey(name.name))
  if (merged) return merged
  const hits = scope.variables.flatMap(variable =>
    columnsOf(variable).filter(column => sameName(column.name, name.name)),
  )
  if (hits.length > 1) throw ambiguous(context, name, scope)
  return hits[0] ?? null
}

/** The columns that a range variable brings into sight; for an array of structs, the fields of its elements. */
export function columnsOf(variable: RangeVariable): VisibleColumn[] {
  if (variable.kind === 'relation') return variable.columns
  const { type, sql } = variable.value
  if (type?.kind !== 'STRUCT') return []
  return type.fields.map(({ name }, at) => ({ name, ...structField(sql, type, at) }))
}

/** The `fields` at the end of a path, of the value that the names before them stand for. */
function fieldsOf(context: Context, value: Typed, fields: Identifier[], path: Identifier[]): Typed {
  return fields.reduce((of, field, at) => {
    const records = elementOf(of.type)
    if (records?.kind === 'STRUCT') throw fieldOfArray(context, records, path, fields.slice(at))
    return fieldOf(context, of, field)
  }, value)
}

/** For fields of an array of structs, as every object in the logs is one: shows the UNNESTs that lead to them. */
export function fieldOfArray(context: Context, records: SqlType, path: Identifier[], fields: Identifier[]) {
  return context.invalid(fields[0]!, told.fieldsOfArray(records, path, fields))
}

/** One field of a STRUCT or JSON value. Throws SqlError if it has none of that name. */
export function fieldOf(context: Context, value: Typed, field: Identifier): Typed {
  const { type, sql } = value
  if (type?.kind === 'JSON') return typed(`json_extract(${sql}, ${jsonKey(field.name)})`, 'JSON')
  if (type?.kind !== 'STRUCT') throw noField(context, type, field)
  const at = type.fields.findIndex(({ name }) => sameName(name, field.name))
  if (at >= 0) return structField(sql, type, at)
  const names = type.fields.flatMap(({ name }) => name ?? [])
  throw unrecognized(context, field, `Field name ${field.name} does not exist`, names)
}

/** The path to one key, as a DuckDB literal: in a JSONPath, `*` would stand for every key, in quotes too. */
export function jsonKey(key: string): string {
  if (!/["*]/.test(key)) return quoteText(`$."${key}"`)
  return quoteText(`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

function namesIn(scope: Scope): string[] {
  const names: (string | null)[] = []
  for (let at: Scope | null = scope; at; at = at.outer)
    for (const variable of at.variables)
      names.push(variable.name, ...columnsOf(variable).map(column => column.name))
  return names.filter(name => name !== null)
}

function unrecognized(context: Context, node: Identifier, message: string, names: string[]) {
  return context.invalid(node, told.withNames(message, node.name, names))
}

/** With the tables that have such a column, where each has a name. */
function ambiguous(context: Context, name: Identifier, scope: Scope | null = null) {
  return context.invalid(name, told.ambiguous(name, inSight(scope)))
}

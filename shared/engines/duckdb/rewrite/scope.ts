/** Name resolution: range variables, their columns and fields, aliases of the SELECT list. */
import type { Identifier } from '../../../sql/tree.ts'
import { typeName } from '../../values.ts'
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

export function newScope(ctes: Ctes, outer: Scope | null): Scope {
  return { variables: [], merged: new Map(), outer, ctes, aliases: null, aggregation: { found: false } }
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

export function sameName(a: string | null, b: string): boolean {
  return a !== null && a.toLowerCase() === b.toLowerCase()
}

/** The value of a path such as `status`, `t.metadata` or `r.headers.host`. Throws SqlError for an unknown name. */
export function resolvePath(context: Context, scope: Scope, path: Identifier[]): Typed {
  const [first, ...fields] = path as [Identifier, ...Identifier[]]
  for (let at: Scope | null = scope; at; at = at.outer) {
    const variable = at.variables.find(variable => sameName(variable.name, first.name))
    const alias = at.aliases?.get(first.name.toLowerCase())
    if (alias) return fieldsOf(context, alias, fields)
    if (variable) return inVariable(context, variable, fields)
    const column = findColumn(context, at, first)
    if (column) return fieldsOf(context, column, fields)
  }
  throw unrecognized(context, first, `Unrecognized name: ${first.name}`, namesIn(scope))
}

function inVariable(context: Context, variable: RangeVariable, fields: Identifier[]): Typed {
  if (variable.kind === 'value') return fieldsOf(context, variable.value, fields)
  const [first, ...rest] = fields
  if (!first) return structOf(variable.columns)
  const hits = variable.columns.filter(column => sameName(column.name, first.name))
  if (hits.length > 1) throw ambiguous(context, first)
  if (hits[0]) return fieldsOf(context, hits[0], rest)
  const names = variable.columns.flatMap(column => column.name ?? [])
  throw unrecognized(context, first, `Name ${first.name} not found inside ${variable.name}`, names)
}

/** The column of that name in one scope, whichever variable has it. Throws SqlError if several have. */
export function findColumn(context: Context, scope: Scope, name: Identifier): Typed | null {
  const merged = scope.merged.get(name.name.toLowerCase())
  if (merged) return merged
  const hits = scope.variables.flatMap(variable =>
    columnsOf(variable).filter(column => sameName(column.name, name.name)),
  )
  if (hits.length > 1) throw ambiguous(context, name)
  return hits[0] ?? null
}

/** The columns that a range variable brings into sight; for an array of structs, the fields of its elements. */
export function columnsOf(variable: RangeVariable): VisibleColumn[] {
  if (variable.kind === 'relation') return variable.columns
  const { type, sql } = variable.value
  if (type?.kind !== 'STRUCT') return []
  return type.fields.map(({ name }, at) => ({ name, ...structField(sql, type, at) }))
}

function fieldsOf(context: Context, value: Typed, fields: Identifier[]): Typed {
  return fields.reduce((of, field) => fieldOf(context, of, field), value)
}

/** One field of a STRUCT or JSON value. Throws SqlError if it has none of that name. */
export function fieldOf(context: Context, value: Typed, field: Identifier): Typed {
  const { type, sql } = value
  if (type?.kind === 'JSON') return typed(`json_extract(${sql}, ${jsonKey(field.name)})`, 'JSON')
  if (type?.kind !== 'STRUCT')
    throw context.invalid(field, `Cannot access field ${field.name} on a value with type ${typeName(type)}`)
  const at = type.fields.findIndex(({ name }) => sameName(name, field.name))
  if (at >= 0) return structField(sql, type, at)
  const names = type.fields.flatMap(({ name }) => name ?? [])
  throw unrecognized(context, field, `Field name ${field.name} does not exist`, names)
}

/** A JSONPath to one key, as a DuckDB literal. */
export function jsonKey(key: string): string {
  return quoteText(`$."${key.replaceAll('"', '\\"')}"`)
}

function namesIn(scope: Scope): string[] {
  const names: (string | null)[] = []
  for (let at: Scope | null = scope; at; at = at.outer)
    for (const variable of at.variables)
      names.push(variable.name, ...columnsOf(variable).map(column => column.name))
  return names.filter(name => name !== null)
}

function unrecognized(context: Context, node: Identifier, message: string, names: string[]) {
  const near = nearestName(node.name, names)
  return context.invalid(node, near ? `${message}; did you mean ${near}?` : message)
}

function ambiguous(context: Context, name: Identifier) {
  return context.invalid(name, `Column name ${name.name} is ambiguous`)
}

/** The candidate most like a misspelt name, or `null` where none is near. Letter case and underscores do not count. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  const wanted = plain(name)
  let best: string | null = null
  let allowed = Math.max(1, Math.floor(wanted.length / 4))
  for (const candidate of new Set(candidates)) {
    const distance = editDistance(wanted, plain(candidate))
    if (distance > allowed || (best !== null && distance === allowed)) continue
    best = candidate
    allowed = distance
  }
  return best
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '').slice(0, 100)
}

/** Letters to insert, delete or replace (Levenshtein), row by row. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1))
    }
    above = row
  }
  return above[b.length]!
}

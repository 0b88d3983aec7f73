/** SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... QUALIFY. */
import { nameKey } from '../../../sql/relations.ts'
import { refusePartsOfKeys } from '../../../sql/resolve/grouping.ts'
import type { Expression, OrderItem, Select, SelectColumn, SelectStar } from '../../../sql/tree.ts'
import { nameOfColumn, sameName } from '../../../sql/columns.ts'
import { quoteName } from '../syntax.ts'
import { condition } from './coercion.ts'
import {
  type Context,
  type Ctes,
  type OutputColumn,
  type Scope,
  structOf,
  throwing,
  type Typed,
  type VisibleColumn,
} from './context.ts'
import { withKeys } from './grouping.ts'
import { refuseOverRows } from './functions/calls.ts'
import { key as keyOf } from './keys.ts'
import { columnsOf, newScope } from './scope.ts'
import { namedWindows } from './windows.ts'

export interface SelectResult {
  sql: string
  columns: OutputColumn[]
  valueTable: boolean
  /** Sees FROM and, before it, the aliases of the SELECT list. */
  scope: Scope
  items: SelectedItem[]
}

/** One column of the SELECT list. */
export interface SelectedItem {
  name: string | null
  value: Typed
}

/** Rewrites a SELECT, with the ORDER BY behind it. Throws SqlError. */
export function select(
  context: Context,
  node: Select,
  outer: Scope | null,
  ctes: Ctes,
  orderBy: OrderItem[] = [],
): SelectResult {
  const bare = { ...newScope(ctes, outer), windows: namedWindows(context, node.windows) }
  refusePartsOfKeys(throwing(context), node, orderBy)
  const { from, scope } = withKeys(context, node, orderBy, bare)
  const items = node.items.flatMap(item =>
    item.kind === 'SelectStar' ? starItems(context, item, scope) : [selectedItem(context, item, scope)],
  )
  if (node.distinct) for (const { value } of items) keyOf(context, node, 'SELECT DISTINCT', value)
  const aliased: Scope = { ...scope, aliases: aliasesOf(node, items) }
  if (!from) refuseWithoutRows(context, node, scope)
  if (node.having && !node.groupBy && !scope.aggregation.found)
    throw context.invalid(node.having, 'HAVING needs a GROUP BY, or an aggregate function in the SELECT list')
  const list = selectList(context, node, items)
  const sql = [
    `SELECT ${node.distinct ? 'DISTINCT ' : ''}${list.sql}`,
    from && ` FROM ${from.sql}`,
    clause(context, 'WHERE', node.where, { ...scope, later: new Set(aliased.aliases?.keys()) }),
    groupByClause(context, node, items, scope),
    clause(context, 'HAVING', node.having, aliased),
    clause(context, 'QUALIFY', node.qualify, aliased),
  ]
  return {
    sql: sql.filter(Boolean).join(''),
    columns: list.columns,
    valueTable: node.as !== null,
    scope: aliased,
    items,
  }
}

/** Without FROM there is one row, and nothing to filter or to aggregate. */
function refuseWithoutRows(context: Context, node: Select, scope: Scope): void {
  const clauses = { WHERE: node.where, 'GROUP BY': node.groupBy, HAVING: node.having }
  const [keyword, clause] = Object.entries(clauses).find(([, clause]) => clause !== null) ?? []
  if (clause) throw context.invalid(clause, `A query without FROM cannot have ${keyword}`)
  if (scope.aggregation.found) throw context.invalid(node, 'A query without FROM cannot aggregate')
}

function selectedItem(context: Context, item: SelectColumn, scope: Scope): SelectedItem {
  return { name: nameOfColumn(item), value: context.expression(item.expression, scope) }
}

/** `*` and `t.*`: all columns but those of EXCEPT, with those of REPLACE in place. */
function starItems(context: Context, node: SelectStar, scope: Scope): SelectedItem[] {
  const columns = node.of ? fieldsOfRow(context, node.of, scope) : allColumns(scope)
  if (columns.length === 0)
    throw context.invalid(
      node,
      node.of
        ? '* stands for the fields of values here, and these have none: name the columns, in a pipe with SELECT'
        : 'SELECT * needs a FROM clause with columns',
    )
  const lists = {
    EXCEPT: node.except,
    REPLACE: node.replace.map(({ alias }) => alias!),
    RENAME: node.rename.map(({ column }) => column),
  }
  const keyOf = ({ name }: { name: string | null }) => nameKey(name ?? '')
  const keys = new Set(columns.map(keyOf))
  for (const [list, named] of Object.entries(lists)) {
    const unknown = named.find(one => !keys.has(keyOf(one)))
    if (unknown)
      throw context.invalid(unknown, `Column ${unknown.name} in SELECT * ${list} list does not exist`)
  }
  const dropped = new Set(node.except.map(keyOf))
  const replacements = Map.groupBy(node.replace, ({ alias }) => keyOf(alias!))
  const renames = Map.groupBy(node.rename, ({ column }) => keyOf(column))
  return columns
    .filter(column => !dropped.has(keyOf(column)))
    .map(column => {
      const [replaced] = replacements.get(keyOf(column)) ?? []
      const [renamed] = renames.get(keyOf(column)) ?? []
      const name = renamed?.name.name ?? column.name
      return { name, value: replaced ? context.expression(replaced.expression, scope) : column }
    })
}

/** The columns of every range variable in order, those merged by USING first and once. */
function allColumns(scope: Scope): VisibleColumn[] {
  const own = scope.variables.flatMap(variable => {
    const columns = columnsOf(variable)
    const whole = variable.kind === 'value' && columns.length === 0
    return whole ? [{ name: variable.name, ...variable.value }] : columns
  })
  const isMerged = ({ name }: VisibleColumn) => name !== null && scope.merged.has(nameKey(name))
  return [...scope.merged.values(), ...own.filter(column => !isMerged(column))]
}

function fieldsOfRow(context: Context, node: Expression, scope: Scope): VisibleColumn[] {
  const [only, ...more] = node.kind === 'Path' ? node.parts : []
  const variable = only && more.length === 0 && scope.variables.find(({ name }) => sameName(name, only.name))
  if (variable) return columnsOf(variable)
  const value = context.expression(node, scope)
  if (value.type?.kind !== 'STRUCT')
    throw context.invalid(node, 'Dot-star takes the fields of a STRUCT, and this is none: leave .* out')
  return columnsOf({ kind: 'value', name: null, value })
}

function aliasesOf(node: Select, items: SelectedItem[]): Map<string, Typed> {
  const written = new Set(
    node.items.flatMap(item => (item.kind === 'SelectColumn' && item.alias ? nameKey(item.alias.name) : [])),
  )
  const aliases = new Map<string, Typed>()
  for (const { name, value } of items)
    if (name !== null && written.has(nameKey(name))) aliases.set(nameKey(name), value)
  return aliases
}

function selectList(
  context: Context,
  node: Select,
  items: SelectedItem[],
): { sql: string; columns: OutputColumn[] } {
  if (node.as === 'STRUCT') return structList(context, items)
  if (node.as === 'VALUE' && items.length !== 1)
    throw context.invalid(node, 'SELECT AS VALUE must have exactly one column')
  const taken = new Set<string>()
  const columns = items.map(({ name, value }) => {
    const free = name !== null && !taken.has(nameKey(name))
    const duck = free ? name : context.uniqueName(name ?? 'f')
    taken.add(nameKey(duck))
    const { type, origin, empty, fields } = value
    return { name, duck, type, origin, empty, fields }
  })
  const sql = items.map(({ value }, at) => `${value.sql} AS ${quoteName(columns[at]!.duck)}`)
  return { sql: sql.join(', '), columns }
}

function structList(context: Context, items: SelectedItem[]): { sql: string; columns: OutputColumn[] } {
  const { sql, type } = structOf(items.map(({ name, value }) => ({ ...value, name })))
  const duck = context.uniqueName('row')
  return { sql: `${sql} AS ${quoteName(duck)}`, columns: [{ name: null, duck, type }] }
}

function clause(context: Context, keyword: string, node: Expression | null, scope: Scope): string | null {
  if (!node) return null
  if (keyword !== 'QUALIFY') refuseOverRows(context, node, keyword)
  return ` ${keyword} ${condition(context, node, `${keyword} clause`, context.expression(node, scope))}`
}

/** A key is an item of the SELECT list by its number or its name, which hides a column's; or an expression. */
function groupByClause(context: Context, node: Select, items: SelectedItem[], scope: Scope): string | null {
  if (!node.groupBy) return null
  const { grouping, items: keys } = node.groupBy
  if (grouping === 'ALL') return ' GROUP BY ALL'
  const text = (key: Expression): string => {
    if (grouping !== 'LIST' && key.kind === 'Tuple') return `(${key.items.map(text).join(', ')})`
    if (grouping !== 'LIST' && key.kind === 'Parenthesized') return text(key.expression)
    const at = itemNumber(context, key, items)
    const item = at === null ? null : node.items[at]
    refuseOverRows(context, item?.kind === 'SelectColumn' ? item.expression : key, 'GROUP BY')
    const value = at === null ? context.expression(key, scope) : items[at]!.value
    keyOf(context, key, 'GROUP BY', value)
    if (at === null) return value.sql
    return grouping === 'LIST' && node.as !== 'STRUCT' ? String(at + 1) : items[at]!.value.sql
  }
  const texts = keys.map(text)
  return ` GROUP BY ${grouping === 'LIST' ? texts.join(', ') : `${grouping} (${texts.join(', ')})`}`
}

/** Which item of the SELECT list a key of GROUP BY or ORDER BY names, from 0; `null` if it is an expression. */
export function itemNumber(context: Context, key: Expression, items: SelectedItem[]): number | null {
  if (key.kind === 'Literal' && key.literal === 'INTEGER') {
    const at = Number(key.text) - 1
    if (!items[at]) throw context.invalid(key, `There is no column ${key.text} in the SELECT list`)
    return at
  }
  if (key.kind !== 'Path' || key.parts.length > 1) return null
  const hits = items.flatMap(({ name }, at) => (sameName(name, key.parts[0]!.name) ? [at] : []))
  const same = new Set(hits.map(at => items[at]!.value.sql))
  if (same.size > 1) throw context.invalid(key, `Column name ${key.parts[0]!.name} is ambiguous`)
  return hits[0] ?? null
}

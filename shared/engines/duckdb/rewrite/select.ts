/** SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... QUALIFY. */
import { nameKey, numbering } from '../../../sql/relations.ts'
import { isOverRows } from '../../../sql/resolve/calls.ts'
import { keysOf } from '../../../sql/resolve/grouping.ts'
import type { Column } from '../../../sql/resolve/resolution.ts'
import { placeOf } from '../../../sql/resolve/scope.ts'
import type { AnyNode, Expression, OrderItem, Path, Select, SelectItem } from '../../../sql/tree.ts'
import { descendants, descendantsHere } from '../../../sql/walk.ts'
import { quoteName } from '../syntax.ts'
import { type Context, type FromRows, type Scope, structOf, type Typed } from './context.ts'
import { derivedRows, fromClause } from './from.ts'
import { checkFields } from './literals.ts'
import { columnValue, noRows } from './names.ts'

export interface Selected {
  sql: string
  /** Of its columns in DuckDB. */
  names: string[]
  from: FromRows | null
  scope: Scope
  list: readonly Column[]
  /** The values of the SELECT list. */
  values: Typed[]
}

/** Prints a SELECT, which ORDER BY may stand behind. */
export function select(
  context: Context,
  node: Select,
  outer: Scope | null,
  orderBy: OrderItem[] = [],
): Selected {
  const from = withKeys(context, node, orderBy, outer)
  const list = context.resolution.lists.get(node)!
  const scope: Scope = { own: from?.source ?? noRows, list, outer }
  const values = list.map(column => printColumn(context, column, scope))
  const { sql: items, names } = selectList(context, node, list, values)
  const clause = (keyword: string, condition: Expression | null) =>
    condition ? ` ${keyword} ${context.expression(condition, scope).sql}` : ''
  const selected = { names, from, scope, list, values }
  const sql =
    `SELECT ${node.distinct ? 'DISTINCT ' : ''}${items}${from ? ` FROM ${from.sql}` : ''}` +
    clause('WHERE', node.where) +
    groupByClause(context, node, selected) +
    clause('HAVING', node.having) +
    clause('QUALIFY', node.qualify)
  return { sql, ...selected }
}

/**
 * FROM, around which a key that a subquery may read becomes a column, unless it is one: DuckDB finds only columns among the keys
 * of a query two around. A field is read by its path or its alias, any other expression by its alias.
 */
function withKeys(
  context: Context,
  node: Select,
  orderBy: OrderItem[],
  outer: Scope | null,
): FromRows | null {
  const from = node.from && fromClause(context, node.from, outer)
  if (!from || !node.groupBy) return from
  const read = namesInSubqueries([...node.items, node.having, node.qualify, ...orderBy])
  if (read.size === 0) return from
  const keys = keysOf(node).filter(key =>
    key.kind === 'Path'
      ? key.parts.length > 1
      : node.items.some(item => isAliasOf(item, key, read)) && isOfOneRow(key),
  )
  if (keys.length === 0) return from
  const scope = { own: from.source, outer }
  const values = keys.map(key => context.expression(key, scope).sql)
  const { added, ...rows } = derivedRows(context, from, values)
  for (const [at, key] of keys.entries()) noteKey(context, node, key, added[at]!)
  return rows
}

/** Has a key printed as its column, wherever it stands in the query. */
function noteKey(context: Context, { items }: Select, key: Expression, sql: string): void {
  if (key.kind === 'Path') {
    const { root, fields } = placeOf(context.resolution.paths.get(key)!, key.parts)
    const known = context.keys.paths.get(root!) ?? []
    context.keys.paths.set(root!, [...known, { fields, sql }])
    return
  }
  const numberOf = numbering()
  for (const item of items)
    if (item.kind === 'SelectColumn' && numberOf(item.expression) === numberOf(key))
      context.keys.expressions.set(item.expression, sql)
}

/** The first names of all paths in subqueries, in lower case. */
function namesInSubqueries(parts: (AnyNode | null)[]): Set<string> {
  const inside = parts.flatMap(part => (part ? [...descendants(part)] : []))
  const queries = inside.filter(({ kind }) => kind === 'Query')
  const paths = queries.flatMap(query => [...descendants(query)]).filter(({ kind }) => kind === 'Path')
  return new Set(paths.map(path => nameKey((path as Path).parts[0]!.name)))
}

function isAliasOf(item: SelectItem, key: Expression, names: ReadonlySet<string>): boolean {
  if (item.kind !== 'SelectColumn' || item.expression !== key || !item.alias) return false
  return names.has(nameKey(item.alias.name))
}

/** Whether an expression has a value for each row, neither for all nor for many. */
function isOfOneRow(key: Expression): boolean {
  const nodes = [...descendants(key)]
  return nodes.some(({ kind }) => kind === 'Path') && ![...descendantsHere(key)].some(isOverRows)
}

function printColumn(context: Context, column: Column, scope: Scope): Typed {
  const { from } = column
  if (from.kind !== 'item') return columnValue(context, column, scope)
  const value = context.expression(from.item.expression, scope)
  context.items.set(from.item, value)
  return value
}

function selectList(context: Context, node: Select, list: readonly Column[], values: Typed[]) {
  if (node.as === 'STRUCT') {
    checkFields(context, node, list)
    const { sql } = structOf(values.map((value, at) => ({ ...value, name: list[at]!.name })))
    const names = [context.uniqueName('row')]
    return { sql: `${sql} AS ${quoteName(names[0]!)}`, names }
  }
  const taken = new Set<string>()
  const names = list.map(({ name }) => {
    const free = name !== null && !taken.has(nameKey(name))
    const duck = free ? name : context.uniqueName(name ?? 'f')
    taken.add(nameKey(duck))
    return duck
  })
  return { sql: values.map(({ sql }, at) => `${sql} AS ${quoteName(names[at]!)}`).join(', '), names }
}

/** A key is an item of the SELECT list by its number or its name, which hides a column's; or an expression. */
function groupByClause(
  context: Context,
  { groupBy, as }: Select,
  { list, values, scope }: Pick<Selected, 'list' | 'values' | 'scope'>,
): string {
  if (!groupBy) return ''
  const { grouping, items: keys } = groupBy
  if (grouping === 'ALL') return ' GROUP BY ALL'
  const text = (key: Expression): string => {
    if (grouping !== 'LIST' && key.kind === 'Tuple') return `(${key.items.map(text).join(', ')})`
    if (grouping !== 'LIST' && key.kind === 'Parenthesized') return text(key.expression)
    const at = itemNumber(context, key, list)
    if (at === null) return context.expression(key, scope).sql
    return grouping === 'LIST' && as !== 'STRUCT' ? String(at + 1) : values[at]!.sql
  }
  const texts = keys.map(text).join(', ')
  return ` GROUP BY ${grouping === 'LIST' ? texts : `${grouping} (${texts})`}`
}

/** Which item of the SELECT list a key of GROUP BY or ORDER BY names, from 0; `null` if it is an expression. */
export function itemNumber(context: Context, key: Expression, list: readonly Column[]): number | null {
  if (key.kind === 'Literal' && key.literal === 'INTEGER') return Number(key.text) - 1
  if (key.kind !== 'Path' || key.parts.length > 1) return null
  const at = list.indexOf(context.resolution.paths.get(key)!.column!)
  return at < 0 ? null : at
}

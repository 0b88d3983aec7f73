/** SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... QUALIFY. */
import { nameKey } from '../../../sql/relations.ts'
import type { Column } from '../../../sql/resolve/resolution.ts'
import type { Expression, OrderItem, Select } from '../../../sql/tree.ts'
import { quoteName } from '../syntax.ts'
import { type Context, type FromRows, type Scope, structOf, type Typed } from './context.ts'
import { withKeys } from './grouping.ts'
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
  const values = list.map(column => listed(context, column, scope))
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

function listed(context: Context, column: Column, scope: Scope): Typed {
  const { from } = column
  if (from.kind !== 'item') return columnValue(context, column, scope)
  const value = context.expression(from.item.expression, scope)
  context.items.set(from.item, value)
  return value
}

function selectList(context: Context, node: Select, list: readonly Column[], values: Typed[]) {
  if (node.as === 'STRUCT') {
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

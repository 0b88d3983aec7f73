/**
 * ORDER BY, LIMIT and OFFSET.
 *
 * A subquery's ORDER BY without LIMIT promises nothing in SQL, yet people rely on it: `WITH logs AS (... ORDER BY
 * timestamp DESC) SELECT * FROM logs LIMIT 10`. Sorting there would cost every query that then counts, groups or sorts
 * by something else. So sorting is deferred to the query that reads the subquery (`Relation.order`), which sorts only if
 * it is a plain SELECT.
 */
import type { OrderItem, Query, Select } from '../../../sql/tree.ts'
import { descendantsHere } from '../../../sql/walk.ts'
import type { Context, OrderKey, Relation, Scope, Sorting } from './context.ts'
import { isOverRows } from './functions/calls.ts'
import { key as keyOf } from './keys.ts'
import { itemNumber, type SelectedItem, type SelectResult } from './select.ts'
import { count, nanKey, orderDirection } from './windows.ts'

/** What follows the body of a query, and the order that it leaves to its reader. */
export type Tail = { sql: string } & Pick<Relation, 'order'>

interface Key {
  sql: string
  /** The output column that it is, or `null`. */
  column: number | null
  direction: string
  /** The key before it that puts NaN in its place, or nothing. */
  nan: string
}

/** The tail of a query over a SELECT. */
export function tailOfSelect(
  context: Context,
  node: Query,
  body: Select,
  selected: SelectResult,
  sorting: Sorting,
): Tail {
  const keys =
    node.orderBy.length > 0
      ? node.orderBy.map(item => orderKey(context, item, selected, body))
      : inheritedKeys(body, selected)
  return tail(context, node, keys, sorting)
}

/**
 * The ORDER BY of a SELECT DISTINCT by the numbers of its columns, for a query around it: where NaN needs a key of its own, which
 * DISTINCT does not select. `null` where the SELECT itself can sort.
 */
export function orderAround(
  context: Context,
  node: Query,
  body: Select,
  selected: SelectResult,
): OrderItem[] | null {
  if (!body.distinct || body.as === 'STRUCT') return null
  const keys = node.orderBy.map(item => orderKey(context, item, selected, body))
  const floats = keys.some(
    ({ column }) => column !== null && selected.items[column]!.value.type?.kind === 'FLOAT64',
  )
  if (!floats || keys.some(({ column }) => column === null)) return null
  return node.orderBy.map((item, at): OrderItem => {
    const text = String(keys[at]!.column! + 1)
    return { ...item, expression: { kind: 'Literal', literal: 'INTEGER', text, value: '', at: item.at } }
  })
}

/** The tail of a query over anything else, whose columns `scope` shows. */
export function tailOfRows(
  context: Context,
  node: Query,
  items: SelectedItem[],
  scope: Scope,
  sorting: Sorting,
): Tail {
  const keys = node.orderBy.map((item): Key => {
    const column = itemNumber(context, item.expression, items)
    const value = column === null ? context.expression(item.expression, scope) : items[column]!.value
    keyOf(context, item, 'ORDER BY', value)
    const sql = column === null ? value.sql : String(column + 1)
    return { sql, column, direction: orderDirection(item), nan: nanKey(value, item) }
  })
  return tail(context, node, keys, sorting)
}

function tail(context: Context, node: Query, keys: Key[], sorting: Sorting): Tail {
  const left = keys.every(key => key.column !== null)
    ? keys.map(({ column, direction }): OrderKey => ({ column: column!, direction }))
    : []
  const cut = node.limit !== null || node.offset !== null
  const sorts = keys.length > 0 && (cut || sorting === 'sorted' || left.length === 0)
  const orderBy = sorts ? ` ORDER BY ${keys.map(key => key.nan + key.sql + key.direction).join(', ')}` : ''
  const limit = node.limit ? ` LIMIT ${count(context, node.limit)}` : ''
  const offset = node.offset ? ` OFFSET ${count(context, node.offset)}` : ''
  return { sql: orderBy + limit + offset, order: left }
}

/** An item of the SELECT list by number or name, which comes before a column of FROM; or an expression over both. */
function orderKey(context: Context, item: OrderItem, selected: SelectResult, body: Select): Key {
  const ordinals = body.as !== 'STRUCT'
  const direction = orderDirection(item)
  const { items } = selected
  const scope = body.distinct ? distinctScope(context, item, selected) : selected.scope
  const named = itemNumber(context, item.expression, items)
  const key = named === null ? context.expression(item.expression, scope) : items[named]!.value
  const { sql } = keyOf(context, item, 'ORDER BY', key)
  // DISTINCT sorts by what it selects only.
  const nan = body.distinct ? '' : nanKey(key, item)
  if (!ordinals) return { sql, column: null, direction, nan }
  const column = named ?? items.findIndex(({ value }) => value.sql === sql)
  if (column < 0) return { sql, column: null, direction, nan }
  return { sql: String(column + 1), column, direction, nan }
}

/** What ORDER BY sees after SELECT DISTINCT: its columns, and no rows to aggregate. */
function distinctScope(context: Context, item: OrderItem, { items, scope }: SelectResult): Scope {
  const call = [...descendantsHere(item)].find(isOverRows)
  if (call)
    throw context.invalid(
      call,
      'An aggregate or window function is not allowed in ORDER BY after SELECT DISTINCT: select it, and sort by its name',
    )
  return { ...scope, visible: new Set(items.map(({ value }) => value.sql)) }
}

/** The order of the only table read, if each of its rows gives one row. */
function inheritedKeys(body: Select, { scope, items }: SelectResult): Key[] {
  const [variable, ...more] = scope.variables
  const plain = !body.distinct && !body.groupBy && !body.having && !scope.aggregation.found
  if (!plain || more.length > 0 || variable?.kind !== 'relation') return []
  return variable.order.map(({ column, direction }) => {
    const { sql } = variable.columns[column]!
    const at = items.findIndex(({ value }) => value.sql === sql)
    return { sql, column: at < 0 || body.as === 'STRUCT' ? null : at, direction, nan: '' }
  })
}

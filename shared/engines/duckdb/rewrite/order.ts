/**
 * ORDER BY, LIMIT and OFFSET.
 *
 * A subquery's ORDER BY without LIMIT promises nothing in SQL, yet people rely on it: `WITH logs AS (... ORDER BY
 * timestamp DESC) SELECT * FROM logs LIMIT 10`. Sorting there would cost every query that then counts, groups or sorts
 * by something else. So sorting is deferred to the query that reads the subquery (`Relation.order`), which sorts only if
 * it is a plain SELECT.
 */
import { isOverRows } from '../../../sql/resolve/calls.ts'
import type { Column } from '../../../sql/resolve/resolution.ts'
import type { OrderItem, Query, Select } from '../../../sql/tree.ts'
import { descendantsHere } from '../../../sql/walk.ts'
import type { Context, OrderKey, Relation, Scope, Sorting } from './context.ts'
import { columnValue } from './names.ts'
import { itemNumber, type Selected } from './select.ts'
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

/** The keys of a query over a SELECT. */
export function keysOfSelect(context: Context, node: Query, body: Select, selected: Selected): Key[] {
  if (node.orderBy.length === 0) return inheritedKeys(context, body, selected)
  return node.orderBy.map(item => orderKey(context, item, selected, body))
}

/**
 * Whether only a query around a SELECT DISTINCT can sort it: where NaN needs a key of its own, which DISTINCT does not select.
 */
export function sortsAround(body: Select, { values }: Selected, keys: Key[]): boolean {
  const columns = keys.map(({ column }) => column)
  const isFloat = (column: number | null) => column !== null && values[column]!.type?.kind === 'FLOAT64'
  return body.distinct && body.as !== 'STRUCT' && !columns.includes(null) && columns.some(isFloat)
}

/** The keys of a query over rows, which may be items of a SELECT list by their numbers. */
export function keysOfRows(
  context: Context,
  { orderBy }: Query,
  columns: readonly Column[],
  scope: Scope,
  numbers: (number | null)[] = [],
): Key[] {
  return orderBy.map((item, at) => {
    const column = numbers[at] ?? itemNumber(context, item.expression, columns)
    const value =
      column === null
        ? context.expression(item.expression, scope)
        : columnValue(context, columns[column]!, scope)
    const sql = column === null ? value.sql : String(column + 1)
    return { sql, column, direction: orderDirection(item), nan: nanKey(value, item) }
  })
}

export function tail(context: Context, node: Query, keys: Key[], sorting: Sorting): Tail {
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
function orderKey(context: Context, item: OrderItem, selected: Selected, body: Select): Key {
  const { list, values, scope } = selected
  const direction = orderDirection(item)
  const named = itemNumber(context, item.expression, list)
  const key = named === null ? context.expression(item.expression, scope) : values[named]!
  // DISTINCT sorts by what it selects only.
  const nan = body.distinct ? '' : nanKey(key, item)
  const column = named ?? values.findIndex(({ sql }) => sql === key.sql)
  if (body.as === 'STRUCT' || column < 0) return { sql: key.sql, column: null, direction, nan }
  return { sql: String(column + 1), column, direction, nan }
}

/** The order of the only table read, if each of its rows gives one row. */
function inheritedKeys(context: Context, body: Select, { from, values, scope }: Selected): Key[] {
  if (!from || from.order.length === 0 || body.distinct || body.groupBy || body.having) return []
  if ([...descendantsHere(body)].some(node => isOverRows(node) && node.kind === 'Call' && !node.over))
    return []
  const [variable] = from.source.variables
  return from.order.map(({ column, direction }) => {
    const { sql } = columnValue(context, variable!.columns[column]!, scope)
    const at = values.findIndex(value => value.sql === sql)
    return { sql, column: at < 0 || body.as === 'STRUCT' ? null : at, direction, nan: '' }
  })
}

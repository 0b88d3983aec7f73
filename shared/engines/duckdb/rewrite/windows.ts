/** OVER and WINDOW, and ORDER BY inside a window or an aggregate. */
import type { Call, Count, Frame, FrameBound, OrderItem, Select, Window } from '../../../sql/tree.ts'
import { quoteName } from '../syntax.ts'
import type { Context, Scope, Typed } from './context.ts'
import { key as keyOf } from './keys.ts'
import { parameter } from './literals.ts'

/** ` OVER (...)` of a call, or nothing. */
export function overClause(context: Context, over: Call['over'], scope: Scope): string {
  if (!over) return ''
  return ` OVER ${'kind' in over ? windowSpecification(context, over, scope) : quoteName(over.name)}`
}

/** ` WINDOW name AS (...), ...` of a SELECT, or nothing. */
export function windowClause(context: Context, node: Select, scope: Scope): string {
  if (node.windows.length === 0) return ''
  const named = node.windows.map(
    ({ name, window }) => `${quoteName(name.name)} AS ${windowSpecification(context, window, scope)}`,
  )
  return ` WINDOW ${named.join(', ')}`
}

function windowSpecification(context: Context, node: Window, scope: Scope): string {
  const keys = node.partitionBy.map(
    key => keyOf(context, key, 'PARTITION BY', context.expression(key, scope)).sql,
  )
  const parts = [
    node.base && quoteName(node.base.name),
    keys.length > 0 && `PARTITION BY ${keys.join(', ')}`,
    node.orderBy.length > 0 && orderByClause(context, node.orderBy, scope, ranges(node.frame)),
    node.frame && frame(context, node.frame),
  ]
  return `(${parts.filter(Boolean).join(' ')})`
}

/** `ORDER BY ...` inside a window or an aggregate: names are columns there, never aliases. */
export function orderByClause(context: Context, items: OrderItem[], scope: Scope, single = false): string {
  const keys = items.map(item => {
    const key = keyOf(context, item, 'ORDER BY', context.expression(item.expression, scope))
    return (single ? '' : nanKey(key, item)) + key.sql + orderDirection(item)
  })
  return `ORDER BY ${keys.join(', ')}`
}

/** A distance from the current row's key needs one key. */
function ranges(frame: Window['frame']): boolean {
  return frame?.unit === 'RANGE' && Boolean(frame.start.count ?? frame.end?.count)
}

/** A key before that of a FLOAT64: NaN is the least number, and DuckDB's greatest. */
export function nanKey({ sql, type }: Typed, item: OrderItem): string {
  if (type?.kind !== 'FLOAT64') return ''
  const opposite = item.direction === 'DESC' ? 'ASC' : 'DESC'
  return `isnan(${sql})${orderDirection(item).replace(/ASC|DESC/, opposite)}, `
}

/** NULL counts as the smallest value, unless the query says where it goes. */
export function orderDirection(item: OrderItem): string {
  const direction = item.direction ?? 'ASC'
  return ` ${direction} NULLS ${item.nulls ?? (direction === 'ASC' ? 'FIRST' : 'LAST')}`
}

function frame(context: Context, node: Frame): string {
  const start = frameBound(context, node.start)
  return `${node.unit} ${node.end ? `BETWEEN ${start} AND ${frameBound(context, node.end)}` : start}`
}

function frameBound(context: Context, node: FrameBound): string {
  return node.count ? `${count(context, node.count)} ${node.bound}` : node.bound
}

/** A number of rows: a literal or a parameter. */
export function count(context: Context, node: Count): string {
  return node.kind === 'Literal' ? String(BigInt(node.text)) : parameter(context, node).sql
}

/**
 * OVER and WINDOW, and ORDER BY inside a window or an aggregate. DuckDB does not extend one named window by another,
 * so it gets whole windows and no names.
 */
import * as resolver from '../../../sql/resolve/windows.ts'
import type {
  Count,
  Frame,
  FrameBound,
  Identifier,
  NamedWindow,
  OrderItem,
  Window,
} from '../../../sql/tree.ts'
import { descendants } from '../../../sql/walk.ts'
import { numberKinds } from './coercion.ts'
import { type Context, type Scope, throwing, type Typed } from './context.ts'
import { key as keyOf } from './keys.ts'
import { parameter } from './literals.ts'

/** ` OVER (...)` of a call, or nothing. */
export function overClause(context: Context, over: Window | null, scope: Scope): string {
  return over ? ` OVER ${windowSpecification(context, over, scope)}` : ''
}

/** The windows of a WINDOW clause by lower-case name, whole. Throws SqlError. */
export function namedWindows(context: Context, named: NamedWindow[]): Scope['windows'] {
  return resolver.namedWindows(throwing(context), named)
}

/** A window with what it takes from the named one that it stands for or extends. Throws SqlError. */
export function wholeWindow(context: Context, node: Window | Identifier, windows: Scope['windows']) {
  return resolver.wholeWindow(throwing(context), node, windows)
}

function windowSpecification(context: Context, node: Window, scope: Scope): string {
  const keys = node.partitionBy.map(
    key => keyOf(context, key, 'PARTITION BY', context.expression(key, scope)).sql,
  )
  const parts = [
    keys.length > 0 && `PARTITION BY ${keys.join(', ')}`,
    node.orderBy.length > 0 && orderByClause(context, node.orderBy, scope, ranges(context, node)),
    node.frame && frame(context, node.frame),
  ]
  return `(${parts.filter(Boolean).join(' ')})`
}

/** `ORDER BY ...` inside a window or an aggregate: names are columns there, never aliases. */
export function orderByClause(context: Context, items: OrderItem[], scope: Scope, single = false): string {
  const keys = items.map(item => {
    const key = keyOf(context, item, 'ORDER BY', context.expression(item.expression, scope))
    if (single && key.type && !numberKinds.includes(key.type.kind))
      throw context.invalid(
        item,
        'RANGE with a distance is ordered by a number: of a time, write UNIX_SECONDS(x), and the distance in seconds',
      )
    return (single ? '' : nanKey(key, item)) + key.sql + orderDirection(item)
  })
  return `ORDER BY ${keys.join(', ')}`
}

/** Whether a frame is a distance from the current row's key. Throws SqlError unless there is one key, in which is no query. */
function ranges(context: Context, { frame, orderBy }: Window): boolean {
  if (frame?.unit !== 'RANGE' || !(frame.start.count ?? frame.end?.count)) return false
  if (orderBy.length > 1)
    throw context.invalid(orderBy[1]!, 'RANGE with a distance takes one key in ORDER BY')
  const query = [...descendants(orderBy[0]!)].find(({ kind }) => kind === 'Query')
  if (query)
    throw context.unsupported(
      query,
      'RANGE with a distance, ordered by a subquery,',
      'select the subquery in FROM, and order by its column',
    )
  return true
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
  if (!node.end && node.start.bound.endsWith('FOLLOWING'))
    throw context.invalid(
      node.start,
      `A frame that starts after the current row needs its end: write ${node.unit} BETWEEN 1 FOLLOWING AND 3 FOLLOWING`,
    )
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

/**
 * OVER, and ORDER BY inside a window or an aggregate. DuckDB does not extend one named window by another, so it gets whole windows
 * and no names.
 */
import type { WholeWindow } from '../../../sql/resolve/resolution.ts'
import type { Count, Frame, FrameBound, OrderItem } from '../../../sql/tree.ts'
import { descendants } from '../../../sql/walk.ts'
import type { Context, Scope, Typed } from './context.ts'
import { coerce, typeIn } from './coercion.ts'
import { literal, parameter } from './literals.ts'

/** ` OVER (...)` of a call, or nothing. */
export function overClause(context: Context, over: WholeWindow | null, scope: Scope): string {
  if (!over) return ''
  const { partitionBy, orderBy, frame } = over
  const parts = [
    partitionBy.length > 0 &&
      `PARTITION BY ${context
        .expressions(partitionBy, scope)
        .map(({ sql }) => sql)
        .join(', ')}`,
    orderBy.length > 0 && orderByClause(context, orderBy, scope, ranges(context, over)),
    frame && frameClause(context, frame, orderBy[0]),
  ]
  return ` OVER (${parts.filter(Boolean).join(' ')})`
}

/** `ORDER BY ...` inside a window or an aggregate. @param distance whether the frame is a distance from the key */
export function orderByClause(context: Context, items: OrderItem[], scope: Scope, distance = false): string {
  const keys = items.map(item => {
    const key = context.expression(item.expression, scope)
    return (distance ? leastForNan(key) : nanKey(key, item) + key.sql) + orderDirection(item)
  })
  return `ORDER BY ${keys.join(', ')}`
}

/** Whether a frame is a distance from the current row's key, in which is no query. */
function ranges(context: Context, { frame, orderBy }: WholeWindow): boolean {
  if (frame?.unit !== 'RANGE' || !(frame.start.count ?? frame.end?.count)) return false
  const query = [...descendants(orderBy[0]!)].find(({ kind }) => kind === 'Query')
  if (query) throw context.unsupported(query, 'RANGE ordered by a subquery', 'select it in FROM')
  return true
}

/** The only key of a frame that is a distance, in which NaN is the least number: below that which -Infinity becomes. */
function leastForNan({ sql, type }: Typed): string {
  if (type?.kind !== 'FLOAT64') return sql
  const least = `WHEN ${sql} = '-Infinity' THEN ${-Number.MAX_VALUE}`
  return `CASE WHEN isnan(${sql}) THEN '-Infinity' ${least} ELSE ${sql} END`
}

/** A key before that of a FLOAT64: NaN is the least number, and DuckDB's greatest. */
export function nanKey({ sql, type }: Typed, item: OrderItem): string {
  if (type?.kind !== 'FLOAT64') return ''
  const opposite = item.direction === 'DESC' ? 'ASC' : 'DESC'
  return `isnan(${sql})${orderDirection(item, opposite)}, `
}

/** NULL counts as the smallest value, unless the query says where it goes. */
export function orderDirection(item: OrderItem, direction = item.direction ?? 'ASC'): string {
  return ` ${direction} NULLS ${item.nulls ?? (item.direction === 'DESC' ? 'LAST' : 'FIRST')}`
}

function frameClause(context: Context, { unit, start, end }: Frame, key?: OrderItem): string {
  const from = frameBound(context, start, key)
  return `${unit} ${end ? `BETWEEN ${from} AND ${frameBound(context, end, key)}` : from}`
}

/** A distance that is no whole number is one of the key's type. */
function frameBound(context: Context, { bound, count: distance }: FrameBound, key?: OrderItem): string {
  if (!distance) return bound
  if (distance.kind !== 'Literal' || distance.literal !== 'FLOAT')
    return `${count(context, distance)} ${bound}`
  return `${coerce(literal(context, distance), typeIn(context, key!.expression)!).sql} ${bound}`
}

/** A number of rows: a literal or a parameter. */
export function count(context: Context, node: Count): string {
  return node.kind === 'Literal' ? String(BigInt(node.text)) : parameter(context, node).sql
}

/** Whole queries: WITH, set operations, parentheses, ORDER BY, LIMIT and OFFSET. */
import { coerce } from './coercion.ts'
import {
  type Context,
  type OrderKey,
  raise,
  type Relation,
  type Scope,
  type Sorting,
  structField,
  typed,
  type Typed,
} from './context.ts'
import { isCut } from './from.ts'
import { columnValue, mergedIn, typeOf } from './names.ts'
import { itemNumber, select, type Selected } from './select.ts'
import { count, nanKey, orderDirection } from './windows.ts'
import { quoteName } from '../syntax.ts'
import { inReadingOrder, readsItself } from '../../../sql/relations.ts'
import { isOverRows } from '../../../sql/resolve/calls.ts'
import type { Column, Rows } from '../../../sql/resolve/resolution.ts'
import { recursionOf } from '../../../sql/resolve/resolve.ts'
import type {
  CommonTable,
  OrderItem,
  Query,
  QueryBody,
  Select,
  SetOperation,
  SetOperator,
  With,
} from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'
import { descendantsHere } from '../../../sql/walk.ts'

/** A query in pieces, so that a WITH inside can move to the front, where DuckDB expects it. */
interface Pieces extends Relation {
  ctes: CommonText[]
}

interface CommonText {
  sql: string
  recursive: boolean
}

/** Prints a query. `outer` is the query around it, if it may be correlated. */
export function query(
  context: Context,
  node: Query,
  outer: Scope | null,
  sorting: Sorting = 'sorted',
): Relation {
  const pieces = piecesOf(context, node, outer, sorting)
  return { ...pieces, sql: whole(pieces) }
}

function whole({ ctes, sql }: Pieces): string {
  if (ctes.length === 0) return sql
  const recursive = ctes.some(text => text.recursive) ? 'RECURSIVE ' : ''
  return `WITH ${recursive}${ctes.map(text => text.sql).join(', ')} ${sql}`
}

function piecesOf(context: Context, node: Query, outer: Scope | null, sorting: Sorting): Pieces {
  const ctes = node.with ? commonTables(context, node.with) : []
  const body = bodyOf(context, node, outer, sorting)
  return { ...body, ctes: [...ctes, ...body.ctes] }
}

function commonTables(context: Context, node: With): CommonText[] {
  return inReadingOrder(node, () => {}).flatMap(cte => {
    const table = context.uniqueName(cte.name.name)
    if (node.recursive && readsItself(cte)) return recursiveTable(context, cte, table)
    const { sql, ...relation } = context.query(cte.query, null, 'deferred')
    context.common.set(context.resolution.rows.get(cte.query)!, { ...relation, table })
    return {
      sql: `${quoteName(table)} AS ${isCut(cte.query) ? 'MATERIALIZED ' : ''}(${sql})`,
      recursive: false,
    }
  })
}

/** As in BigQuery (https://cloud.google.com/bigquery/docs/recursive-ctes, "Troubleshoot iteration limit errors"). */
const mostRounds = 500

/** A common table that reads itself, behind the tables of a WITH inside it. */
function recursiveTable(context: Context, cte: CommonTable, table: string): CommonText[] {
  const { with: common, union } = recursionOf({ fault() {} }, cte)!
  const texts = common ? commonTables(context, common) : []
  const rows = context.resolution.rows.get(cte.query)!
  const first = operand(context, union.left, null)
  const names = rows.columns.map(() => context.uniqueName('c'))
  context.common.set(rows, { names, order: [], table })
  const next = operand(context, union.right, null)
  const sides = [first, next] as const
  const [a, b] = [union.left, union.right].map((side, at) =>
    asColumns(context, context.resolution.rows.get(side)!, sides[at]!, rows.columns, names),
  ) as [string, string]
  const sql =
    union.operator === 'UNION ALL'
      ? countRows(context, table, a, b)
      : `${a} ${setOperators[union.operator]} ${b}`
  return [...texts, { sql: `${quoteName(table)} AS (${sql})`, recursive: true }]
}

/** The union with one more column, the number of the round, which ends a recursion that has no end of its own. */
function countRows(context: Context, table: string, first: string, next: string): string {
  const round = quoteName(context.uniqueName('round'))
  const last = `(SELECT max(${round}) FROM ${quoteName(table)})`
  const tooMany = raise('A recursive CTE has reached the maximum number of iterations: 500')
  const number = `CASE WHEN ${last} < ${mostRounds} THEN ${last} + 1 ELSE ${tooMany} END`
  return `SELECT *, 0 AS ${round} FROM (${first}) UNION ALL SELECT *, ${number} FROM (${next})`
}

function bodyOf(context: Context, node: Query, outer: Scope | null, sorting: Sorting): Pieces {
  const { body } = node
  if (body.kind === 'Select') {
    const selected = select(context, body, outer, node.orderBy)
    const keys = keysOfSelect(context, node, body, selected)
    const { sql, names } = selected
    if (sortsAround(body, selected, keys)) {
      const numbers = keys.map(({ column }) => column)
      return sortedRows(context, node, { sql, names, order: [], ctes: [] }, outer, sorting, numbers)
    }
    const end = tail(context, node, keys, sorting)
    return { names, ctes: [], sql: sql + end.sql, order: end.order }
  }
  const rows = operand(context, body, outer, sorting)
  if (node.orderBy.length === 0 && !node.limit && !node.offset) return rows
  return sortedRows(context, node, rows, outer, sorting)
}

/** ORDER BY and LIMIT around a set operation, a query in parentheses or a SELECT, by the numbers of its columns. */
function sortedRows(
  context: Context,
  node: Query,
  rows: Pieces,
  outer: Scope | null,
  sorting: Sorting,
  numbers?: (number | null)[],
): Pieces {
  const name = quoteName(context.uniqueName('q'))
  const { columns } = context.resolution.rows.get(node.body)!
  for (const [at, column] of columns.entries())
    context.columns.set(column, typed(`${name}.${quoteName(rows.names[at]!)}`, typeOf(column)))
  const variables = [{ name: null, node: null, columns, open: null, element: null }]
  const keys = keysOfRows(context, node, columns, { own: { variables, merged: [] }, outer }, numbers)
  const end = tail(context, node, keys, sorting)
  return { ...rows, ctes: [], sql: `SELECT * FROM (${whole(rows)}) AS ${name}${end.sql}`, order: end.order }
}

function operand(
  context: Context,
  node: QueryBody,
  outer: Scope | null,
  sorting: Sorting = 'sorted',
): Pieces {
  if (node.kind === 'QueryInParentheses') return piecesOf(context, node.query, outer, sorting)
  if (node.kind === 'SetOperation') return setOperation(context, node, outer)
  const { sql, names } = select(context, node, outer)
  return { sql, names, ctes: [], order: [] }
}

/** GoogleSQL spells out DISTINCT where DuckDB implies it. */
const setOperators: Record<SetOperator, string> = {
  'UNION ALL': 'UNION ALL',
  'UNION DISTINCT': 'UNION',
  'INTERSECT ALL': 'INTERSECT ALL',
  'INTERSECT DISTINCT': 'INTERSECT',
  'EXCEPT ALL': 'EXCEPT ALL',
  'EXCEPT DISTINCT': 'EXCEPT',
}

function setOperation(context: Context, node: SetOperation, outer: Scope | null): Pieces {
  const sides = [node.left, node.right].map(side => operand(context, side, outer))
  const { columns } = context.resolution.rows.get(node)!
  const names = columns.map(() => context.uniqueName('c'))
  const texts = [node.left, node.right].map((side, at) => {
    const rows = context.resolution.rows.get(side)!
    const placeOf = new Map(rows.columns.map((column, at) => [column, at]))
    const places = columns.map(column => {
      const own = mergedIn(column).find(each => placeOf.has(each))
      return own && placeOf.get(own)
    })
    return `(${asColumns(context, rows, sides[at]!, columns, names, places)})`
  })
  return { sql: texts.join(` ${setOperators[node.operator]} `), ctes: [], names, order: [] }
}

/** What is known of a column's value, most of one that is written out. */
function valueIn({ items }: Context, { from, type, origin, empty }: Column): Typed {
  const item = from.kind === 'item' ? items.get(from.item) : undefined
  return item ?? { sql: '', type: type as SqlType | null, origin, empty }
}

/** A value whose column holds it, with the fields of a struct that was written out. */
function fromColumn(sql: string, value: Typed): Typed {
  const { type, fields } = value
  if (type?.kind !== 'STRUCT' || !fields) return { ...value, sql }
  const inside = fields.map((field, at) => fromColumn(structField(sql, type, at).sql, field))
  return { ...value, sql, fields: inside }
}

/**
 * A query with its columns cast to those of a set operation, NULL for those that it does not have.
 * @param places of its columns, by their own places without them
 */
function asColumns(
  context: Context,
  { columns: own }: Rows,
  side: Pieces,
  columns: readonly Column[],
  names: string[],
  places: (number | undefined)[] = [...columns.keys()],
): string {
  const name = quoteName(context.uniqueName('q'))
  const items = columns.map(({ type }, at) => {
    const place = places[at]
    const value =
      place === undefined
        ? typed('NULL', null)
        : fromColumn(`${name}.${quoteName(side.names[place]!)}`, valueIn(context, own[place]!))
    return `${type ? coerce(value, type as SqlType).sql : value.sql} AS ${quoteName(names[at]!)}`
  })
  return `SELECT ${items.join(', ')} FROM (${whole(side)}) AS ${name}`
}

// A subquery's ORDER BY without LIMIT promises nothing in SQL, yet people rely on it: `WITH logs AS (... ORDER BY
// timestamp DESC) SELECT * FROM logs LIMIT 10`. Sorting there would cost every query that then counts, groups or sorts
// by something else. So sorting is deferred to the query that reads the subquery (`Relation.order`), which sorts only if
// it is a plain SELECT.

/** What follows the body of a query, and the order that it leaves to its reader. */
type Tail = { sql: string } & Pick<Relation, 'order'>

interface Key {
  sql: string
  /** The output column that it is, or `null`. */
  column: number | null
  direction: string
  /** The key before it that puts NaN in its place, or nothing. */
  nan: string
}

function keysOfSelect(context: Context, node: Query, body: Select, selected: Selected): Key[] {
  if (node.orderBy.length === 0) return inheritedKeys(context, body, selected)
  return node.orderBy.map(item => orderKey(context, item, selected, body))
}

/**
 * Whether only a query around a SELECT DISTINCT can sort it: where NaN needs a key of its own, which DISTINCT does not select.
 */
function sortsAround(body: Select, { values }: Selected, keys: Key[]): boolean {
  const columns = keys.map(({ column }) => column)
  const isFloat = (column: number | null) => column !== null && values[column]!.type?.kind === 'FLOAT64'
  return body.distinct && body.as !== 'STRUCT' && !columns.includes(null) && columns.some(isFloat)
}

/** The keys of a query over rows, which may be items of a SELECT list by their numbers. */
function keysOfRows(
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

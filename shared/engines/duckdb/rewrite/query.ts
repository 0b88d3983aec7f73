/** Whole queries: WITH, set operations, parentheses. */
import { inReadingOrder, readsItself } from '../../../sql/relations.ts'
import { recursionOf } from '../../../sql/resolve/resolve.ts'
import type { Column, Rows } from '../../../sql/resolve/resolution.ts'
import type { CommonTable, Query, QueryBody, SetOperation, SetOperator, With } from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'
import { quoteName } from '../syntax.ts'
import { coerce } from './coercion.ts'
import {
  type Context,
  raise,
  type Relation,
  type Scope,
  type Sorting,
  structField,
  type Typed,
  typed,
} from './context.ts'
import { isCut } from './from.ts'
import { mergedIn, typeOf } from './names.ts'
import { keysOfRows, keysOfSelect, sortsAround, tail } from './order.ts'
import { select } from './select.ts'

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

/** Each common table under a unique name. */
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
      ? counted(context, table, a, b)
      : `${a} ${setOperators[union.operator]} ${b}`
  return [...texts, { sql: `${quoteName(table)} AS (${sql})`, recursive: true }]
}

/** The union with one more column, the number of the round, which ends a recursion that has no end of its own. */
function counted(context: Context, table: string, first: string, next: string): string {
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

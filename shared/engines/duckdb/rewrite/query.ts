/** Whole queries: WITH, set operations, parentheses. */
import { matchedNames } from '../../../sql/columns.ts'
import { inReadingOrder, nameKey, readsItself } from '../../../sql/relations.ts'
import { recursionOf } from '../../../sql/resolve/recursion.ts'
import type {
  ByName,
  CommonTable,
  Query,
  QueryBody,
  SetOperation,
  SetOperator,
  With,
} from '../../../sql/tree.ts'
import { quoteName } from '../syntax.ts'
import { coerce, unifyOrThrow } from './coercion.ts'
import {
  type CommonTable as NamedTable,
  type Context,
  type Ctes,
  type OutputColumn,
  raise,
  type Relation,
  type Scope,
  type Sorting,
  structField,
  throwing,
  type Typed,
  typed,
} from './context.ts'
import { key } from './keys.ts'
import { orderAround, tailOfRows, tailOfSelect } from './order.ts'
import { newScope, visibleColumn } from './scope.ts'
import { select } from './select.ts'

/** A query in pieces, so that a WITH inside can move to the front, where DuckDB expects it. */
interface Pieces extends Relation {
  ctes: CommonText[]
}

interface CommonText {
  sql: string
  recursive: boolean
}

/** Rewrites a query. `outer` is the query around it, if it may be correlated. Throws SqlError. */
export function query(
  context: Context,
  node: Query,
  outer: Scope | null,
  ctes: Ctes,
  sorting: Sorting = 'sorted',
): Relation {
  const pieces = piecesOf(context, node, outer, ctes, sorting)
  return { ...pieces, sql: whole(pieces) }
}

function whole({ ctes, sql }: Pieces): string {
  if (ctes.length === 0) return sql
  const recursive = ctes.some(text => text.recursive) ? 'RECURSIVE ' : ''
  return `WITH ${recursive}${ctes.map(text => text.sql).join(', ')} ${sql}`
}

function piecesOf(context: Context, node: Query, outer: Scope | null, ctes: Ctes, sorting: Sorting): Pieces {
  const common = node.with ? commonTables(context, node.with, ctes) : { texts: [], ctes }
  const body = bodyOf(context, node, outer, common.ctes, sorting)
  return { ...body, ctes: [...common.texts, ...body.ctes] }
}

/** Each common table under a unique name; it sees the tables before it, and is never correlated. */
function commonTables(context: Context, node: With, around: Ctes) {
  const ctes = new Map<string, NamedTable>(around)
  const texts: CommonText[] = []
  const names = new Set<string>()
  for (const { name } of node.ctes) {
    if (names.has(nameKey(name.name)))
      throw context.invalid(name, `Duplicate alias ${name.name} for WITH subquery`)
    names.add(nameKey(name.name))
  }
  const ordered = inReadingOrder(node, (one, other) => {
    throw context.invalid(one.name, `${one.name.name} and ${other.name.name} read each other`)
  })
  for (const cte of ordered) {
    const duck = context.uniqueName(cte.name.name)
    const recursive = node.recursive && readsItself(cte)
    const inside = recursive
      ? recursiveTable(context, cte, duck, ctes)
      : { texts: [], relation: context.query(cte.query, null, ctes, 'deferred') }
    const { relation } = inside
    texts.push(...inside.texts, { sql: `${quoteName(duck)} AS (${relation.sql})`, recursive })
    ctes.set(nameKey(cte.name.name), { ...relation, duck })
  }
  return { texts, ctes }
}

/** As in BigQuery (https://cloud.google.com/bigquery/docs/recursive-ctes, "Troubleshoot iteration limit errors"). */
const mostRounds = 500

/** A common table that reads itself, under a name in DuckDB, behind the tables of a WITH inside it. */
function recursiveTable(context: Context, cte: CommonTable, duck: string, around: Ctes) {
  const { name } = cte
  const { with: common, union: body } = recursionOf(throwing(context), cte)!
  const { texts, ctes } = common ? commonTables(context, common, around) : { texts: [], ctes: around }
  const first = operand(context, body.left, null, ctes, 'sorted')
  const columns = first.columns.map((column): OutputColumn => ({
    ...column,
    duck: context.uniqueName('c'),
    type: column.type ?? { kind: 'INT64' },
  }))
  const own: NamedTable = { columns, valueTable: first.valueTable, order: [], duck }
  const next = operand(context, body.right, null, new Map([...ctes, [nameKey(name.name), own]]), 'sorted')
  const pairs = columnsByPlace(context, body, first, next)
  for (const [at, [, column]] of pairs.entries())
    if (!coerce(typed('', column!.type), columns[at]!.type!))
      throw context.invalid(body.right, `Column ${at + 1} of ${name.name} has another type than before UNION`)
  const [a, b] = [
    asColumns(context, first, first.columns, columns),
    asColumns(context, next, next.columns, columns),
  ]
  const sql =
    body.operator === 'UNION ALL' ? counted(context, duck, a, b) : `${a} ${setOperators[body.operator]} ${b}`
  return { texts, relation: { ...own, sql } }
}

/** The union with one more column, the number of the round, which ends a recursion that has no end of its own. */
function counted(context: Context, duck: string, first: string, next: string): string {
  const round = quoteName(context.uniqueName('round'))
  const last = `(SELECT max(${round}) FROM ${quoteName(duck)})`
  const tooMany = raise('A recursive CTE has reached the maximum number of iterations: 500')
  const number = `CASE WHEN ${last} < ${mostRounds} THEN ${last} + 1 ELSE ${tooMany} END`
  return `SELECT *, 0 AS ${round} FROM (${first}) UNION ALL SELECT *, ${number} FROM (${next})`
}

function bodyOf(context: Context, node: Query, outer: Scope | null, ctes: Ctes, sorting: Sorting): Pieces {
  const { body } = node
  if (body.kind === 'Select') {
    const selected = select(context, body, outer, ctes, node.orderBy)
    const around = orderAround(context, node, body, selected)
    if (around) {
      const rows = { ...selected, ctes: [], order: [] }
      return sortedRows(context, { ...node, orderBy: around }, rows, newScope(ctes, outer), sorting)
    }
    const tail = tailOfSelect(context, node, body, selected, sorting)
    return { ...selected, ctes: [], sql: selected.sql + tail.sql, order: tail.order }
  }
  const rows = operand(context, body, outer, ctes, sorting)
  if (node.orderBy.length === 0 && !node.limit && !node.offset) return rows
  return sortedRows(context, node, rows, newScope(ctes, outer), sorting)
}

/** ORDER BY and LIMIT around a set operation or a query in parentheses. */
function sortedRows(context: Context, node: Query, rows: Pieces, scope: Scope, sorting: Sorting): Pieces {
  const name = quoteName(context.uniqueName('q'))
  const columns = rows.columns.map(column => visibleColumn(name, column))
  scope.variables.push({ kind: 'relation', name: null, columns, order: [] })
  const items = columns.map(column => ({ name: column.name, value: column }))
  const tail = tailOfRows(context, node, items, scope, sorting)
  return { ...rows, ctes: [], sql: `SELECT * FROM (${whole(rows)}) AS ${name}${tail.sql}`, order: tail.order }
}

function operand(
  context: Context,
  node: QueryBody,
  outer: Scope | null,
  ctes: Ctes,
  sorting: Sorting,
): Pieces {
  if (node.kind === 'QueryInParentheses') return piecesOf(context, node.query, outer, ctes, sorting)
  if (node.kind === 'SetOperation') return setOperation(context, node, outer, ctes)
  return { ...select(context, node, outer, ctes), ctes: [], order: [] }
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

function setOperation(context: Context, node: SetOperation, outer: Scope | null, ctes: Ctes): Pieces {
  const sides = [node.left, node.right].map(side => operand(context, side, outer, ctes, 'sorted'))
  const [left, right] = sides as [Pieces, Pieces]
  const pairs = node.byName
    ? matchedColumns(context, node, node.byName, left, right)
    : columnsByPlace(context, node, left, right)
  const columns = pairs.map((pair, at): OutputColumn => {
    const values = pair.map(column => ({ ...column, sql: '', type: column?.type ?? null }))
    const { type } = unifyOrThrow(context, node, `set operation, column ${at + 1},`, values)
    if (node.operator !== 'UNION ALL') key(context, node, 'A set operation', typed('', type))
    const origin = pair[0]?.origin && pair[1]?.origin
    const empty = pair.every(column => column?.empty || column?.type === null)
    const duck = context.uniqueName('c')
    return { ...(pair[0] ?? pair[1]!), duck, type, origin, empty, fields: undefined }
  })
  const [a, b] = sides.map((side, at) => {
    const own = pairs.map(pair => pair[at]!)
    return `(${asColumns(context, side, own, columns)})`
  })
  const sql = `${a} ${setOperators[node.operator]} ${b}`
  return { sql, ctes: [], columns, valueTable: left.valueTable && right.valueTable, order: [] }
}

/** For each column of a set operation those of its two queries, `null` where one has none. */
type Pair = [OutputColumn | null, OutputColumn | null]

function columnsByPlace(context: Context, node: SetOperation, left: Pieces, right: Pieces): Pair[] {
  if (left.columns.length !== right.columns.length)
    throw context.invalid(
      node.right,
      `Queries in a set operation have mismatched column count: ${left.columns.length} and ${right.columns.length}`,
    )
  return left.columns.map((column, at) => [column, right.columns[at]!])
}

function matchedColumns(
  context: Context,
  node: SetOperation,
  byName: ByName,
  left: Pieces,
  right: Pieces,
): Pair[] {
  const [leftNames, rightNames] = [left, right].map(({ columns, valueTable }) => {
    const names = columns.flatMap(({ name }) => name ?? [])
    if (valueTable || names.length < columns.length)
      throw context.invalid(node, 'BY NAME needs a name for every column: give it one with AS')
    const seen = new Set<string>()
    const twice = names.find(name => seen.size === seen.add(nameKey(name)).size)
    if (twice !== undefined && byName.on.length === 0)
      throw context.invalid(node, `BY NAME needs different names: two columns are called ${twice}`)
    return names
  }) as [string[], string[]]
  const names = matchedNames(byName, leftNames, rightNames)
  if ('problem' in names) throw context.invalid(node, capitalized(names.problem))
  const byKey = ({ columns }: Pieces) => Map.groupBy(columns, ({ name }) => nameKey(name!))
  const sides = [byKey(left), byKey(right)] as const
  const columnOf = (side: 0 | 1, name: string) => sides[side].get(nameKey(name))?.[0] ?? null
  return names.map(name => [columnOf(0, name), columnOf(1, name)])
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A value whose column holds it, with the fields of a struct that was written out. */
function fromColumn(value: Typed): Typed {
  const { type } = value
  if (type?.kind !== 'STRUCT' || !value.fields) return value
  const fields = value.fields.map((field, at) =>
    fromColumn({ ...field, sql: structField(value.sql, type, at).sql }),
  )
  return { ...value, fields }
}

/** A query with its columns cast to the common types, NULL for those that it does not have. */
function asColumns(
  context: Context,
  side: Pieces,
  own: (OutputColumn | null)[],
  columns: OutputColumn[],
): string {
  const name = quoteName(context.uniqueName('q'))
  const items = own.map((column, at) => {
    const value = column ? fromColumn({ ...column, ...visibleColumn(name, column) }) : typed('NULL', null)
    const { type, duck } = columns[at]!
    return `${type ? coerce(value, type)!.sql : value.sql} AS ${quoteName(duck)}`
  })
  return `SELECT ${items.join(', ')} FROM (${whole(side)}) AS ${name}`
}

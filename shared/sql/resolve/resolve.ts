/**
 * Finds out what the names and expressions of a query stand for: the one place that knows scopes and types. Here are whole
 * queries.
 */
import { matchedNames } from '../columns.ts'
import { placeOf, SqlError } from '../error.ts'
import { firstTwice, inReadingOrder, nameKey, outerReferences, readsItself } from '../relations.ts'
import { isOverRows } from './calls.ts'
import { key, unify } from './coercion.ts'
import { expression } from './expressions.ts'
import {
  type Catalog,
  type Column,
  type Context,
  type Ctes,
  type Faults,
  newScope,
  type Resolution,
  type Rows,
  type Scope,
} from './resolution.ts'
import { findColumns, hasRoom, tooManyColumns } from './scope.ts'
import { itemOf, select } from './select.ts'
import { anything, coerces, firm, type Value } from './types.ts'
import type * as ast from '../tree.ts'
import type { AnyNode, CommonTable, Query, SetOperation, TableReference, With } from '../tree.ts'
import { children, descendantsHere } from '../walk.ts'

/**
 * Resolves a query, whose tree stays as it is.
 * @param sql its text, for the place of a problem
 */
export function resolve(sql: string, tree: Query, catalog: Catalog): Resolution {
  const found: Context['found'] = {
    problem: null,
    rows: new Map(),
    values: new Map(),
    coercions: new Map(),
    paths: new Map(),
    stars: new Map(),
    lists: new Map(),
    sources: new Map(),
    numbers: new Map(),
    merged: new Map(),
    tables: new Map(),
    calls: new Map(),
    windows: new Map(),
  }
  const context: Context = {
    ...catalog,
    found,
    room: 200_000,
    fault(node, message) {
      const text = () => (typeof message === 'string' ? message : message())
      found.problem ??= new SqlError(text(), placeOf(sql, node.at))
      return { type: anything }
    },
    query: (node, outer, ctes) => query(context, node, outer, ctes),
    value(node, scope) {
      const known = found.values.get(node)
      if (known) return known
      const value = expression(context, node, scope)
      found.values.set(node, value)
      return value
    },
  }
  context.query(tree, null, new Map())
  return found
}

/** Resolves a query. `outer` is the query around it, if it may be correlated. */
function query(context: Context, node: ast.Query, outer: Scope | null, ctes: Ctes): Rows {
  const inside = node.with ? commonTables(context, node.with, ctes) : ctes
  const { body } = node
  for (const count of [node.limit, node.offset])
    if (count?.kind === 'ParameterReference') context.value(count, newScope(inside, null))
  const rows = bodyOf(context, body, outer, inside, node)
  context.found.rows.set(node, rows)
  return rows
}

function bodyOf(
  context: Context,
  body: ast.QueryBody,
  outer: Scope | null,
  ctes: Ctes,
  around: ast.Query | null,
): Rows {
  if (body.kind === 'Select') {
    const rows = select(context, body, outer, ctes, around?.orderBy ?? [])
    context.found.rows.set(body, rows)
    return rows
  }
  const rows =
    body.kind === 'SetOperation'
      ? setOperation(context, body, outer, ctes)
      : query(context, body.query, outer, ctes)
  context.found.rows.set(body, rows)
  if (around) orderRows(context, around, rows, newScope(ctes, outer))
  return rows
}

function orderRows(context: Context, { orderBy }: ast.Query, rows: Rows, scope: Scope): void {
  const { columns, open } = rows
  const variables = [{ name: null, node: null, columns, open, element: null }]
  const list = { columns: [...columns], open }
  for (const item of orderBy) {
    const named = itemOf(context, item.expression, list)
    key(context, item, 'ORDER BY', named ?? context.value(item.expression, { ...scope, variables }))
  }
}

/** It sees the tables before it, and is never correlated. */
function commonTables(context: Context, node: ast.With, around: Ctes): Ctes {
  const ctes = new Map(around)
  const twice = firstTwice(node.ctes, ({ name }) => name.name)?.name
  if (twice) context.fault(twice, `Duplicate alias ${twice.name} for WITH subquery`)
  const ordered = inReadingOrder(node, (one, other) => {
    context.fault(one.name, `${one.name.name} and ${other.name.name} read each other`)
  })
  for (const cte of ordered) {
    const isRecursive = node.recursive && readsItself(cte)
    const rows = isRecursive ? recursiveTable(context, cte, ctes) : context.query(cte.query, null, ctes)
    ctes.set(nameKey(cte.name.name), rows)
  }
  return ctes
}

/** A common table that reads itself: its first rows give it its columns. */
function recursiveTable(context: Context, cte: ast.CommonTable, around: Ctes): Rows {
  const { name, query: whole } = cte
  const recursion = recursionOf(context, cte)
  if (!recursion) {
    const own = unknownRows(`${name.name} reads itself`)
    return context.query(whole, null, new Map([...around, [nameKey(name.name), own]]))
  }
  const { with: common, union: body } = recursion
  const ctes = common ? commonTables(context, common, around) : around
  const first = bodyOf(context, body.left, null, ctes, null)
  const columns = first.columns.map((column): Column => ({
    name: column.name,
    type: firm(column.type),
    from: { kind: 'columns', columns: [column] },
  }))
  const rows = { ...first, columns }
  const next = bodyOf(context, body.right, null, new Map([...ctes, [nameKey(name.name), rows]]), null)
  checkCounts(context, body, first, next)
  for (const [at, { type }] of next.columns.entries())
    if (columns[at] && !coerces({ type }, columns[at].type!))
      context.fault(body.right, `Column ${at + 1} of ${name.name} has another type than before UNION`)
  for (const each of [whole, body]) context.found.rows.set(each, rows)
  return rows
}

function unknownRows(why: string): Rows {
  return { columns: [], open: why, isValue: false }
}

function setOperation(context: Context, node: ast.SetOperation, outer: Scope | null, ctes: Ctes): Rows {
  const left = bodyOf(context, node.left, outer, ctes, null)
  const right = bodyOf(context, node.right, outer, ctes, null)
  if (!hasRoom(context, Math.max(left.columns.length, right.columns.length))) return tooManyColumns
  const isValue = left.isValue && right.isValue
  const open = left.open ?? (node.byName ? right.open : null)
  if (left.open !== null || right.open !== null) {
    const columns = node.byName ? [] : left.columns
    return { columns: columns.map(column => merge([column], anything)), open, isValue }
  }
  const pairs = node.byName
    ? matchedColumns(context, node, node.byName, left, right)
    : columnsByPlace(context, node, left, right)
  if ('unknown' in pairs) return unknownRows(pairs.unknown)
  const columns = pairs.map((pair, at) => {
    const values = pair.map(column => column ?? { type: null })
    const type = unify(context, node, `set operation, column ${at + 1},`, values)
    if (node.operator !== 'UNION ALL') key(context, node, 'A set operation', { type })
    const origin = pair[0]?.origin && pair[1]?.origin
    const empty = pair.every(column => column?.empty || column?.type === null)
    const held = pair.filter(column => column !== null)
    return { ...merge(held, type), origin, empty }
  })
  return { columns, open, isValue }
}

function merge(columns: Column[], type: Value['type']): Column {
  return { name: columns[0]!.name, type, from: { kind: 'columns', columns } }
}

/** For each column of a set operation those of its two queries, `null` where one has none. */
type Pair = [Column | null, Column | null]

function columnsByPlace(context: Context, node: ast.SetOperation, left: Rows, right: Rows): Pair[] {
  checkCounts(context, node, left, right)
  return left.columns.map((column, at) => [column, right.columns[at] ?? null])
}

function checkCounts(context: Context, node: ast.SetOperation, left: Rows, right: Rows): void {
  const [one, other] = [left.columns.length, right.columns.length]
  if (one === other || left.open !== null || right.open !== null) return
  context.fault(node.right, `Queries in a set operation have mismatched column count: ${one} and ${other}`)
}

function matchedColumns(
  context: Context,
  node: ast.SetOperation,
  byName: ast.ByName,
  left: Rows,
  right: Rows,
): Pair[] | { unknown: string } {
  const fault = (problem: string) => {
    context.fault(node, `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`)
    return { unknown: problem }
  }
  const sides: string[][] = []
  for (const { columns, isValue } of [left, right]) {
    const names = columns.flatMap(({ name }) => name ?? [])
    if (isValue || names.length < columns.length)
      return fault('BY NAME needs a name for every column: give it one with AS')
    const twice = firstTwice(names, name => name)
    if (twice !== undefined && byName.on.length === 0)
      return fault(`BY NAME needs different names: two columns are called ${twice}`)
    sides.push(names)
  }
  const names = matchedNames(byName, sides[0]!, sides[1]!)
  if ('problem' in names) return fault(names.problem)
  const columnOf = ({ columns }: Rows, name: string) => findColumns(columns, nameKey(name))[0] ?? null
  return names.map((name): Pair => [columnOf(left, name), columnOf(right, name)])
}

// Where a common table may read itself
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#recursive_cte_rules).

/** A recursive table: rows to begin with, and a query that makes the next rows of the last ones. */
interface Recursion {
  with: With | null
  union: SetOperation
}

/**
 * The parts of a table that reads itself; a fault is one that does so elsewhere than in FROM of its second query.
 * @returns `null` where it is no such union, which is a fault, too
 */
export function recursionOf(context: Faults, { name, query: whole }: CommonTable): Recursion | null {
  let query = whole
  while (query.body.kind === 'QueryInParentheses' && !query.with && !isCut(query)) query = query.body.query
  const { with: common, body } = query
  if (body.kind !== 'SetOperation' || !body.operator.startsWith('UNION') || body.byName) {
    context.fault(name, `${name.name} reads itself, so it must be a query UNION ALL one that reads it`)
    return null
  }
  const isOwn = ({ path: [first, ...more] }: TableReference) =>
    more.length === 0 && nameKey(first!.name) === nameKey(name.name)
  const own = outerReferences(query).filter(isOwn)
  const ways = own.map(reference => wayTo(query, reference)!)
  if (ways.some(way => way.includes(body.left)))
    context.fault(name, `${name.name} must not read itself before UNION`)
  const [way = []] = ways
  if (ways.length > 1) context.fault(name, `${name.name} must read itself once`)
  for (const [at, node] of way.entries()) {
    const why = node === body ? null : reasons[node.kind]?.(node as never, way[at + 1]!)
    if (why) context.fault(node, `${name.name} reads itself ${why}`)
  }
  return { with: common, union: body }
}

function wayTo(node: AnyNode, target: AnyNode): AnyNode[] | null {
  if (node === target) return [node]
  for (const child of children(node)) {
    const way = wayTo(child, target)
    if (way) return [node, ...way]
  }
  return null
}

const inExpression = () => 'in an expression: read it in FROM'

/** Why a part of the query must not hold the recursive table, which is in its part `child`; `null` where it may. */
const reasons: {
  [Kind in AnyNode['kind']]?: (node: Extract<AnyNode, { kind: Kind }>, child: AnyNode) => string | null
} = {
  Query: query => (isCut(query) ? 'where rows are sorted or cut: do that outside' : null),
  Select: node => {
    const { distinct, groupBy, having, qualify } = node
    const isGrouped = distinct || groupBy || having || qualify || [...descendantsHere(node)].some(isOverRows)
    return isGrouped ? 'where rows are grouped: group them outside' : null
  },
  SetOperation: ({ operator }) => (operator.endsWith('DISTINCT') ? `in ${operator}: do that outside` : null),
  Join: ({ type, left, right }, child) => {
    const isFilled =
      type === 'FULL' || (type === 'LEFT' && child === right) || (type === 'RIGHT' && child === left)
    return isFilled ? `on the side of a ${type} JOIN whose rows may be missing` : null
  },
  Pivot: () => 'in PIVOT: do that outside',
  CommonTable: () => 'in a WITH inside: read it in FROM',
  ScalarSubquery: inExpression,
  ArraySubquery: inExpression,
  Exists: inExpression,
  InQuery: inExpression,
}

function isCut({ orderBy, limit }: Query): boolean {
  return orderBy.length > 0 || limit !== null
}

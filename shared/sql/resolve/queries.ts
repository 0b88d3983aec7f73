/** Whole queries: WITH, set operations, parentheses, ORDER BY around them. */
import { matchedNames } from '../columns.ts'
import { firstTwice, inReadingOrder, nameKey, readsItself } from '../relations.ts'
import type * as ast from '../tree.ts'
import { key, unify } from './coercion.ts'
import { type Column, type Context, type Ctes, newScope, type Rows, type Scope } from './resolution.ts'
import { recursionOf } from './recursion.ts'
import { itemOf, select } from './select.ts'
import { columnsNamed, hasRoom, tooManyColumns } from './scope.ts'
import { anything, coerces, firm, type Value } from './types.ts'

/** Resolves a query. `outer` is the query around it, if it may be correlated. */
export function query(context: Context, node: ast.Query, outer: Scope | null, ctes: Ctes): Rows {
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

/** ORDER BY around a set operation or a query in parentheses. */
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
    return { columns: columns.map(column => merged([column], anything)), open, isValue }
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
    return { ...merged(held, type), origin, empty }
  })
  return { columns, open, isValue }
}

function merged(columns: Column[], type: Value['type']): Column {
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
  const columnOf = ({ columns }: Rows, name: string) => columnsNamed(columns, nameKey(name))[0] ?? null
  return names.map((name): Pair => [columnOf(left, name), columnOf(right, name)])
}

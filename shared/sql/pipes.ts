/**
 * Pipe syntax (https://cloud.google.com/bigquery/docs/reference/standard-sql/pipe-syntax) as ordinary queries: each operator
 * that changes the columns is a SELECT around those before it. So the tree has no node for pipes, and what runs is
 * plain SQL.
 */
import { nameOfColumn, sameName } from './columns.ts'
import { precedence, precedenceOf } from './grammar.ts'
import * as make from './nodes.ts'
import type * as ast from './tree.ts'
import { children } from './walk.ts'

/** The operators so far: `SELECT * FROM from WHERE where ORDER BY ... LIMIT ...`. */
export interface Pipe {
  from: ast.From
  where: ast.Expression | null
  orderBy: ast.OrderItem[]
  limit: ast.Count | null
  offset: ast.Count | null
  hidden: HiddenRows[]
  at: number
}

/** A range variable inside a SELECT of the pipe. Operators after it still name it, so that SELECT passes on what they read. */
interface HiddenRows {
  name: ast.Identifier
  /** The name of the column that stands for it: one that no table has, so that a `*` can leave it out. */
  passedAs: ast.Identifier
  /** Whether the name alone stands for a row: that of an array may stand for a scalar, which `*` has. */
  isRow: boolean
  level: { select: ast.Select }
  /** That column: a STRUCT of the fields that are read, or the row. */
  column: ast.SelectColumn | null
}

/** A pipe as it begins, with no operator behind its FROM. */
export function pipeOver(from: ast.From, hidden: HiddenRows[] = []): Pipe {
  return { from, where: null, orderBy: [], limit: null, offset: null, hidden, at: from.at }
}

/** A pipe that reads the rows of a query, by the name `alias` where there is one. */
export function pipeOverQuery(
  query: ast.Query,
  alias: ast.Identifier | null = null,
  hidden: HiddenRows[] = [],
): Pipe {
  return pipeOver({ kind: 'DerivedTable', query, alias, at: query.at }, hidden)
}

/** A SELECT or set operation as a query, at the place of its pipe: no WITH before it, no order or limit behind it. */
export function queryOf(body: ast.QueryBody, { at }: Pick<Pipe, 'at'>): ast.Query {
  return make.queryOf(body, { at })
}

/** The whole pipe as one query, with none of its range variables. */
export function pipedQuery(pipe: Pipe): ast.Query {
  const except = hiddenColumns(pipe)
  const inner = except.length > 0 ? null : innerQuery(pipe)
  return inner ?? withOrder(pipe, queryOf(selectOver(pipe, { items: [starOf(pipe.at, { except })] }), pipe))
}

/** The names of the columns that are there for hidden range variables, which a `*` leaves out. */
function hiddenColumns({ hidden }: Pick<Pipe, 'hidden'>): ast.Identifier[] {
  return hidden.filter(({ column }) => column).map(({ passedAs }) => passedAs)
}

/** The query in FROM, if it can take the order and limit of the pipe. */
function innerQuery(pipe: Pipe): ast.Query | null {
  const { from, where } = pipe
  if (from.kind !== 'DerivedTable' || from.alias || where) return null
  const { query } = from
  if (!isSorted(pipe)) return query
  return isSorted(query) || query.with || renames(query) ? null : withOrder(pipe, query)
}

function withOrder({ orderBy, limit, offset }: Pipe, query: ast.Query): ast.Query {
  return { ...query, orderBy, limit, offset }
}

/** A `*` for all columns of a pipe, but for these changes. */
export function starOf(at: number, changes: Partial<ast.SelectStar> = {}): ast.SelectStar {
  return { kind: 'SelectStar', of: null, except: [], replace: [], rename: [], at, ...changes }
}

function renames({ body }: ast.Query): boolean {
  return (
    body.kind === 'Select' && body.items.some(item => item.kind === 'SelectStar' && item.rename.length > 0)
  )
}

/** The common tables of both, the first before the second. */
export function withMore(first: ast.With | null, second: ast.With | null): ast.With | null {
  if (!first || !second) return first ?? second
  return { ...first, recursive: first.recursive || second.recursive, ctes: [...first.ctes, ...second.ctes] }
}

function isSorted({ orderBy, limit }: Pick<Pipe, 'orderBy' | 'limit'>): boolean {
  return orderBy.length > 0 || limit !== null
}

/** The pipe as a table of its own, where it is sorted or cut: operators after that do not change which rows there are. */
export function settle(pipe: Pipe): Pipe {
  if (!isSorted(pipe)) return pipe
  const inner = innerQuery(pipe)
  return inner ? pipeOverQuery(inner, null, pipe.hidden) : passedOn(pipe)
}

/**
 * A pipe over all columns of another, with these changes and more columns behind them. Operators after it may name the
 * range variables of the other (`readBy`), but for those whose names new columns take.
 */
export function passedOn(
  pipe: Pipe,
  changes: Partial<ast.SelectStar> = {},
  more: ast.SelectItem[] = [],
): Pipe {
  const columns = more.map(item => (item.kind === 'SelectColumn' ? nameOfColumn(item) : null))
  const names = [...columns, ...(changes.rename ?? []).map(({ name }) => name.name)]
  const taken = pipe.hidden.filter(({ name }) => names.some(own => sameName(own, name.name)))
  const covered = hiddenColumns({ hidden: taken })
  const except = [...(changes.except ?? []), ...covered]
  const select = selectOver(pipe, {
    items: [starOf(more[0]?.at ?? pipe.at, { ...changes, except }), ...more],
  })
  const level = { select }
  // The elements of such an array are no structs: `*` has them by their name.
  const rows = rowsOf(pipe.from).filter(
    ({ name, of }) => of?.kind !== 'Call' && !names.some(own => sameName(own, name.name)),
  )
  const hidden = [
    ...pipe.hidden.filter(row => !taken.includes(row)),
    ...rows.map(({ name, isRow }) => {
      return { name, isRow, passedAs: { ...name, name: `${name.name}__row` }, level, column: null }
    }),
  ]
  return pipeOverQuery(withOrder(pipe, queryOf(select, pipe)), null, hidden)
}

/** The range variables of FROM, for UNNEST with its array. */
function rowsOf(from: ast.From): (Pick<HiddenRows, 'name' | 'isRow'> & { of: ast.Expression | null })[] {
  if (from.kind === 'Join') return [...rowsOf(from.left), ...rowsOf(from.right)]
  if (from.kind === 'JoinInParentheses') return rowsOf(from.join)
  const name = from.alias ?? (from.kind === 'TableReference' ? from.path.at(-1)! : null)
  if (!name || name.name.includes('.')) return []
  const isArray = from.kind === 'UnnestReference' || (from.kind === 'TableReference' && from.path.length > 1)
  return [{ name, isRow: !isArray, of: from.kind === 'UnnestReference' ? from.array : null }]
}

/** The pipe, in which what these nodes read of hidden range variables has become columns, and the nodes read those. */
export function readBy(pipe: Pipe, nodes: ast.AnyNode[]): Pipe {
  for (const node of nodes) carryIn(node, pipe.hidden)
  return pipe
}

function carryIn(node: ast.AnyNode, hidden: HiddenRows[]): void {
  if (hidden.length === 0) return
  if (node.kind === 'Path') return carry(node, hidden)
  const from = fromOf(node)
  // An array alone in FROM is of the rows outside, the rest of a subquery sees its own first.
  if (from?.kind === 'UnnestReference') carryIn(from.array, hidden)
  const own = from ? rowsOf(from) : []
  const outer = hidden.filter(({ name }) => !own.some(row => sameName(row.name.name, name.name)))
  const item = node.kind === 'SelectColumn' && node.expression.kind === 'Path' ? node.expression : null
  const name = item?.parts.at(-1)
  for (const child of children(node)) carryIn(child, outer)
  // A whole row keeps its name.
  if (node.kind === 'SelectColumn' && name && item?.parts.at(-1) !== name) node.alias ??= name
}

function fromOf(node: ast.AnyNode): ast.From | null {
  const select = node.kind === 'Query' ? node.body : node
  return select.kind === 'Select' ? select.from : null
}

function carry(path: ast.Path, hidden: HiddenRows[]): void {
  const [first, field, ...more] = path.parts
  const rows = hidden.findLast(({ name }) => sameName(name.name, first!.name))
  if (!rows || (!field && !rows.isRow)) return
  const { name, passedAs } = rows
  const { at } = name
  rows.column ??= addColumn(rows, { kind: 'StructLiteral', type: null, items: [], at })
  const { expression } = rows.column
  if (!field) rows.column.expression = { kind: 'Path', parts: [name], at }
  else if (
    expression.kind === 'StructLiteral' &&
    !expression.items.some(item => sameName(nameOfColumn(item), field.name))
  ) {
    const read: ast.Path = { kind: 'Path', parts: [name, field], at }
    expression.items.push({ kind: 'SelectColumn', expression: read, alias: null, at })
  }
  path.parts = [{ ...passedAs, at: first!.at }, ...(field ? [field] : []), ...more]
}

function addColumn({ passedAs, level }: HiddenRows, expression: ast.StructLiteral): ast.SelectColumn {
  const { select } = level
  // RENAME stands alone, so the column comes from a SELECT inside.
  if (select.items.some(item => item.kind === 'SelectStar' && item.rename.length > 0)) {
    level.select = { ...select, items: [starOf(select.at)] }
    const query = queryOf(level.select, select)
    select.from = { kind: 'DerivedTable', query, alias: null, at: select.at }
    select.where = null
  }
  const column: ast.SelectColumn = { kind: 'SelectColumn', expression, alias: passedAs, at: passedAs.at }
  level.select.items.push(column)
  return column
}

/** A SELECT with the FROM and WHERE of a pipe. */
export function selectOver({ from, where, at }: Pipe, clauses: Partial<ast.Select>): ast.Select {
  return make.select([], from, { where, at, ...clauses })
}

/** One condition more. It applies before what sorts or cuts the pipe, so such a pipe is settled first. */
export function filter(pipe: Pipe, condition: ast.Expression): Pipe {
  const { where } = readBy(pipe, [condition])
  if (!where) return { ...pipe, where: condition }
  const left = inParentheses(where, precedence.and)
  const right = inParentheses(condition, precedence.and + 1)
  return { ...pipe, where: { kind: 'Binary', operator: 'AND', left, right, at: where.at } }
}

function inParentheses(expression: ast.Expression, lowest: number): ast.Expression {
  if (precedenceOf(expression) >= lowest) return expression
  return { kind: 'Parenthesized', expression, at: expression.at }
}

/** The rows of a pipe, each once. One table keeps its name. */
export function distinct(pipe: Pipe): Pipe {
  const plain = settle(pipe)
  const [only, ...more] = plain.hidden.length > 0 ? [] : rowsOf(plain.from)
  const except = hiddenColumns(plain)
  const select = selectOver(plain, { distinct: true, items: [starOf(pipe.at, { except })] })
  return pipeOverQuery(queryOf(select, pipe), only?.isRow && more.length === 0 ? only.name : null)
}

/** The pipe under a name. */
export function withAlias(pipe: Pipe, alias: ast.Identifier): Pipe {
  return pipeOverQuery(pipedQuery(pipe), alias)
}

/** The pipe as the left side of a join: a condition before it becomes part of the table, which keeps its name. */
export function joinable(pipe: Pipe): Pipe {
  const plain = settle(pipe)
  const { from } = plain
  if (!plain.where) return plain
  if (from.kind === 'Join' || from.kind === 'JoinInParentheses' || plain.hidden.length > 0)
    return passedOn(plain)
  const name = from.alias ?? (from.kind === 'TableReference' ? from.path.at(-1)! : null)
  return pipeOverQuery(pipedQuery(plain), name)
}

/** The pipe as a table that PIVOT and UNPIVOT take: one that is plain, under its name. */
export function turnable(pipe: Pipe): ast.TableReference | ast.DerivedTable {
  const { from, hidden } = joinable(pipe)
  if (
    hiddenColumns({ hidden }).length === 0 &&
    (from.kind === 'TableReference' || from.kind === 'DerivedTable')
  )
    return from
  return { kind: 'DerivedTable', query: pipedQuery(pipe), alias: null, at: pipe.at }
}

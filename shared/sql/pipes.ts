/**
 * Pipe syntax (https://cloud.google.com/bigquery/docs/reference/standard-sql/pipe-syntax) as ordinary queries: each operator
 * that changes the columns is a SELECT around those before it. So the tree has no node for pipes, and what runs is
 * plain SQL.
 */
import { precedence, precedenceOf } from './grammar.ts'
import type {
  Count,
  DerivedTable,
  Expression,
  From,
  Identifier,
  OrderItem,
  Query,
  QueryBody,
  Select,
  SelectStar,
  TableReference,
  With,
} from './tree.ts'

/** The operators so far: `SELECT * FROM from WHERE where ORDER BY ... LIMIT ...`. */
export interface Pipe {
  from: From
  where: Expression | null
  orderBy: OrderItem[]
  limit: Count | null
  offset: Count | null
  at: number
}

/** A pipe as it begins, with no operator behind its FROM. */
export function pipeOver(from: From): Pipe {
  return { from, where: null, orderBy: [], limit: null, offset: null, at: from.at }
}

/** A pipe that reads the rows of a query, by the name `alias` where there is one. */
export function pipeOverQuery(query: Query, alias: Identifier | null = null): Pipe {
  return pipeOver({ kind: 'DerivedTable', query, alias, at: query.at })
}

/** A SELECT or set operation as a query, at the place of its pipe: no WITH before it, no order or limit behind it. */
export function queryOf(body: QueryBody, { at }: Pick<Pipe, 'at'>): Query {
  return { kind: 'Query', with: null, body, orderBy: [], limit: null, offset: null, at }
}

/** The whole pipe as one query. */
export function pipedQuery(pipe: Pipe): Query {
  const { from, where, orderBy, limit, offset, at } = pipe
  const own = { orderBy, limit, offset }
  const inner = from.kind === 'DerivedTable' && !from.alias && !where ? from.query : null
  if (inner && !isSorted(pipe)) return inner
  if (inner && !isSorted(inner) && !inner.with && !renames(inner)) return { ...inner, ...own }
  return { ...queryOf(selectOver(pipe, { items: [starOf(at)] }), pipe), ...own }
}

/** A `*` for all columns of a pipe, but for these changes. */
export function starOf(at: number, changes: Partial<SelectStar> = {}): SelectStar {
  return { kind: 'SelectStar', of: null, except: [], replace: [], rename: [], at, ...changes }
}

function renames({ body }: Query): boolean {
  return (
    body.kind === 'Select' && body.items.some(item => item.kind === 'SelectStar' && item.rename.length > 0)
  )
}

/** The common tables of both, the first before the second. */
export function withMore(first: With | null, second: With | null): With | null {
  if (!first || !second) return first ?? second
  return { ...first, recursive: first.recursive || second.recursive, ctes: [...first.ctes, ...second.ctes] }
}

function isSorted({ orderBy, limit }: Pick<Pipe, 'orderBy' | 'limit'>): boolean {
  return orderBy.length > 0 || limit !== null
}

/** The pipe as a table of its own, where it is sorted or cut: operators after that do not change which rows there are. */
export function settled(pipe: Pipe): Pipe {
  return isSorted(pipe) ? pipeOverQuery(pipedQuery(pipe)) : pipe
}

/** A SELECT with the FROM and WHERE of a pipe. */
export function selectOver({ from, where, at }: Pipe, clauses: Partial<Select>): Select {
  return {
    kind: 'Select',
    distinct: false,
    as: null,
    items: [],
    from,
    where,
    groupBy: null,
    having: null,
    qualify: null,
    windows: [],
    at,
    ...clauses,
  }
}

/** One condition more. It applies before what sorts or cuts the pipe, so such a pipe is `settled` first. */
export function filtered(pipe: Pipe, condition: Expression): Pipe {
  const { where } = pipe
  if (!where) return { ...pipe, where: condition }
  const left = inParentheses(where, precedence.and)
  const right = inParentheses(condition, precedence.and + 1)
  return { ...pipe, where: { kind: 'Binary', operator: 'AND', left, right, at: where.at } }
}

function inParentheses(expression: Expression, lowest: number): Expression {
  if (precedenceOf(expression) >= lowest) return expression
  return { kind: 'Parenthesized', expression, at: expression.at }
}

/** The pipe under a name. */
export function named(pipe: Pipe, alias: Identifier): Pipe {
  return pipeOverQuery(pipedQuery(pipe), alias)
}

/** The pipe as the left side of a join: a condition before it becomes part of the table, which keeps its name. */
export function joinable(pipe: Pipe): Pipe | null {
  const plain = settled(pipe)
  if (!plain.where) return plain
  const { from } = plain
  if (from.kind === 'Join' || from.kind === 'JoinInParentheses') return null
  const name = from.alias ?? (from.kind === 'TableReference' ? from.path.at(-1)! : null)
  return pipeOverQuery(pipedQuery(plain), name)
}

/** The pipe as a table that PIVOT and UNPIVOT take: one that is plain, under its name. */
export function turnable(pipe: Pipe): TableReference | DerivedTable {
  const { from, where } = joinable(pipe) ?? pipe
  if (!where && (from.kind === 'TableReference' || from.kind === 'DerivedTable')) return from
  return { kind: 'DerivedTable', query: pipedQuery(pipe), alias: null, at: pipe.at }
}

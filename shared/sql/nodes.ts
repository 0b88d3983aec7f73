/** Nodes that are made, not parsed, and copies of nodes with others in their place. */
import type * as ast from './tree.ts'
import type { SqlType } from './types.ts'
import { isNode } from './walk.ts'

const at = 0

export function name(text: string): ast.Identifier {
  return { name: text, quoted: false, at }
}

export function path(...parts: string[]): ast.Path {
  return { kind: 'Path', parts: parts.map(name), at }
}

export function item(expression: ast.Expression, alias: string | null): ast.SelectColumn {
  return { kind: 'SelectColumn', expression, alias: alias === null ? null : name(alias), at }
}

/** `of.* EXCEPT (except)`; without `of` of all tables. */
export function star(of: string | null, except: string[] = []): ast.SelectStar {
  const table = of === null ? null : path(of)
  return { kind: 'SelectStar', of: table, except: except.map(name), replace: [], rename: [], at }
}

/** One without a value beside its text: no string but the empty one. */
const literal = (literal: ast.Literal['literal'], text: string): ast.Literal => {
  return { kind: 'Literal', literal, text, value: '', at }
}

export const integer = (value: bigint | number) => literal('INTEGER', String(value))
export const nothing = () => literal('NULL', 'NULL')
export const bool = (value: 'TRUE' | 'FALSE') => literal('BOOL', value)
export const emptyText = () => literal('STRING', "''")

export function binary(
  operator: ast.BinaryOperator,
  left: ast.Expression,
  right: ast.Expression,
): ast.Binary {
  return { kind: 'Binary', operator, left, right, at }
}

/** `null` for none. */
export function chain(operator: 'AND' | 'OR', conditions: ast.Expression[]): ast.Expression | null {
  const [first, ...others] = conditions.map(each => inParentheses(each))
  return first ? others.reduce((all, each) => binary(operator, all, each), first) : null
}

function inParentheses(expression: ast.Expression): ast.Expression {
  return expression.kind === 'Binary' && expression.operator === 'OR'
    ? { kind: 'Parenthesized', expression, at }
    : expression
}

export function isNull(operand: ast.Expression): ast.Is {
  return { kind: 'Is', not: false, operand, what: 'NULL', at }
}

export function cast(operand: ast.Expression, type: SqlType): ast.Cast {
  return { kind: 'Cast', safe: false, operand, type, format: null, zone: null, at }
}

export function call(called: string, given: ast.Expression[], over: ast.Window | null = null): ast.Call {
  const bare = { star: false, distinct: false, nulls: null, having: null, orderBy: [], limit: null }
  return { kind: 'Call', name: [name(called)], ...bare, arguments: given, over, at }
}

export function between(operand: ast.Expression, low: ast.Expression, high: ast.Expression): ast.Between {
  return { kind: 'Between', not: false, operand, low, high, at }
}

export function window(partitionBy: ast.Expression[], orderBy: ast.OrderItem[]): ast.Window {
  return { kind: 'Window', base: null, partitionBy, orderBy, frame: null, at }
}

export function table(called: string, alias: string | null): ast.TableReference {
  return {
    kind: 'TableReference',
    path: [name(called)],
    alias: alias === null ? null : name(alias),
    offset: null,
    at,
  }
}

export function derivedTable(query: ast.Query, alias: string): ast.DerivedTable {
  return { kind: 'DerivedTable', query, alias: name(alias), at }
}

export function join(
  type: ast.Join['type'],
  left: ast.From,
  right: ast.From,
  on: ast.Expression | null = null,
): ast.Join {
  return { kind: 'Join', type, left, right, on, using: [], at }
}

export function select(
  items: ast.SelectItem[],
  from: ast.From | null,
  rest: Partial<ast.Select> = {},
): ast.Select {
  const clauses = { where: null, groupBy: null, having: null, qualify: null, windows: [] }
  return { kind: 'Select', distinct: false, as: null, items, from, ...clauses, at, ...rest }
}

export function queryOf(body: ast.QueryBody, rest: Partial<ast.Query> = {}): ast.Query {
  return { kind: 'Query', with: null, body, orderBy: [], limit: null, offset: null, at, ...rest }
}

export function common(called: string, query: ast.Query): ast.CommonTable {
  return { kind: 'CommonTable', name: name(called), query, at }
}

/** A copy of a node and all under it, but for those that `instead` gives something else for. */
export function copy<Kind extends ast.AnyNode>(
  node: Kind,
  instead: (node: ast.AnyNode) => ast.AnyNode | null,
): Kind {
  return (instead(node) ?? copiedParts(node, instead)) as Kind
}

export function copiedParts<Kind extends ast.AnyNode>(
  node: Kind,
  instead: (node: ast.AnyNode) => ast.AnyNode | null,
): Kind {
  const part = (value: unknown): unknown => {
    if (isNode(value)) return copy(value, instead)
    return Array.isArray(value) ? value.map(part) : value
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, part(value)])) as unknown as Kind
}

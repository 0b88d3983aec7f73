/**
 * Arrays in FROM. DuckDB plans a correlated UNNEST as a join of the table with itself, which takes up to a
 * thousand times as long as UNNEST in a select list. So each array becomes one more SELECT around the source on its left:
 * `(SELECT <all columns so far>, UNNEST(array) FROM <so far>)`. DuckDB itself leaves out columns that are not read.
 */
import type { Expression, Identifier, Join, Node } from '../../../sql/tree.ts'
import { descendants } from '../../../sql/walk.ts'
import { typeName } from '../../../sql/resolve/types.ts'
import { quoteName } from '../syntax.ts'
import {
  type Context,
  elementOf,
  type RangeVariable,
  type Scope,
  type Typed,
  typed,
  type VisibleColumn,
} from './context.ts'
import { refuseOverRows } from './functions/calls.ts'
import { lambdaScope, type Source, withSource } from './scope.ts'

export interface ArrayReference extends Node {
  array: Expression
  alias: Identifier | null
  offset: Identifier | null
}

const nothing: Source = { sql: '', joined: false, variables: [], merged: new Map() }

/** An array at the start of FROM: of a parameter, a literal, or a row of the query around this one. */
export function firstArray(context: Context, node: ArrayReference, scope: Scope): Source {
  return step(context, node, nothing, lists(elementsOf(context, node, scope)), false)
}

/** An array on the right of a join, most often of the rows on its left. */
export function arrayStep(
  context: Context,
  node: Join,
  array: ArrayReference,
  left: Source,
  scope: Scope,
): Source {
  checkArrayJoin(context, node)
  const leftScope = withSource(scope, left)
  const elements = elementsOf(context, array, leftScope)
  const condition = node.on && !isTrue(node.on) ? node.on : null
  if (condition) refuseOverRows(context, condition, 'ON')
  if (node.type !== 'LEFT') {
    const all = step(context, array, left, lists(elements), false)
    if (!condition) return all
    return derivedSource(context, all, [], context.expression(condition, withSource(scope, all)).sql)
  }
  const kept = condition ? matching(context, array, elements, condition, leftScope) : lists(elements)
  return step(context, array, left, kept, true)
}

/** Refuses what cannot be joined to an array. */
function checkArrayJoin(context: Context, node: Join): void {
  if (node.type === 'RIGHT' || node.type === 'FULL' || node.using.length > 0)
    throw context.unsupported(
      node,
      `A ${node.type} JOIN with an array${node.using.length > 0 ? ' and USING' : ''}`,
    )
}

function elementsOf(context: Context, node: ArrayReference, scope: Scope): Typed {
  refuseOverRows(context, node.array, 'UNNEST')
  const array = context.expression(node.array, scope)
  if (array.type !== null && array.type.kind !== 'ARRAY')
    throw context.invalid(
      node,
      `Values referenced in UNNEST must be arrays. UNNEST contains expression of type ${typeName(array.type)}`,
    )
  return array
}

function isTrue(node: Expression): boolean {
  return node.kind === 'Literal' && node.text.toUpperCase() === 'TRUE'
}

/** An array's elements and their offsets, each a list in DuckDB. */
interface Lists {
  elements: Typed
  offsets: string
}

function lists(elements: Typed): Lists {
  return { elements, offsets: `range(len(${elements.sql}))` }
}

/** One SELECT more. With `outer`, an empty array keeps its row, with NULL for the element. */
function step(context: Context, node: ArrayReference, left: Source, from: Lists, outer: boolean): Source {
  const array = from.elements
  const rows = (list: string) => {
    const kept = outer ? `CASE WHEN len(${array.sql}) > 0 THEN ${list} ELSE [NULL] END` : list
    return `UNNEST(${kept})`
  }
  const added: RangeVariable[] = [
    { kind: 'value', name: node.alias?.name ?? null, value: typed(rows(array.sql), elementOf(array.type)) },
  ]
  if (node.offset) {
    const value = typed(rows(from.offsets), 'INT64')
    added.push({ kind: 'value', name: node.offset.name, value })
  }
  return derivedSource(context, left, added)
}

/** The elements for which the condition of a LEFT JOIN holds. */
function matching(
  context: Context,
  node: ArrayReference,
  array: Typed,
  condition: Expression,
  scope: Scope,
): Lists {
  const nested = [...descendants(condition)].some(inner => inner.kind === 'Query')
  if (nested)
    throw context.unsupported(
      condition,
      'LEFT JOIN UNNEST on a condition with a subquery',
      'select the subquery before, and compare with its column',
    )
  const { element, scope: inner } = lambdaScope(context, array, node.alias?.name ?? null, scope)
  if (!node.offset) {
    const test = context.expression(condition, inner).sql
    return lists({ ...array, sql: `list_filter(${array.sql}, lambda ${element}: ${test})` })
  }
  const pair = quoteName(context.uniqueName('pair'))
  const [value, offset] = [`${pair}.element`, `${pair}.place`]
  inner.variables = [
    { kind: 'value', name: node.alias?.name ?? null, value: { sql: value, type: elementOf(array.type) } },
    { kind: 'value', name: node.offset.name, value: typed(offset, 'INT64') },
  ]
  const test = context.expression(condition, inner).sql
  const pairs = `list_transform(range(len(${array.sql})), lambda place: {element: (${array.sql})[place + 1], place: place})`
  const kept = `list_filter(${pairs}, lambda ${pair}: ${test})`
  const part = (name: string) => `list_transform(${kept}, lambda ${pair}: ${pair}.${name})`
  return { elements: { ...array, sql: part('element') }, offsets: part('place') }
}

/** A SELECT around a source that passes its columns on under new names, with more variables or a condition. */
export function derivedSource(
  context: Context,
  from: Source,
  added: RangeVariable[],
  where?: string,
): Source {
  const table = quoteName(context.uniqueName('s'))
  const items: string[] = []
  const passed = (value: Typed, hint: string): Typed => {
    const name = quoteName(context.uniqueName(hint))
    items.push(`${value.sql} AS ${name}`)
    return { sql: `${table}.${name}`, type: value.type }
  }
  const column = (column: VisibleColumn) => ({ name: column.name, ...passed(column, column.name ?? 'c') })
  const variables = [...from.variables, ...added].map((variable): RangeVariable =>
    variable.kind === 'value'
      ? { ...variable, value: passed(variable.value, variable.name ?? 'element') }
      : { ...variable, columns: variable.columns.map(column), order: [] },
  )
  const merged = new Map([...from.merged].map(([name, visible]) => [name, column(visible)] as const))
  const select = `SELECT ${items.join(', ')}${from.sql && ` FROM ${from.sql}`}${where ? ` WHERE ${where}` : ''}`
  return { sql: `(${select}) AS ${table}`, joined: false, variables, merged }
}

/**
 * Arrays in FROM. DuckDB plans a correlated UNNEST as a join of the table with itself, which takes up to a
 * thousand times as long as UNNEST in a select list. So each array becomes one more SELECT around what stands left of it:
 * `(SELECT <all columns so far>, UNNEST(array) FROM <so far>)`. Columns that nobody reads DuckDB leaves out itself.
 */
import type { Expression, Identifier, Join, Node } from '../../../sql/tree.ts'
import { descendants } from '../../../sql/walk.ts'
import { type Context, mistake, typed, type Typed, unsupported } from './context.ts'
import {
  newScope,
  type RangeVariable,
  type Scope,
  type Source,
  type VisibleColumn,
  withSource,
} from './scope.ts'
import { quoteName } from '../syntax.ts'
import { typeName } from '../../values.ts'

export interface ArrayReference extends Node {
  array: Expression
  alias: Identifier | null
  offset: Identifier | null
}

const nothing: Source = { sql: '', joined: false, variables: [], merged: new Map() }

/** An array at the start of FROM: of a parameter, a literal, or a row of the query around this one. */
export function firstArray(context: Context, node: ArrayReference, scope: Scope): Source {
  return step(context, node, nothing, elementsOf(context, node, scope), false)
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
  if (node.type !== 'LEFT') {
    const all = step(context, array, left, elements, false)
    return condition ? filtered(context, all, context.expression(condition, withSource(scope, all))) : all
  }
  const kept = condition ? matching(context, array, elements, condition, leftScope) : elements
  return step(context, array, left, kept, true)
}

/** Refuses what cannot be joined to an array. */
function checkArrayJoin(context: Context, node: Join): void {
  if (node.type === 'RIGHT' || node.type === 'FULL' || node.using.length > 0)
    throw unsupported(
      context,
      node,
      `A ${node.type} JOIN with an array${node.using.length > 0 ? ' and USING' : ''}`,
    )
}

function elementsOf(context: Context, node: ArrayReference, scope: Scope): Typed {
  const array = context.expression(node.array, scope)
  if (array.type !== null && array.type.kind !== 'ARRAY')
    throw mistake(
      context,
      node,
      `Values referenced in UNNEST must be arrays. UNNEST contains expression of type ${typeName(array.type)}`,
    )
  return array
}

function isTrue(node: Expression): boolean {
  return node.kind === 'Literal' && node.text.toUpperCase() === 'TRUE'
}

/** One SELECT more. With `outer`, an empty array keeps its row, with NULL for the element. */
function step(context: Context, node: ArrayReference, left: Source, array: Typed, outer: boolean): Source {
  const some = `len(${array.sql}) > 0`
  const positions = `range(len(${array.sql}))`
  const elements = outer ? `CASE WHEN ${some} THEN ${array.sql} ELSE [NULL] END` : array.sql
  const offsets = outer ? `CASE WHEN ${some} THEN ${positions} ELSE [NULL] END` : positions
  const element = array.type?.kind === 'ARRAY' ? array.type.element : null
  const added = [{ name: node.alias, value: typed(`UNNEST(${elements})`, element) }]
  if (node.offset) added.push({ name: node.offset, value: typed(`UNNEST(${offsets})`, 'INT64') })

  const derived = new Derivation(context)
  const variables = left.variables.map(variable => derived.variable(variable))
  const merged = new Map([...left.merged].map(([name, column]) => [name, derived.column(column)] as const))
  const values = added.map(({ name, value }): RangeVariable => ({
    kind: 'value',
    name: name?.name ?? null,
    value: derived.value(value, name?.name ?? 'element'),
  }))
  return { sql: derived.sql(left.sql), joined: false, variables: [...variables, ...values], merged }
}

/** The rows of a source for which a condition holds. */
function filtered(context: Context, from: Source, condition: Typed): Source {
  const derived = new Derivation(context)
  const variables = from.variables.map(variable => derived.variable(variable))
  const merged = new Map([...from.merged].map(([name, column]) => [name, derived.column(column)] as const))
  return { sql: derived.sql(from.sql, condition.sql), joined: false, variables, merged }
}

/** The elements for which the condition of a LEFT JOIN holds. */
function matching(
  context: Context,
  node: ArrayReference,
  array: Typed,
  condition: Expression,
  scope: Scope,
): Typed {
  const nested = [...descendants(condition)].some(inner => inner.kind === 'Query')
  if (nested || node.offset) throw unsupported(context, condition, 'LEFT JOIN UNNEST on this condition')
  const element = quoteName(context.fresh('x'))
  const inner = newScope(scope.ctes, scope)
  inner.variables.push({
    kind: 'value',
    name: node.alias?.name ?? null,
    value: { sql: element, type: array.type?.kind === 'ARRAY' ? array.type.element : null },
  })
  const test = context.expression(condition, inner).sql
  return { ...array, sql: `list_filter(${array.sql}, lambda ${element}: ${test})` }
}

/** A SELECT in FROM that passes columns on under names of its own. */
class Derivation {
  private readonly context: Context
  private readonly name: string
  private readonly items: string[] = []

  constructor(context: Context) {
    this.context = context
    this.name = quoteName(context.fresh('s'))
  }

  value(value: Typed, hint: string): Typed {
    const name = quoteName(this.context.fresh(hint))
    this.items.push(`${value.sql} AS ${name}`)
    return { sql: `${this.name}.${name}`, type: value.type }
  }

  column(column: VisibleColumn): VisibleColumn {
    return { name: column.name, ...this.value(column, column.name ?? 'c') }
  }

  variable(variable: RangeVariable): RangeVariable {
    if (variable.kind === 'value')
      return { ...variable, value: this.value(variable.value, variable.name ?? 'v') }
    return { ...variable, columns: variable.columns.map(column => this.column(column)), order: [] }
  }

  sql(from: string, where?: string): string {
    const select = `SELECT ${this.items.join(', ')}${from && ` FROM ${from}`}${where ? ` WHERE ${where}` : ''}`
    return `(${select}) AS ${this.name}`
  }
}

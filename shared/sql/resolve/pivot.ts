/** PIVOT and UNPIVOT. */
import { nameOfPivoted } from '../columns.ts'
import type * as ast from '../tree.ts'
import { calledName, descendants } from '../walk.ts'
import { isAggregate } from './calls.ts'
import { coerce } from './coercion.ts'
import {
  type Column,
  type Context,
  newScope,
  type RangeVariable,
  type Rows,
  type Scope,
} from './resolution.ts'
import { anything, coerces, firm, isUnknown, sameType, type Type, typeName, type Value } from './types.ts'

/** The rows that are turned, the only ones in sight of `scope`. */
function rowsOf(context: Context, node: ast.Pivot | ast.Unpivot, { variables }: Scope): RangeVariable {
  const [variable] = variables as [RangeVariable]
  if (variable.element) context.fault(node, `${node.kind.toUpperCase()} is not allowed on value tables`)
  return variable
}

/** The columns that none of these parts reads: they stay as they are. */
function keysOf(context: Context, { columns }: RangeVariable, parts: ast.AnyNode[]): Column[] {
  const nodes = parts.flatMap(part => [...descendants(part)])
  const read = new Set(nodes.map(node => node.kind === 'Path' && context.found.paths.get(node)?.column))
  return columns.filter(column => !read.has(column))
}

/** A column for each value and aggregate, beside those that none of its expressions reads. */
export function pivot(context: Context, node: ast.Pivot, scope: Scope): Rows {
  const rows = rowsOf(context, node, scope)
  const { type } = context.value(node.by, scope)
  const totals = node.aggregates.map(aggregate => pivotAggregate(context, node, aggregate, scope))
  const keys = keysOf(context, rows, [...node.aggregates, node.by])
  let { open } = rows
  const made = node.values.flatMap(value => {
    checkValue(context, value, type, scope)
    return totals.map(({ type: total }, at): Column => {
      const name = nameOfValue(node.aggregates[at]!, value, type)
      if (name === null) open ??= 'a column of PIVOT has no name: give it one with AS'
      const isNamed = value.alias || type === null || isUnknown(type) || namedByValue.includes(type.kind)
      if ((name === null && !isUnknown(type)) || !isNamed)
        context.fault(value, 'This value of PIVOT needs a name for its column: give it one with AS')
      return { name, type: firm(total), from: { kind: 'turned', by: node } }
    })
  })
  return { columns: [...keys, ...made], open, isValue: false }
}

const namedByValue: readonly string[] = ['BOOL', 'DATE', 'INT64', 'NUMERIC', 'BIGNUMERIC', 'STRING', 'STRUCT']

/** Beside a column that may be of type DATE, a text that may be one makes no certain name. */
function nameOfValue(aggregate: ast.SelectColumn, value: ast.SelectColumn, type: Type | null): string | null {
  const name = nameOfPivoted(aggregate, value, type?.kind === 'DATE')
  if (!isUnknown(type)) return name
  const asDate = nameOfPivoted(aggregate, value, true)
  const { expression } = value
  if (expression.kind === 'TypedLiteral') return asDate
  const isDateLike = expression.kind === 'Literal' && /^\d+-\d+-\d+$/.test(expression.value)
  return name === asDate || !isDateLike ? name : null
}

function checkValue(context: Context, value: ast.SelectColumn, type: Type | null, { ctes }: Scope): void {
  const { expression } = value
  if (expression.kind === 'Path') {
    const name = expression.parts.at(-1)!.name
    context.fault(value, `The values of PIVOT are constants: write '${name}'`)
    return
  }
  const constant = context.value(expression, newScope(ctes, null))
  if (type && !coerces(constant, type))
    context.fault(
      value,
      `PIVOT IN list item must be type ${typeName(type)} to match the PIVOT FOR expression; found ${typeName(constant.type)}`,
    )
  else if (type) coerce(context, expression, constant, type)
}

function pivotAggregate(
  context: Context,
  node: ast.Pivot,
  { expression, alias, at }: ast.SelectColumn,
  scope: Scope,
): Value {
  if (!alias && node.aggregates.length > 1)
    context.fault({ at }, 'PIVOT with several aggregates needs a name for each: give it one with AS')
  checkAggregate(context, expression)
  return context.value(expression, scope)
}

/** Aggregates that keep NULL, so that a row of another value would count. */
const keepNulls: readonly string[] = ['APPROX_TOP_COUNT', 'APPROX_TOP_SUM', 'ARRAY_AGG', 'ARRAY_CONCAT_AGG']

function checkAggregate(context: Context, node: ast.Expression): void {
  const name = node.kind === 'Call' ? calledName(node) : ''
  if (node.kind !== 'Call' || node.over || !isAggregate(node) || !(node.star || node.arguments.length > 0))
    context.fault(node, 'PIVOT takes an aggregate function, as in PIVOT(COUNT(*) FOR ...)')
  else if (node.having || (keepNulls.includes(name) && node.nulls !== 'IGNORE'))
    context.fault(
      node,
      () => `PIVOT takes no ${node.having ? `${name} with HAVING` : `${name} without IGNORE NULLS`}`,
    )
}

/** A row for each group of columns, beside those that are in no group. */
export function unpivot(context: Context, node: ast.Unpivot, scope: Scope): Rows {
  const rows = rowsOf(context, node, scope)
  const groups = node.groups.map(group =>
    group.columns.map(path => {
      const value = context.value(path, scope)
      const reference = context.found.paths.get(path)
      const { column = null } = reference ?? {}
      if (column && reference!.parts < path.parts.length)
        context.fault(path, 'UNPIVOT takes columns of its table, not their fields or other expressions')
      return { type: firm(value.type), column }
    }),
  )
  const types = typesOfValues(context, node, groups)
  const isNumber = checkLabels(context, node)
  const label: Type = { kind: isNumber ? 'INT64' : 'STRING' }
  const made = [...node.values, node.name].map(({ name }, at): Column => {
    const type = at < node.values.length ? (types[at] ?? anything) : label
    return { name, type, from: { kind: 'turned', by: node } }
  })
  return { columns: [...keysOf(context, rows, node.groups), ...made], open: rows.open, isValue: false }
}

/** The types of the new columns, which are those of every group. */
function typesOfValues(
  context: Context,
  node: ast.Unpivot,
  groups: { type: Type; column: Column | null }[][],
): Type[] {
  const types = groups[0]!.map(({ type }) => type)
  const seen = new Set<Column>()
  for (const [at, group] of groups.entries()) {
    const place = node.groups[at]!
    if (group.length !== node.values.length)
      context.fault(place, `UNPIVOT needs ${node.values.length} columns in each group, as many as new ones`)
    for (const [at, { type, column }] of group.entries()) {
      if (column && seen.has(column))
        context.fault(place, 'Column names in UNPIVOT IN clause cannot be repeated')
      if (column) seen.add(column)
      const first = types[at]
      if (first && !sameType(type, first))
        context.fault(
          place,
          `The columns of UNPIVOT have different types, ${typeName(first)} and ${typeName(type)}: CAST them in a subquery`,
        )
    }
  }
  return types
}

/** Labels are all texts, or all numbers. */
function checkLabels(context: Context, { groups }: ast.Unpivot): boolean {
  const isNumber = (at: number) => groups[at]!.label?.literal === 'INTEGER'
  const other = groups.find((_, at) => isNumber(at) !== isNumber(0))
  if (other) context.fault(other, 'The labels of UNPIVOT must be all texts or all numbers')
  return isNumber(0)
}

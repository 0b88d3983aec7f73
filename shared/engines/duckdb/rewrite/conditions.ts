/** LIKE, IN, BETWEEN, IS and CASE. */
import type { Between, Case, Expression, In, Is, IsDistinctFrom, Like } from '../../../sql/tree.ts'
import { coerce, unify } from './coercion.ts'
import { type Context, mistake } from './context.ts'
import { noSignature } from './operators.ts'
import type { Scope } from './scope.ts'
import { type Typed, typed } from './typed.ts'
import { duckType } from '../types.ts'

export function like(context: Context, node: Like, scope: Scope): Typed {
  const sides = [node.left, node.right].map(side => context.expression(side, scope))
  const [text, pattern] = sides.map(side => coerce(side, { kind: 'STRING' }))
  if (!text || !pattern) throw noSignature(context, node, 'operator LIKE', sides)
  return negated(node.not, `(${text.sql} LIKE ${pattern.sql} ESCAPE '\\')`)
}

export function inAmong(context: Context, node: In, scope: Scope): Typed {
  const operand = context.expression(node.operand, scope)
  const { among } = node
  if (among.kind === 'InUnnest') {
    const array = context.expression(among.array, scope)
    return negated(node.not, inArray(context, node, operand, array))
  }
  if (among.kind === 'InQuery') {
    const { columns, sql } = context.query(among.query, scope, scope.ctes)
    const [column] = columns
    if (!column || columns.length > 1)
      throw mistake(context, among, 'Subquery of type IN must have one column')
    const common = unify([operand, { sql: column.duck, type: column.type }])
    if (!common) throw noSignature(context, node, 'operator IN', [operand, { sql: '', type: column.type }])
    return negated(node.not, `(${operand.sql} IN (${sql}))`)
  }
  const values = [operand, ...among.items.map(item => context.expression(item, scope))]
  const common = unify(values)
  if (!common) throw noSignature(context, node, 'operator IN', values)
  const [first, ...rest] = common.values.map(value => value.sql)
  return negated(node.not, `(${first} IN (${rest.join(', ')}))`)
}

/** Without a match the answer is NULL, not false, if either side holds a NULL; but an empty array has no match. */
function inArray(context: Context, node: In, operand: Typed, array: Typed): string {
  const element = array.type?.kind === 'ARRAY' ? array.type.element : null
  const common = array.type && !element ? null : unify([operand, { ...array, sql: '', type: element }])
  if (!common) throw noSignature(context, node, 'operator IN UNNEST', [operand, array])
  const x = common.values[0]!.sql
  const a =
    element && common.type && common.type.kind !== element.kind
      ? `CAST(${array.sql} AS ${duckType(common.type)}[])`
      : array.sql
  const unknown = `${x} IS NULL OR list_count(${a}) < len(${a})`
  return `(CASE WHEN COALESCE(len(${a}), 0) = 0 THEN false WHEN list_contains(${a}, ${x}) THEN true WHEN ${unknown} THEN NULL ELSE false END)`
}

export function between(context: Context, node: Between, scope: Scope): Typed {
  const values = [node.operand, node.low, node.high].map(side => context.expression(side, scope))
  const common = unify(values)
  if (!common) throw noSignature(context, node, 'operator BETWEEN', values)
  const [operand, low, high] = common.values.map(value => value.sql)
  return negated(node.not, `(${operand} BETWEEN ${low} AND ${high})`)
}

export function is(context: Context, node: Is, scope: Scope): Typed {
  const value = context.expression(node.operand, scope)
  const what = node.what === 'UNKNOWN' ? 'NULL' : node.what
  return typed(`(${value.sql} IS ${node.not ? 'NOT ' : ''}${what})`, 'BOOL')
}

export function isDistinctFrom(context: Context, node: IsDistinctFrom, scope: Scope): Typed {
  const sides = [node.left, node.right].map(side => context.expression(side, scope))
  const common = unify(sides)
  if (!common) throw noSignature(context, node, 'operator IS DISTINCT FROM', sides)
  const [left, right] = common.values.map(value => value.sql)
  return typed(`(${left} IS ${node.not ? 'NOT ' : ''}DISTINCT FROM ${right})`, 'BOOL')
}

function negated(not: boolean, sql: string): Typed {
  return typed(not ? `(NOT ${sql})` : sql, 'BOOL')
}

export function caseWhen(context: Context, node: Case, scope: Scope): Typed {
  const tests = node.branches.map(branch => context.expression(branch.when, scope))
  const operand = node.operand && context.expression(node.operand, scope)
  const compared = operand ? unify([operand, ...tests]) : null
  if (operand && !compared) throw noSignature(context, node, 'CASE', [operand, ...tests])
  const outcomes = [...node.branches.map(branch => branch.then), ...(node.otherwise ? [node.otherwise] : [])]
  const results = common(
    context,
    node,
    'CASE',
    outcomes.map(outcome => context.expression(outcome, scope)),
  )
  const [first = '', ...whens] = compared
    ? compared.values.map(value => value.sql)
    : ['', ...tests.map(test => test.sql)]
  const branches = whens.map((when, at) => ` WHEN ${when} THEN ${results.values[at]!.sql}`).join('')
  const otherwise = node.otherwise ? ` ELSE ${results.values.at(-1)!.sql}` : ''
  return typed(`(CASE ${first}${branches}${otherwise} END)`, results.type)
}

/** Values brought to their common type. Throws SqlError where there is none. */
export function common(context: Context, node: Expression, what: string, values: Typed[]) {
  const unified = unify(values)
  if (!unified) throw noSignature(context, node, what, values)
  return unified
}

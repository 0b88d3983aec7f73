/** The types of arithmetic, comparison and logic. */
import type { Binary, Expression, Unary } from '../tree.ts'
import { castable, coerce, noSignature, unify } from './coercion.ts'
import type { Context, Scope } from './resolution.ts'
import { literal } from './literals.ts'
import {
  anything,
  coerces,
  commonType,
  comparable,
  firm,
  isUnknown,
  mayBe,
  numberKinds,
  orderable,
  someScalar,
  type Type,
  type Value,
  valueOf,
} from './types.ts'

export const isNull = (node: Expression) => node.kind === 'Literal' && node.literal === 'NULL'

export function nullOperand(context: Context, node: Expression, operator: string): Value {
  return context.fault(node, `Operands of ${operator} cannot be literal NULL`)
}

/** A literal NULL is an operand of AND and OR only. */
export function binary(context: Context, node: Binary, scope: Scope): Value {
  const { operator } = node
  if (operator === '||') return concatenate(context, node, scope)
  const nodes = [node.left, node.right]
  const values = nodes.map(side => context.value(side, scope)) as [Value, Value]
  const none = operator === 'AND' || operator === 'OR' ? undefined : nodes.find(isNull)
  if (none) return nullOperand(context, none, operator)
  const months = node.right.kind === 'IntervalLiteral' && /^(MONTH|QUARTER|YEAR)$/.exec(node.right.part)
  if (months && values[0].type?.kind === 'TIMESTAMP')
    return context.fault(node.right, `A TIMESTAMP does not move by ${months[0]}`)
  const result = resultOf(operator, ...values)
  if (!result) return noSignature(context, node, `operator ${operator}`, values)
  const common = /^([-+*/]|[<>!=]+)$/.test(operator) ? commonType(values) : undefined
  if (common !== undefined)
    for (const [at, side] of nodes.entries()) coerce(context, side, values[at]!, firm(common))
  return result
}

/** `null` for operands that the operator does not take. */
function resultOf(operator: Binary['operator'], left: Value, right: Value): Value | null {
  if (operator === 'AND' || operator === 'OR')
    return [left, right].every(side => coerces(side, { kind: 'BOOL' })) ? valueOf('BOOL') : null
  if (/^[-+*/]$/.test(operator)) return arithmetic(operator, left, right)
  if (/^([|^&]|<<|>>)$/.test(operator)) return bits(operator, left.type, right.type)
  return comparison([left, right], /^[<>]=?$/.test(operator))
}

/** Values that can be told from each other, or have an order; `null` for others. */
export function comparison(values: Value[], isOrder = false): Value | null {
  const type = commonType(values)
  if (type === undefined || !comparable(type) || (isOrder && !orderable(type))) return null
  return valueOf('BOOL')
}

function bits(operator: string, left: Type | null, right: Type | null): Value | null {
  const isShift = operator.length > 1
  if (left?.kind === 'BYTES') return mayBe(right, isShift ? 'INT64' : 'BYTES') ? valueOf('BYTES') : null
  if (!mayBe(left, 'INT64', 'BYTES') || !mayBe(right, 'INT64', 'BYTES')) return null
  return isUnknown(left) ? { type: someScalar } : valueOf('INT64')
}

function arithmetic(operator: string, left: Value, right: Value): Value | null {
  const common = commonType([left, right])
  const type = common === null ? { kind: 'INT64' as const } : common
  if (
    type &&
    numberKinds.includes(type.kind) &&
    [left, right].every(side => mayBe(side.type, ...numberKinds))
  )
    return operator === '/' && type.kind === 'INT64' ? valueOf('FLOAT64') : { type }
  const kinds = [left, right].map(side => (isUnknown(side.type) ? '?' : (side.type?.kind ?? 'NULL')))
  if (kinds.includes('ARRAY') || kinds.includes('STRUCT')) return null
  if (operator === '-' && type && /^(DATE|DATETIME|TIME|TIMESTAMP)$/.test(type.kind) && !kinds.includes('?'))
    return valueOf('INTERVAL')
  const known = ofTimes(operator, kinds[0]!, kinds[1]!)
  if (known) return known
  return kinds.includes('?') ? { type: someScalar } : null
}

/** Of INTERVALs, and of dates and times with them or with each other. */
function ofTimes(operator: string, left: string, right: string): Value | null {
  const isSum = operator === '+' || operator === '-'
  if (left === 'INTERVAL' && right === 'INTERVAL') return isSum ? valueOf('INTERVAL') : null
  if (left === 'INTERVAL' && right === 'INT64') return isSum ? null : valueOf('INTERVAL')
  if (left === 'INT64' && right === 'INTERVAL' && operator === '*') return valueOf('INTERVAL')
  if (!isSum) return null
  if (operator === '+' && (right === 'DATE' || times.includes(right)) && !times.includes(left))
    return ofTimes('+', right, left)
  if (left === 'DATE' && right === 'INT64') return valueOf('DATE')
  if (right !== 'INTERVAL') return null
  if (left === 'DATE' || left === 'DATETIME') return valueOf('DATETIME')
  return left === 'TIMESTAMP' ? valueOf('TIMESTAMP') : null
}

const times = ['DATE', 'DATETIME', 'TIMESTAMP']

/** Strings, bytes or arrays; other values are cast to strings. */
function concatenate(context: Context, node: Binary, scope: Scope): Value {
  const operands = links(node)
  const values = operands.map(operand => context.value(operand, scope))
  const none = operands.find(isNull)
  if (none) return nullOperand(context, none, '||')
  const type = commonType(values)
  if (type && ['ARRAY', 'BYTES', 'STRING'].includes(type.kind))
    return { type: unify(context, node, 'operator ||', values, operands) }
  const kinds = values.map(value => value.type?.kind)
  const isText = !kinds.includes('BYTES') && !kinds.includes('ARRAY')
  if (!isText || !values.every(value => castable(value, { kind: 'STRING' })))
    return noSignature(context, node, 'operator ||', values)
  if (!kinds.includes('UNKNOWN') || kinds.includes('STRING')) return valueOf('STRING')
  return { type: anything }
}

/** The operands of a chain of `||`. */
export function links(node: Expression): Expression[] {
  return node.kind === 'Binary' && node.operator === '||' ? [...links(node.left), node.right] : [node]
}

export function unary(context: Context, node: Unary, scope: Scope): Value {
  const { operand, operator } = node
  if (isNull(operand)) return nullOperand(context, operand, operator)
  // The least integer is none without its sign.
  if (operator === '-' && operand.kind === 'Literal' && operand.literal === 'INTEGER')
    return literal(context, operand, -1n)
  const value = context.value(operand, scope)
  const { type } = value
  if (type?.kind === 'INTERVAL' && operator === '-') return value
  const taken = {
    NOT: ['BOOL' as const],
    '~': ['INT64' as const, 'BYTES' as const],
    '-': numberKinds,
    '+': numberKinds,
  }[operator]
  if (!mayBe(type, ...taken)) return noSignature(context, node, `operator ${operator}`, [value])
  if (isUnknown(type)) return operator === 'NOT' ? valueOf('BOOL') : { type: someScalar }
  return value
}

/** Operands brought to one type, and the errors of those that have none. */
import { type Parameter, parametersOf } from '../functions.ts'
import type { Expression, Node } from '../tree.ts'
import { mismatch, textOfJson } from './no-signature.ts'
import type { Context, Scope } from './resolution.ts'
import {
  briefTypeName,
  coerces,
  commonType,
  groupable,
  isUnknown,
  orderable,
  sameType,
  type Type,
  type Value,
} from './types.ts'

/** The common type of operands, which those of `nodes` are coerced to; `what` names the operator or the like. */
export function unify(
  context: Context,
  node: Node,
  what: string,
  values: Value[],
  nodes: Expression[] = [],
): Type | null {
  const type = commonType(values)
  if (type === undefined) return noSignature(context, node, what, values).type
  if (type) for (const [at, expression] of nodes.entries()) coerced(context, expression, values[at]!, type)
  return type
}

/** Notes that an expression is coerced to a type, where it has another, or other names of fields. */
export function coerced(context: Context, node: Expression, value: Value, type: Type): void {
  if (isUnknown(type) || value.type === type) return
  const isScalar = type.kind !== 'ARRAY' && type.kind !== 'STRUCT'
  if (isScalar && value.type && sameType(value.type, type)) return
  context.found.coercions.set(node, type)
}

export function noSignature(
  context: Context,
  node: Node,
  what: string,
  values: Value[],
  signatures?: Parameter[][],
): Value {
  return context.fault(node, () => mismatch(what, values, signatures))
}

const bool: Type = { kind: 'BOOL' }

/** A condition, which is a BOOL; `what` names the clause or the like. */
export function condition(context: Context, node: Expression, what: string, scope: Scope): Value {
  const value = context.value(node, scope)
  return coerces(value, bool) ? value : noSignature(context, node, what, [value], [parametersOf('BOOL')])
}

/** Notes a fault for a literal as a key, which only a window takes. */
export function refuseLiteral(context: Context, key: Expression): void {
  const { kind } = key.kind === 'Unary' && key.operator === '-' ? key.operand : key
  if (kind === 'Literal') context.fault(key, 'A literal is no key of GROUP BY and ORDER BY: name a column')
}

/** A use of a key, with the words of BigQuery's errors. */
type Use = 'GROUP BY' | 'SELECT DISTINCT' | 'PARTITION BY' | 'ORDER BY' | 'A set operation' | 'DISTINCT'

/** Notes a fault for a key of a type that has no such use. */
export function key(context: Context, node: Node, use: Use, { type }: Value): void {
  const allowed = use === 'ORDER BY' ? orderable(type) : groupable(type)
  if (allowed && !(use === 'PARTITION BY' && type?.kind === 'FLOAT64')) return
  const remedy = type?.kind === 'JSON' ? `; ${textOfJson}` : ''
  context.fault(node, `${use} does not support expressions of type ${briefTypeName(type)}${remedy}`)
}

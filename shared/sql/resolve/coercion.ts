/** Operands brought to one type, and the errors of those that have none. */
import { type Parameter, parametersOf } from '../functions.ts'
import { mismatch, textOfJson } from './messages.ts'
import type { Context, Scope } from './resolution.ts'
import {
  briefTypeName,
  coerces,
  commonType,
  everyPair,
  groupable,
  isUnknown,
  orderable,
  sameType,
  type Type,
  type Value,
} from './types.ts'
import type { Expression, Node } from '../tree.ts'

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
  if (type) for (const [at, expression] of nodes.entries()) coerce(context, expression, values[at]!, type)
  return type
}

/** Notes that an expression is coerced to a type, where it has another, or other names of fields. */
export function coerce(context: Context, node: Expression, value: Value, type: Type): void {
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

// Which types are cast to which (https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_functions).

/** Each to itself as well. */
const casts: Record<string, string> = {
  INT64: 'BOOL NUMERIC BIGNUMERIC FLOAT64 STRING',
  NUMERIC: 'INT64 BIGNUMERIC FLOAT64 STRING',
  BIGNUMERIC: 'INT64 NUMERIC FLOAT64 STRING',
  FLOAT64: 'INT64 NUMERIC BIGNUMERIC STRING',
  BOOL: 'INT64 STRING',
  STRING: 'INT64 NUMERIC BIGNUMERIC FLOAT64 BOOL BYTES DATE DATETIME TIME TIMESTAMP INTERVAL',
  BYTES: 'STRING',
  DATE: 'STRING DATETIME TIMESTAMP',
  DATETIME: 'STRING DATE TIME TIMESTAMP',
  TIME: 'STRING',
  TIMESTAMP: 'STRING DATE DATETIME TIME',
  INTERVAL: 'STRING',
}

export function castable(value: Value, to: Type): boolean {
  const isNothing = value.type === null || (value.empty && to.kind === 'ARRAY')
  return isNothing || canCast(value.type!, to, value.origin === 'literal')
}

/** An array is cast only to its own type, unless it is written out; a struct field by field. */
function canCast(from: Type, to: Type, isWritten = false): boolean {
  if (isUnknown(from) || isUnknown(to)) return true
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY')
    return isWritten ? canCast(from.element, to.element) : sameType(from, to)
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT')
    return everyPair(from.fields, to.fields, (one, other) => canCast(one.type, other.type))
  return from.kind === to.kind || (casts[from.kind] ?? '').split(' ').includes(to.kind)
}

/** The casts, as `FROM>TO`, that take a FORMAT. */
export const formatted =
  /^STRING>(BYTES|DATE|DATETIME|TIME|TIMESTAMP)$|^(BYTES|DATE|DATETIME|TIME|TIMESTAMP|INT64|FLOAT64|NUMERIC|BIGNUMERIC)>STRING$/

/** Literals, and arrays and structs that are written out. */
import { nameOfColumn } from '../columns.ts'
import { coerce, noSignature, unify } from './coercion.ts'
import type { Context, Scope } from './resolution.ts'
import { arrayOf, coerces, commonType, recordOf, type Type, typeName, type Value, valueOf } from './types.ts'
import type * as ast from '../tree.ts'

const literalKinds = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INTEGER: 'INT64',
  FLOAT: 'FLOAT64',
  BOOL: 'BOOL',
} as const

export function literal(context: Context, node: ast.Literal, sign = 1n): Value {
  if (node.literal === 'INTEGER') {
    const value = sign * BigInt(node.text)
    const range = value < 0n ? 'under -9223372036854775808' : 'over 9223372036854775807'
    if (BigInt.asIntN(64, value) !== value)
      context.fault(node, `Invalid integer literal: it is ${range}; write NUMERIC '...' with its digits`)
  }
  return { type: node.literal === 'NULL' ? null : { kind: literalKinds[node.literal] }, origin: 'literal' }
}

export function interval(context: Context, node: ast.IntervalLiteral, scope: Scope): Value {
  const { value, part, to } = node
  const given = context.value(value, scope)
  const isText = value.kind === 'Literal' && value.literal === 'STRING'
  if (to !== null && !isText)
    return context.fault(value, `INTERVAL ... ${part} TO ${to} needs a literal string`)
  if (!isText && !coerces(given, { kind: 'INT64' }))
    return noSignature(context, node, `INTERVAL ${part}`, [given])
  if (!isText) coerce(context, value, given, { kind: 'INT64' })
  return valueOf('INTERVAL')
}

export function arrayLiteral(context: Context, node: ast.ArrayLiteral, scope: Scope): Value {
  const items = node.items.map(item => context.value(item, scope))
  const element = node.type?.kind === 'ARRAY' ? node.type.element : node.type
  if (element) {
    for (const [at, item] of items.entries()) asType(context, node.items[at]!, item, element)
    return { type: arrayOf(element) }
  }
  const common = commonType(items)
  const problem =
    common === undefined
      ? 'Array elements have no common type'
      : common?.kind === 'ARRAY' && 'An array cannot hold arrays: put each into a STRUCT'
  if (problem) return context.fault(node, problem)
  const type = unify(context, node, 'ARRAY', items, node.items)
  return { type: arrayOf(type), origin: 'literal', empty: items.length === 0 }
}

/** A value where a type is written for it. */
function asType(context: Context, node: ast.Expression, value: Value, type: Type): void {
  if (coerces(value, type)) coerce(context, node, value, type)
  else context.fault(node, `A value of type ${typeName(value.type)} is not a ${typeName(type)}`)
}

/** A field's name is that in the type that is written, else the alias, else that of the column. */
export function structLiteral(context: Context, node: ast.StructLiteral, scope: Scope): Value {
  const values = node.items.map(item => context.value(item.expression, scope))
  if (!node.type) return struct(values.map((value, at) => ({ name: impliedName(node.items[at]!), value })))
  const { fields } = node.type
  if (fields.length !== values.length) context.fault(node, 'STRUCT has not as many values as fields')
  else
    for (const [at, value] of values.entries())
      asType(context, node.items[at]!.expression, value, fields[at]!.type)
  return { type: node.type, fields: fields.map(({ type }) => ({ type })) }
}

function impliedName(item: ast.SelectColumn): string | null {
  return item.alias || item.expression.kind === 'Path' ? nameOfColumn(item) : null
}

/** Of values with the names of their fields. */
export function struct(items: { name: string | null; value: Value }[]): Value {
  const type = recordOf(items.map(({ name, value }) => ({ name, type: value.type })))
  return { type, fields: items.map(({ value }) => value) }
}

// JSONPaths (https://cloud.google.com/bigquery/docs/reference/standard-sql/json_functions#JSONPath_format).

/** A key or an index. */
export type Step = string | number

/** One step of a path: a bare key, a key in quotes, or an index; JSON_EXTRACT has its quotes in brackets. */
const standardStep = /\.(?<bare>[^.[\]"'*$]+)|\."(?<quoted>(?:[^"\\]|\\.)*)"|\[\s*(?<index>-?\d+)\s*\]/y
const legacyStep = /\.(?<bare>[^.[\]"'*$]+)|\['(?<quoted>(?:[^'\\]|\\.)*)'\]|\[\s*(?<index>-?\d+)\s*\]/y

/** The steps of a function's JSONPath; `null` for any other text. */
export function stepsOf(name: string, path: string): Step[] | null {
  if (!path.startsWith('$')) return null
  const step = name.startsWith('JSON_EXTRACT') ? legacyStep : standardStep
  const steps: Step[] = []
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const groups = step.exec(path)?.groups
    if (!groups) return null
    const { bare, quoted, index } = groups
    steps.push(index === undefined ? (bare ?? quoted!.replace(/\\(.)/gs, '$1')) : Number(index))
  }
  return steps
}

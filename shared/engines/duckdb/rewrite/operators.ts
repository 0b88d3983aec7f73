import type { Binary, BinaryOperator, Node, Unary } from '../../../sql/tree.ts'
import type { ScalarName, SqlType } from '../../../sql/types.ts'
import { coerce, numberKinds, unify } from './coercion.ts'
import { type Context, mistake } from './context.ts'
import type { Scope } from './scope.ts'
import { raise, type Typed, typed, typeName } from './typed.ts'
import { duckType } from '../types.ts'

type Rule = (left: Typed, right: Typed, operator: BinaryOperator) => Typed | null | undefined

/** `null` and `undefined` mean that the operator does not take such operands. */
const binaries: Record<BinaryOperator, Rule> = {
  OR: logical,
  AND: logical,
  '=': comparison,
  '!=': comparison,
  '<>': comparison,
  '<': comparison,
  '>': comparison,
  '<=': comparison,
  '>=': comparison,
  '|': bitwise,
  '^': (left, right) => bitwise(left, right, '^') && typed(`xor(${left.sql}, ${right.sql})`, 'INT64'),
  '&': bitwise,
  '<<': bitwise,
  '>>': bitwise,
  '+': (left, right) => arithmetic(left, right, '+') ?? moved(left, right, '+') ?? moved(right, left, '+'),
  '-': (left, right) => arithmetic(left, right, '-') ?? moved(left, right, '-'),
  '*': (left, right) => arithmetic(left, right, '*'),
  '/': divided,
  '||': concatenated,
}

export function binary(context: Context, node: Binary, scope: Scope): Typed {
  const left = context.expression(node.left, scope)
  const right = context.expression(node.right, scope)
  const result = binaries[node.operator](left, right, node.operator)
  if (!result) throw noSignature(context, node, `operator ${node.operator}`, [left, right])
  return result
}

/** The error that BigQuery gives for operands or arguments of wrong types. */
export function noSignature(context: Context, node: Node, what: string, values: Typed[]) {
  const types = values.map(value => typeName(value.type)).join(', ')
  return mistake(context, node, `No matching signature for ${what} for argument types: ${types || 'none'}`)
}

function logical(left: Typed, right: Typed, operator: string): Typed | null {
  const sides = [left, right].map(side => coerce(side, { kind: 'BOOL' }))
  return sides.includes(null) ? null : typed(`(${left.sql} ${operator} ${right.sql})`, 'BOOL')
}

function comparison(left: Typed, right: Typed, operator: string): Typed | null {
  const common = unify([left, right])
  return common && typed(`(${common.values[0]!.sql} ${operator} ${common.values[1]!.sql})`, 'BOOL')
}

function bitwise(left: Typed, right: Typed, operator: string): Typed | null {
  const whole = [left, right].every(side => side.type === null || side.type.kind === 'INT64')
  return whole ? typed(`(${left.sql} ${operator} ${right.sql})`, 'INT64') : null
}

function arithmetic(left: Typed, right: Typed, operator: string): Typed | null {
  const common = numbers(left, right)
  if (!common) return null
  const [a, b] = common.values
  return exact(`(${a!.sql} ${operator} ${b!.sql})`, common.type)
}

function numbers(left: Typed, right: Typed): { values: Typed[]; type: SqlType } | null {
  const common = unify([left, right])
  const type = common?.type ?? { kind: 'INT64' }
  return common && numberKinds.includes(type.kind) ? { values: common.values, type } : null
}

/** DuckDB widens the scale of decimals as it calculates; GoogleSQL keeps 9 digits after the point. */
export function exact(sql: string, type: SqlType): Typed {
  const decimal = type.kind === 'NUMERIC' || type.kind === 'BIGNUMERIC'
  return typed(decimal ? `CAST(${sql} AS ${duckType(type)})` : sql, type)
}

/** Division gives FLOAT64 even for integers, and fails on zero where DuckDB gives infinity. */
function divided(left: Typed, right: Typed): Typed | null {
  const common = numbers(left, right)
  if (!common) return null
  const type: SqlType = common.type.kind === 'INT64' ? { kind: 'FLOAT64' } : common.type
  return exact(`(${common.values[0]!.sql} / ${nonZero(common.values[1]!.sql, 'DOUBLE')})`, type)
}

export function nonZero(sql: string, type: 'BIGINT' | 'DOUBLE'): string {
  return `(CASE WHEN ${sql} = 0 THEN ${raise('Division by zero', type)} ELSE ${sql} END)`
}

/** A date or time moved by an interval, or a DATE by days. */
function moved(point: Typed, by: Typed, operator: '+' | '-'): Typed | null {
  const kind = point.type?.kind
  if (kind === 'DATE' && by.type?.kind === 'INT64')
    return typed(`(${point.sql} ${operator} CAST(${by.sql} AS INTEGER))`, 'DATE')
  if (by.type?.kind !== 'INTERVAL') return null
  // As in GoogleSQL, a DATE moved by an interval is a DATETIME.
  const type: ScalarName | null =
    kind === 'DATE' ? 'DATETIME' : kind === 'DATETIME' || kind === 'TIMESTAMP' ? kind : null
  return type && typed(`(${point.sql} ${operator} ${by.sql})`, type)
}

function concatenated(left: Typed, right: Typed): Typed | null {
  const common = unify([left, right])
  const type = common?.type ?? { kind: 'STRING' }
  const joins = type.kind === 'STRING' || type.kind === 'BYTES' || type.kind === 'ARRAY'
  return common && joins ? typed(`(${left.sql} || ${right.sql})`, type) : null
}

export function unary(context: Context, node: Unary, scope: Scope): Typed {
  const { operand, operator } = node
  if (operator === '-' && operand.kind === 'Literal' && operand.literal === 'INTEGER')
    return { ...typed(`CAST(${-BigInt(operand.text)} AS BIGINT)`, 'INT64'), origin: 'literal' }
  const value = context.expression(operand, scope)
  const kind = value.type?.kind ?? (operator === 'NOT' ? 'BOOL' : 'INT64')
  const allowed = { NOT: ['BOOL'], '~': ['INT64'], '-': numberKinds, '+': numberKinds }[operator]
  if (!allowed.includes(kind)) throw noSignature(context, node, `operator ${operator}`, [value])
  return { ...value, sql: `(${operator} ${value.sql})` }
}

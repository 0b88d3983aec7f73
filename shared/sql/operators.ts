import type { BinaryOperator, Expression, From } from './tree.ts'

/** How tightly an operator holds its operands: the higher, the tighter. Parser and printer share this. */
export const level = {
  or: 1,
  and: 2,
  not: 3,
  /** `=`, LIKE, IN, BETWEEN, IS, ...: two of these never stand in one chain. */
  comparison: 4,
  bitOr: 5,
  bitXor: 6,
  bitAnd: 7,
  shift: 8,
  sum: 9,
  product: 10,
  sign: 11,
  /** `.field` and `[index]`. */
  suffix: 12,
} as const

const binary: Record<BinaryOperator, number> = {
  OR: level.or,
  AND: level.and,
  '=': level.comparison,
  '!=': level.comparison,
  '<>': level.comparison,
  '<': level.comparison,
  '>': level.comparison,
  '<=': level.comparison,
  '>=': level.comparison,
  '|': level.bitOr,
  '^': level.bitXor,
  '&': level.bitAnd,
  '<<': level.shift,
  '>>': level.shift,
  '+': level.sum,
  '-': level.sum,
  '*': level.product,
  '/': level.product,
  '||': level.product,
}

export const binaryLevels: ReadonlyMap<string, number> = new Map(Object.entries(binary))

/** Kinds of expression that hold together less tightly than `.field` and `[index]` do, by themselves. */
const looseKinds: Partial<Record<Expression['kind'], number>> = {
  NamedArgument: 0,
  Lambda: 0,
  Like: level.comparison,
  In: level.comparison,
  Between: level.comparison,
  Is: level.comparison,
  IsDistinctFrom: level.comparison,
  // `1.a` would be read as a number, the field in `DATE '..'.select` and `END.select` as a keyword.
  Literal: level.sign,
  TypedLiteral: level.sign,
  Case: level.sign,
  IntervalLiteral: level.sign,
}

/** How tightly an expression holds together: where more is asked for, it needs parentheses. */
export function levelOf(expression: Expression): number {
  if (expression.kind === 'Binary') return binary[expression.operator]
  if (expression.kind === 'Unary') return expression.operator === 'NOT' ? level.not : level.sign
  return looseKinds[expression.kind] ?? level.suffix
}

/** Whether a comma is among these joins; such a chain fits neither into parentheses nor beside RIGHT or FULL. */
export function hasComma(from: From): boolean {
  return from.kind === 'Join' && (from.type === 'COMMA' || hasComma(from.left))
}

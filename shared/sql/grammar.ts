/** The tables of GoogleSQL that the parser and the printer share. */
import type { BinaryOperator, Expression, From } from './tree.ts'

/** Words that are names only in backticks or after a dot. */
export const reservedWords: ReadonlySet<string> = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE
  CURRENT DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING
  FOR FROM FULL GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT
  LIKE LIMIT LOOKUP MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO
  QUALIFY RANGE RECURSIVE RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE
  UNBOUNDED UNION UNNEST USING WHEN WHERE WINDOW WITH WITHIN`.split(/\s+/),
)

/** Reserved words that are functions where a parenthesis follows. */
export const reservedFunctions: ReadonlySet<string> = new Set(['GROUPING', 'IF', 'LEFT', 'RIGHT'])

/** The parts of a date or time that `INTERVAL` takes. */
export const intervalParts: ReadonlySet<string> = new Set(
  'YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND'.split(' '),
)

export const extractParts: ReadonlySet<string> = new Set([
  ...intervalParts,
  ...'DATE DATETIME DAYOFWEEK DAYOFYEAR ISOWEEK ISOYEAR TIME'.split(' '),
  ...'SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY'.split(' ').map(day => `WEEK(${day})`),
])

/** The kinds of literals, by those of their tokens. */
export const literalKinds = { string: 'STRING', bytes: 'BYTES', integer: 'INTEGER', float: 'FLOAT' } as const

/** Precedence of operators: the higher, the tighter they hold their operands. */
export const precedence = {
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

const binary: [number, BinaryOperator[]][] = [
  [precedence.or, ['OR']],
  [precedence.and, ['AND']],
  [precedence.comparison, ['=', '!=', '<>', '<', '>', '<=', '>=']],
  [precedence.bitOr, ['|']],
  [precedence.bitXor, ['^']],
  [precedence.bitAnd, ['&']],
  [precedence.shift, ['<<', '>>']],
  [precedence.sum, ['+', '-']],
  [precedence.product, ['*', '/', '||']],
]

export const binaryPrecedence: ReadonlyMap<string, number> = new Map(
  binary.flatMap(([level, operators]) => operators.map(operator => [operator, level])),
)

/** Kinds of expression that need parentheses before `.field` and `[index]`. */
const looseKinds: Partial<Record<Expression['kind'], number>> = {
  NamedArgument: 0,
  Lambda: 0,
  Like: precedence.comparison,
  LikeAny: precedence.comparison,
  In: precedence.comparison,
  Between: precedence.comparison,
  Is: precedence.comparison,
  IsDistinctFrom: precedence.comparison,
  // `1.a` would be read as a number, the field in `DATE '..'.select` and `END.select` as a keyword.
  Literal: precedence.sign,
  TypedLiteral: precedence.sign,
  Case: precedence.sign,
  IntervalLiteral: precedence.sign,
}

/** An expression needs parentheses in a place of higher precedence than its own. */
export function precedenceOf(expression: Expression): number {
  if (expression.kind === 'Binary') return binaryPrecedence.get(expression.operator)!
  if (expression.kind === 'Unary') return expression.operator === 'NOT' ? precedence.not : precedence.sign
  return looseKinds[expression.kind] ?? precedence.suffix
}

/** Whether a comma is among these joins: such a chain can stand neither in parentheses nor before RIGHT or FULL. */
export function hasComma(from: From): boolean {
  return from.kind === 'Join' && (from.type === 'COMMA' || hasComma(from.left))
}

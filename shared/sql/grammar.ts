/** The tables of GoogleSQL that the parser and the printer share. */
import type { BinaryOperator, Expression, From } from './tree.ts'

/** Words that name nothing unless they stand in backticks or after a dot. */
export const reservedWords: ReadonlySet<string> = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE
  CURRENT DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING
  FOR FROM FULL GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT
  LIKE LIMIT LOOKUP MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO
  QUALIFY RANGE RECURSIVE RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE
  UNBOUNDED UNION UNNEST USING WHEN WHERE WINDOW WITH WITHIN`.split(/\s+/),
)

/** Reserved words that are functions too, where a parenthesis follows. */
export const reservedFunctions: ReadonlySet<string> = new Set(['GROUPING', 'IF', 'LEFT', 'RIGHT'])

/** What GoogleSQL knows and this front end does not, by the word or symbol that gives it away. */
export const unsupported: ReadonlyMap<string, string> = new Map([
  ['|>', 'pipe syntax is not supported'],
  ['?', 'parameters need a name: write @name'],
  ['{', 'braces are not supported'],
  ['COLLATE', 'COLLATE is not supported'],
  ['FETCH', 'FETCH is not supported: write LIMIT'],
  ['FOR', 'FOR SYSTEM_TIME is not supported'],
  ['GROUPING', 'GROUPING SETS is not supported'],
  ['LATERAL', 'LATERAL is not supported'],
  ['MATCH_RECOGNIZE', 'MATCH_RECOGNIZE is not supported'],
  ['NATURAL', 'NATURAL JOIN is not supported'],
  ['NEW', 'NEW is not supported'],
  ['PIVOT', 'PIVOT is not supported'],
  ['RANGE', 'RANGE values are not supported'],
  ['TABLESAMPLE', 'TABLESAMPLE is not supported'],
  ['UNPIVOT', 'UNPIVOT is not supported'],
])

/** What `INTERVAL` and `EXTRACT` count in. */
export const intervalParts: ReadonlySet<string> = new Set(
  'YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND'.split(' '),
)

export const extractParts: ReadonlySet<string> = new Set([
  ...intervalParts,
  ...'DATE DATETIME DAYOFWEEK DAYOFYEAR ISOWEEK ISOYEAR TIME'.split(' '),
  ...'SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY'.split(' ').map(day => `WEEK(${day})`),
])

/** How tightly an operator holds its operands: the higher, the tighter. */
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

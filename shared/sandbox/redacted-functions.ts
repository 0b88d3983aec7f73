/** The functions and operators of redacted callers' SQL, by what `redacted-sql.ts` lets them do, and forms of expressions. */
import type { AnyNode, Expression } from '../sql/tree.ts'
import { functionName } from '../sql/resolve/calls.ts'
import { masks } from './message-patterns.ts'

/** The functions that may take what is stored, by what they do with it. What any other makes is only compared with constants. */
const uses = {
  /** The value is an argument's: one of those that `roles` marks. */
  keeps: `ANY_VALUE ARRAY_AGG COALESCE FIRST_VALUE IF IFNULL LAG LAST_VALUE LAX_STRING LEAD LTRIM MAX MAX_BY MIN MIN_BY
    NTH_VALUE NULLIF NULLIFZERO RTRIM STRING TRIM ZEROIFNULL`,
  /** A count or an order. */
  counts: `APPROX_COUNT_DISTINCT ARRAY_LENGTH BYTE_LENGTH CHARACTER_LENGTH CHAR_LENGTH COUNT COUNTIF CUME_DIST DENSE_RANK
    GROUPING JSON_TYPE LENGTH LOGICAL_AND LOGICAL_OR OCTET_LENGTH PERCENT_RANK RANK ROW_NUMBER TYPEOF`,
  /** Whether the first argument matches the others. */
  matches: 'CONTAINS_SUBSTR ENDS_WITH REGEXP_CONTAINS STARTS_WITH',
  scales: 'CEIL CEILING DIV FLOOR IEEE_DIVIDE ROUND SAFE_DIVIDE SAFE_MULTIPLY TRUNC',
  sums: 'APPROX_QUANTILES AVG PERCENTILE_CONT PERCENTILE_DISC SUM',
  /** The first argument is a time, of a difference the first two. */
  times: `DATE DATETIME DATETIME_ADD DATETIME_BUCKET DATETIME_DIFF DATETIME_SUB DATETIME_TRUNC DATE_ADD DATE_BUCKET DATE_DIFF
    DATE_SUB DATE_TRUNC FORMAT_DATE FORMAT_DATETIME FORMAT_TIME FORMAT_TIMESTAMP GENERATE_DATE_ARRAY GENERATE_TIMESTAMP_ARRAY
    LAST_DAY TIME TIMESTAMP TIMESTAMP_ADD TIMESTAMP_BUCKET TIMESTAMP_DIFF TIMESTAMP_SUB TIMESTAMP_TRUNC TIME_ADD TIME_DIFF TIME_SUB
    TIME_TRUNC UNIX_DATE UNIX_MICROS UNIX_MILLIS UNIX_SECONDS`,
  /** A field of JSON by a path. */
  picks: 'JSON_EXTRACT_SCALAR JSON_VALUE',
  parses: 'PARSE_JSON',
  converts: 'FLOAT64 INT64 LAX_FLOAT64 LAX_INT64',
  buckets: 'RANGE_BUCKET',
}

type Use = keyof typeof uses

export const useOf = new Map(
  Object.entries(uses).flatMap(([use, names]) => names.split(/\s+/).map(name => [name, use as Use] as const)),
)

/** Of functions that keep values: `v` a value, `!` what has to be constant, `-` what chooses. Of others all are values. */
export const roles = new Map(
  `IF -vv, LAG v!v, LEAD v!v, NTH_VALUE v!, MAX_BY v-, MIN_BY v-, NULLIF v-`
    .split(', ')
    .map(entry => entry.split(' ') as [string, string]),
)

/** The value is that of another row, or of several. */
export const ofOtherRows = /^(?:ANY|ARRAY|FIRST|LAG|LAST|LEAD|MAX|MIN|NTH)/

/** These take what a condition chose, row by row. */
export const aggregates =
  /^(?:APPROX_(?:COUNT_DISTINCT|QUANTILES)|AVG|COUNT|COUNTIF|LOGICAL_.*|PERCENTILE_.*|SUM)$/

/** One text or number of the values of many rows. */
export const joins = /^(?:STRING|BIT|ARRAY_CONCAT)_/

/** No record goes in. */
export const takesScalar = /^(?:LAX_STRING|MAX|MIN|STRING|.*TRIM)$/

/** Of constants, these make a value for each row, or many. */
export const generates =
  /^(?:.*_AGG|.*_ARRAY|APPROX_.*|AVG|BIT_(?:AND|OR|XOR)|CORR|COUNT.*|COVAR_.*|REGEXP_EXTRACT_ALL|SPLIT|STDDEV.*|SUM|TO_CODE_POINTS|VAR.*)$/

/** A time, which is compared with times only. */
export const makesTimes =
  /^(?:(?:PARSE_)?(?:DATE|DATETIME|TIME|TIMESTAMP)(?:_(?!DIFF$).*)?|GENERATE_(?:DATE|TIMESTAMP)_ARRAY|LAST_DAY)$/

export const comparisons: ReadonlySet<string> = new Set('= != <> < > <= >='.split(' '))
export const numbers: ReadonlySet<string> = new Set('INT64 FLOAT64 NUMERIC BIGNUMERIC'.split(' '))
export const times: ReadonlySet<string> = new Set('BOOL DATE DATETIME TIME TIMESTAMP'.split(' '))

/** What to write in place of a function or an operator, by its name. */
export const remedies: [names: RegExp, remedy: string][] = [
  [/^(?:\|\||CONCAT|FORMAT|STRING_AGG|ARRAY_TO_STRING)$/, 'select both columns'],
  [/JSON|^STRUCT|^a row$/, 'select the fields'],
  [/^APPROX_TOP_/, 'write GROUP BY and ORDER BY COUNT(*) DESC LIMIT'],
  [/ARRAY/, 'select the list itself, or a field of its elements'],
  [
    /^[-+*/]$|_DIVIDE$|_MULTIPLY$|^DIV$/,
    'select both and compute with the answer, scale by positive literals, or take the time between two with TIMESTAMP_DIFF',
  ],
  [/./, 'group by CASE WHEN x LIKE ..., select the column itself, or ask for a column of the endpoint'],
]

/** Refusals, some after the name of what they refuse. */
export const says = {
  row: 'a row has no name of its own: select the fields',
  element:
    'an element by itself hides what stood before it: select the list itself, or a field of the element',
  place: 'this may be a field of a record, without its name: write the name, or SAFE_OFFSET for a list',
  records: `one of these would name the fields of the others, if they are records: choose among columns of one name, or of CAST(x AS STRING)`,
  pivot: 'gives new names to what is stored: aggregate IF(condition, column, NULL) under names of your own',
  rows: `makes rows, beside which stored values could be spelt: write a list of constants, take a stored one, or use GENERATE_DATE_ARRAY or GENERATE_TIMESTAMP_ARRAY`,
  sums: `here takes a stored number, also scaled by a positive literal, and 0 or NULL in its place: compute with the sums instead`,
  chosen: `a condition or a row chooses this, which goes into no function or operator: show, compare, group, count or sum it as it is`,
  many: `this puts more than three counts, times and choices together: select them and compute with the answer`,
  spells: `this compares what is stored with values that the query computes, which would spell it: compare with a literal or a parameter, and columns as they are with a list that you write or with each other`,
}

/** A key, or those of a grouping set. */
export function keysIn(key: AnyNode): AnyNode[] {
  if (key.kind === 'OrderItem' || key.kind === 'Parenthesized') return keysIn(key.expression)
  return key.kind === 'Tuple' ? key.items.flatMap(keysIn) : [key]
}

/** Of a key: a text without the masks around it, by which it may be grouped, as that tells less than grouping by the text. */
export function unmask(node: AnyNode): AnyNode {
  if (node.kind !== 'Call' || functionName(node).name !== 'REGEXP_REPLACE') return node
  const [text, ...written] = node.arguments
  const [pattern, by] = written.map(each => (each.kind === 'Literal' ? each.value : null))
  const isMask = masks.some(mask => mask.pattern === pattern && mask.by === by)
  return isMask && text ? unmask(text) : node
}

/** `$.a."b"['c']`; `null` with anything else in it: a name without a letter is an index to some engines, also in quotes. */
export function namesIn(path: string): string[] | null {
  if (!/^\$(?:\.[A-Za-z_][\w-]*|(?:\."|\[')[\d -]*[A-Za-z_][\w -]*(?:"|'\]))+$/.test(path)) return null
  return path.match(/[\w -]+/g)
}

/** A literal, which has no sign of its own. */
export function isNumber(node: Expression): boolean {
  if (node.kind === 'Parenthesized') return isNumber(node.expression)
  return node.kind === 'Literal' && /^(?:INTEGER|FLOAT)$/.test(node.literal)
}

/** Also scaled; of the same rows as a count beside it. */
export function isSum(node: Expression): boolean {
  if (node.kind === 'Parenthesized') return isSum(node.expression)
  if (node.kind === 'Binary')
    return [node.left, node.right].some(isNumber) && (isSum(node.left) || isSum(node.right))
  return node.kind === 'Call' && functionName(node).name === 'SUM' && !node.over
}

export function isCount(node: Expression): boolean {
  return (
    node.kind === 'Call' &&
    !node.over &&
    /^(?:APPROX_COUNT_DISTINCT|COUNT|COUNTIF)$/.test(functionName(node).name)
  )
}

/** `GENERATE_ARRAY(0, 23)`: as good as written. */
export function isShort(array: Expression): boolean {
  if (array.kind !== 'Call' || functionName(array).name !== 'GENERATE_ARRAY' || array.arguments.length > 2)
    return false
  const [first, last] = array.arguments.map(item => (item.kind === 'Literal' ? Number(item.text) : NaN))
  return last! - first! <= 100
}

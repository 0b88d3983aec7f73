/** Mathematical functions. */
import type { SqlType } from '../../../../sql/types.ts'
import { attempt, beforeCall } from '../attempt.ts'
import { nullWhere, once } from '../repeats.ts'
import { coerce, numberKinds, unify } from '../coercion.ts'
import { arrayOf, elementOf, raise, type Typed, typed } from '../context.ts'
import { orderable } from '../keys.ts'
import { decimal, divisorOf, exact, isDecimal, nonZero } from '../operators.ts'
import {
  applyRule,
  type CallSite,
  each,
  type FunctionTable,
  named,
  noBignumeric,
  sameAsFirst,
  signature,
} from './signature.ts'

/** FLOAT64 for an integer, its own type for any other number. */
const fraction = ([first]: Typed[]): SqlType | null =>
  first?.type?.kind === 'INT64' ? { kind: 'FLOAT64' } : (first?.type ?? null)

/** Rounding to a whole number of the same type; for an integer, that integer as a FLOAT64. */
const whole = (duck: string) => [
  signature(['INT64'], 'FLOAT64', x => `CAST(${x} AS DOUBLE)`),
  signature(['NUMERIC'], 'NUMERIC', x => `CAST(${duck}(${x}) AS DECIMAL(38,9))`),
  signature(['NUMBER'], fraction, x => `${duck}(${x})`),
]

const ceiling = whole('ceil')
const power = [
  signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, y) => finite(`pow(${x}, ${y})`, x, y)),
  signature(['INT64', 'INT64'], 'FLOAT64', (x, y) => finite(`pow(${x}, ${y})`, x, y)),
]

/** Of a NUMERIC and a whole number or another NUMERIC it is a NUMERIC. */
function raised(site: CallSite): Typed {
  const kinds = site.allArguments().map(({ type }) => type?.kind)
  const exact = kinds.some(kind => kind?.endsWith('NUMERIC')) && !kinds.includes('FLOAT64')
  const decimals = signature(['NUMERIC', 'NUMERIC'], 'NUMERIC', (x, y) => `gsql_numeric_power(${x}, ${y})`)
  return applyRule(site, exact ? decimals : power)
}

/** A function of FLOAT64 for a NUMERIC. */
const approximated = (sql: (x: string) => string) =>
  signature(
    ['NUMERIC'],
    'NUMERIC',
    x => `gsql_numeric_approximated(${sql(`CAST(CAST(${x} AS VARCHAR) AS DOUBLE)`)})`,
  )

/** Of both types, and for the logarithm of minus infinity, which is an error in DuckDB. */
const logarithm = (duck: string) => [
  signature(
    ['FLOAT64'],
    'FLOAT64',
    x => `(CASE WHEN ${x} = '-Infinity' THEN ${notANumber} ELSE ${duck}(${x}) END)`,
  ),
  approximated(x => `${duck}(${x})`),
]

const notANumber = `CAST('NaN' AS DOUBLE)`

/** A function that has no value at infinity, and that NaN passes through. */
const ofFinite = (sql: (x: string) => string) =>
  signature(['FLOAT64'], 'FLOAT64', x =>
    once([x], x => `(CASE WHEN isfinite(${x}) THEN ${sql(x)} WHEN ${x} IS NOT NULL THEN ${notANumber} END)`),
  )

/** One divided by a function. */
const inverse = (duck: string, x: string) => finite(`(1 / ${nonZero(`${duck}(${x})`, 'DOUBLE')})`, x)
const reciprocal = (duck: string) => ofFinite(x => inverse(duck, x))
const hyperbolic = (duck: string) => signature(['FLOAT64'], 'FLOAT64', x => once([x], x => inverse(duck, x)))

/** A result that is not finite, from arguments that are, is an error in GoogleSQL. */
function finite(result: string, ...args: string[]): string {
  const given = args.map(arg => `isfinite(CAST(${arg} AS DOUBLE))`).join(' AND ')
  return `(CASE WHEN NOT isfinite(${result}) AND ${given} THEN ${raise('A number is out of range', 'DOUBLE')} ELSE ${result} END)`
}

export const numberFunctions: FunctionTable = {
  ABS: named('abs', ['NUMBER'], sameAsFirst),
  BIT_COUNT: [
    signature(['INT64'], 'INT64', x => `CAST(bit_count(${x}) AS BIGINT)`),
    // DuckDB has no bits of no bytes.
    signature(
      ['BYTES'],
      'INT64',
      x => `(CASE WHEN octet_length(${x}) = 0 THEN 0 ELSE CAST(bit_count(CAST(${x} AS BIT)) AS BIGINT) END)`,
    ),
  ],
  ACOS: ofFinite(x => `acos(${x})`),
  ACOSH: signature(
    ['FLOAT64'],
    'FLOAT64',
    x =>
      `(CASE WHEN ${x} = '-Infinity' THEN ${notANumber} WHEN ${x} < 1 THEN ${raise('A number is out of range', 'DOUBLE')} ELSE acosh(${x}) END)`,
  ),
  ASIN: ofFinite(x => `asin(${x})`),
  ...each('ASINH ATAN TANH', duck => named(duck, ['FLOAT64'], 'FLOAT64')),
  ATAN2: named('atan2', ['FLOAT64', 'FLOAT64'], 'FLOAT64'),
  ATANH: ofFinite(
    x =>
      `(CASE WHEN abs(${x}) >= 1 THEN ${raise('A number is out of range', 'DOUBLE')} ELSE atanh(${x}) END)`,
  ),
  ...each('COS SIN TAN', duck => ofFinite(x => `${duck}(${x})`)),
  ...each('COSH SINH', duck => signature(['FLOAT64'], 'FLOAT64', x => finite(`${duck}(${x})`, x))),
  COT: reciprocal('tan'),
  COTH: hyperbolic('tanh'),
  CSC: reciprocal('sin'),
  CSCH: hyperbolic('sinh'),
  PARSE_BIGNUMERIC: signature(
    ['STRING'],
    'BIGNUMERIC',
    text => `CAST(gsql_parse_bignumeric(${text}) AS DECIMAL(38,18))`,
  ),
  PARSE_NUMERIC: named('gsql_parse_numeric', ['STRING'], 'NUMERIC'),
  SEC: reciprocal('cos'),
  SECH: hyperbolic('cosh'),
  LN: logarithm('ln'),
  LOG10: logarithm('log10'),
  CBRT: [named('cbrt', ['FLOAT64'], 'FLOAT64'), approximated(x => `cbrt(${x})`)],
  CEIL: ceiling,
  CEILING: ceiling,
  DIV: [
    signature(['INT64', 'INT64'], 'INT64', (x, y) => `(${x} // ${divisorOf(x, y, 'BIGINT')})`),
    signature(['NUMERIC', 'NUMERIC'], 'NUMERIC', (x, y) => `gsql_numeric_div(${x}, ${y})`),
  ],
  EXP: [signature(['FLOAT64'], 'FLOAT64', x => finite(`exp(${x})`, x)), approximated(x => `exp(${x})`)],
  FLOOR: whole('floor'),
  IEEE_DIVIDE: signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, y) => `(${x} / ${y})`),
  IS_INF: named('isinf', ['FLOAT64'], 'BOOL'),
  IS_NAN: named('isnan', ['FLOAT64'], 'BOOL'),
  LOG: [
    ...logarithm('ln'),
    signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, base) => {
      const strange = `${x} = '-Infinity' OR ${base} IN ('Infinity', '-Infinity')`
      const one = `(CASE WHEN ${base} = 1 AND NOT isnan(${x}) THEN ${raise('A number is out of range', 'DOUBLE')} ELSE ${base} END)`
      return `(CASE WHEN ${strange} THEN ${notANumber} ELSE ln(${x}) / ln(${one}) END)`
    }),
  ],
  MOD: [
    // DuckDB refuses the smallest integer by -1.
    signature(
      ['INT64', 'INT64'],
      'INT64',
      (x, y) => `(${x} % (CASE WHEN ${y} = -1 THEN 1 ELSE ${divisorOf(x, y, 'BIGINT')} END))`,
    ),
    signature(['NUMERIC', 'NUMERIC'], 'NUMERIC', (x, y) => `(${x} % ${divisorOf(x, y, 'DECIMAL(38,9)')})`),
  ],
  NULLIFZERO: signature(['NUMBER'], sameAsFirst, x => nullWhere(x, '0')),
  POW: raised,
  POWER: raised,
  RANGE_BUCKET: rangeBucket,
  ROUND: [
    ...whole('round'),
    named('gsql_round', ['FLOAT64', 'INT64'], 'FLOAT64'),
    signature(['INT64', 'INT64'], 'FLOAT64', (x, digits) => `gsql_round(CAST(${x} AS DOUBLE), ${digits})`),
    signature(
      ['NUMERIC', 'INT64', 'STRING?'],
      'NUMERIC',
      (x, digits, mode = `'ROUND_HALF_AWAY_FROM_ZERO'`) => `gsql_numeric_round(${x}, ${digits}, ${mode})`,
    ),
    signature(['NUMBER', 'INT64'], sameAsFirst, (x, digits) => `round(${x}, CAST(${digits} AS INTEGER))`),
  ],
  SAFE_ADD: site => safeArithmetic(site, '+'),
  SAFE_DIVIDE: safeDivide,
  SAFE_MULTIPLY: site => safeArithmetic(site, '*'),
  SAFE_NEGATE: site =>
    attempt(site.scope, scope =>
      applyRule(
        site.inScope(scope),
        signature(['NUMBER'], sameAsFirst, x => `(-(${x}))`),
      ),
    ),
  SAFE_SUBTRACT: site => safeArithmetic(site, '-'),
  SIGN: [
    signature(['INT64'], 'INT64', x => `CAST(sign(${x}) AS BIGINT)`),
    signature(['FLOAT64'], 'FLOAT64', x => `(CASE WHEN isnan(${x}) THEN ${x} ELSE sign(${x}) END)`),
    signature(['NUMBER'], sameAsFirst, x => `CAST(sign(${x}) AS DECIMAL(38,9))`),
  ],
  SQRT: [named('sqrt', ['FLOAT64'], 'FLOAT64'), named('gsql_numeric_sqrt', ['NUMERIC'], 'NUMERIC')],
  TRUNC: [
    ...whole('trunc'),
    named('gsql_trunc', ['FLOAT64', 'INT64'], 'FLOAT64'),
    signature(['INT64', 'INT64'], 'FLOAT64', (x, digits) => `gsql_trunc(CAST(${x} AS DOUBLE), ${digits})`),
    signature(['NUMERIC', 'INT64'], 'NUMERIC', (x, digits) =>
      // DuckDB has a number for NULL where the digits are more than it keeps.
      once([x], x => `(CASE WHEN ${x} IS NOT NULL THEN trunc(${x}, CAST(${digits} AS INTEGER)) END)`),
    ),
  ],
  ZEROIFNULL: signature(['NUMBER'], sameAsFirst, x => `COALESCE(${x}, 0)`),
}

/** Both arguments as numbers of one type; inside an attempt they are computed before it. */
function twoNumbers(site: CallSite, inside = site.scope): { x: string; y: string; type: SqlType } {
  const given = [site.argument(0), site.argument(1)]
  const values = inside.lifted && !site.scope.lifted ? given.map(value => beforeCall(inside, value)) : given
  const common = unify(values)
  if (!common?.type || !numberKinds.includes(common.type.kind)) throw site.noMatch(values)
  return { x: common.values[0]!.sql, y: common.values[1]!.sql, type: common.type }
}

/** The result, or NULL for one that is not finite of numbers that are. */
function finiteOrNull(x: string, y: string, result: (x: string, y: string) => string): Typed {
  const sql = once(
    [x, y],
    (x, y) =>
      `(CASE WHEN isfinite(${result(x, y)}) OR NOT isfinite(${x}) OR NOT isfinite(${y}) THEN ${result(x, y)} END)`,
  )
  return typed(sql, 'FLOAT64')
}

/** Functions that are themselves safe under SAFE: more digits than DuckDB keeps stay an error. */
export const safeFunctions: FunctionTable = {
  PARSE_BIGNUMERIC: signature(
    ['STRING'],
    'BIGNUMERIC',
    text => `CAST(gsql_safe_parse_bignumeric(${text}) AS DECIMAL(38,18))`,
  ),
}

/** NULL where the operator has no result. FLOAT64s need no TRY. */
function safeArithmetic(site: CallSite, operator: '+' | '-' | '*'): Typed {
  const { x, y, type } = twoNumbers(site)
  // More digits than DuckDB keeps are an error, which SAFE would make NULL.
  if (type.kind === 'BIGNUMERIC') throw noBignumeric(site)
  if (type.kind === 'FLOAT64') return finiteOrNull(x, y, (x, y) => `(${x} ${operator} ${y})`)
  return attempt(site.scope, scope => {
    const { x, y, type } = twoNumbers(site, scope)
    if (operator === '*' && isDecimal(type)) return decimal('multiply', x, y, type)
    return exact(`(${x} ${operator} ${y})`, type)
  })
}

/** The number of bounds that are not above the point. */
function rangeBucket(site: CallSite): Typed {
  const [given, list] = site.allArguments()
  const element = list && elementOf(list.type)
  const type = element && unify([given!, { ...list, type: element }])?.type
  const [point, bounds] = type ? [coerce(given!, type), coerce(list, arrayOf(type))] : []
  if (!point || !bounds || !orderable(type!) || site.call.arguments.length !== 2)
    throw site.noMatch(site.allArguments())
  const nan = (x: string) => (type!.kind === 'FLOAT64' ? ` OR isnan(${x})` : '')
  const sql = once([point.sql, bounds.sql], (point, bounds) => {
    const strange = `list_filter(${bounds}, lambda b: b IS NULL${nan('b')})`
    const refused = `len(${strange}) > 0 OR list_sort(${bounds}) <> ${bounds}`
    const count = `len(list_filter(${bounds}, lambda b: b <= ${point}))`
    return `(CASE WHEN ${point} IS NULL${nan(point)} OR ${bounds} IS NULL THEN NULL WHEN ${refused} THEN ${raise('A number is out of range')} ELSE ${count} END)`
  })
  return typed(sql, 'INT64')
}

function safeDivide(site: CallSite): Typed {
  const { x, y, type } = twoNumbers(site)
  if (type.kind === 'BIGNUMERIC') throw noBignumeric(site)
  if (type.kind === 'INT64') return typed(`(CASE WHEN ${y} != 0 THEN ${x} / ${y} END)`, 'FLOAT64')
  if (type.kind === 'FLOAT64') return finiteOrNull(x, y, (x, y) => `(${x} / ${nullWhere(y, '0')})`)
  return attempt(site.scope, scope => {
    const { x, y, type } = twoNumbers(site, scope)
    return decimal('divide', x, y, type)
  })
}

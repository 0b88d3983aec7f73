/** Mathematical functions. */
import { nullWhere, once } from '../repeats.ts'
import { coerce, commonOf } from '../coercion.ts'
import { arrayOf, elementOf, raise } from '../context.ts'
import { decimal, divisorOf, exact, isDecimal, nonZero } from '../operators.ts'
import { type CallSite, each, type Rule, type Rules, rulesOf } from './signature.ts'

type Unary = (x: string) => string

/** Rounding of an INT64, which makes it a FLOAT64, of a NUMERIC and of others. */
const whole = (duck: string): Unary[] => [
  x => `CAST(${x} AS DOUBLE)`,
  x => `CAST(${duck}(${x}) AS DECIMAL(38,9))`,
  x => `${duck}(${x})`,
]

const power = [
  (x: string, y: string) => finite(`pow(${x}, ${y})`, x, y),
  'gsql_numeric_power',
  (x: string, y: string) => finite(`pow(${x}, ${y})`, x, y),
]

const approximated = (sql: Unary) => (x: string) =>
  `gsql_numeric_approximated(${sql(`CAST(CAST(${x} AS VARCHAR) AS DOUBLE)`)})`

/** Of minus infinity it is an error in DuckDB. */
const logarithm = (duck: string) => [
  (x: string) => `(CASE WHEN ${x} = '-Infinity' THEN ${notANumber} ELSE ${duck}(${x}) END)`,
  approximated(x => `${duck}(${x})`),
]

const notANumber = `CAST('NaN' AS DOUBLE)`

const outOfRange = raise('A number is out of range', 'DOUBLE')

/** A function that has no value at infinity, and that NaN passes through. */
const ofFinite = (sql: Unary) => (x: string) =>
  once([x], x => `(CASE WHEN isfinite(${x}) THEN ${sql(x)} WHEN ${x} IS NOT NULL THEN ${notANumber} END)`)

const inverse = (duck: string, x: string) => finite(`(1 / ${nonZero(`${duck}(${x})`, 'DOUBLE')})`, x)
const reciprocal = (duck: string) => ofFinite(x => inverse(duck, x))
const hyperbolic = (duck: string) => (x: string) => once([x], x => inverse(duck, x))

/** A result that is not finite, from arguments that are, is an error in GoogleSQL. */
function finite(result: string, ...args: string[]): string {
  const given = args.map(arg => `isfinite(CAST(${arg} AS DOUBLE))`).join(' AND ')
  return `(CASE WHEN NOT isfinite(${result}) AND ${given} THEN ${outOfRange} ELSE ${result} END)`
}

export const numberFunctions: Rules = {
  ...rulesOf({
    ...each('ABS ASINH ATAN ATAN2 TANH', duck => duck),
    BIT_COUNT: [
      x => `CAST(bit_count(${x}) AS BIGINT)`,
      // DuckDB has no bits of no bytes.
      x => `(CASE WHEN octet_length(${x}) = 0 THEN 0 ELSE CAST(bit_count(CAST(${x} AS BIT)) AS BIGINT) END)`,
    ],
    ...each('ACOS ASIN COS SIN TAN', duck => ofFinite(x => `${duck}(${x})`)),
    ACOSH: x =>
      `(CASE WHEN ${x} = '-Infinity' THEN ${notANumber} WHEN ${x} < 1 THEN ${outOfRange} ELSE acosh(${x}) END)`,
    ATANH: ofFinite(x => `(CASE WHEN abs(${x}) >= 1 THEN ${outOfRange} ELSE atanh(${x}) END)`),
    ...each('COSH SINH', duck => (x: string) => finite(`${duck}(${x})`, x)),
    COT: reciprocal('tan'),
    COTH: hyperbolic('tanh'),
    CSC: reciprocal('sin'),
    CSCH: hyperbolic('sinh'),
    PARSE_BIGNUMERIC: text => `CAST(gsql_parse_bignumeric(${text}) AS DECIMAL(38,18))`,
    // More digits than DuckDB keeps stay an error.
    'SAFE.PARSE_BIGNUMERIC': text => `CAST(gsql_safe_parse_bignumeric(${text}) AS DECIMAL(38,18))`,
    PARSE_NUMERIC: 'gsql_parse_numeric',
    SEC: reciprocal('cos'),
    SECH: hyperbolic('cosh'),
    LN: logarithm('ln'),
    LOG10: logarithm('log10'),
    // DuckDB's of 27 is 3.0000000000000004.
    CBRT: [
      x => `(CASE WHEN round(cbrt(${x})) ** 3 = ${x} THEN round(cbrt(${x})) ELSE cbrt(${x}) END)`,
      approximated(x => `cbrt(${x})`),
    ],
    ...each('CEIL FLOOR', whole),
    CEILING: whole('ceil'),
    EXP: [x => finite(`exp(${x})`, x), approximated(x => `exp(${x})`)],
    IEEE_DIVIDE: (x, y) => `(${x} / ${y})`,
    IS_INF: 'isinf',
    IS_NAN: 'isnan',
    LOG: [
      ...logarithm('ln'),
      (x, base) => {
        const strange = `isnan(${x}) OR isnan(${base}) OR ${x} = '-Infinity' OR ${base} IN ('Infinity', '-Infinity')`
        const one = `(CASE WHEN ${base} = 1 THEN ${outOfRange} ELSE ${base} END)`
        return `(CASE WHEN ${x} IS NULL OR ${base} IS NULL THEN NULL WHEN ${strange} THEN ${notANumber} ELSE ln(${x}) / ln(${one}) END)`
      },
    ],
    NULLIFZERO: x => nullWhere(x, '0'),
    POW: power,
    POWER: power,
    ROUND: [
      ...whole('round'),
      'gsql_round',
      (x, digits) => `gsql_round(CAST(${x} AS DOUBLE), ${digits})`,
      (x, digits, mode = `'ROUND_HALF_AWAY_FROM_ZERO'`) => `gsql_numeric_round(${x}, ${digits}, ${mode})`,
      (x, digits) => `round(${x}, CAST(${digits} AS INTEGER))`,
    ],
    SQRT: ['sqrt', 'gsql_numeric_sqrt'],
    TRUNC: [
      ...whole('trunc'),
      'gsql_trunc',
      (x, digits) => `gsql_trunc(CAST(${x} AS DOUBLE), ${digits})`,
      'gsql_numeric_trunc',
    ],
    ZEROIFNULL: x => `COALESCE(${x}, 0)`,
  }),

  DIV: [
    ({ call }, x, y) => `(${x} // ${divisorOf(x, y, 'BIGINT', call.arguments[1]!)})`,
    (_, x, y) => `gsql_numeric_div(${x}, ${y})`,
  ],
  MOD: [
    // DuckDB refuses the smallest integer by -1.
    ({ call }, x, y) =>
      `(${x} % (CASE WHEN ${y} = -1 THEN 1 ELSE ${divisorOf(x, y, 'BIGINT', call.arguments[1]!)} END))`,
    ({ call }, x, y) => `(${x} % ${divisorOf(x, y, 'DECIMAL(38,9)', call.arguments[1]!)})`,
  ],
  RANGE_BUCKET: rangeBucket,
  SAFE_ADD: safeArithmetic('+'),
  SAFE_DIVIDE: [(_, x, y) => `(CASE WHEN ${y} != 0 THEN ${x} / ${y} END)`, safeArithmetic('/')],
  SAFE_MULTIPLY: safeArithmetic('*'),
  SAFE_NEGATE: (site, x) => site.safely([x], x => `(-(${x}))`),
  SAFE_SUBTRACT: safeArithmetic('-'),
  SIGN: ({ type }, x) =>
    type?.kind === 'FLOAT64'
      ? `(CASE WHEN isnan(${x}) THEN ${x} ELSE sign(${x}) END)`
      : `CAST(sign(${x}) AS ${type?.kind === 'INT64' ? 'BIGINT' : 'DECIMAL(38,9)'})`,
}

/** NULL where the operator has no result. FLOAT64s need no TRY: a result that is not finite is one of numbers that are not. */
function safeArithmetic(operator: '+' | '-' | '*' | '/'): Rule {
  return (site, x, y) => {
    const type = site.type!
    // More digits than DuckDB keeps are an error, which SAFE would make NULL.
    if (type.kind === 'BIGNUMERIC') throw site.noBignumeric()
    if (type.kind === 'FLOAT64')
      return once([x, y], (x, y) => {
        const result = `(${x} ${operator} ${operator === '/' ? nullWhere(y, '0') : y})`
        return `(CASE WHEN isfinite(${result}) OR NOT isfinite(${x}) OR NOT isfinite(${y}) THEN ${result} END)`
      })
    return site.safely([x, y], (x, y) => {
      if (operator === '/') return decimal('divide', x, y, type)
      return operator === '*' && isDecimal(type)
        ? decimal('multiply', x, y, type)
        : exact(`(${x} ${operator} ${y})`, type)
    })
  }
}

/** The number of bounds that are not above the point. */
function rangeBucket(site: CallSite): string {
  const [given, list] = site.args
  const type = commonOf([given!, { ...list!, type: elementOf(list!.type) }])!
  const [point, bounds] = [coerce(given!, type), coerce(list!, arrayOf(type))]
  const nan = (x: string) => (type.kind === 'FLOAT64' ? ` OR isnan(${x})` : '')
  return once([point.sql, bounds.sql], (point, bounds) => {
    const strange = `list_filter(${bounds}, lambda b: b IS NULL${nan('b')})`
    const refused = `len(${strange}) > 0 OR list_sort(${bounds}) <> ${bounds}`
    const count = `len(list_filter(${bounds}, lambda b: b <= ${point}))`
    return `(CASE WHEN ${point} IS NULL${nan(point)} OR ${bounds} IS NULL THEN NULL WHEN ${refused} THEN ${raise('A number is out of range')} ELSE ${count} END)`
  })
}

/** Mathematical functions. */
import type { SqlType } from '../../../../sql/types.ts'
import { unify } from '../coercion.ts'
import { raise, type Typed, typed } from '../context.ts'
import { divisorOf, exact } from '../operators.ts'
import {
  applyRule,
  type CallSite,
  each,
  type FunctionTable,
  named,
  sameAsFirst,
  signature,
  type Signature,
} from './signature.ts'

/** FLOAT64 for an integer, its own type for any other number. */
const fraction = ([first]: Typed[]): SqlType | null =>
  first?.type?.kind === 'INT64' ? { kind: 'FLOAT64' } : (first?.type ?? null)

/** Rounding to a whole number of the same type; for an integer, that integer as a FLOAT64. */
const whole = (duck: string) => [
  signature(['INT64'], 'FLOAT64', x => `CAST(${x} AS DOUBLE)`),
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
  const exact = kinds.includes('NUMERIC') && !kinds.includes('FLOAT64')
  return applyRule(site, exact ? decimal((x, y) => `pow(${x}, ${y})`, 2) : power)
}

/** A function of FLOAT64 for a NUMERIC, to which DuckDB brings the result only from a DOUBLE. */
function decimal(sql: (...xs: string[]) => string, size = 1): Signature {
  const parameters = Array.from({ length: size }, () => 'NUMERIC' as const)
  return signature(
    parameters,
    'NUMERIC',
    (...xs) => `CAST(printf('%.9f', ${sql(...xs.map(x => `CAST(${x} AS DOUBLE)`))}) AS DECIMAL(38,9))`,
  )
}

/** A result that is not finite, from arguments that are, is an error in GoogleSQL. */
function finite(result: string, ...args: string[]): string {
  const given = args.map(arg => `isfinite(CAST(${arg} AS DOUBLE))`).join(' AND ')
  return `(CASE WHEN NOT isfinite(${result}) AND ${given} THEN ${raise('A number is out of range', 'DOUBLE')} ELSE ${result} END)`
}

export const numberFunctions: FunctionTable = {
  ABS: named('abs', ['NUMBER'], sameAsFirst),
  BIT_COUNT: signature(['INT64'], 'INT64', x => `CAST(bit_count(${x}) AS BIGINT)`),
  ...each('CBRT LN LOG10', duck => named(duck, ['FLOAT64'], 'FLOAT64')),
  CEIL: ceiling,
  CEILING: ceiling,
  DIV: [
    signature(['INT64', 'INT64'], 'INT64', (x, y) => `(${x} // ${divisorOf(x, y, 'BIGINT')})`),
    signature(['NUMERIC', 'NUMERIC'], 'NUMERIC', (x, y) => {
      const divisor = divisorOf(x, y, 'DOUBLE')
      return `CAST(round((${x} - ${x} % ${divisor}) / ${divisor}) AS DECIMAL(38,9))`
    }),
  ],
  EXP: signature(['FLOAT64'], 'FLOAT64', x => finite(`exp(${x})`, x)),
  FLOOR: whole('floor'),
  IEEE_DIVIDE: signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, y) => `(${x} / ${y})`),
  IS_INF: named('isinf', ['FLOAT64'], 'BOOL'),
  IS_NAN: named('isnan', ['FLOAT64'], 'BOOL'),
  LOG: [
    signature(['FLOAT64'], 'FLOAT64', x => `ln(${x})`),
    signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, base) => `(ln(${x}) / ln(${base}))`),
  ],
  MOD: [
    signature(['INT64', 'INT64'], 'INT64', (x, y) => `(${x} % ${divisorOf(x, y, 'BIGINT')})`),
    signature(['NUMERIC', 'NUMERIC'], 'NUMERIC', (x, y) => `(${x} % ${divisorOf(x, y, 'DECIMAL(38,9)')})`),
  ],
  NULLIFZERO: signature(['NUMBER'], sameAsFirst, x => `NULLIF(${x}, 0)`),
  POW: raised,
  POWER: raised,
  // The number of bounds that are not above the point.
  RANGE_BUCKET: signature(
    ['NUMBER', 'ARRAY'],
    'INT64',
    (point, bounds) =>
      `(CASE WHEN ${point} IS NOT NULL THEN len(list_filter(${bounds}, lambda b: b <= ${point})) END)`,
  ),
  ROUND: [
    ...whole('round'),
    signature(['FLOAT64', 'INT64'], 'FLOAT64', roundedTo),
    signature(['INT64', 'INT64'], 'FLOAT64', (x, digits) => roundedTo(`CAST(${x} AS DOUBLE)`, digits)),
    signature(['NUMBER', 'INT64'], sameAsFirst, (x, digits) => `round(${x}, CAST(${digits} AS INTEGER))`),
  ],
  SAFE_ADD: site => arithmetic(site, (x, y) => `TRY(${x} + ${y})`),
  SAFE_DIVIDE: safeDivide,
  SAFE_MULTIPLY: site => arithmetic(site, (x, y) => `TRY(${x} * ${y})`),
  SAFE_NEGATE: signature(['NUMBER'], sameAsFirst, x => `TRY(-(${x}))`),
  SAFE_SUBTRACT: site => arithmetic(site, (x, y) => `TRY(${x} - ${y})`),
  SIGN: [
    signature(['INT64'], 'INT64', x => `CAST(sign(${x}) AS BIGINT)`),
    signature(['FLOAT64'], 'FLOAT64', x => `(CASE WHEN isnan(${x}) THEN ${x} ELSE sign(${x}) END)`),
    signature(['NUMBER'], sameAsFirst, x => `CAST(sign(${x}) AS DECIMAL(38,9))`),
  ],
  SQRT: [named('sqrt', ['FLOAT64'], 'FLOAT64'), decimal(x => `sqrt(${x})`)],
  TRUNC: [
    ...whole('trunc'),
    signature(['FLOAT64', 'INT64'], 'FLOAT64', truncatedTo),
    signature(['INT64', 'INT64'], 'FLOAT64', truncatedTo),
    signature(['NUMERIC', 'INT64'], 'NUMERIC', (x, digits) => `trunc(${x}, CAST(${digits} AS INTEGER))`),
  ],
  ZEROIFNULL: signature(['NUMBER'], sameAsFirst, x => `COALESCE(${x}, 0)`),
}

/**
 * A FLOAT64 rounded to a number of digits by its exact binary value, as GoogleSQL does: 2.675 is a little less, and gives
 * 2.67. DuckDB's `round` first multiplies by a power of ten, which rounds; its `format` is exact, but takes a half to the
 * even digit. A half of the last digit is exact in binary where it is an odd multiple of a power of two.
 */
function roundedTo(x: string, digits: string): string {
  const place = `CAST(${digits} AS INTEGER)`
  const half = `abs((${x} * pow(2, least(${place}, 60) + 1)) % 2) = 1`
  return (
    `(CASE WHEN isfinite(${x}) IS NOT TRUE THEN ${x} WHEN ${place} < 1 OR ${half} THEN round(${x}, ${place}) ` +
    `WHEN abs(${x}) >= 1e15 THEN ${x} ELSE CAST(format('{:.{}f}', ${x}, least(greatest(${place}, 0), 300)) AS DOUBLE) END)`
  )
}

function truncatedTo(x: string, digits: string): string {
  return `(trunc(${x} * pow(10, ${digits})) / pow(10, ${digits}))`
}

function arithmetic(site: CallSite, sql: (x: string, y: string) => string): Typed {
  const values = [site.argument(0), site.argument(1)]
  const common = unify(values)
  if (!common?.type) throw site.noMatch(values)
  return exact(sql(common.values[0]!.sql, common.values[1]!.sql), common.type)
}

function safeDivide(site: CallSite): Typed {
  const quotient = arithmetic(site, (x, y) => `(CASE WHEN ${y} != 0 THEN ${x} / ${y} END)`)
  return quotient.type?.kind === 'INT64' ? typed(quotient.sql, 'FLOAT64') : quotient
}

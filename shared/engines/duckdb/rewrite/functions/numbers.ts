/** Mathematical functions. */
import type { SqlType } from '../../../../sql/types.ts'
import { unify } from '../coercion.ts'
import { type Typed, typed } from '../context.ts'
import { exact, nonZero } from '../operators.ts'
import { type CallSite, each, type FunctionTable, named, sameAsFirst, signature } from './signature.ts'

/** FLOAT64 for an integer, its own type for any other number. */
const fraction = ([first]: Typed[]): SqlType | null =>
  first?.type?.kind === 'INT64' ? { kind: 'FLOAT64' } : (first?.type ?? null)

/** Rounding to a whole number of the same type; for an integer, that integer as a FLOAT64. */
const whole = (duck: string) => [
  signature(['INT64'], 'FLOAT64', x => `CAST(${x} AS DOUBLE)`),
  signature(['NUMBER'], fraction, x => `${duck}(${x})`),
]

const ceiling = whole('ceil')
const power = named('pow', ['FLOAT64', 'FLOAT64'], 'FLOAT64')

export const numberFunctions: FunctionTable = {
  ABS: named('abs', ['NUMBER'], sameAsFirst),
  BIT_COUNT: signature(['INT64'], 'INT64', x => `CAST(bit_count(${x}) AS BIGINT)`),
  ...each('CBRT EXP LN LOG10 SQRT', duck => named(duck, ['FLOAT64'], 'FLOAT64')),
  CEIL: ceiling,
  CEILING: ceiling,
  DIV: signature(['INT64', 'INT64'], 'INT64', (x, y) => `(${x} // ${nonZero(y, 'BIGINT')})`),
  FLOOR: whole('floor'),
  IEEE_DIVIDE: signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, y) => `(${x} / ${y})`),
  IS_INF: named('isinf', ['FLOAT64'], 'BOOL'),
  IS_NAN: named('isnan', ['FLOAT64'], 'BOOL'),
  LOG: [
    signature(['FLOAT64'], 'FLOAT64', x => `ln(${x})`),
    signature(['FLOAT64', 'FLOAT64'], 'FLOAT64', (x, base) => `(ln(${x}) / ln(${base}))`),
  ],
  MOD: signature(['INT64', 'INT64'], 'INT64', (x, y) => `(${x} % ${nonZero(y, 'BIGINT')})`),
  NULLIFZERO: signature(['NUMBER'], sameAsFirst, x => `NULLIF(${x}, 0)`),
  POW: power,
  POWER: power,
  // The number of bounds that are not above the point.
  RANGE_BUCKET: signature(
    ['NUMBER', 'ARRAY'],
    'INT64',
    (point, bounds) =>
      `(CASE WHEN ${point} IS NOT NULL THEN len(list_filter(${bounds}, lambda b: b <= ${point})) END)`,
  ),
  ROUND: [
    ...whole('round'),
    signature(['FLOAT64', 'INT64'], 'FLOAT64', (x, digits) => `round(${x}, CAST(${digits} AS INTEGER))`),
    signature(['NUMBER', 'INT64'], sameAsFirst, (x, digits) => `round(${x}, CAST(${digits} AS INTEGER))`),
  ],
  SAFE_ADD: site => arithmetic(site, (x, y) => `TRY(${x} + ${y})`),
  SAFE_DIVIDE: safeDivide,
  SAFE_MULTIPLY: site => arithmetic(site, (x, y) => `TRY(${x} * ${y})`),
  SAFE_NEGATE: signature(['NUMBER'], sameAsFirst, x => `TRY(-(${x}))`),
  SAFE_SUBTRACT: site => arithmetic(site, (x, y) => `TRY(${x} - ${y})`),
  SIGN: [
    signature(['INT64'], 'INT64', x => `CAST(sign(${x}) AS BIGINT)`),
    signature(['NUMBER'], 'FLOAT64', x => `CAST(sign(${x}) AS DOUBLE)`),
  ],
  TRUNC: [
    ...whole('trunc'),
    signature(
      ['FLOAT64', 'INT64'],
      'FLOAT64',
      (x, digits) => `(trunc(${x} * pow(10, ${digits})) / pow(10, ${digits}))`,
    ),
  ],
  ZEROIFNULL: signature(['NUMBER'], sameAsFirst, x => `COALESCE(${x}, 0)`),
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

/**
 * Exact arithmetic of NUMERIC, in billionths. DuckDB multiplies decimals only where the product of their scales leaves room,
 * and divides them as FLOAT64s.
 */
import { scalar, type ScalarFunction, ValueError } from './udf.ts'

const one = 1_000_000_000n

/** Beyond the 38 digits of a NUMERIC. */
const limit = 10n ** 38n

function inRange(units: bigint): bigint {
  if (units >= limit || units <= -limit) throw new ValueError('A number is out of range')
  return units
}

/** The nearest integer to a quotient, halves away from zero. */
function divide(dividend: bigint, divisor: bigint): bigint {
  if (divisor === 0n) throw new ValueError('Division by zero')
  const negative = dividend < 0n !== divisor < 0n
  const [a, b] = [abs(dividend), abs(divisor)]
  const size = (2n * a + b) / (2n * b)
  return negative ? -size : size
}

const abs = (value: bigint) => (value < 0n ? -value : value)

/** A FLOAT64 times a power of ten, as an integer: by its exact value in binary. Throws ValueError for one that is not finite. */
function scale(value: number, tens: number, halves: 'away' | 'even' | 'down' = 'away'): bigint {
  if (!Number.isFinite(value)) throw new ValueError('A number is out of range')
  let [whole, power] = [value, 0]
  // A product with a power of two is exact but for the smallest numbers, which have no bits to lose.
  for (; !Number.isInteger(whole); power--) whole *= 2
  const dividend = BigInt(whole) * 10n ** BigInt(Math.max(tens, 0))
  const divisor = 2n ** BigInt(-power) * 10n ** BigInt(Math.max(-tens, 0))
  const floor = dividend / divisor
  const toEven = halves === 'even' && floor % 2n === 0n && 2n * abs(dividend % divisor) === divisor
  return halves === 'down' || toEven ? floor : divide(dividend, divisor)
}

/** A FLOAT64 times ten to the power of `shift`, with so many digits after the point, as C's `%.{digits}f` writes it. */
export function fixedFloat(value: number, digits: number, shift = 0): string {
  const units = abs(scale(value, digits + shift, 'even'))
  return decimalText(units, digits, value < 0 || Object.is(value, -0))
}

/** The same of a decimal text without a sign, halves away from zero. */
export function fixedDecimal(text: string, digits: number, shift = 0): string {
  const [whole, fraction = ''] = text.split('.') as [string, string?]
  const tens = digits + shift - fraction.length
  const dividend = BigInt(whole + fraction) * 10n ** BigInt(Math.max(tens, 0))
  return decimalText(divide(dividend, 10n ** BigInt(Math.max(-tens, 0))), digits, false)
}

function decimalText(units: bigint, digits: number, negative: boolean): string {
  const text = String(units).padStart(digits + 1, '0')
  const point = text.length - digits
  return `${negative ? '-' : ''}${text.slice(0, point)}${digits > 0 ? `.${text.slice(point)}` : ''}`
}

const grouped = (text: string, commas: boolean) =>
  commas ? text.replace(/^-?\d+/, whole => whole.replace(/\B(?=(?:\d{3})+$)/g, ',')) : text

/** The integer next to a square root. */
function root(value: bigint): bigint {
  if (value < 0n) throw new ValueError('A number is out of range')
  if (value === 0n) return 0n
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (guess + value / guess) / 2n
    if (next >= guess) break
    guess = next
  }
  return value - guess * guess > guess ? guess + 1n : guess
}

/** Bits of a power that is still computed: far beyond the range of a NUMERIC. */
const mostBits = 100_000

/** A power; that by a fraction is the one of FLOAT64. */
function power(base: bigint, exponent: bigint): bigint {
  if (exponent % one !== 0n || abs(exponent) > 1_000_000n * one) {
    const value = (Number(base) / 1e9) ** (Number(exponent) / 1e9)
    return approximate(value)
  }
  const times = abs(exponent / one)
  if (abs(base) === one) return times % 2n === 0n ? one : base
  if (base === 0n && exponent < 0n) throw new ValueError('Division by zero')
  if (base === 0n) return exponent === 0n ? one : 0n
  if (BigInt(abs(base).toString(2).length) * times > BigInt(mostBits)) {
    if (abs(base) > one === exponent > 0n) throw new ValueError('A number is out of range')
    return 0n
  }
  const [high, low] = [base ** times, one ** times]
  return exponent < 0n ? divide(low * one, high) : divide(high * one, low)
}

/**
 * A FLOAT64 to so many digits by its exact value in binary, halves away from zero, or cut off: 2.675 is a little less, and
 * gives 2.67. Throws ValueError for one beyond all FLOAT64s.
 */
function floatTo(value: number, digits: bigint, halves: 'away' | 'down'): number {
  // No FLOAT64 has more digits before its point, or behind it.
  if (digits < -308n) return 0
  if (!Number.isFinite(value) || digits > 1_100n) return value
  if (halves === 'away' && digits >= 0n && digits <= 100n && Math.abs(value) < 1e21)
    return Number(value.toFixed(Number(digits)))
  const units = abs(scale(value, Number(digits), halves))
  const result = Number(`${value < 0 ? '-' : ''}${units}e${-digits}`)
  if (!Number.isFinite(result)) throw new ValueError('A number is out of range')
  return result
}

/** The billionths of one at a digit after the point, or before it for a negative one. */
function placeOf(digits: bigint): bigint {
  return 10n ** (digits > 9n ? 0n : 9n - (digits < -30n ? -30n : digits))
}

/** To so many digits after the point, or before it for negative ones. */
function round(units: bigint, digits: bigint, mode: string): bigint {
  const place = placeOf(digits)
  if (mode === 'ROUND_HALF_AWAY_FROM_ZERO') return divide(units, place) * place
  if (mode !== 'ROUND_HALF_EVEN')
    throw new ValueError('ROUND has the modes ROUND_HALF_AWAY_FROM_ZERO and ROUND_HALF_EVEN')
  const away = divide(units, place)
  const half = abs(units - away * place) * 2n === place
  return (half && away % 2n !== 0n ? away - (away < 0n ? -1n : 1n) : away) * place
}

/** A function of FLOAT64, whose digits reach as far as those of a NUMERIC only for small numbers. */
function approximate(value: number): bigint {
  if (!Number.isFinite(value)) throw new ValueError('A number is out of range')
  if (Math.abs(value) >= 1e5)
    throw new ValueError('A NUMERIC has more digits than the local engine computes: cast to FLOAT64')
  return scale(value, 9)
}

/** Digits after the point of a BIGNUMERIC, and of those that the local engine keeps. */
const bigScale = 38
const keptScale = 18

class TooManyDigits extends ValueError {}

/** A decimal text in units of 10^-38, as the local engine's text. Throws ValueError for one that needs more digits. */
function bigText(units: bigint): string {
  const cut = 10n ** BigInt(bigScale - keptScale)
  if (units % cut !== 0n || abs(units / cut) >= limit)
    throw new TooManyDigits(
      'A BIGNUMERIC has more digits than the local engine keeps: cast to NUMERIC or FLOAT64',
    )
  return decimalText(abs(units / cut), keptScale, units < 0n)
}

const decimalShape = /^\s*([-+]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([-+]?\d{1,4}))?\s*$/

const bigUnits = (text: string) => unitsOf(text, bigScale)

/** A decimal text in units of 10^-scale. */
function unitsOf(text: string, scale: number): bigint {
  const match = decimalShape.exec(text)
  if (!match) throw new ValueError('A value cannot be converted to the type asked for')
  const [, sign, whole = '', fraction = match[4] ?? '', , exponent = '0'] = match
  const shift = scale - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  const units = shift < 0 ? divide(digits, 10n ** BigInt(-shift)) : digits * 10n ** BigInt(shift)
  return sign === '-' ? -units : units
}

/** What PARSE_NUMERIC reads, as a plain decimal: its sign may stand behind it, and commas in its whole part. */
function plainDecimal(text: string): string {
  const match = /^\s*([-+]?)\s*([\d,]*)(\.\d*)?(e[-+]?\d+)?\s*([-+]?)\s*$/i.exec(text)
  const [, before = '', whole = '', fraction = '', exponent = '', after = ''] = match ?? []
  if (!match || (before && after)) throw new ValueError('A text is not a number')
  return `${before || after}${whole.replaceAll(',', '')}${fraction}${exponent}`
}

/** Beyond what a BIGNUMERIC holds. */
const bigLimit = 2n ** 255n

/** As `bigText`, but `null` for what no BIGNUMERIC holds. */
function safeBigText(units: () => bigint): string | null {
  try {
    const value = units()
    if (value < -bigLimit || value >= bigLimit) return null
    return bigText(value)
  } catch (error) {
    if (error instanceof TooManyDigits) throw error
    return null
  }
}

const bigOne = 10n ** BigInt(bigScale)

const bigArithmetic = (compute: (a: bigint, b: bigint) => bigint) =>
  scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (a, b) => bigText(compute(bigUnits(a), bigUnits(b))))

const arithmetic = (compute: (a: bigint, b: bigint) => bigint) =>
  scalar(['DECIMAL', 'DECIMAL'], 'DECIMAL', (a, b) => inRange(compute(a, b)))

export const numericFunctions: Record<string, ScalarFunction> = {
  gsql_numeric_multiply: arithmetic((a, b) => divide(a * b, one)),
  gsql_numeric_divide: arithmetic((a, b) => divide(a * one, b)),
  /** The whole part of the quotient. */
  gsql_numeric_div: arithmetic((a, b) => {
    if (b === 0n) throw new ValueError('Division by zero')
    return (a / b) * one
  }),
  gsql_numeric_power: arithmetic(power),
  gsql_numeric_sqrt: scalar(['DECIMAL'], 'DECIMAL', units => root(units * one)),
  gsql_numeric_round: scalar(['DECIMAL', 'BIGINT', 'VARCHAR'], 'DECIMAL', (units, digits, mode) =>
    inRange(round(units, digits, mode)),
  ),
  gsql_numeric_trunc: scalar(
    ['DECIMAL', 'BIGINT'],
    'DECIMAL',
    (units, digits) => units - (units % placeOf(digits)),
  ),
  gsql_numeric_approximated: scalar(['DOUBLE'], 'DECIMAL', approximate),
  gsql_round: scalar(['DOUBLE', 'BIGINT'], 'DOUBLE', (value, digits) => floatTo(value, digits, 'away')),
  gsql_trunc: scalar(['DOUBLE', 'BIGINT'], 'DOUBLE', (value, digits) => floatTo(value, digits, 'down')),
  gsql_parse_numeric: scalar(['VARCHAR'], 'DECIMAL', text => inRange(unitsOf(plainDecimal(text), 9))),
  gsql_parse_bignumeric: scalar(['VARCHAR'], 'VARCHAR', text => bigText(bigUnits(plainDecimal(text)))),
  gsql_bignumeric: scalar(['VARCHAR'], 'VARCHAR', text => bigText(bigUnits(text))),
  gsql_bignumeric_of_float: scalar(['DOUBLE'], 'VARCHAR', value => bigText(scale(value, bigScale))),
  gsql_safe_parse_bignumeric: scalar(['VARCHAR'], 'VARCHAR', text =>
    safeBigText(() => bigUnits(plainDecimal(text))),
  ),
  gsql_safe_bignumeric: scalar(['VARCHAR'], 'VARCHAR', text => safeBigText(() => bigUnits(text))),
  gsql_safe_bignumeric_of_float: scalar(['DOUBLE'], 'VARCHAR', value =>
    safeBigText(() => scale(value, bigScale)),
  ),
  gsql_bignumeric_multiply: bigArithmetic((a, b) => divide(a * b, bigOne)),
  gsql_bignumeric_divide: bigArithmetic((a, b) => divide(a * bigOne, b)),
  gsql_numeric: scalar(['DOUBLE'], 'DECIMAL', value => inRange(scale(value, 9))),
  gsql_fixed: scalar(['DOUBLE', 'BIGINT', 'BOOLEAN'], 'VARCHAR', (value, digits, commas) =>
    grouped(fixedFloat(value, Number(digits)), commas),
  ),
  gsql_fixed_decimal: scalar(['VARCHAR', 'BIGINT', 'BOOLEAN'], 'VARCHAR', (text, digits, commas) => {
    const negative = text.startsWith('-')
    return (
      (negative ? '-' : '') + grouped(fixedDecimal(negative ? text.slice(1) : text, Number(digits)), commas)
    )
  }),
}

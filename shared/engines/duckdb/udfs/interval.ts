/** INTERVALs: months, days and microseconds, each with its own sign. */
import { civilOf, daysSince1970, inRange, microsPerDay } from './date-text.ts'
import { type Interval, scalar, type ScalarFunction, ValueError } from './udf.ts'

const microsPerHour = 3_600_000_000n

const size = (value: bigint) => (value < 0n ? -value : value)

/** `years-months days hours:minutes:seconds`, each with its own sign, with no fraction of a second, or 3 digits, or 6. */
export function intervalText({ months, days, micros }: Interval): string {
  const [all, u] = [Math.abs(months), size(micros)]
  const rest = u % 1_000_000n
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(6, '0').replace(/000$/, '')}`
  const clock = `${u / microsPerHour}:${(u / 60_000_000n) % 60n}:${(u / 1_000_000n) % 60n}${fraction}`
  return `${months < 0 ? '-' : ''}${Math.floor(all / 12)}-${all % 12} ${days} ${micros < 0n ? '-' : ''}${clock}`
}

/** ISO 8601: each part with its own sign, those that are zero left out. */
function isoText({ months, days, micros }: Interval): string {
  const part = (value: number | bigint, letter: string) => (Number(value) === 0 ? '' : `${value}${letter}`)
  const seconds = Number(micros % 60_000_000n)
  const clock =
    part(micros / microsPerHour, 'H') + part((micros / 60_000_000n) % 60n, 'M') + part(seconds / 1e6, 'S')
  const date = part(Math.trunc(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D')
  return date === '' && clock === '' ? 'P0Y' : `P${date}${clock && `T${clock}`}`
}

/** BigQuery's range: 10,000 years. */
const mostMonths = 120_000n
const mostDays = 3_660_000n

/** Whether each part by itself is within BigQuery's range. */
export function isInterval(months: bigint, days: bigint, micros: bigint): boolean {
  return size(months) <= mostMonths && size(days) <= mostDays && size(micros) <= mostDays * microsPerDay
}

function interval(months: bigint, days: bigint, micros: bigint): Interval {
  if (!isInterval(months, days, micros)) throw new ValueError('An INTERVAL is out of range')
  return { months: Number(months), days: Number(days), micros }
}

const invalid = () => new ValueError('Text is not an INTERVAL')

const parts = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND']
const patterns = [
  '(?<year>\\d+)',
  '(?<month>\\d+)',
  '(?<day>[-+]?\\d+)',
  '(?<hour>\\d+)',
  '(?<minute>\\d+)',
  '(?<second>\\d+(?:\\.\\d{1,9})?)',
]
const between = ['-', ' ', ' ', ':', ':']

/** The INTERVAL of a text such as `1-2 3 4:5:6.5`, from one part to another. Throws ValueError for other text. */
export function intervalFrom(text: string, from: string, to: string): Interval {
  const found = intervalOf(text, from, to)
  if (!found) throw invalid()
  return found
}

function intervalOf(text: string, from: string, to: string): Interval | null {
  const [first, last] = [parts.indexOf(from), parts.indexOf(to)]
  let pattern = ''
  for (let at = first; at <= last; at++) {
    const signed = at < 2 ? 'years' : at > 2 ? 'clock' : null
    const opens = signed !== null && (at === first || at === 0 || at === 3)
    pattern += `${at > first ? between[at - 1] : ''}${opens ? `(?<${signed}>[-+]?)` : ''}${patterns[at]}`
  }
  const groups = new RegExp(`^${pattern}$`).exec(text)?.groups
  if (!groups) return null
  const part = (name: string) => BigInt((groups[name] ?? '0').replace('+', ''))
  const sign = (name: string) => (groups[name] === '-' ? -1n : 1n)
  const [whole, fraction = ''] = (groups['second'] ?? '0').split('.') as [string, string?]
  const seconds = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
  const clock = part('hour') * microsPerHour + part('minute') * 60_000_000n + seconds
  return interval(sign('years') * (12n * part('year') + part('month')), part('day'), sign('clock') * clock)
}

const iso =
  /^P(?:([-+]?\d+)Y)?(?:([-+]?\d+)M)?(?:([-+]?\d+)W)?(?:([-+]?\d+)D)?(?:T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:\.\d{1,9})?)S)?)?$/

/** The parts from and to which a text may go; `1:2` is neither hours and minutes nor minutes and seconds. */
const spans = parts
  .flatMap((from, at) => parts.slice(at + 1).map(to => ({ from, to })))
  .filter(({ from, to }) => from !== 'MINUTE' && !(from === 'HOUR' && to === 'MINUTE'))

/** Of a text that goes from one part to another in one way only. */
function parsedParts(text: string): Interval {
  const [found, ...more] = spans.flatMap(({ from, to }) => intervalOf(text, from, to) ?? [])
  if (!found || more.length > 0) throw invalid()
  return found
}

function parseInterval(text: string): Interval {
  if (!text.startsWith('P')) return parsedParts(text)
  const match = iso.exec(text)
  if (!match || /[PT]$/.test(text)) throw invalid()
  const [years, months, weeks, days, hours, minutes] = match
    .slice(1, 7)
    .map(part => BigInt((part ?? '0').replace('+', ''))) as [bigint, bigint, bigint, bigint, bigint, bigint]
  const seconds = BigInt(Math.round(Number(match[7] ?? 0) * 1e6))
  return interval(
    12n * years + months,
    7n * weeks + days,
    hours * microsPerHour + minutes * 60_000_000n + seconds,
  )
}

/** The rest of the months goes on as days, that of the days as microseconds. */
function divide({ months, days, micros }: Interval, by: bigint): Interval {
  if (by === 0n) throw new ValueError('Division by zero')
  const allDays = BigInt(days) + (BigInt(months) % by) * 30n
  return interval(BigInt(months) / by, allDays / by, (micros + (allDays % by) * microsPerDay) / by)
}

/**
 * The beginning of the bucket that a time is in, in microseconds since 1970; buckets are counted from an origin on. One of
 * months ends on the origin's day, or on the last one of a shorter month.
 */
function bucket(
  type: string,
  at: bigint,
  months: bigint,
  days: bigint,
  micros: bigint,
  origin: bigint,
): bigint {
  const widths = [months, days, micros]
  if (widths.some(width => width < 0n) || widths.filter(width => width > 0n).length !== 1)
    throw new ValueError('A bucket has the width of one part of an INTERVAL, which is above zero')
  if ((type === 'DATE' && micros > 0n) || (type === 'TIMESTAMP' && months > 0n))
    throw new ValueError(`A ${type} has no bucket of this width`)
  return inRange(
    months > 0n
      ? bucketOfMonths(at, Number(months), origin)
      : at - modulo(at - origin, days * microsPerDay + micros),
  )
}

const modulo = (value: bigint, by: bigint) => ((value % by) + by) % by

function bucketOfMonths(at: bigint, width: number, origin: bigint): bigint {
  const [time, start] = [inMonths(at), inMonths(origin)]
  const ends = time.isLastDay && start.isLastDay
  const isBefore = ends ? time.clock < start.clock : time.inMonth < start.inMonth
  const rest = Number(modulo(BigInt(time.month - start.month), BigInt(width)))
  const month = time.month - rest - (rest === 0 && isBefore ? width : 0)
  return microsOf(month, Math.min(start.day, daysIn(month))) + start.clock
}

/** A time by its month since the year 0, its day, and the microseconds since the day and since the month began. */
function inMonths(micros: bigint) {
  const { year, month: ofYear, day } = civilOf(micros)
  const [month, clock] = [12 * year + ofYear - 1, modulo(micros, microsPerDay)]
  return { month, day, clock, inMonth: BigInt(day) * microsPerDay + clock, isLastDay: day === daysIn(month) }
}

function microsOf(month: number, day: number): bigint {
  return BigInt(daysSince1970(Math.floor(month / 12), (month % 12) + 1, day)) * microsPerDay
}

const daysIn = (month: number) => Number((microsOf(month + 1, 1) - microsOf(month, 1)) / microsPerDay)

/** A function of months, days and microseconds, which it makes others of. */
const changing = (change: (months: bigint, days: bigint, micros: bigint) => [bigint, bigint, bigint]) =>
  scalar(['INTERVAL'], 'INTERVAL', ({ months, days, micros }) =>
    interval(...change(BigInt(months), BigInt(days), micros)),
  )

export const intervalFunctions: Record<string, ScalarFunction> = {
  gsql_interval_text: scalar(['INTERVAL'], 'VARCHAR', intervalText),
  gsql_interval_iso: scalar(['INTERVAL'], 'VARCHAR', isoText),
  gsql_interval: scalar(['VARCHAR'], 'INTERVAL', parseInterval),
  gsql_interval_divided: scalar(['INTERVAL', 'BIGINT'], 'INTERVAL', divide),
  gsql_interval_multiplied: scalar(['INTERVAL', 'BIGINT'], 'INTERVAL', ({ months, days, micros }, by) =>
    interval(BigInt(months) * by, BigInt(days) * by, micros * by),
  ),
  gsql_interval_made: scalar(
    ['BIGINT', 'BIGINT', 'BIGINT', 'BIGINT', 'BIGINT', 'BIGINT'],
    'INTERVAL',
    (years, months, days, hours, minutes, seconds) =>
      interval(
        12n * years + months,
        days,
        hours * microsPerHour + minutes * 60_000_000n + seconds * 1_000_000n,
      ),
  ),
  gsql_bucket: scalar(['VARCHAR', 'BIGINT', 'BIGINT', 'BIGINT', 'BIGINT', 'BIGINT'], 'BIGINT', bucket),
  // Full days of 24 hours and months of 30 days; all parts of them get the sign of the whole.
  gsql_justify_hours: changing((months, days, micros) => {
    const all = days * microsPerDay + micros
    return [months, all / microsPerDay, all % microsPerDay]
  }),
  gsql_justify_days: changing((months, days, micros) => {
    const all = months * 30n + days
    return [all / 30n, all % 30n, micros]
  }),
  gsql_justify_interval: changing((months, days, micros) => {
    const all = (months * 30n + days) * microsPerDay + micros
    return [all / microsPerDay / 30n, (all / microsPerDay) % 30n, all % microsPerDay]
  }),
}

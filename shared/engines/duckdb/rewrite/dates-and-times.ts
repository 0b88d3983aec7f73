/**
 * Between moments (TIMESTAMP) and wall clocks (DATETIME) in a time zone.
 * For UTC plain arithmetic on microseconds stands in for DuckDB's calendar library, which takes ten times as long.
 */

/** DuckDB SQL of a time zone; `null` is UTC. */
type Zone = string | null

export function wallClock(moment: string, zone: Zone = null): string {
  if (zone === null) return `make_timestamp(epoch_us(${moment}))`
  const offset = offsetMicros(zone)
  return offset === null ? `timezone(${zone}, ${moment})` : `make_timestamp(epoch_us(${moment}) + ${offset})`
}

export function momentOf(wallClock: string, zone: Zone = null): string {
  if (zone === null) return `make_timestamptz(epoch_us(${wallClock}))`
  const offset = offsetMicros(zone)
  return offset === null
    ? `timezone(${zone}, ${wallClock})`
    : `make_timestamptz(epoch_us(${wallClock}) - ${offset})`
}

/** The offset of a zone literal such as `'+05:30'` or `'UTC'`, else `null`: it is a name for DuckDB to look up. */
function offsetMicros(zone: string): number | null {
  if (/^'(utc|z)'$/i.test(zone)) return 0
  const match = /^'([+-])(\d{1,2})(?::?(\d\d))?'$/.exec(zone)
  if (!match) return null
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0)
  return (match[1] === '-' ? -minutes : minutes) * 60e6
}

export const asDate = (sql: string) => `CAST(${sql} AS DATE)`
export const asTime = (sql: string) => `CAST(${sql} AS TIME)`
export const asClock = (sql: string) => `CAST(${sql} AS TIMESTAMP)`

/** A TIME on an arbitrary day, for what wants a whole clock. */
export const onSomeDay = (time: string) => `(DATE '1970-01-01' + ${time})`

/** A clock as text, with no fraction of a second, or 3 digits, or 6, as few as hold it. */
export function clockText(clock: string, format: string): string {
  const fraction = `(epoch_us(${clock}) % 1000000)`
  return `(CASE WHEN ${fraction} = 0 THEN strftime(${clock}, '${format}') WHEN ${fraction} % 1000 = 0 THEN strftime(${clock}, '${format}.%g') ELSE strftime(${clock}, '${format}.%f') END)`
}

/** Parts of dates and times: what begins with them, what they measure. All over wall clocks, whatever the zone. */

/** Whether a part is one of a TIME; a DATE has only the others, a DATETIME and a TIMESTAMP have both. */
export function timePart(part: string): boolean {
  return /^(MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR)$/.test(part)
}

const weekdays = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY']

/** The weekday (Sunday is 0) on which a week begins, for WEEK and WEEK(day); `null` for other parts. */
function weekStart(part: string): number | null {
  if (part === 'WEEK') return 0
  if (part === 'ISOWEEK') return 1
  const at = weekdays.findIndex(day => part === `WEEK(${day})`)
  return at < 0 ? null : at
}

const truncatable: Record<string, string> = {
  MICROSECOND: 'microsecond',
  MILLISECOND: 'millisecond',
  SECOND: 'second',
  MINUTE: 'minute',
  HOUR: 'hour',
  DAY: 'day',
  MONTH: 'month',
  QUARTER: 'quarter',
  YEAR: 'year',
  ISOYEAR: 'isoyear',
}

/** A wall clock cut to the start of a part; `null` for a part that GoogleSQL does not cut to. */
export function truncated(wallClock: string, part: string): string | null {
  const start = weekStart(part)
  if (start === null) return part in truncatable ? `date_trunc('${truncatable[part]}', ${wallClock})` : null
  // DuckDB's weeks begin on Monday: move the clock so that the wanted day falls there, and back.
  const days = (8 - start) % 7
  if (days === 0) return `date_trunc('week', ${wallClock})`
  return `(date_trunc('week', ${wallClock} + to_days(${days})) - to_days(${days}))`
}

const extracted: Record<string, (clock: string) => string> = {
  MICROSECOND: clock => `(extract('microsecond' FROM ${clock}) % 1000000)`,
  MILLISECOND: clock => `(extract('millisecond' FROM ${clock}) % 1000)`,
  SECOND: clock => `extract('second' FROM ${clock})`,
  MINUTE: clock => `extract('minute' FROM ${clock})`,
  HOUR: clock => `extract('hour' FROM ${clock})`,
  DAYOFWEEK: clock => `(extract('dow' FROM ${clock}) + 1)`,
  DAY: clock => `extract('day' FROM ${clock})`,
  DAYOFYEAR: clock => `extract('doy' FROM ${clock})`,
  ISOWEEK: clock => `extract('week' FROM ${clock})`,
  MONTH: clock => `extract('month' FROM ${clock})`,
  QUARTER: clock => `extract('quarter' FROM ${clock})`,
  YEAR: clock => `extract('year' FROM ${clock})`,
  ISOYEAR: clock => `extract('isoyear' FROM ${clock})`,
}

/** A part of a wall clock as an integer; `null` for a part that it does not have. */
export function extractedPart(clock: string, part: string): string | null {
  const start = weekStart(part)
  // Days before the first such weekday of the year are in week 0.
  if (start !== null && part !== 'ISOWEEK')
    return `((extract('doy' FROM ${clock}) + 6 - (extract('dow' FROM ${clock}) + ${7 - start}) % 7) // 7)`
  return extracted[part]?.(clock) ?? null
}

/** Microseconds in each part that always has the same length. */
const micros: Record<string, number> = {
  MICROSECOND: 1,
  MILLISECOND: 1e3,
  SECOND: 1e6,
  MINUTE: 60e6,
  HOUR: 3600e6,
  DAY: 86_400e6,
}

/** Whole parts from one moment to another; `null` for a part of changing length. */
export function wholeParts(from: string, to: string, part: string): string | null {
  return part in micros ? `((epoch_us(${to}) - epoch_us(${from})) // ${micros[part]})` : null
}

/** How many boundaries of a part lie between two wall clocks, dates or times; `null` for an unknown part. */
export function boundaries(from: string, to: string, part: string): string | null {
  if (part === 'ISOYEAR') return `(extract('isoyear' FROM ${to}) - extract('isoyear' FROM ${from}))`
  if (weekStart(part) !== null)
    return `(date_diff('day', ${truncated(from, part)!}, ${truncated(to, part)!}) // 7)`
  return part in truncatable ? `date_diff('${truncatable[part]}', ${from}, ${to})` : null
}

const intervals: Record<string, (count: string) => string> = {
  MICROSECOND: count => `to_microseconds(${count})`,
  MILLISECOND: count => `to_microseconds(1000 * ${count})`,
  SECOND: count => `to_microseconds(1000000 * ${count})`,
  MINUTE: count => `to_minutes(${count})`,
  HOUR: count => `to_hours(${count})`,
  DAY: count => `to_days(CAST(${count} AS INTEGER))`,
  WEEK: count => `to_days(CAST(7 * ${count} AS INTEGER))`,
  MONTH: count => `to_months(CAST(${count} AS INTEGER))`,
  QUARTER: count => `to_months(CAST(3 * ${count} AS INTEGER))`,
  YEAR: count => `to_months(CAST(12 * ${count} AS INTEGER))`,
}

/** An interval of so many parts (a BIGINT); `null` for a part that cannot be counted so. */
export function interval(count: string, part: string): string | null {
  return intervals[part]?.(count) ?? null
}

/**
 * Dates and times: time zones, parts such as DAY and WEEK(MONDAY), EXTRACT and INTERVAL. A TIMESTAMP is a point in time,
 * a DATETIME the date and time that clocks in some zone show; parts are those of a DATETIME.
 */
import { fixedOffset, isZone } from '../../calendar.ts'
import type { Extract } from '../../../sql/tree.ts'
import type { ScalarName } from '../../../sql/types.ts'
import { duckType } from '../syntax.ts'
import { once, repeated } from './repeats.ts'
import { type Context, raise, type Scope } from './context.ts'
import { ofInterval } from './intervals.ts'

/** A time zone, with its name where that is written out. */
export interface Zone {
  sql: string
  name: string | null
}

export const utc: Zone = { sql: `'UTC'`, name: 'UTC' }

/**
 * A TIMESTAMP as the DATETIME in a zone, by default UTC. For UTC and fixed offsets arithmetic on microseconds stands in
 * for DuckDB's calendar library, which takes ten times as long.
 */
export function toDatetime(timestamp: string, zone?: Zone): string {
  if (zone === undefined) return `make_timestamp(epoch_us(${timestamp}))`
  return repeated([timestamp], timestamp =>
    inZone(
      zone,
      zone => `timezone(${zone}, ${timestamp})`,
      offset => `make_timestamp(epoch_us(${timestamp}) + ${offset})`,
    ),
  )
}

/** The TIMESTAMP at which clocks in a zone, by default UTC, show a DATETIME. */
export function toTimestamp(datetime: string, zone?: Zone): string {
  if (zone === undefined) return `make_timestamptz(epoch_us(${datetime}))`
  return repeated([datetime], local => {
    const byName = (zone: string) => {
      // Of a time that comes twice, when summer time ends, GoogleSQL takes the first, by the offset before; DuckDB the second.
      const dayBefore = `make_timestamptz(epoch_us(${local}) - 86400000000)`
      const offset = `(epoch_us(timezone(${zone}, ${dayBefore})) - epoch_us(${dayBefore}))`
      const first = `make_timestamptz(epoch_us(${local}) - ${offset})`
      return `(CASE WHEN timezone(${zone}, ${first}) = ${local} THEN ${first} ELSE timezone(${zone}, ${local}) END)`
    }
    return inZone(zone, byName, offset => `make_timestamptz(epoch_us(${local}) - ${offset})`)
  })
}

/** By the calendar of a zone with a name, or by an offset. A zone that is not written out may be another one in each row. */
function inZone(
  { sql, name }: Zone,
  byName: (zone: string) => string,
  byOffset: (offset: string) => string,
): string {
  if (name !== null) {
    const offset = offsetMicros(name)
    return offset === null ? byName(sql) : byOffset(offset)
  }
  return once([sql], zone => {
    const offset = `gsql_zone_offset(${zone})`
    return `(CASE WHEN ${offset} IS NULL THEN ${byName(zone)} ELSE ${byOffset(offset)} END)`
  })
}

/**
 * A TIMESTAMP or DATETIME, or a DATE's that is a DATETIME in DuckDB, that has been moved: within the years 1 to 9999, also
 * where only its distance or its year is shown. DuckDB has more years.
 */
export function withinYears(moved: string, kind: 'TIMESTAMP' | 'DATETIME'): string {
  const [make, zone] = kind === 'TIMESTAMP' ? ['make_timestamptz', '+00'] : ['make_timestamp', '']
  const type = duckType({ kind })
  const bounds = ['0001-01-01 00:00:00', '9999-12-31 23:59:59.999999'].map(
    text => `CAST('${text}${zone}' AS ${type})`,
  )
  return repeated(
    [moved],
    moved =>
      `(CASE WHEN ${moved} NOT BETWEEN ${bounds.join(' AND ')} THEN ${make}(${raise('A date or time is out of range')}) ELSE ${moved} END)`,
  )
}

/** Whether a zone is a literal offset or UTC. */
export const isFixedZone = ({ name }: Zone) => name !== null && offsetMicros(name) !== null

/** A TIMESTAMP in a zone for text: the whole minutes that its clocks are ahead of UTC, and what clocks without seconds show. */
export function clockTime(timestamp: string, zone: Zone): { local: string; minutes: string } {
  const minutes = `((epoch_us(${toDatetime(timestamp, zone)}) - epoch_us(${timestamp})) // 60000000)`
  return { local: `make_timestamp(epoch_us(${timestamp}) + 60000000 * ${minutes})`, minutes }
}

/** SQL of the offset of a zone; `null` for a name that DuckDB looks up. */
function offsetMicros(name: string): string | null {
  if (!isZone(name)) return raise('Unknown time zone')
  const seconds = fixedOffset(name)
  return seconds === null ? null : String(seconds * 1e6)
}

/** The date of a DATETIME. */
export const asDate = (sql: string) => `CAST(${sql} AS DATE)`

/** The time of day of a DATETIME. */
export const asTime = (sql: string) => `CAST(${sql} AS TIME)`

export type TimeType = 'DATE' | 'DATETIME' | 'TIME' | 'TIMESTAMP'

/** A value as a DATETIME, which DuckDB calls TIMESTAMP: a DATE's midnight, a TIME of the first day, a TIMESTAMP in UTC. */
export function asDatetime(sql: string, type: TimeType = 'DATE'): string {
  if (type === 'DATE') return `CAST(${sql} AS TIMESTAMP)`
  if (type === 'TIME') return `(DATE '1970-01-01' + ${sql})`
  return type === 'DATETIME' ? sql : toDatetime(sql)
}

/** The microseconds since 1970 that clocks show, of a TIMESTAMP those in UTC. */
export function toMicros(type: TimeType, sql: string): string {
  return `epoch_us(${type === 'TIME' ? asDatetime(sql, type) : sql})`
}

/** The value of such microseconds. */
export function ofMicros(type: TimeType, micros: string): string {
  if (type === 'TIMESTAMP') return `make_timestamptz(${micros})`
  return ofDatetime(type, `make_timestamp(${micros})`)
}

/** The DATE or TIME of a DATETIME, or it as it is. */
export function ofDatetime(type: 'DATE' | 'DATETIME' | 'TIME', datetime: string): string {
  return type === 'DATETIME' ? datetime : `CAST(${datetime} AS ${type})`
}

/** A DATETIME as text, with no fraction of a second, or 3 digits, or 6, as few as hold it. */
export function datetimeText(datetime: string, format: string): string {
  const fraction = `(epoch_us(${datetime}) % 1000000)`
  const text = (digits: string) => `strftime(${datetime}, '${format}${digits}')`
  return `(CASE WHEN ${fraction} = 0 THEN ${text('')} WHEN ${fraction} % 1000 = 0 THEN ${text('.%g')} ELSE ${text('.%f')} END)`
}

/** Whether a part is one of a TIME. A DATE has only the others, a DATETIME and a TIMESTAMP have both. */
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

/** Parts of which DuckDB knows the same, by the name in small letters. */
const truncatable: ReadonlySet<string> = new Set(
  'MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY MONTH QUARTER YEAR ISOYEAR'.split(' '),
)

/** A DATETIME truncated to a part. */
export function truncate(datetime: string, part: string): string {
  const start = weekStart(part)
  if (start === null) return `date_trunc('${part.toLowerCase()}', ${datetime})`
  // DuckDB's weeks begin on Monday: shift the first day of the week to Monday, and back.
  const days = (8 - start) % 7
  if (days === 0) return `date_trunc('week', ${datetime})`
  return `(date_trunc('week', ${datetime} + to_days(${days})) - to_days(${days}))`
}

/** Parts that DuckDB names or counts in another way, by its name or its expression. */
const extracted: Record<string, string | ((datetime: string) => string)> = {
  MICROSECOND: datetime => `(extract('microsecond' FROM ${datetime}) % 1000000)`,
  MILLISECOND: datetime => `(extract('millisecond' FROM ${datetime}) % 1000)`,
  DAYOFWEEK: datetime => `(extract('dow' FROM ${datetime}) + 1)`,
  DAYOFYEAR: 'doy',
  ISOWEEK: 'week',
}

/** A part of a DATETIME as an integer; `null` for a DATE, a TIME and a DATETIME, which are parts, too. */
function extractedPart(datetime: string, part: string): string | null {
  const start = weekStart(part)
  // Days before the first such weekday of the year are in week 0.
  if (start !== null && part !== 'ISOWEEK')
    return repeated(
      [datetime],
      time => `((extract('doy' FROM ${time}) + 6 - (extract('dow' FROM ${time}) + ${7 - start}) % 7) // 7)`,
    )
  const how = extracted[part] ?? (truncatable.has(part) ? part.toLowerCase() : undefined)
  return typeof how === 'string' ? `extract('${how}' FROM ${datetime})` : (how?.(datetime) ?? null)
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

/** How many of a part of a TIME are a day. */
export const partsOfDay = (part: string) => 86_400e6 / micros[part]!

/** Whole parts to one TIMESTAMP from another. */
export function wholeParts(to: string, from: string, part: string): string {
  return `((epoch_us(${to}) - epoch_us(${from})) // ${micros[part]})`
}

/** How many boundaries of a part lie between two DATETIMEs, DATEs or TIMEs. */
export function boundaries(from: string, to: string, part: string): string {
  if (part === 'ISOYEAR') return `(extract('isoyear' FROM ${to}) - extract('isoyear' FROM ${from}))`
  if (weekStart(part) !== null)
    return `(date_diff('day', ${truncate(from, part)}, ${truncate(to, part)}) // 7)`
  return `date_diff('${part.toLowerCase()}', ${from}, ${to})`
}

/** A part of a date or time; of a TIMESTAMP, that of the DATETIME in a time zone. */
export function extract(context: Context, { operand, part, zone }: Extract, scope: Scope): string {
  const { sql, type } = context.expression(operand, scope)
  const name = zone?.kind === 'Literal' ? zone.value : null
  const inZone = zone ? { sql: context.expression(zone, scope).sql, name } : undefined
  if (type?.kind === 'INTERVAL') return ofInterval(part, sql)
  const civil = type?.kind === 'TIMESTAMP' ? toDatetime(sql, inZone) : sql
  return extractedPart(civil, part) ?? `CAST(${civil} AS ${duckType({ kind: part as ScalarName })})`
}

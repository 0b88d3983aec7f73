/** Date and time functions; those from and to text are in date-formats.ts. */
import { duckType } from '../../syntax.ts'
import { conversions } from '../casts.ts'
import { raise, type Typed } from '../context.ts'
import {
  asDate,
  asDatetime,
  asTime,
  boundaries,
  ofDatetime,
  partsOfDay,
  timePart,
  type TimeType,
  toDatetime,
  toTimestamp,
  truncated,
  wholeParts,
  withinYears,
} from '../dates-and-times.ts'
import { interval, intervalParts, movedBy, plainInterval } from '../intervals.ts'
import { type CallSite, each, type Rule, type Rules, rulesOf } from './signature.ts'

/** A value truncated to a part, in its own type. */
const truncation =
  (type: TimeType): Rule =>
  (site, value, part, inZone) => {
    if (type !== 'TIMESTAMP') return ofDatetime(type, truncated(asDatetime(value, type), part))
    const zone = site.zone(2, inZone)
    const local = toDatetime(value, zone)
    const start = truncated(local, part)
    // Within an hour that comes twice, the difference tells which one it is.
    return zone && timePart(part) ? `(${value} - (${local} - ${start}))` : toTimestamp(start, zone)
  }

const truncationOfDate: Rule = (_, value, part) => truncated(asDatetime(value), part)

/** A value moved by an interval. */
const move =
  (operator: '+' | '-'): Rule =>
  (site, value) => {
    const kind = site.type!.kind as TimeType
    const by = site.args[1]!
    if (kind === 'TIME') return `(${value} ${operator} ${withinDay(site, by)})`
    const point = movedBy(value, operator, by, site.call.arguments[1]!)
    const moved = withinYears(point, kind === 'TIMESTAMP' ? kind : 'DATETIME')
    return kind === 'DATE' ? asDate(moved) : moved
  }

/** An INTERVAL of one part without its whole days, which move no TIME: DuckDB's reach only so far. */
function withinDay({ context, scope, call }: CallSite, by: Typed): string {
  const [, node] = call.arguments
  if (node?.kind !== 'IntervalLiteral' || node.value.kind === 'Literal') return plainInterval(by)
  const count = context.expression(node.value, scope)
  return interval(`(${count.sql} % ${partsOfDay(node.part)})`, node.part)
}

const hasOneLength = (part: string) => timePart(part) || part === 'DAY' || part === 'WEEK'

/**
 * The beginning of the bucket that a value is in; buckets are counted from an origin on. DuckDB has those of one length, which
 * are the common ones; its buckets of months end on other days than GoogleSQL's.
 */
function bucket(site: CallSite, at: string, _: string, origin = `CAST('1950-01-01' AS DATE)`): string {
  const type = site.type!.kind
  const width = site.call.arguments[1]
  const part = width?.kind === 'IntervalLiteral' && !width.to ? width.part : null
  const by = plainInterval(site.args[1]!)
  const kind = type === 'TIMESTAMP' ? type : 'DATETIME'
  const [value, start] = [at, origin].map(sql => `CAST(${sql} AS ${duckType({ kind })})`) as [string, string]
  const { months, days, micros } = intervalParts(by)
  const begin =
    part && hasOneLength(part)
      ? withinYears(`time_bucket(${by}, ${value}, ${start})`, kind)
      : `make_timestamp${kind === type ? 'tz' : ''}(gsql_bucket('${type}', epoch_us(${value}), ${months}, ${days}, ${micros}, epoch_us(${start})))`
  return type === 'DATE' ? asDate(begin) : begin
}

/** Counts boundaries of a part that are crossed; TIMESTAMP_DIFF counts whole parts. */
const difference = (type: Exclude<TimeType, 'TIMESTAMP'>) => (to: string, from: string, part: string) => {
  return boundaries(asDatetime(from, type), asDatetime(to, type), part)
}

const lastDay = (date: string, part = 'MONTH') => {
  const start = truncated(asDatetime(date), part)
  if (part === 'ISOYEAR') return asDate(`(date_trunc('isoyear', ${start} + to_days(380)) - to_days(1))`)
  const length = interval('1', part.startsWith('WEEK') || part === 'ISOWEEK' ? 'WEEK' : part)
  return asDate(`(${start} + ${length} - to_days(1))`)
}

/** Rounds down, also before 1970, where DuckDB's `//` rounds towards zero. */
const unix = (per: number) => (timestamp: string) => {
  const micros = `epoch_us(${timestamp})`
  return `((${micros} - (${micros} % ${per} + ${per}) % ${per}) // ${per})`
}

const fromUnix = (micros: number) => (count: string) => `make_timestamptz(${count} * ${micros})`

/** The current time, in a time zone if one is given, as a type. */
const current =
  (from: (datetime: string) => string): Rule =>
  (site, zone) =>
    from(toDatetime(site.context.now, site.zone(0, zone)))

/** An hour of a day; DuckDB also takes 24. */
const ofDay = (hour: string) =>
  `(CASE WHEN ${hour} > 23 THEN ${raise('A number is out of range')} ELSE ${hour} END)`

const same = (value: string) => value

const itself: Rule = (_, value) => value

export const dateFunctions: Rules = {
  ...rulesOf({
    DATE_DIFF: [difference('DATE'), difference('DATETIME'), wholeParts],
    DATETIME_DIFF: [difference('DATETIME'), wholeParts],
    TIME_DIFF: difference('TIME'),
    TIMESTAMP_DIFF: [wholeParts, difference('DATETIME')],

    LAST_DAY: lastDay,

    ...each('JUSTIFY_DAYS JUSTIFY_HOURS JUSTIFY_INTERVAL', duck => `gsql_${duck}`),

    DATE_FROM_UNIX_DATE: days => `(DATE '1970-01-01' + CAST(${days} AS INTEGER))`,
    TIMESTAMP_MICROS: fromUnix(1),
    TIMESTAMP_MILLIS: fromUnix(1000),
    TIMESTAMP_SECONDS: fromUnix(1_000_000),
    UNIX_DATE: date => `date_diff('day', DATE '1970-01-01', ${date})`,
    UNIX_MICROS: 'epoch_us',
    UNIX_MILLIS: unix(1000),
    UNIX_SECONDS: unix(1_000_000),
  }),

  // Of the text of a DATETIME or a TIMESTAMP too.
  DATE: [
    itself,
    (_, datetime) => asDate(datetime),
    (site, timestamp, zone) => asDate(toDatetime(timestamp, site.zone(1, zone))),
    (_, text) => asDate(toDatetime(conversions['STRING>TIMESTAMP']!(text, 'TIMESTAMPTZ'))),
    (_, ...parts) => `make_date(${parts.join(', ')})`,
  ],
  DATETIME: [
    itself,
    (site, timestamp, zone) => toDatetime(timestamp, site.zone(1, zone)),
    (_, date) => asDatetime(date),
    (_, date, time) => `(${date} + ${time})`,
    (_, text) => conversions['STRING>DATETIME']!(text, 'TIMESTAMP'),
    (_, year, month, day, hour, ...rest) =>
      `make_timestamp(${[year, month, day, ofDay(hour), ...rest].join(', ')})`,
  ],
  TIME: [
    itself,
    (_, datetime) => asTime(datetime),
    (site, timestamp, zone) => asTime(toDatetime(timestamp, site.zone(1, zone))),
    (_, hour, ...rest) => `make_time(${[ofDay(hour), ...rest].join(', ')})`,
  ],
  TIMESTAMP: [
    itself,
    (_, text) => conversions['STRING>TIMESTAMP']!(text, 'TIMESTAMPTZ'),
    (site, datetime, zone) => toTimestamp(datetime, site.zone(1, zone)),
    (site, text, zone) => toTimestamp(conversions['STRING>DATETIME']!(text, 'TIMESTAMP'), site.zone(1, zone)),
  ],
  DATE_TRUNC: [truncation('DATE'), truncation('DATETIME'), truncation('TIMESTAMP')],
  DATETIME_TRUNC: [truncation('DATETIME'), truncation('TIMESTAMP'), truncationOfDate],
  TIME_TRUNC: truncation('TIME'),
  TIMESTAMP_TRUNC: [truncation('TIMESTAMP'), truncation('DATETIME'), truncationOfDate],
  CURRENT_DATE: current(asDate),
  CURRENT_DATETIME: current(same),
  CURRENT_TIME: current(asTime),
  CURRENT_TIMESTAMP: ({ context }) => context.now,
  ...each('DATE_ADD DATETIME_ADD TIME_ADD TIMESTAMP_ADD', () => move('+')),
  ...each('DATE_SUB DATETIME_SUB TIME_SUB TIMESTAMP_SUB', () => move('-')),
  ...each('DATE_BUCKET DATETIME_BUCKET TIMESTAMP_BUCKET', () => bucket),
  // By place or by name.
  MAKE_INTERVAL: (site, ...given) => {
    const parts = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((part, at) =>
      site.option(part, given[at] ?? 'CAST(0 AS BIGINT)'),
    )
    return `gsql_interval_made(${parts.join(', ')})`
  },
}

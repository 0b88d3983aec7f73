/** Date and time functions. */
import { conversions, convert } from '../casts.ts'
import { raise, type Scope, typed, type Typed } from '../context.ts'
import * as time from '../dates-and-times.ts'
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
  truncate,
  wholeParts,
  withinYears,
} from '../dates-and-times.ts'
import { strictJson } from './json.ts'
import { type CallSite, each, type Rule, type Rules, rulesOf } from './signature.ts'
import { interval, intervalParts, movedBy, plainInterval } from '../intervals.ts'
import { duckType, quoteText } from '../../syntax.ts'
import { strftimeOf } from '../../udfs/date-text.ts'

const truncation =
  (type: TimeType): Rule =>
  (site, value, part, inZone) => {
    if (type !== 'TIMESTAMP') return ofDatetime(type, truncate(asDatetime(value, type), part))
    const zone = site.zone(2, inZone)
    const local = toDatetime(value, zone)
    const start = truncate(local, part)
    // Within an hour that comes twice, the difference tells which one it is.
    return zone && timePart(part) ? `(${value} - (${local} - ${start}))` : toTimestamp(start, zone)
  }

const truncationOfDate: Rule = (_, value, part) => truncate(asDatetime(value), part)

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
  const start = truncate(asDatetime(date), part)
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

// Dates and times from and to text, by GoogleSQL's format elements
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements). DuckDB writes what it writes in the same
// way; all else, and all reading, is in `udfs/date-text.ts`.

const [fromDate, fromDatetime, fromTime] = [formatting('DATE'), formatting('DATETIME'), formatting('TIME')]
const fromTimestamp = formatting('TIMESTAMP')

export const dateFormatFunctions: Rules = {
  STRING: [
    (site, timestamp, zone) => {
      if (zone === undefined) return asString('TIMESTAMP', timestamp)
      const { local, minutes } = time.clockTime(timestamp, site.zone(1, zone)!)
      return `(${asString('DATETIME', local)} || regexp_replace(${zoneOffset(minutes)}, ':00$', ''))`
    },
    (_, datetime) => asString('DATETIME', datetime),
    (_, date) => asString('DATE', date),
    (_, value) => asString('TIME', value),
    (_, json) => strictJson(json, ['VARCHAR'], 'VARCHAR'),
  ],
  FORMAT_DATE: [fromDate, fromDatetime, fromTimestamp],
  FORMAT_DATETIME: [fromDatetime, fromTimestamp],
  FORMAT_TIME: fromTime,
  FORMAT_TIMESTAMP: [fromTimestamp, fromDatetime],
  PARSE_DATE: parsing('DATE'),
  PARSE_DATETIME: parsing('DATETIME'),
  PARSE_TIME: parsing('TIME'),
  PARSE_TIMESTAMP: parsing('TIMESTAMP'),
}

function asString(kind: time.TimeType, sql: string): string {
  return convert(typed(sql, kind), { kind: 'STRING' })
}

/** The text of a value: in a literal format that DuckDB can write its own, but for years of fewer than four digits. */
function formatting(type: time.TimeType): Rule {
  return (site, format, value, inZone) => {
    const zone = site.zone(2, inZone) ?? time.utc
    const exact = `gsql_format('${type}', ${format}, ${time.toMicros(type, value)}, ${zone.sql})`
    const duck = strftimeOf(type, site.literal(0) ?? '')
    if (duck === null) return exact
    const datetime =
      type === 'TIMESTAMP' && zone.name !== 'UTC'
        ? time.clockTime(value, zone).local
        : time.asDatetime(value, type)
    return `(CASE WHEN ${datetime} >= TIMESTAMP '1000-01-01' THEN strftime(${datetime}, ${quoteText(duck)}) ELSE ${exact} END)`
  }
}

function parsing(type: time.TimeType): Rule {
  return (site, format, value, inZone) => {
    const text = site.literal(0)
    const given = site.zone(2, inZone) ?? time.utc
    const slow = type === 'TIME' || (type === 'DATE' && /%[HMST]/.test(text ?? ''))
    const read = (zone: time.Zone) => {
      const exact = `gsql_parse('${type}', ${format}, ${value}, ${zone.sql})`
      return slow || zone.name !== 'UTC' ? exact : quickly(site.scope, text, value, exact)
    }
    // DuckDB finds the offset of a named zone, but where the format reads one, or may.
    const named = text !== null && !/%(E?z|Z|s)/.test(text) && !time.isFixedZone(given)
    return named
      ? time.toTimestamp(time.ofMicros('DATETIME', read(time.utc)), given)
      : time.ofMicros(type, read(given))
  }
}

/**
 * Of the commonest formats DuckDB reads most texts as GoogleSQL does; those that it does not read are left to `exact`. Inside TRY
 * DuckDB 1.5.5 leaves memory unwritten where an error is raised in a COALESCE, and rows get the values of others.
 */
function quickly({ lifted }: Scope, format: string | null, value: string, exact: string): string {
  const common = format !== null && /^(?:%[YmdHMSFT]|[^%])*$/.test(format)
  if (!common || !(format.includes('%F') || /%Y.*%m.*%d/.test(format))) return exact
  const duck = format.replaceAll('%F', '%Y-%m-%d').replaceAll('%T', '%H:%M:%S')
  const quick = `epoch_us(try_strptime(${value}, ${quoteText(duck)}))`
  return lifted
    ? `(CASE WHEN ${quick} IS NULL THEN ${exact} ELSE ${quick} END)`
    : `COALESCE(${quick}, ${exact})`
}

function zoneOffset(minutes: string): string {
  const sign = `CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END`
  return `format('{}{:02d}:{:02d}', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60)`
}

/** Date and time functions; those from and to text are in date-formats.ts. */
import type { ScalarName } from '../../../../sql/types.ts'
import { duckType } from '../../syntax.ts'
import { conversions } from '../casts.ts'
import { coerce } from '../coercion.ts'
import { raise, type Typed, typed } from '../context.ts'
import {
  asDate,
  asDatetime,
  asTime,
  boundaries,
  onEpochDay,
  partsOfDay,
  timePart,
  toDatetime,
  toTimestamp,
  truncated,
  wholeParts,
  withinYears,
} from '../dates-and-times.ts'
import { interval, intervalParts, movedBy, plainInterval } from '../intervals.ts'
import {
  applyRule,
  type CallSite,
  each,
  type FunctionRule,
  type FunctionTable,
  named,
  signature,
  type Signature,
} from './signature.ts'

type DateType = 'DATE' | 'DATETIME' | 'TIME' | 'TIMESTAMP'

/** A value truncated to a part, in its own type; a DATE and a TIME have only their own parts. */
const truncations: Record<DateType, (value: string, part: string, zone?: string) => string | null> = {
  DATE: (value, part) => map(timePart(part) ? null : truncated(asDatetime(value), part), asDate),
  DATETIME: (value, part) => truncated(value, part),
  TIME: (value, part) => map(timePart(part) ? truncated(onEpochDay(value), part) : null, asTime),
  TIMESTAMP: (value, part, zone) => {
    const local = toDatetime(value, zone)
    const start = truncated(local, part)
    // Within an hour that comes twice, the difference tells which one it is.
    if (start && zone && timePart(part)) return `(${value} - (${local} - ${start}))`
    return map(start, sql => toTimestamp(sql, zone))
  },
}

function map(sql: string | null, to: (sql: string) => string): string | null {
  return sql === null ? null : to(sql)
}

const truncation = (...types: DateType[]): Signature[] =>
  types.map(type =>
    signature(type === 'TIMESTAMP' ? [type, 'PART', 'STRING?'] : [type, 'PART'], type, truncations[type]),
  )

/** A DATE is taken as a DATETIME, but by its own parts. */
const truncationOfDate = signature(['DATE', 'PART'], 'DATETIME', (value, part) =>
  timePart(part) ? null : truncated(asDatetime(value), part),
)

/** A value moved by an interval. DATE_ADD of a TIMESTAMP is TIMESTAMP_ADD, and so on; only TIME_ADD takes no other. */
const move =
  (type: DateType, operator: '+' | '-') =>
  (site: CallSite): Typed => {
    const given = site.argument(0)
    const other = type !== 'TIME' && given.type && ['DATE', 'DATETIME', 'TIMESTAMP'].includes(given.type.kind)
    const kind = other ? (given.type!.kind as DateType) : type
    const [value, by] = [coerce(given, { kind }), site.argument(1)]
    if (!value || site.call.arguments.length > 2 || by.type?.kind !== 'INTERVAL')
      throw site.noMatch([given, by])
    const node = site.call.arguments[1]!
    if (node.kind === 'IntervalLiteral' && node.to)
      throw site.invalid(`${site.name} takes an INTERVAL of one part`, node)
    if (node.kind === 'IntervalLiteral' && !moves(kind, node.part))
      throw site.invalid(
        `${site.name} does not support the ${node.part} date part for a ${kind}${movedInstead(site, kind, node.part)}`,
        node,
      )
    if (kind === 'TIME') return typed(`(${value.sql} ${operator} ${withinDay(site, by)})`, kind)
    const moved = withinYears(movedBy(value.sql, operator, by), kind === 'TIMESTAMP' ? kind : 'DATETIME')
    return typed(kind === 'DATE' ? asDate(moved) : moved, kind)
  }

/** A DATETIME moves by every part. */
function movedInstead({ name }: CallSite, kind: DateType, part: string): string {
  if (kind === 'TIME') return ''
  const moved = `${name.replace(/^[A-Z]+/, 'DATETIME')}(DATETIME(x), INTERVAL 1 ${part})`
  return `: write ${kind === 'TIMESTAMP' ? `TIMESTAMP(${moved})` : moved}`
}

/** An INTERVAL of one part without its whole days, which move no TIME: DuckDB's reach only so far. */
function withinDay({ context, scope, call }: CallSite, by: Typed): string {
  const [, node] = call.arguments
  if (node?.kind !== 'IntervalLiteral' || node.value.kind === 'Literal') return plainInterval(by)
  const count = coerce(context.expression(node.value, scope), { kind: 'INT64' })!
  return interval(`(${count.sql} % ${partsOfDay(node.part)})`, node.part)!
}

/** Whether values of a type move by a part: a DATE has no hours, and for a TIMESTAMP months have no one length. */
function moves(type: DateType, part: string): boolean {
  if (type === 'DATETIME') return true
  if (type === 'DATE') return !timePart(part)
  return timePart(part) || (type === 'TIMESTAMP' && part === 'DAY')
}

const hasOneLength = (part: string) => timePart(part) || part === 'DAY' || part === 'WEEK'

const timestampDifference = signature(['TIMESTAMP', 'TIMESTAMP', 'PART'], 'INT64', (to, from, part) =>
  wholeParts(from, to, part),
)

/**
 * The beginning of the bucket that a value is in; buckets are counted from an origin on. DuckDB has those of one length, which
 * are the common ones; its buckets of months end on other days than GoogleSQL's.
 */
const bucket =
  (...types: Exclude<DateType, 'TIME'>[]) =>
  (site: CallSite): Typed => {
    const width = site.call.arguments[1]
    const part = width?.kind === 'IntervalLiteral' && !width.to ? width.part : null
    const by = plainInterval(site.argument(1))
    const rule = (type: (typeof types)[number]) =>
      signature([type, 'INTERVAL', `${type}?`], type, (at, _, origin = `CAST('1950-01-01' AS DATE)`) => {
        if (part && !(type === 'DATE' ? !timePart(part) : type === 'DATETIME' || hasOneLength(part)))
          return null
        const kind = type === 'TIMESTAMP' ? type : 'DATETIME'
        const [value, start] = [at, origin].map(sql => `CAST(${sql} AS ${duckType({ kind })})`) as [
          string,
          string,
        ]
        const { months, days, micros } = intervalParts(by)
        const begin =
          part && hasOneLength(part)
            ? withinYears(`time_bucket(${by}, ${value}, ${start})`, kind)
            : `make_timestamp${kind === type ? 'tz' : ''}(gsql_bucket('${type}', epoch_us(${value}), ${months}, ${days}, ${micros}, epoch_us(${start})))`
        return type === 'DATE' ? asDate(begin) : begin
      })
    return applyRule(site, types.map(rule))
  }

/** Counts boundaries of a part that are crossed; TIMESTAMP_DIFF counts whole parts. */
const difference = (type: Exclude<DateType, 'TIMESTAMP'>) =>
  signature([type, type, 'PART'], 'INT64', (to, from, part) => {
    if (type !== 'DATETIME' && timePart(part) !== (type === 'TIME')) return null
    const cast = type === 'TIME' ? onEpochDay : asDatetime
    return boundaries(cast(from), cast(to), part)
  })

const unix = (per: number) =>
  signature(['TIMESTAMP'], 'INT64', timestamp => {
    const micros = `epoch_us(${timestamp})`
    // Rounds down, also before 1970, where DuckDB's `//` rounds towards zero.
    return per === 1 ? micros : `((${micros} - (${micros} % ${per} + ${per}) % ${per}) // ${per})`
  })

const fromUnix = (micros: number) =>
  signature(['INT64'], 'TIMESTAMP', count => `make_timestamptz(${count} * ${micros})`)

/** An hour of a day; DuckDB also takes 24. */
const ofDay = (hour: string) =>
  `(CASE WHEN ${hour} > 23 THEN ${raise('A number is out of range')} ELSE ${hour} END)`

export const dateFunctions: FunctionTable = {
  CURRENT_DATE: current('DATE', asDate),
  CURRENT_DATETIME: current('DATETIME', datetime => datetime),
  CURRENT_TIME: current('TIME', asTime),
  CURRENT_TIMESTAMP: site => typed(site.context.now, 'TIMESTAMP'),

  DATE: [
    signature(['DATE'], 'DATE', date => date),
    signature(['DATETIME'], 'DATE', asDate),
    signature(['TIMESTAMP', 'STRING?'], 'DATE', (timestamp, zone) => asDate(toDatetime(timestamp, zone))),
    // Of the text of a DATETIME or a TIMESTAMP too.
    signature(['STRING'], 'DATE', text =>
      asDate(toDatetime(conversions['STRING>TIMESTAMP']!(text, 'TIMESTAMPTZ'))),
    ),
    signature(['INT64', 'INT64', 'INT64'], 'DATE', (...parts) => `make_date(${parts.join(', ')})`),
  ],
  DATETIME: [
    signature(['DATETIME'], 'DATETIME', datetime => datetime),
    signature(['TIMESTAMP', 'STRING?'], 'DATETIME', (timestamp, zone) => toDatetime(timestamp, zone)),
    signature(['DATE'], 'DATETIME', asDatetime),
    signature(['DATE', 'TIME'], 'DATETIME', (date, time) => `(${date} + ${time})`),
    signature(['STRING'], 'DATETIME', text => conversions['STRING>DATETIME']!(text, 'TIMESTAMP')),
    signature(
      ['INT64', 'INT64', 'INT64', 'INT64', 'INT64', 'INT64'],
      'DATETIME',
      (year, month, day, hour, ...rest) =>
        `make_timestamp(${[year, month, day, ofDay(hour), ...rest].join(', ')})`,
    ),
  ],
  TIME: [
    signature(['TIME'], 'TIME', time => time),
    signature(['DATETIME'], 'TIME', asTime),
    signature(['TIMESTAMP', 'STRING?'], 'TIME', (timestamp, zone) => asTime(toDatetime(timestamp, zone))),
    signature(
      ['INT64', 'INT64', 'INT64'],
      'TIME',
      (hour, ...rest) => `make_time(${[ofDay(hour), ...rest].join(', ')})`,
    ),
  ],
  TIMESTAMP: [
    signature(['TIMESTAMP'], 'TIMESTAMP', timestamp => timestamp),
    signature(['STRING'], 'TIMESTAMP', text => conversions['STRING>TIMESTAMP']!(text, 'TIMESTAMPTZ')),
    signature(['DATETIME', 'STRING?'], 'TIMESTAMP', (datetime, zone) => toTimestamp(datetime, zone)),
    signature(['STRING', 'STRING'], 'TIMESTAMP', (text, zone) =>
      toTimestamp(conversions['STRING>DATETIME']!(text, 'TIMESTAMP'), zone),
    ),
  ],

  DATE_ADD: move('DATE', '+'),
  DATE_SUB: move('DATE', '-'),
  DATETIME_ADD: move('DATETIME', '+'),
  DATETIME_SUB: move('DATETIME', '-'),
  TIME_ADD: move('TIME', '+'),
  TIME_SUB: move('TIME', '-'),
  TIMESTAMP_ADD: move('TIMESTAMP', '+'),
  TIMESTAMP_SUB: move('TIMESTAMP', '-'),

  DATE_DIFF: [difference('DATE'), difference('DATETIME'), timestampDifference],
  DATETIME_DIFF: [difference('DATETIME'), timestampDifference],
  TIME_DIFF: difference('TIME'),
  DATE_BUCKET: bucket('DATE', 'DATETIME', 'TIMESTAMP'),
  DATETIME_BUCKET: bucket('DATETIME', 'TIMESTAMP'),
  TIMESTAMP_BUCKET: bucket('TIMESTAMP', 'DATETIME'),
  TIMESTAMP_DIFF: [timestampDifference, difference('DATETIME')],

  DATE_TRUNC: truncation('DATE', 'DATETIME', 'TIMESTAMP'),
  DATETIME_TRUNC: [...truncation('DATETIME', 'TIMESTAMP'), truncationOfDate],
  TIME_TRUNC: truncation('TIME'),
  TIMESTAMP_TRUNC: [...truncation('TIMESTAMP', 'DATETIME'), truncationOfDate],
  LAST_DAY: (['DATE', 'DATETIME'] as const).map(type =>
    signature([type, 'PART?'], 'DATE', (date, part = 'MONTH') => {
      const start = truncated(asDatetime(date), part)
      if (part === 'ISOYEAR') return asDate(`(date_trunc('isoyear', ${start} + to_days(380)) - to_days(1))`)
      const length = interval('1', part.startsWith('WEEK') || part === 'ISOWEEK' ? 'WEEK' : part)
      return start && length && !timePart(part) ? asDate(`(${start} + ${length} - to_days(1))`) : null
    }),
  ),

  ...each('JUSTIFY_DAYS JUSTIFY_HOURS JUSTIFY_INTERVAL', duck =>
    named(`gsql_${duck}`, ['INTERVAL'], 'INTERVAL'),
  ),
  MAKE_INTERVAL: makeInterval,

  DATE_FROM_UNIX_DATE: signature(['INT64'], 'DATE', days => `(DATE '1970-01-01' + CAST(${days} AS INTEGER))`),
  TIMESTAMP_MICROS: fromUnix(1),
  TIMESTAMP_MILLIS: fromUnix(1000),
  TIMESTAMP_SECONDS: fromUnix(1_000_000),
  UNIX_DATE: signature(['DATE'], 'INT64', date => `date_diff('day', DATE '1970-01-01', ${date})`),
  UNIX_MICROS: unix(1),
  UNIX_MILLIS: unix(1000),
  UNIX_SECONDS: unix(1_000_000),
}

/** Of years, months, days, hours, minutes and seconds, by place or by name. */
function makeInterval(site: CallSite): Typed {
  const given = site.allArguments()
  const parts = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((part, at) => {
    const value = given[at] && coerce(given[at], { kind: 'INT64' })
    if (value === null) throw site.noMatch(given)
    return site.option(part, 'INT64', value?.sql ?? 'CAST(0 AS BIGINT)')
  })
  if (given.length > parts.length) throw site.noMatch(given)
  return typed(`gsql_interval_made(${parts.join(', ')})`, 'INTERVAL')
}

/** The current time, in a time zone if one is given, as a type. */
function current(type: ScalarName, from: (datetime: string) => string): FunctionRule {
  return site => {
    const zone = site.call.arguments.length > 0 ? site.argument(0).sql : undefined
    return typed(from(toDatetime(site.context.now, zone)), type)
  }
}

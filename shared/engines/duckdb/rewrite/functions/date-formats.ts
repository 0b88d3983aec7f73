/**
 * Dates and times from and to text, by GoogleSQL's format elements
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements). DuckDB writes what it writes in the same
 * way; all else, and all reading, is in `duckdb/udfs/date-text.ts`.
 */
import { quoteText } from '../../syntax.ts'
import {
  asDate,
  asDatetime,
  asTime,
  datetimeText,
  isFixedZone,
  onEpochDay,
  toDatetime,
  toTimestamp,
  zoned,
} from '../dates-and-times.ts'
import { strictJson } from './json.ts'
import type { CallSite, Rule, Rules, Templates } from './signature.ts'

const itself = (datetime: string) => datetime

const datetimeFormat = '%Y-%m-%d %H:%M:%S'

export const dateFormatTemplates: Templates = {
  STRING: [
    (timestamp, zone?: string) => {
      if (zone === undefined) return `(${datetimeText(toDatetime(timestamp), datetimeFormat)} || '+00')`
      const { local, minutes } = zoned(timestamp, zone)
      return `(${datetimeText(local, datetimeFormat)} || regexp_replace(${zoneOffset(minutes, ':')}, ':00$', ''))`
    },
    datetime => datetimeText(datetime, datetimeFormat),
    date => `CAST(${date} AS VARCHAR)`,
    time => datetimeText(onEpochDay(time), '%H:%M:%S'),
    json => strictJson(json, ['VARCHAR'], 'VARCHAR'),
  ],
}

export const dateFormatRules: Rules = {
  FORMAT_DATE: [formatting('DATE', asDatetime), formatting('DATETIME'), formatTimestamp],
  FORMAT_DATETIME: [formatting('DATETIME'), formatTimestamp],
  FORMAT_TIME: formatting('TIME', onEpochDay),
  FORMAT_TIMESTAMP: [
    formatTimestamp,
    (site, format, datetime, zone) => formatTimestamp(site, format, toTimestamp(datetime), zone),
  ],
  PARSE_DATE: parsing('DATE', asDate),
  PARSE_DATETIME: parsing('DATETIME'),
  PARSE_TIME: parsing('TIME', asTime),
  PARSE_TIMESTAMP: parseTimestamp,
}

type CivilType = 'DATE' | 'DATETIME' | 'TIME'

/** The text of a value. */
function formatting(type: CivilType, toDatetime = itself): Rule {
  return (site, format, value) => {
    const datetime = toDatetime(value)
    const exact = `gsql_format_${type.toLowerCase()}(${format}, epoch_us(${datetime}))`
    return formatted(type, site.literal(0), { sql: datetime, minutes: null }, exact)
  }
}

function formatTimestamp(site: CallSite, format: string, timestamp: string, zone = `'UTC'`): string {
  const exact = `gsql_format_timestamp(${format}, epoch_us(${timestamp}), ${zone})`
  return formatted('TIMESTAMP', site.literal(0), inZone(timestamp, zone), exact)
}

function inZone(timestamp: string, zone: string): ZonedDatetime {
  if (zone === `'UTC'`) return { sql: toDatetime(timestamp), minutes: '0' }
  const { local, minutes } = zoned(timestamp, zone)
  return { sql: local, minutes }
}

function parsing(type: CivilType, fromDatetime = itself): Rule {
  return (site, format, value) => {
    const text = site.literal(0)
    const exact = `gsql_parse_${type.toLowerCase()}(${format}, ${value})`
    const slow = type === 'TIME' || (type === 'DATE' && /%[HMST]/.test(text ?? ''))
    return fromDatetime(`make_timestamp(${slow ? exact : quickly(text, value, exact)})`)
  }
}

/** Of the commonest formats DuckDB reads most texts as GoogleSQL does; those that it does not read are left to `exact`. */
function quickly(format: string | null, value: string, exact: string): string {
  const common = format !== null && /^(?:%[YmdHMSFT]|[^%])*$/.test(format)
  if (!common || !(format.includes('%F') || /%Y.*%m.*%d/.test(format))) return exact
  const duck = format.replaceAll('%F', '%Y-%m-%d').replaceAll('%T', '%H:%M:%S')
  return `COALESCE(epoch_us(try_strptime(${value}, ${quoteText(duck)})), ${exact})`
}

/** DuckDB finds the offset of a named zone, but where the format reads one, or may. */
function parseTimestamp(site: CallSite, format: string, value: string, zone = `'UTC'`): string {
  const text = site.literal(0)
  const read = (zone: string) => {
    const exact = `gsql_parse_timestamp(${format}, ${value}, ${zone})`
    return zone === `'UTC'` ? quickly(text, value, exact) : exact
  }
  const named = text !== null && !/%(E?z|Z|s)/.test(text) && !isFixedZone(zone)
  return named ? toTimestamp(`make_timestamp(${read(`'UTC'`)})`, zone) : `make_timestamptz(${read(zone)})`
}

/** The DATETIME to format, as DuckDB SQL, and how many minutes it is ahead of UTC. */
interface ZonedDatetime {
  sql: string
  minutes: string | null
}

/** Elements that stand for others. */
const longhand: Record<string, string> = {
  '%c': '%a %b %e %H:%M:%S %Y',
  '%D': '%m/%d/%y',
  '%F': '%Y-%m-%d',
  '%h': '%b',
  '%R': '%H:%M',
  '%T': '%H:%M:%S',
  '%x': '%m/%d/%y',
  '%X': '%H:%M:%S',
}

/** Elements that mean the same in DuckDB's strftime, under its name, for years of four digits. */
const formatElements: Record<string, string> = {
  ...same('%A %a %B %b %d %H %I %j %M %m %p %S %u %U %V %W %w %Y %y %%'),
  '%E3S': '%S.%g',
  '%E6S': '%S.%f',
}

/** Elements that have a part of the date, and those that have one of the time of day. */
const ofDate = /^%[AaBbdjmUuVWwYyeQ]$/
const ofTime = /^%(?:[HIMpSkl]|E[36*]S)$/

/** Elements that take an expression of their own. */
const computedElements: Record<string, (datetime: ZonedDatetime) => string | null> = {
  '%e': ({ sql }) => `lpad(strftime(${sql}, '%-d'), 2, ' ')`,
  '%k': ({ sql }) => `lpad(strftime(${sql}, '%-H'), 2, ' ')`,
  '%l': ({ sql }) => `lpad(strftime(${sql}, '%-I'), 2, ' ')`,
  '%Q': ({ sql }) => `CAST(extract('quarter' FROM ${sql}) AS VARCHAR)`,
  '%E*S': ({ sql }) => `rtrim(rtrim(strftime(${sql}, '%S.%f'), '0'), '.')`,
  '%z': ({ sql, minutes }) => minutes && unlessNull(sql, zoneOffset(minutes, '')),
  '%Ez': ({ sql, minutes }) => minutes && unlessNull(sql, zoneOffset(minutes, ':')),
}

const unlessNull = (value: string, sql: string) => `CASE WHEN ${value} IS NOT NULL THEN ${sql} END`

function zoneOffset(minutes: string, between: string): string {
  const sign = `CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END`
  return `format('{}{:02d}${between}{:02d}', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60)`
}

function same(elements: string): Record<string, string> {
  return Object.fromEntries(elements.split(' ').map(element => [element, element]))
}

/** The elements and the plain text between them. */
function split(format: string): string[] {
  const pieces = format.match(/%E(?:\*S|\dS|z)|%[^]|[^%]+|%/gu) ?? []
  return pieces.flatMap(piece => (Object.hasOwn(longhand, piece) ? split(longhand[piece]!) : [piece]))
}

/** Text of a DATETIME in a literal format that DuckDB can write; else, and for years of fewer than four digits, `exact`. */
function formatted(type: string, format: string | null, datetime: ZonedDatetime, exact: string): string {
  const pieces = split(format ?? '%')
  const parts: string[] = []
  let plain = ''
  const flush = () => {
    if (plain) parts.push(`strftime(${datetime.sql}, ${quoteText(plain)})`)
    plain = ''
  }
  for (const piece of pieces) {
    if ((type === 'TIME' && ofDate.test(piece)) || (type === 'DATE' && ofTime.test(piece))) return exact
    const known = piece.startsWith('%') ? formatElements[piece] : piece.replaceAll('%', '%%')
    if (known !== undefined) plain += known
    else {
      const part = Object.hasOwn(computedElements, piece) ? computedElements[piece]!(datetime) : null
      if (part === null) return exact
      flush()
      parts.push(part)
    }
  }
  flush()
  if (parts.length === 0) return exact
  return `(CASE WHEN ${datetime.sql} >= TIMESTAMP '1000-01-01' THEN ${parts.join(' || ')} ELSE ${exact} END)`
}

/**
 * Dates and times from and to text, by GoogleSQL's format elements
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements).
 */
import type { ScalarName } from '../../../../sql/types.ts'
import { quoteText } from '../../syntax.ts'
import { coerce } from '../coercion.ts'
import { type Typed, typed } from '../context.ts'
import {
  asDate,
  asDatetime,
  asTime,
  datetimeText,
  onEpochDay,
  toDatetime,
  toTimestamp,
} from '../dates-and-times.ts'
import { type CallSite, type FunctionRule, type FunctionTable, signature } from './signature.ts'

const datetimeFormat = '%Y-%m-%d %H:%M:%S'

export const dateFormatFunctions = {
  FORMAT_DATE: formatting('DATE', asDatetime),
  FORMAT_DATETIME: formatting('DATETIME', datetime => datetime),
  FORMAT_TIME: formatting('TIME', onEpochDay),
  FORMAT_TIMESTAMP: formatTimestamp,
  PARSE_DATE: parsing('DATE', asDate),
  PARSE_DATETIME: parsing('DATETIME', datetime => datetime),
  PARSE_TIME: parsing('TIME', asTime),
  PARSE_TIMESTAMP: parseTimestamp,

  STRING: [
    signature(
      ['TIMESTAMP'],
      'STRING',
      timestamp => `(${datetimeText(toDatetime(timestamp), datetimeFormat)} || '+00')`,
    ),
    signature(['TIMESTAMP', 'STRING'], 'STRING', (timestamp, zone) => {
      const local = toDatetime(timestamp, zone)
      const minutes = minutesAhead(local, timestamp)
      return `(${datetimeText(local, datetimeFormat)} || regexp_replace(${zoneOffset(minutes, ':')}, ':00$', ''))`
    }),
    signature(['DATETIME'], 'STRING', datetime => datetimeText(datetime, datetimeFormat)),
    signature(['DATE'], 'STRING', date => `CAST(${date} AS VARCHAR)`),
    signature(['TIME'], 'STRING', time => datetimeText(onEpochDay(time), '%H:%M:%S')),
  ],
} satisfies FunctionTable

function formatting(type: ScalarName, toDatetime: (sql: string) => string): FunctionRule {
  return site => formatted(site, { sql: toDatetime(argumentAs(site, 1, type)), offset: null })
}

function formatTimestamp(site: CallSite): Typed {
  const timestamp = argumentAs(site, 1, 'TIMESTAMP')
  if (site.call.arguments.length < 3) return formatted(site, { sql: toDatetime(timestamp), offset: '0' })
  const sql = toDatetime(timestamp, site.argument(2).sql)
  return formatted(site, { sql, offset: minutesAhead(sql, timestamp) })
}

/** How far the clocks of a zone are ahead of UTC. */
function minutesAhead(local: string, timestamp: string): string {
  return `((epoch_us(${local}) - epoch_us(${timestamp})) // 60000000)`
}

function parsing(type: ScalarName, fromDatetime: (sql: string) => string): FunctionRule {
  return site => typed(fromDatetime(parsed(site).sql), type)
}

function parseTimestamp(site: CallSite): Typed {
  if (site.literalText(site.call.arguments[0]) === '%s')
    return typed(`make_timestamptz(CAST(${argumentAs(site, 1, 'STRING')} AS BIGINT) * 1000000)`, 'TIMESTAMP')
  const { sql, zoned } = parsed(site)
  const zone = site.call.arguments.length > 2 ? site.argument(2).sql : undefined
  return typed(zoned ? sql : toTimestamp(sql, zone), 'TIMESTAMP')
}

/** The SQL of an argument as a type. Throws SqlError if it is not of that type. */
function argumentAs(site: CallSite, at: number, type: ScalarName): string {
  const value = site.argument(at)
  const coerced = coerce(value, { kind: type })
  if (!coerced) throw site.noMatch([value])
  return coerced.sql
}

/** The DATETIME to format, as DuckDB SQL, and how far it is ahead of UTC, in minutes. */
interface ZonedDatetime {
  sql: string
  offset: string | null
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
  '%E4Y': '%Y',
}

/** Elements that mean the same in DuckDB's strftime, under its name. */
const formatElements: Record<string, string> = {
  ...same('%A %a %B %b %d %G %H %I %j %M %m %p %S %u %U %V %W %w %Y %y %%'),
  '%E0S': '%S',
  '%E3S': '%S.%g',
  '%E6S': '%S.%f',
  '%n': '\n',
  '%t': '\t',
}

/** Elements that take an expression of their own. */
const computedElements: Record<string, (datetime: ZonedDatetime) => string | null> = {
  '%C': ({ sql }) => `lpad(CAST(extract('year' FROM ${sql}) // 100 AS VARCHAR), 2, '0')`,
  '%e': ({ sql }) => `lpad(strftime(${sql}, '%-d'), 2, ' ')`,
  '%k': ({ sql }) => `lpad(strftime(${sql}, '%-H'), 2, ' ')`,
  '%l': ({ sql }) => `lpad(strftime(${sql}, '%-I'), 2, ' ')`,
  '%P': ({ sql }) => `lower(strftime(${sql}, '%p'))`,
  '%Q': ({ sql }) => `CAST(extract('quarter' FROM ${sql}) AS VARCHAR)`,
  '%g': ({ sql }) => `right(strftime(${sql}, '%G'), 2)`,
  '%E*S': ({ sql }) => `rtrim(rtrim(strftime(${sql}, '%S.%f'), '0'), '.')`,
  '%s': ({ sql, offset }) => `CAST(${floorSeconds(sql)} - 60 * ${offset ?? '0'} AS VARCHAR)`,
  '%z': ({ sql, offset }) => offset && unlessNull(sql, zoneOffset(offset, '')),
  '%Ez': ({ sql, offset }) => offset && unlessNull(sql, zoneOffset(offset, ':')),
  '%Z': ({ sql, offset }) => offset && unlessNull(sql, zoneName(offset)),
}

const unlessNull = (value: string, sql: string) => `CASE WHEN ${value} IS NOT NULL THEN ${sql} END`

/** `UTC`, `UTC+1` or `UTC+0530`. */
function zoneName(minutes: string): string {
  const parts = `format('{:02d}{:02d}', abs(${minutes}) // 60, abs(${minutes}) % 60)`
  const short = `regexp_replace(regexp_replace(${parts}, '^0?(\\d+)00$', '\\1'), '^0$', '')`
  return `('UTC' || CASE WHEN ${minutes} > 0 THEN '+' WHEN ${minutes} < 0 THEN '-' ELSE '' END || CASE WHEN ${minutes} = 0 THEN '' ELSE ${short} END)`
}

/** Whole seconds since 1970, rounded down before it too. */
function floorSeconds(datetime: string): string {
  const micros = `epoch_us(${datetime})`
  return `((${micros} - (${micros} % 1000000 + 1000000) % 1000000) // 1000000)`
}

function zoneOffset(minutes: string, between: string): string {
  const sign = `CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END`
  return `format('{}{:02d}${between}{:02d}', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60)`
}

function same(elements: string): Record<string, string> {
  return Object.fromEntries(elements.split(' ').map(element => [element, element]))
}

/** The elements and the plain text between them. */
function split(format: string): string[] {
  const pieces = format.match(/%E(?:\*S|#S|\dS|4Y|z)|%[OE]?.|[^%]+|%/gsu) ?? []
  return pieces.flatMap(piece => (Object.hasOwn(longhand, piece) ? split(longhand[piece]!) : [piece]))
}

/** Text of a DATETIME in the format of a call. Throws UnsupportedError for an element that cannot be written. */
function formatted(site: CallSite, datetime: ZonedDatetime): Typed {
  const parts: string[] = []
  let plain = ''
  const flush = () => {
    if (plain) parts.push(`strftime(${datetime.sql}, ${quoteText(plain)})`)
    plain = ''
  }
  for (const piece of split(site.literalText(site.call.arguments[0]))) {
    const same = piece.startsWith('%') ? formatElements[piece] : piece
    if (same !== undefined) plain += same
    else {
      const sql = computedElements[piece]?.(datetime)
      if (!sql) throw site.unsupported(`${piece} in ${site.name}`)
      flush()
      parts.push(sql)
    }
  }
  flush()
  if (parts.length === 0) parts.push(`CASE WHEN ${datetime.sql} IS NOT NULL THEN '' END`)
  return typed(`(${parts.join(' || ')})`, 'STRING')
}

/** Elements as DuckDB's strptime reads them. */
const parseElements: Record<string, string> = {
  ...same('%A %a %B %b %d %H %I %j %M %m %p %S %Y %y %z %%'),
  '%e': '%-d',
  '%k': '%-H',
  '%l': '%-I',
  '%P': '%p',
  '%Ez': '%z',
  '%n': ' ',
  '%t': ' ',
}

/**
 * The DATETIME that a call parses, or the TIMESTAMP if its format has an offset from UTC (`zoned`). DuckDB tries formats
 * in order: with and without a fraction of a second. Throws UnsupportedError for an element that cannot be read.
 */
function parsed(site: CallSite): { sql: string; zoned: boolean } {
  const pieces = split(site.literalText(site.call.arguments[0]))
  let formats = ['']
  for (const piece of pieces) {
    const fraction = /^%E(?:\*|#|\d)S$/.test(piece)
    const known = piece.startsWith('%') ? parseElements[piece] : piece
    if (fraction) formats = formats.flatMap(start => [`${start}%S.%f`, `${start}%S`])
    else if (known === undefined) throw site.unsupported(`${piece} in ${site.name}`)
    else formats = formats.map(start => start + known)
  }
  const zoned = pieces.some(piece => piece === '%z' || piece === '%Ez')
  // In the place of an offset, GoogleSQL also reads the Z of UTC.
  if (zoned) formats = formats.flatMap(format => [format, format.replaceAll('%z', 'Z')])
  const text = argumentAs(site, 1, 'STRING')
  // Without a year the date is in 1970; DuckDB's would be in 1900.
  const year = pieces.some(piece => /^%(Y|y|E4Y)$/.test(piece))
  const list = formats.map(format => quoteText(year ? format : `%Y ${format}`)).join(', ')
  return { sql: `strptime(${year ? text : `'1970 ' || ${text}`}, [${list}])`, zoned }
}

/** Dates and times from and to text. */
import type { ScalarName } from '../../../../sql/types.ts'
import { asClock, asDate, asTime, clockText, momentOf, onSomeDay, wallClock } from '../dates-and-times.ts'
import { coerce } from '../coercion.ts'
import { type Typed, typed, unsupported } from '../context.ts'
import {
  argument,
  type CallSite,
  type FunctionRule,
  type FunctionTable,
  literalText,
  noMatch,
  signature,
} from './signature.ts'
import { quoteText } from '../../syntax.ts'

const clockTime = '%Y-%m-%d %H:%M:%S'

export const dateTextFunctions: FunctionTable = {
  FORMAT_DATE: formatting('DATE', asClock),
  FORMAT_DATETIME: formatting('DATETIME', clock => clock),
  FORMAT_TIME: formatting('TIME', onSomeDay),
  FORMAT_TIMESTAMP: formatTimestamp,
  PARSE_DATE: parsing('DATE', asDate),
  PARSE_DATETIME: parsing('DATETIME', clock => clock),
  PARSE_TIME: parsing('TIME', asTime),
  PARSE_TIMESTAMP: parseTimestamp,

  STRING: [
    signature(['TIMESTAMP'], 'STRING', moment => `(${clockText(wallClock(moment), clockTime)} || '+00')`),
    signature(['DATETIME'], 'STRING', clock => clockText(clock, clockTime)),
    signature(['DATE'], 'STRING', date => `CAST(${date} AS VARCHAR)`),
    signature(['TIME'], 'STRING', time => clockText(onSomeDay(time), '%H:%M:%S')),
  ],
}

function formatting(type: ScalarName, toClock: (sql: string) => string): FunctionRule {
  return site => {
    const value = applied(site, 1, type)
    return formatBy(site, { sql: toClock(value), offset: null })
  }
}

function formatTimestamp(site: CallSite): Typed {
  const moment = applied(site, 1, 'TIMESTAMP')
  if (site.call.arguments.length < 3) return formatBy(site, { sql: wallClock(moment), offset: '0' })
  const clock = wallClock(moment, argument(site, 2).sql)
  return formatBy(site, { sql: clock, offset: `((epoch_us(${clock}) - epoch_us(${moment})) // 60000000)` })
}

function formatBy(site: CallSite, clock: Clock): Typed {
  const result = formatClock(clock, literalText(site, site.call.arguments[0]))
  if ('unknown' in result) throw unsupported(site.context, site.call, `${result.unknown} in ${site.name}`)
  return typed(result.sql, 'STRING')
}

function parsing(type: ScalarName, fromClock: (sql: string) => string): FunctionRule {
  return site => typed(fromClock(parseBy(site).sql), type)
}

function parseTimestamp(site: CallSite): Typed {
  const { sql, zoned } = parseBy(site)
  const zone = site.call.arguments.length > 2 ? argument(site, 2).sql : null
  return typed(zoned ? sql : momentOf(sql, zone), 'TIMESTAMP')
}

function parseBy(site: CallSite): { sql: string; zoned: boolean } {
  const result = parseFormats(literalText(site, site.call.arguments[0]))
  if ('unknown' in result) throw unsupported(site.context, site.call, `${result.unknown} in ${site.name}`)
  const formats = result.formats.map(quoteText).join(', ')
  return { sql: `strptime(${applied(site, 1, 'STRING')}, [${formats}])`, zoned: result.zoned }
}

/** An argument as a type. Throws SqlError if it is not of that type. */
function applied(site: CallSite, at: number, type: ScalarName): string {
  const value = argument(site, at)
  const coerced = coerce(value, { kind: type })
  if (!coerced) throw noMatch(site, [value])
  return coerced.sql
}

/**
 * GoogleSQL's format elements as DuckDB's, or as an expression where DuckDB has none
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements).
 */

/** What is formatted: a wall clock in DuckDB SQL, and how far it is ahead of UTC, in minutes. */
export interface Clock {
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
const formatted: Record<string, string> = {
  ...same('%A %a %B %b %d %G %H %I %j %M %m %p %S %u %U %V %W %w %Y %y %%'),
  '%E3S': '%S.%g',
  '%E6S': '%S.%f',
  '%n': '\n',
  '%t': '\t',
}

/** Elements that take an expression over the wall clock. */
const computed: Record<string, (clock: Clock) => string | null> = {
  '%C': ({ sql }) => `lpad(CAST(extract('year' FROM ${sql}) // 100 AS VARCHAR), 2, '0')`,
  '%e': ({ sql }) => `lpad(strftime(${sql}, '%-d'), 2, ' ')`,
  '%k': ({ sql }) => `lpad(strftime(${sql}, '%-H'), 2, ' ')`,
  '%l': ({ sql }) => `lpad(strftime(${sql}, '%-I'), 2, ' ')`,
  '%P': ({ sql }) => `lower(strftime(${sql}, '%p'))`,
  '%Q': ({ sql }) => `CAST(extract('quarter' FROM ${sql}) AS VARCHAR)`,
  '%g': ({ sql }) => `right(strftime(${sql}, '%G'), 2)`,
  '%E*S': ({ sql }) => `rtrim(rtrim(strftime(${sql}, '%S.%f'), '0'), '.')`,
  '%s': ({ sql, offset }) => offset && `CAST((epoch_us(${sql}) // 1000000) - 60 * ${offset} AS VARCHAR)`,
  '%z': ({ offset }) => offset && zoneOffset(offset, ''),
  '%Ez': ({ offset }) => offset && zoneOffset(offset, ':'),
  '%Z': ({ offset }) => (offset === '0' ? `'UTC'` : null),
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
  return pieces.flatMap(piece => (longhand[piece] ? split(longhand[piece]) : [piece]))
}

/** Text of a clock in a format, as DuckDB SQL; or the element that cannot be written. */
export function formatClock(clock: Clock, format: string): { sql: string } | { unknown: string } {
  const parts: string[] = []
  let plain = ''
  for (const piece of split(format)) {
    const same = piece.startsWith('%') ? formatted[piece] : piece
    if (same !== undefined) {
      plain += same
      continue
    }
    const sql = computed[piece]?.(clock)
    if (!sql) return { unknown: piece }
    if (plain) parts.push(`strftime(${clock.sql}, ${quoteText(plain)})`)
    plain = ''
    parts.push(sql)
  }
  if (plain) parts.push(`strftime(${clock.sql}, ${quoteText(plain)})`)
  else if (parts.length === 0) parts.push(`CASE WHEN ${clock.sql} IS NOT NULL THEN '' END`)
  return { sql: `(${parts.join(' || ')})` }
}

/** Elements as DuckDB's strptime reads them. */
const parsed: Record<string, string> = {
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
 * What strptime needs to read text in a format: alternatives to try in order (with and without a fraction), and
 * whether the text names its own offset from UTC; or the element that cannot be read.
 */
export function parseFormats(format: string): { formats: string[]; zoned: boolean } | { unknown: string } {
  let formats = ['']
  const pieces = split(format)
  for (const piece of pieces) {
    const fraction = /^%E(?:\*|#|\d)S$/.test(piece)
    const known = piece.startsWith('%') ? parsed[piece] : piece
    if (fraction) formats = formats.flatMap(start => [`${start}%S.%f`, `${start}%S`])
    else if (known === undefined) return { unknown: piece }
    else formats = formats.map(start => start + known)
  }
  return { formats, zoned: pieces.some(piece => piece === '%z' || piece === '%Ez') }
}

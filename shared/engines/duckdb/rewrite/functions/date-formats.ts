/**
 * Dates and times from and to text, by GoogleSQL's format elements
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements). DuckDB writes what it writes in the same
 * way; all else, and all reading, is in `duckdb/udfs/date-text.ts`.
 */
import type { ScalarName } from '../../../../sql/types.ts'
import { quoteText } from '../../syntax.ts'
import { repeated } from '../repeats.ts'
import { convert } from '../casts.ts'
import { coerce } from '../coercion.ts'
import { type Typed, typed } from '../context.ts'
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
import { type CallSite, type FunctionRule, type FunctionTable, signature } from './signature.ts'

const datetimeFormat = '%Y-%m-%d %H:%M:%S'

export const dateFormatFunctions = {
  FORMAT_DATE: formattingAny('DATE', asDatetime),
  FORMAT_DATETIME: formattingAny('DATETIME', datetime => datetime),
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
      const { local, minutes } = zoned(timestamp, zone)
      return `(${datetimeText(local, datetimeFormat)} || regexp_replace(${zoneOffset(minutes, ':')}, ':00$', ''))`
    }),
    signature(['DATETIME'], 'STRING', datetime => datetimeText(datetime, datetimeFormat)),
    signature(['DATE'], 'STRING', date => `CAST(${date} AS VARCHAR)`),
    signature(['TIME'], 'STRING', time => datetimeText(onEpochDay(time), '%H:%M:%S')),
  ],
} satisfies FunctionTable

type CivilType = 'DATE' | 'DATETIME' | 'TIME'

/** FORMAT_DATE and FORMAT_DATETIME of the other types with a date are the functions of these types. */
function formattingAny(own: 'DATE' | 'DATETIME', toDatetime: (sql: string) => string): FunctionRule {
  return site => {
    const kind = site.argument(1).type?.kind
    if (kind === 'TIMESTAMP') return formatTimestamp(site)
    const other = kind === 'DATETIME' && own === 'DATE'
    return (other ? formatting(kind, datetime => datetime) : formatting(own, toDatetime))(site)
  }
}

/** The text of a value. */
function formatting(type: CivilType, toDatetime: (sql: string) => string) {
  return (site: CallSite): Typed => {
    const format = formatOf(site)
    const value = argumentAs(site, 1, type)
    if (site.call.arguments.length !== 2) throw site.invalid(`${site.name} takes a format and a ${type}`)
    const sql = repeated([toDatetime(value)], datetime => {
      const exact = `gsql_format_${type.toLowerCase()}(${format.sql}, epoch_us(${datetime}))`
      return formatted(type, format.text, { sql: datetime, minutes: null }, exact)
    })
    return typed(sql, 'STRING')
  }
}

function formatTimestamp(site: CallSite): Typed {
  const format = formatOf(site)
  const timestamp = argumentAs(site, 1, 'TIMESTAMP', ['DATE', 'DATETIME', 'TIMESTAMP'])
  const zone = site.call.arguments.length > 2 ? argumentAs(site, 2, 'STRING') : `'UTC'`
  const sql = repeated([timestamp, zone], (timestamp, zone) => {
    const exact = `gsql_format_timestamp(${format.sql}, epoch_us(${timestamp}), ${zone})`
    return formatted('TIMESTAMP', format.text, inZone(timestamp, zone), exact)
  })
  return typed(sql, 'STRING')
}

function inZone(timestamp: string, zone: string): ZonedDatetime {
  if (zone === `'UTC'`) return { sql: toDatetime(timestamp), minutes: '0' }
  const { local, minutes } = zoned(timestamp, zone)
  return { sql: local, minutes }
}

/** The text of a literal format, else `null`, and any format as SQL. */
function formatOf(site: CallSite): { text: string | null; sql: string } {
  const [node] = site.call.arguments
  const text = node?.kind === 'Literal' && node.literal === 'STRING' ? node.value : null
  return { text, sql: argumentAs(site, 0, 'STRING') }
}

function parsing(type: CivilType, fromDatetime: (sql: string) => string): FunctionRule {
  return site => {
    if (site.call.arguments.length !== 2) throw site.invalid(`${site.name} takes a format and a text`)
    const { text, sql: format } = formatOf(site)
    const value = argumentAs(site, 1, 'STRING')
    const micros = repeated([value], value => {
      const exact = `gsql_parse_${type.toLowerCase()}(${format}, ${value})`
      return type === 'TIME' || (type === 'DATE' && /%[HMST]/.test(text ?? ''))
        ? exact
        : quickly(text, value, exact)
    })
    return typed(fromDatetime(`make_timestamp(${micros})`), type)
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
function parseTimestamp(site: CallSite): Typed {
  const { text, sql: format } = formatOf(site)
  const value = argumentAs(site, 1, 'STRING')
  const zone = site.call.arguments.length > 2 ? argumentAs(site, 2, 'STRING') : `'UTC'`
  const read = (zone: string) =>
    repeated([value], value => {
      const exact = `gsql_parse_timestamp(${format}, ${value}, ${zone})`
      return zone === `'UTC'` ? quickly(text, value, exact) : exact
    })
  const named = text !== null && !/%(E?z|Z|s)/.test(text) && !isFixedZone(zone)
  return typed(
    named ? toTimestamp(`make_timestamp(${read(`'UTC'`)})`, zone) : `make_timestamptz(${read(zone)})`,
    'TIMESTAMP',
  )
}

/** The SQL of an argument as a type; one of the types `from` is cast to it. Throws SqlError for any other. */
function argumentAs(site: CallSite, at: number, type: ScalarName, from: ScalarName[] = []): string {
  const value = site.argument(at)
  const coerced = coerce(value, { kind: type })
  if (coerced) return coerced.sql
  const cast = from.some(kind => kind === value.type?.kind) ? convert(value, { kind: type }) : null
  if (cast === null) throw site.noMatch([value])
  return cast
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
function formatted(type: ScalarName, format: string | null, datetime: ZonedDatetime, exact: string): string {
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

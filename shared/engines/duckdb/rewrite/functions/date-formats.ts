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
  utc,
  type Zone,
  zoned,
} from '../dates-and-times.ts'
import { strictJson } from './json.ts'
import type { CallSite, Rule, Rules } from './signature.ts'

const itself = (datetime: string) => datetime

const datetimeFormat = '%Y-%m-%d %H:%M:%S'

export const dateFormatFunctions: Rules = {
  STRING: [
    (site, timestamp, zone) => {
      if (zone === undefined) return `(${datetimeText(toDatetime(timestamp), datetimeFormat)} || '+00')`
      const { local, minutes } = zoned(timestamp, site.zone(1, zone)!)
      return `(${datetimeText(local, datetimeFormat)} || regexp_replace(${zoneOffset(minutes)}, ':00$', ''))`
    },
    (_, datetime) => datetimeText(datetime, datetimeFormat),
    (_, date) => `CAST(${date} AS VARCHAR)`,
    (_, time) => datetimeText(onEpochDay(time), '%H:%M:%S'),
    (_, json) => strictJson(json, ['VARCHAR'], 'VARCHAR'),
  ],
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
    return formatted(type, site.literal(0), datetime, exact)
  }
}

function formatTimestamp(site: CallSite, format: string, timestamp: string, inZone?: string): string {
  const zone = site.zone(2, inZone) ?? utc
  const exact = `gsql_format_timestamp(${format}, epoch_us(${timestamp}), ${zone.sql})`
  return formatted('TIMESTAMP', site.literal(0), localTime(timestamp, zone), exact)
}

const localTime = (timestamp: string, zone: Zone) =>
  zone.name === 'UTC' ? toDatetime(timestamp) : zoned(timestamp, zone).local

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
function parseTimestamp(site: CallSite, format: string, value: string, inZone?: string): string {
  const text = site.literal(0)
  const given = site.zone(2, inZone) ?? utc
  const read = (zone: Zone) => {
    const exact = `gsql_parse_timestamp(${format}, ${value}, ${zone.sql})`
    return zone.name === 'UTC' ? quickly(text, value, exact) : exact
  }
  const named = text !== null && !/%(E?z|Z|s)/.test(text) && !isFixedZone(given)
  return named ? toTimestamp(`make_timestamp(${read(utc)})`, given) : `make_timestamptz(${read(given)})`
}

function zoneOffset(minutes: string): string {
  const sign = `CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END`
  return `format('{}{:02d}:{:02d}', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60)`
}

/** Elements that DuckDB's strftime writes in the same way in years of four digits, under its own names. */
const ofDate = { ...same('AaBbdjmUuVWwYy'), F: '%Y-%m-%d', D: '%m/%d/%y', h: '%b', x: '%m/%d/%y' }
const ofTime = {
  ...same('HIMpS'),
  R: '%H:%M',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  E3S: '%S.%g',
  E6S: '%S.%f',
}
const ofBoth = { '%': '%%', ...ofDate, ...ofTime }
const strftime: Record<string, Record<string, string>> = {
  DATE: { '%': '%%', ...ofDate },
  TIME: { '%': '%%', ...ofTime },
  DATETIME: ofBoth,
  TIMESTAMP: ofBoth,
}

function same(elements: string): Record<string, string> {
  return Object.fromEntries(elements.split('').map(element => [element, `%${element}`]))
}

/** Text of a DATETIME in a literal format that DuckDB can write; else, and for years of fewer than four digits, `exact`. */
function formatted(type: string, format: string | null, datetime: string, exact: string): string {
  const known = strftime[type]!
  const pieces = (format ?? '').match(/%E\dS|%[^]|[^%]+|%/gu) ?? []
  const parts = pieces.map(piece => (piece.startsWith('%') ? known[piece.slice(1)] : piece))
  if (parts.length === 0 || parts.includes(undefined)) return exact
  return `(CASE WHEN ${datetime} >= TIMESTAMP '1000-01-01' THEN strftime(${datetime}, ${quoteText(parts.join(''))}) ELSE ${exact} END)`
}

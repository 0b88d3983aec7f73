/**
 * Dates and times from and to text, by GoogleSQL's format elements
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements). DuckDB writes what it writes in the same
 * way; all else, and all reading, is in `duckdb/udfs/date-text.ts`.
 */
import { quoteText } from '../../syntax.ts'
import { strftimeOf } from '../../udfs/date-text.ts'
import { convert } from '../casts.ts'
import { type Scope, typed } from '../context.ts'
import * as time from '../dates-and-times.ts'
import { strictJson } from './json.ts'
import type { Rule, Rules } from './signature.ts'

const [ofDate, ofDatetime, ofTime] = [formatting('DATE'), formatting('DATETIME'), formatting('TIME')]
const ofTimestamp = formatting('TIMESTAMP')

export const dateFormatFunctions: Rules = {
  STRING: [
    (site, timestamp, zone) => {
      if (zone === undefined) return asString('TIMESTAMP', timestamp)
      const { local, minutes } = time.zoned(timestamp, site.zone(1, zone)!)
      return `(${asString('DATETIME', local)} || regexp_replace(${zoneOffset(minutes)}, ':00$', ''))`
    },
    (_, datetime) => asString('DATETIME', datetime),
    (_, date) => asString('DATE', date),
    (_, value) => asString('TIME', value),
    (_, json) => strictJson(json, ['VARCHAR'], 'VARCHAR'),
  ],
  FORMAT_DATE: [ofDate, ofDatetime, ofTimestamp],
  FORMAT_DATETIME: [ofDatetime, ofTimestamp],
  FORMAT_TIME: ofTime,
  FORMAT_TIMESTAMP: [ofTimestamp, ofDatetime],
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
        ? time.zoned(value, zone).local
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

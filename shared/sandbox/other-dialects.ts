/** What to write in GoogleSQL for functions and tables of ClickHouse and Postgres, whose queries people bring along. */

import { nearestName } from '../sql/nearest.ts'
import { nameKey } from '../sql/relations.ts'

/** By the name in small letters. `x` stands for the first argument. */
const functions: ReadonlyMap<string, string> = new Map([
  ...['Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Quarter', 'Year'].map(
    part => [`tostartof${part.toLowerCase()}`, `TIMESTAMP_TRUNC(x, ${part.toUpperCase()})`] as const,
  ),
  ['tostartoffiveminutes', 'TIMESTAMP_BUCKET(x, INTERVAL 5 MINUTE)'],
  ['tostartoftenminutes', 'TIMESTAMP_BUCKET(x, INTERVAL 10 MINUTE)'],
  ['tostartoffifteenminutes', 'TIMESTAMP_BUCKET(x, INTERVAL 15 MINUTE)'],
  ['tostartofinterval', 'TIMESTAMP_BUCKET(x, INTERVAL 5 MINUTE)'],
  ['date_bin', 'TIMESTAMP_BUCKET(x, INTERVAL 5 MINUTE)'],
  ...['now', 'now64', 'today', 'clock_timestamp', 'getdate', 'sysdate'].map(
    name => [name, 'CURRENT_TIMESTAMP()'] as const,
  ),
  ...[
    'todatetime',
    'todatetime64',
    'parsedatetimebesteffort',
    'parsedatetime64besteffort',
    'to_timestamp',
  ].map(name => [name, 'TIMESTAMP(x)'] as const),
  ['todate', 'DATE(x)'],
  ['tounixtimestamp', 'UNIX_SECONDS(x)'],
  ['tounixtimestamp64milli', 'UNIX_MILLIS(x)'],
  ['fromunixtimestamp64milli', 'TIMESTAMP_MILLIS(x)'],
  ['formatdatetime', "FORMAT_TIMESTAMP('%F %T', x)"],
  ['to_char', "FORMAT_TIMESTAMP('%F %T', x)"],
  ['datediff', 'TIMESTAMP_DIFF(later, earlier, SECOND)'],
  ['age', 'TIMESTAMP_DIFF(later, earlier, SECOND)'],
  ['subtracthours', 'TIMESTAMP_SUB(x, INTERVAL 1 HOUR)'],
  ['addhours', 'TIMESTAMP_ADD(x, INTERVAL 1 HOUR)'],
  ['sumif', 'SUM(IF(condition, x, 0))'],
  ['avgif', 'AVG(IF(condition, x, NULL))'],
  ['maxif', 'MAX(IF(condition, x, NULL))'],
  ['minif', 'MIN(IF(condition, x, NULL))'],
  ['uniq', 'COUNT(DISTINCT x)'],
  ['uniqexact', 'COUNT(DISTINCT x)'],
  ['uniqif', 'COUNT(DISTINCT IF(condition, x, NULL))'],
  ['quantile', 'APPROX_QUANTILES(x, 100)[OFFSET(95)]'],
  ['quantiles', 'APPROX_QUANTILES(x, 100)'],
  ['median', 'APPROX_QUANTILES(x, 2)[OFFSET(1)]'],
  ['topk', 'APPROX_TOP_COUNT(x, 10)'],
  ['any', 'ANY_VALUE(x)'],
  ['anylast', 'ANY_VALUE(x)'],
  ['argmax', 'MAX_BY(x, y)'],
  ['argmin', 'MIN_BY(x, y)'],
  ['grouparray', 'ARRAY_AGG(x)'],
  ['groupuniqarray', 'ARRAY_AGG(DISTINCT x)'],
  ['arrayjoin', 'CROSS JOIN UNNEST(x) in FROM'],
  ['has', 'value IN UNNEST(x)'],
  ['multiif', 'CASE WHEN ... THEN ... ELSE ... END'],
  ['empty', "x = ''"],
  ['notempty', "x != ''"],
  ['tostring', 'CAST(x AS STRING)'],
  ...['8', '16', '32', '64'].flatMap(bits =>
    ['', 'ornull', 'orzero'].flatMap(end =>
      ['toint', 'touint'].map(start => [`${start}${bits}${end}`, 'SAFE_CAST(x AS INT64)'] as const),
    ),
  ),
  ...['tofloat64', 'tofloat32', 'tofloat64ornull', 'tofloat64orzero'].map(
    name => [name, 'SAFE_CAST(x AS FLOAT64)'] as const,
  ),
  ['match', 'REGEXP_CONTAINS(x, pattern)'],
  ['regexp_like', 'REGEXP_CONTAINS(x, pattern)'],
  ['regexp_match', 'REGEXP_EXTRACT(x, pattern)'],
  ['regexp_matches', 'REGEXP_EXTRACT_ALL(x, pattern)'],
  ['replaceregexpall', 'REGEXP_REPLACE(x, pattern, text)'],
  ['replaceall', 'REPLACE(x, from, to)'],
  ['splitbychar', 'SPLIT(x, separator)'],
  ['splitbystring', 'SPLIT(x, separator)'],
  ['split_part', 'SPLIT(x, separator)[SAFE_OFFSET(0)]'],
  ['string_to_array', 'SPLIT(x, separator)'],
  ['position', 'STRPOS(x, text)'],
  ['positioncaseinsensitive', 'STRPOS(LOWER(x), text)'],
  ['startswith', 'STARTS_WITH(x, text)'],
  ['endswith', 'ENDS_WITH(x, text)'],
  ['lowerutf8', 'LOWER(x)'],
  ['upperutf8', 'UPPER(x)'],
  ['jsonextractstring', "JSON_VALUE(x, '$.key')"],
  ['jsonextractint', "SAFE_CAST(JSON_VALUE(x, '$.key') AS INT64)"],
  ['jsonextractfloat', "SAFE_CAST(JSON_VALUE(x, '$.key') AS FLOAT64)"],
  ['jsonextractraw', "JSON_QUERY(x, '$.key')"],
  ['jsonextract', "JSON_QUERY(x, '$.key')"],
  ['json_extract_path_text', "JSON_VALUE(x, '$.key')"],
  ['domain', 'NET.HOST(x)'],
  ...[
    'Year',
    'Quarter',
    'Month',
    'Week',
    'Day',
    'Hour',
    'Minute',
    'Second',
    'DayOfWeek',
    'DayOfYear',
  ].flatMap(part => {
    const instead = `EXTRACT(${part.toUpperCase()} FROM x)`
    return [[part.toLowerCase(), instead] as const, [`to${part.toLowerCase()}`, instead] as const]
  }),
  ['date_part', 'EXTRACT(HOUR FROM x)'],
  ['datepart', 'EXTRACT(HOUR FROM x)'],
  ['dateadd', 'TIMESTAMP_ADD(x, INTERVAL 1 HOUR)'],
  ['datesub', 'TIMESTAMP_SUB(x, INTERVAL 1 HOUR)'],
  ['timestampdiff', 'TIMESTAMP_DIFF(later, earlier, SECOND)'],
  ['date_format', "FORMAT_TIMESTAMP('%F %T', x)"],
  ['strftime', "FORMAT_TIMESTAMP('%F %T', x)"],
  ['str_to_date', "PARSE_TIMESTAMP('%F %T', x)"],
  ['strptime', "PARSE_TIMESTAMP('%F %T', x)"],
  ['to_date', 'DATE(x)'],
  ['unix_timestamp', 'UNIX_SECONDS(x)'],
  ['from_unixtime', 'TIMESTAMP_SECONDS(x)'],
  ['curdate', 'CURRENT_DATE()'],
  ['localtimestamp', 'CURRENT_DATETIME()'],
  ['convert', 'CAST(x AS type)'],
  ['nvl', 'IFNULL(x, other)'],
  ['isnull', 'x IS NULL, or IFNULL(x, other)'],
  ['iif', 'IF(condition, x, other)'],
  ['decode', 'CASE x WHEN ... THEN ... ELSE ... END'],
  ['len', 'LENGTH(x)'],
  ['datalength', 'BYTE_LENGTH(x)'],
  ['charindex', 'STRPOS(x, text)'],
  ['locate', 'STRPOS(x, text)'],
  ['contains', 'STRPOS(x, text) > 0'],
  ['string_contains', 'STRPOS(x, text) > 0'],
  ['concat_ws', "ARRAY_TO_STRING([x, y], ' ')"],
  ['substring_index', 'SPLIT(x, separator)[SAFE_OFFSET(0)]'],
  ['group_concat', "STRING_AGG(x, ', ')"],
  ['listagg', "STRING_AGG(x, ', ')"],
  ['array_contains', 'value IN UNNEST(x)'],
  ['cardinality', 'ARRAY_LENGTH(x)'],
  ['array_size', 'ARRAY_LENGTH(x)'],
  ['unnest', 'CROSS JOIN UNNEST(x) AS y in FROM'],
  ['explode', 'CROSS JOIN UNNEST(x) AS y in FROM'],
  ['generate_series', 'GENERATE_ARRAY(1, 10)'],
  ['percentile', 'APPROX_QUANTILES(x, 100)[OFFSET(95)]'],
  ['approx_percentile', 'APPROX_QUANTILES(x, 100)[OFFSET(95)]'],
  ['json_object_keys', 'JSON_KEYS(x)'],
  ['get_json_object', "JSON_VALUE(x, '$.key')"],
  ['to_json', 'TO_JSON_STRING(x)'],
  ['row_to_json', 'TO_JSON_STRING(x)'],
  ['rand', 'FARM_FINGERPRINT(id), which is the same at every call'],
  ['random', 'FARM_FINGERPRINT(id), which is the same at every call'],
])

/** GoogleSQL for a function of another dialect, or `null`. */
export function functionInstead(name: string): string | null {
  return functions.get(name.toLowerCase()) ?? null
}

/** Names of ClickHouse's single table of logs, in the places where its queries have them. */
const singleTables = new Set(['logs', 'logs.all', 'logs.all.otel', 'otel_logs'])

/** Whether a query of ClickHouse names its table of all logs so; the case of letters does not count. */
export function isSingleTable(path: string[]): boolean {
  return singleTables.has(path.join('.').toLowerCase())
}

/** What to write for queries of ClickHouse, whose logs have one table and a map of attributes. */
export const ofClickHouse =
  "this endpoint takes GoogleSQL over a table for each service, not ClickHouse's one table: for source = 'edge_logs' " +
  "write FROM edge_logs, and for log_attributes['request.path'] add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN " +
  'UNNEST(m.request) AS r and write r.path'

/** Where databases list their tables. */
const catalogues = /^(information_schema|pg_catalog|sys|system)$|^(pg_|sqlite_)|^INFORMATION_SCHEMA$/i

/**
 * What to write for a name that is no table, to follow the words that say so; empty where nothing is known of it.
 * @param tables names of the tables that the query may read
 * @param columns names of their columns
 */
export function tableInstead(path: string[], tables: string[], columns: string[]): string {
  const last = path.at(-1)!
  if (isSingleTable(path)) return `: ${ofClickHouse}`
  if (path.some(part => catalogues.test(part)))
    return ': GET /api/endpoints/NAME/tables lists the tables and their columns'
  if (path.length > 1 && tables.some(table => nameKey(table) === nameKey(last)))
    return `: write ${last} alone`
  if (columns.some(column => nameKey(column) === nameKey(path[0]!)))
    return `: the array of a row is read with UNNEST, as in FROM logs AS t, UNNEST(t.${path[0]!}) AS m`
  return ''
}

/** The table that a name may mean, to follow the words that say that it is none; empty where none is near. */
export function tableMeant(path: string[], tables: string[]): string {
  const last = path.at(-1)!
  const near =
    nearestName(last, tables) ?? tables.find(table => nameKey(table).startsWith(`${nameKey(last)}_`))
  return near === undefined ? '' : `; did you mean ${near}?`
}

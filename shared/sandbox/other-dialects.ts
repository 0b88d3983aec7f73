/** What to write in GoogleSQL for functions and tables of ClickHouse and Postgres, whose queries people bring along. */

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
])

/** GoogleSQL for a function of another dialect, or `null`. */
export function functionInstead(name: string): string | null {
  return functions.get(name.toLowerCase()) ?? null
}

/** Names of ClickHouse's single table of logs, in the places where its queries have them. */
const singleTables = new Set(['logs', 'logs.all', 'logs.all.otel', 'otel_logs'])

/** What to write for the single table of logs that ClickHouse has, or `null` for any other name. */
export function tableInstead(name: string): string | null {
  if (!singleTables.has(name.toLowerCase())) return null
  return (
    "this endpoint takes GoogleSQL over a table for each service, not ClickHouse's one table: for source = 'edge_logs' " +
    "write FROM edge_logs, and for log_attributes['request.path'] add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN " +
    'UNNEST(m.request) AS r and write r.path'
  )
}

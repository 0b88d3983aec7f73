/**
 * What a name may be meant for, and what to write in GoogleSQL for what Postgres, ClickHouse, MySQL and T-SQL write, which
 * people bring along.
 */

/** Patterns of whole names, in any case, and what to say of them; `$1` and `$&` are found in the name in capitals. */
export type Table = [name: RegExp, text: string][]

/** A table of lines `pattern => text`; the first one that fits counts. */
export function table(lines: string): Table {
  return patterns(lines).map(([{ source }, text]) => [new RegExp(`^(?:${source})$`, 'i'), text])
}

/** A table of parts of texts. @param flags of its patterns; without one they are in the case in which they are written */
export function patterns(lines: string, flags = ''): [pattern: RegExp, text: string][] {
  return lines
    .trim()
    .split('\n')
    .map(line => {
      const [pattern, text] = line.trim().split(' => ') as [string, string]
      return [new RegExp(pattern, flags), text]
    })
}

/** What a table has for a name, or else the nearest of the `known` names; `null` for neither. */
export function hintFor(table: Table, name: string, known: Iterable<string> = []): string | null {
  const rule = table.find(([pattern]) => pattern.test(name))
  return rule ? name.toUpperCase().replace(...rule) : nearestName(name, known)
}

/** Parts of GoogleSQL that are refused, by the word that shows them. */
export const unsupported = table(String.raw`
  COLLATE|MATCH_RECOGNIZE|NEW => $& is not supported
  TABLESAMPLE => TABLESAMPLE is not supported: write WHERE MOD(ABS(FARM_FINGERPRINT(id)), 10) = 0
  INTO => INTO is not supported: a query reads, and writes no table
  LATERAL => LATERAL is not supported: write a subquery in SELECT, or CROSS JOIN UNNEST(ARRAY(SELECT ...))
  FETCH => FETCH is not supported: write LIMIT
  FOR => FOR SYSTEM_TIME and FOR UPDATE are not supported: leave them out
  NATURAL => NATURAL JOIN is not supported: write JOIN ... USING (columns)
  RANGE => RANGE values are not supported
`)

/** The whole message for a keyword or a name of another dialect. */
export const words = table(String.raw`
  REGEXP|RLIKE|SIMILAR => $& is not supported: write REGEXP_CONTAINS(x, r'pattern')
  ILIKE => ILIKE is not supported: write LOWER(x) LIKE '%text%', or REGEXP_CONTAINS(x, '(?i)text')
  ESCAPE => ESCAPE is not supported: write a backslash before % and _, in two of them
  GLOB => GLOB is not supported: write x LIKE 'text%'
  MOD|DIV => $& is a function: write $&(a, b)
  XOR => XOR is not supported: write a != b
  ISNULL => ISNULL is not supported: write x IS NULL
  NOTNULL => NOTNULL is not supported: write x IS NOT NULL
  MINUS => MINUS is not supported: write EXCEPT DISTINCT
  TOP => TOP is not supported: write LIMIT 10 at the end
  OFFSET => OFFSET goes behind LIMIT: write LIMIT 100 OFFSET 10
  PREWHERE => PREWHERE is not supported: write WHERE
  (DESC|ASC)ENDING => $& is not supported: write $1
  WITHIN => WITHIN GROUP is not supported: write STRING_AGG(x ORDER BY y), or APPROX_QUANTILES(x, 100)[OFFSET(95)]
  FILTER => FILTER is not supported: write COUNTIF(condition), or SUM(IF(condition, x, NULL))
`)

/** The whole message for a symbol, or two of them without a space between. */
export const symbols = table(String.raw`
  ~ => ~ does not match patterns: write REGEXP_CONTAINS(x, r'pattern')
  == => there is == where = should be
  && => there is && where AND should be
  // => a comment begins with -- or #
  : => a parameter is written @name, and a cast CAST(x AS type)
  -> => JSON operators are not supported: write JSON_VALUE(x, '$.key')
  \? => parameters need a name: write @name
  \{ => braces are not supported: a parameter is written @name
`)

/** The whole message for a word where a pipe operator should be: those that are refused, and those of other pipes. */
export const pipeOperators = table(String.raw`
  GROUP => in a pipe, groups are written AGGREGATE COUNT(*) AS n GROUP BY key
  HAVING => in a pipe, HAVING is written WHERE behind AGGREGATE
  QUALIFY => in a pipe, QUALIFY is written EXTEND RANK() OVER (ORDER BY x) AS r |> WHERE r = 1
  WINDOW => in a pipe, window functions are written EXTEND RANK() OVER (ORDER BY x) AS r
  FROM => in a pipe, FROM stands at the beginning only: more tables come with JOIN
  UNNEST => in a pipe, UNNEST is written CROSS JOIN UNNEST(x) AS y
  CALL => CALL is not supported: table functions read tables of their own
  ASSERT => ASSERT is not supported: write AGGREGATE COUNTIF(NOT condition) AS failed
  RECURSIVE => RECURSIVE is not supported in a pipe: write WITH RECURSIVE at the beginning of the query
  CREATE|EXPORT|INSERT => $& is not supported: a query reads, and writes no table
  DESCRIBE|FORK|IF|LOG|STATIC_DESCRIBE|TEE => $& is not supported in a pipe: leave it out
  FILTER => there is no pipe operator $&: write WHERE
  SORT => there is no pipe operator $&: write ORDER BY
  SUMMARIZE => there is no pipe operator $&: write AGGREGATE
  ADD => there is no pipe operator $&: write EXTEND
  REMOVE => there is no pipe operator $&: write DROP
  OFFSET => there is no pipe operator $&: write LIMIT 100 OFFSET 10
  TOP => there is no pipe operator $&: write LIMIT 10
`)

/** By a character that begins nothing in GoogleSQL: what goes behind the message that refuses it. */
export const characters = table(String.raw`
  % => the remainder is written MOD(a, b)
  \$ => a parameter is written @name
  ! => write NOT x, or x != y
  [\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u00b4] => a string has ' or " around it
`)

/** The type of GoogleSQL for one of another dialect. */
export const types = table(String.raw`
  TEXT|N?VARCHAR|CHAR|CHARACTER|UUID|FIXEDSTRING|INET => STRING
  DOUBLE|REAL|FLOAT|FLOAT4|FLOAT8|FLOAT32 => FLOAT64
  INT2|INT4|U?INT8|U?INT16|U?INT32|UINT64|LONG|UNSIGNED => INT64
  TIMESTAMPTZ|DATETIME64 => TIMESTAMP
  NUMBER => NUMERIC
  JSONB => JSON
  BYTEA|BLOB => BYTES
`)

/** The type of GoogleSQL for one of PostgreSQL's casts with `::`, where both know the name, or in `types`. */
export const castTypes: Table = [
  ...table('DATE|TIMESTAMP|TIME|INT|INTEGER|BIGINT|SMALLINT|NUMERIC|DECIMAL|BOOL|BOOLEAN|JSON => $&'),
  ...types,
]

/** The part of a date for one of another dialect. */
export const parts = table(String.raw`
  (?:ISO)?DOW => DAYOFWEEK
  DOY => DAYOFYEAR
  MIN => MINUTE
  SEC => SECOND
  MS|MILLISECONDS => MILLISECOND
  US => MICROSECOND
`)

/** What to write for a function of another dialect; `x` stands for the first argument. */
export const functions = table(String.raw`
  toStartOf(Second|Minute|Hour|Day|Week|Month|Quarter|Year) => TIMESTAMP_TRUNC(x, $1)
  toStartOf(?:FiveMinutes|Interval)|date_bin => TIMESTAMP_BUCKET(x, INTERVAL 5 MINUTE)
  toStartOfTenMinutes => TIMESTAMP_BUCKET(x, INTERVAL 10 MINUTE)
  toStartOfFifteenMinutes => TIMESTAMP_BUCKET(x, INTERVAL 15 MINUTE)
  (?:to)?(Year|Quarter|Month|Week|Day|Hour|Minute|Second|DayOfWeek|DayOfYear) => EXTRACT($1 FROM x)
  date_?part => EXTRACT(HOUR FROM x)
  now|now64|today|clock_timestamp|getdate|sysdate => CURRENT_TIMESTAMP()
  curdate => CURRENT_DATE()
  localtimestamp => CURRENT_DATETIME()
  toDateTime(?:64)?|parseDateTime(?:64)?BestEffort|to_timestamp => TIMESTAMP(x)
  to_?date => DATE(x)
  toUnixTimestamp|unix_timestamp => UNIX_SECONDS(x)
  toUnixTimestamp64Milli => UNIX_MILLIS(x)
  fromUnixTimestamp64Milli => TIMESTAMP_MILLIS(x)
  from_unixtime => TIMESTAMP_SECONDS(x)
  formatDateTime|to_char|date_format|strftime => FORMAT_TIMESTAMP('%F %T', x)
  str_to_date|strptime => PARSE_TIMESTAMP('%F %T', x)
  dateDiff|age|timestampdiff => TIMESTAMP_DIFF(later, earlier, SECOND)
  subtractHours|datesub => TIMESTAMP_SUB(x, INTERVAL 1 HOUR)
  addHours|dateadd => TIMESTAMP_ADD(x, INTERVAL 1 HOUR)
  sumIf => SUM(IF(condition, x, 0))
  (avg|max|min)If => $1(IF(condition, x, NULL))
  uniq(?:Exact)? => COUNT(DISTINCT x)
  uniqIf => COUNT(DISTINCT IF(condition, x, NULL))
  quantile|(?:approx_)?percentile => APPROX_QUANTILES(x, 100)[OFFSET(95)]
  quantiles => APPROX_QUANTILES(x, 100)
  median => APPROX_QUANTILES(x, 2)[OFFSET(1)]
  topK => APPROX_TOP_COUNT(x, 10)
  any(?:Last)? => ANY_VALUE(x)
  arg(max|min) => $1_BY(x, y)
  groupArray => ARRAY_AGG(x)
  groupUniqArray => ARRAY_AGG(DISTINCT x)
  group_concat|listagg => STRING_AGG(x, ', ')
  arrayJoin => CROSS JOIN UNNEST(x) in FROM
  unnest|explode => CROSS JOIN UNNEST(x) AS y in FROM
  has|array_contains => value IN UNNEST(x)
  cardinality|array_size => ARRAY_LENGTH(x)
  generate_series => GENERATE_ARRAY(1, 10)
  multiIf => CASE WHEN ... THEN ... ELSE ... END
  decode => CASE x WHEN ... THEN ... ELSE ... END
  iif => IF(condition, x, other)
  nvl => IFNULL(x, other)
  isnull => x IS NULL, or IFNULL(x, other)
  empty => x = ''
  notEmpty => x != ''
  convert => CAST(x AS type)
  toString => CAST(x AS STRING)
  toU?Int(?:8|16|32|64)(?:OrNull|OrZero)? => SAFE_CAST(x AS INT64)
  toFloat(?:32|64|64OrNull|64OrZero) => SAFE_CAST(x AS FLOAT64)
  match|regexp_like => REGEXP_CONTAINS(x, pattern)
  regexp_match => REGEXP_EXTRACT(x, pattern)
  regexp_matches => REGEXP_EXTRACT_ALL(x, pattern)
  replaceRegexpAll => REGEXP_REPLACE(x, pattern, text)
  replaceAll => REPLACE(x, from, to)
  splitByChar|splitByString|string_to_array => SPLIT(x, separator)
  split_part|substring_index => SPLIT(x, separator)[SAFE_OFFSET(0)]
  position|charindex|locate => STRPOS(x, text)
  positionCaseInsensitive => STRPOS(LOWER(x), text)
  contains|string_contains => STRPOS(x, text) > 0
  startsWith => STARTS_WITH(x, text)
  endsWith => ENDS_WITH(x, text)
  (lower|upper)UTF8 => $1(x)
  len => LENGTH(x)
  datalength => BYTE_LENGTH(x)
  concat_ws => ARRAY_TO_STRING([x, y], ' ')
  JSONExtractString|json_extract_path_text|get_json_object => JSON_VALUE(x, '$.key')
  JSONExtractInt => SAFE_CAST(JSON_VALUE(x, '$.key') AS INT64)
  JSONExtractFloat => SAFE_CAST(JSON_VALUE(x, '$.key') AS FLOAT64)
  JSONExtract(?:Raw)? => JSON_QUERY(x, '$.key')
  json_object_keys => JSON_KEYS(x)
  to_json|row_to_json => TO_JSON_STRING(x)
  domain => NET.HOST(x)
  rand|random => FARM_FINGERPRINT(id), which is the same at every call
`)

/** The candidate most like a misspelt name, or `null` where none is near. Letter case, underscores and spaces do not count. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  const wanted = plain(name)
  let best: string | null = null
  let allowed = Math.max(1, Math.floor(wanted.length / 4))
  for (const candidate of new Set(candidates)) {
    const distance = editDistance(wanted, plain(candidate))
    if (distance > allowed || (best !== null && distance === allowed)) continue
    best = candidate
    allowed = distance
  }
  return best
}

/** What to write in place of an unknown name: the nearest one, or one of all. */
export function nameHint(name: string, known: Iterable<string>): string {
  const all = [...new Set(known)]
  const near = nearestName(name, all)
  return near === null || near === name ? `here are ${all.join(', ') || 'none'}` : `did you mean ${near}?`
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_ ]/g, '').slice(0, 100)
}

/** Letters to insert, delete, replace or swap with the next (optimal string alignment), row by row. */
function editDistance(a: string, b: string): number {
  let twoAbove: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) row[j] = Math.min(row[j]!, twoAbove[j - 2]! + 1)
    }
    twoAbove = above
    above = row
  }
  return above[b.length]!
}

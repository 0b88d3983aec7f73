/** What to write in GoogleSQL for syntax of Postgres, ClickHouse, MySQL and T-SQL, which people bring along. */
import { nearestName } from './nearest.ts'

/** By a word that stands where GoogleSQL has none of that name, or one that it does not know. */
const words: ReadonlyMap<string, string> = new Map([
  ...['REGEXP', 'RLIKE', 'SIMILAR'].map(
    word => [word, `${word} is not supported: write REGEXP_CONTAINS(x, r'pattern')`] as const,
  ),
  ['ILIKE', "ILIKE is not supported: write LOWER(x) LIKE '%text%', or REGEXP_CONTAINS(x, '(?i)text')"],
  ['ESCAPE', 'ESCAPE is not supported: write a backslash before % and _, in two of them'],
  ['GLOB', "GLOB is not supported: write x LIKE 'text%'"],
  ['MOD', 'MOD is a function: write MOD(a, b)'],
  ['DIV', 'DIV is a function: write DIV(a, b)'],
  ['XOR', 'XOR is not supported: write a != b'],
  ['ISNULL', 'ISNULL is not supported: write x IS NULL'],
  ['NOTNULL', 'NOTNULL is not supported: write x IS NOT NULL'],
  ['MINUS', 'MINUS is not supported: write EXCEPT DISTINCT'],
  ['TOP', 'TOP is not supported: write LIMIT 10 at the end'],
  ['OFFSET', 'OFFSET goes behind LIMIT: write LIMIT 100 OFFSET 10'],
  ['PREWHERE', 'PREWHERE is not supported: write WHERE'],
  ['DESCENDING', 'DESCENDING is not supported: write DESC'],
  ['ASCENDING', 'ASCENDING is not supported: write ASC'],
  [
    'WITHIN',
    'WITHIN GROUP is not supported: write STRING_AGG(x ORDER BY y), or APPROX_QUANTILES(x, 100)[OFFSET(95)]',
  ],
  ['FILTER', 'FILTER is not supported: write COUNTIF(condition), or SUM(IF(condition, x, NULL))'],
])

/** By a symbol, or two of them without a space between. */
const symbols: ReadonlyMap<string, string> = new Map([
  ['~', "~ does not match patterns: write REGEXP_CONTAINS(x, r'pattern')"],
  ['==', 'there is == where = should be'],
  ['&&', 'there is && where AND should be'],
  ['//', 'a comment begins with -- or #'],
  [':', 'a parameter is written @name, and a cast CAST(x AS type)'],
  ['->', "JSON operators are not supported: write JSON_VALUE(x, '$.key')"],
  ['?', 'parameters need a name: write @name'],
  ['{', 'braces are not supported: a parameter is written @name'],
])

/** The whole message for a word in capitals, or `null`. */
export function wordInstead(word: string): string | null {
  return words.get(word) ?? null
}

/** The whole message for a symbol, or `null`; see `symbols` for pairs. */
export function symbolInstead(symbol: string): string | null {
  return symbols.get(symbol) ?? null
}

/** By a word where a pipe operator should be: operators of GoogleSQL that are refused, and those of other pipes. */
const pipeOperators: ReadonlyMap<string, string> = new Map([
  ['GROUP', 'in a pipe, groups are written AGGREGATE COUNT(*) AS n GROUP BY key'],
  ['HAVING', 'in a pipe, HAVING is written WHERE behind AGGREGATE'],
  ['QUALIFY', 'in a pipe, QUALIFY is written EXTEND RANK() OVER (ORDER BY x) AS r |> WHERE r = 1'],
  ['WINDOW', 'in a pipe, window functions are written EXTEND RANK() OVER (ORDER BY x) AS r'],
  ['FROM', 'in a pipe, FROM stands at the beginning only: more tables come with JOIN'],
  ['UNNEST', 'in a pipe, UNNEST is written CROSS JOIN UNNEST(x) AS y'],
  ['CALL', 'CALL is not supported: table functions read tables of their own'],
  ['ASSERT', 'ASSERT is not supported: write AGGREGATE COUNTIF(NOT condition) AS failed'],
  ['RECURSIVE', 'RECURSIVE is not supported in a pipe: write WITH RECURSIVE at the beginning of the query'],
  ...['CREATE', 'EXPORT', 'INSERT'].map(
    word => [word, `${word} is not supported: a query reads, and writes no table`] as const,
  ),
  ...['DESCRIBE', 'FORK', 'IF', 'LOG', 'STATIC_DESCRIBE', 'TEE'].map(
    word => [word, `${word} is not supported in a pipe: leave it out`] as const,
  ),
  ...Object.entries({
    FILTER: 'WHERE',
    SORT: 'ORDER BY',
    SUMMARIZE: 'AGGREGATE',
    ADD: 'EXTEND',
    REMOVE: 'DROP',
    OFFSET: 'LIMIT 100 OFFSET 10',
    TOP: 'LIMIT 10',
  }).map(([word, instead]) => [word, `there is no pipe operator ${word}: write ${instead}`] as const),
])

/** The whole message for a word in capitals where a pipe operator should be, or `null`. */
export function pipeInstead(word: string): string | null {
  return pipeOperators.get(word) ?? null
}

/** By a character that begins nothing in GoogleSQL. */
const characters: ReadonlyMap<string, string> = new Map([
  ['%', 'the remainder is written MOD(a, b)'],
  ['$', 'a parameter is written @name'],
  ['!', 'write NOT x, or x != y'],
  ...['‘', '’', '“', '”', '„', '«', '»', '´'].map(quote => [quote, `a string has ' or " around it`] as const),
])

/** What goes behind the message that refuses the character, or `null`. */
export function characterInstead(character: string): string | null {
  return characters.get(character) ?? null
}

const types: ReadonlyMap<string, string> = new Map([
  ...['TEXT', 'VARCHAR', 'NVARCHAR', 'CHAR', 'CHARACTER', 'UUID', 'FIXEDSTRING', 'INET'].map(
    name => [name, 'STRING'] as const,
  ),
  ...['DOUBLE', 'REAL', 'FLOAT', 'FLOAT4', 'FLOAT8', 'FLOAT32'].map(name => [name, 'FLOAT64'] as const),
  ...[
    'INT2',
    'INT4',
    'INT8',
    'INT16',
    'INT32',
    'UINT8',
    'UINT16',
    'UINT32',
    'UINT64',
    'LONG',
    'UNSIGNED',
  ].map(name => [name, 'INT64'] as const),
  ...['TIMESTAMPTZ', 'DATETIME64'].map(name => [name, 'TIMESTAMP'] as const),
  ['NUMBER', 'NUMERIC'],
  ['JSONB', 'JSON'],
  ['BYTEA', 'BYTES'],
  ['BLOB', 'BYTES'],
])

/** Types that PostgreSQL and GoogleSQL both know by the name. */
const common = new Set(
  'DATE TIMESTAMP TIME INT INTEGER BIGINT SMALLINT NUMERIC DECIMAL BOOL BOOLEAN JSON'.split(' '),
)

/** GoogleSQL's name for a type of PostgreSQL's casts with `::`, by its name in capitals. */
export function typeOfPostgres(name: string): string | null {
  return common.has(name) ? name : (types.get(name) ?? null)
}

/** The type of GoogleSQL for one of another dialect, or for a misspelt one. */
export function typeInstead(name: string, known: Iterable<string>): string | null {
  return types.get(name) ?? nearestName(name, known)
}

const parts: ReadonlyMap<string, string> = new Map([
  ['DOW', 'DAYOFWEEK'],
  ['ISODOW', 'DAYOFWEEK'],
  ['DOY', 'DAYOFYEAR'],
  ['MIN', 'MINUTE'],
  ['SEC', 'SECOND'],
  ['MS', 'MILLISECOND'],
  ['MILLISECONDS', 'MILLISECOND'],
  ['US', 'MICROSECOND'],
])

/** The part of a date for one of another dialect, or for a misspelt one. */
export function partInstead(name: string, known: Iterable<string>): string | null {
  return parts.get(name) ?? nearestName(name, known)
}

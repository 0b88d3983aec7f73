import { describe, expect, test } from '@jest/globals'
import { SqlError } from './error.ts'
import { parse } from './parser.ts'

function refusal(sql: string): SqlError {
  try {
    parse(sql)
  } catch (error) {
    if (error instanceof SqlError) return error
    throw error
  }
  throw new Error(`${sql} was not refused`)
}

/** The text, a part of the message, and the column (or line:column) of the place. */
type Refused = [sql: string, message: string, place: string]

const sizes: Refused[] = [
  ["select cast('a' as string(0))", 'STRING takes one size from 1: write it as in STRING(10)', '1:20'],
  ["select cast('a' as string(1, 2))", 'STRING takes one size', '1:20'],
  ["select cast(b'a' as bytes(0))", 'BYTES takes one size', '1:21'],
  ['select cast(5 as int(5))', 'INT64 takes no size: write INT64', '1:18'],
  ["select cast('{}' as json(1))", 'JSON takes no size', '1:21'],
  ...['0', '30', '50', '10, 10', '2, 5', '35, 5', '1, 2, 3'].map((size): Refused => [
    `select cast(5 as numeric(${size}))`,
    'NUMERIC takes (precision, scale): up to 29 digits before the point and 9 behind it, as in (10, 2)',
    '1:18',
  ]),
  ['select cast(5 as bignumeric(39))', 'BIGNUMERIC takes (precision, scale): up to 38', '1:18'],
  ["select array<string(5)>['a']", 'leave it out, or use CAST', '1:8'],
  ["select struct<a int64, b array<string(5)>>(1, ['a'])", 'leave it out, or use CAST', '1:8'],
]

const statements: Refused[] = [
  ['', 'the query is empty', '1:1'],
  ['-- nothing\n/* here */', 'the query is empty', '2:11'],
  ['delete from t where true', 'only SELECT queries are allowed: this starts with delete', '1:1'],
  ['\n  INSERT INTO t VALUES (1)', 'only SELECT queries are allowed: this starts with INSERT', '2:3'],
  ['create table t as select 1', 'this starts with create', '1:1'],
  ['drop table t', 'this starts with drop', '1:1'],
  ['begin select 1; end', 'this starts with begin', '1:1'],
  ['export data options() as select 1', 'this starts with export', '1:1'],
  ["execute immediate 'select 1'", 'this starts with execute', '1:1'],
  ['with a as (select 1) delete from t', 'this starts with delete', '1:22'],
  ['with a as (update t set x = 1) select 1', 'this starts with update', '1:12'],
  ['select 1; select 2', 'only one statement is allowed', '1:11'],
  ['select 1;;', 'there is ; twice: leave one out', '1:10'],
  [';', 'there is ; where SELECT should be', '1:1'],
  ['1', 'there is 1 where SELECT should be', '1:1'],
]

/** The message names the keyword that is expected, once, at the place of the misspelt one. */
const misspelt: Refused[] = [
  ['selct 1', 'there is selct where SELECT is expected', '1:1'],
  ['select a form t', 'there is form where FROM is expected', '1:10'],
  ['select a from t wehre b', 'there is wehre where WHERE is expected', '1:17'],
  ['select a from t groupby a', 'there is groupby where GROUP BY is expected', '1:17'],
  ['select a from t order by a limt 1', 'there is limt where LIMIT is expected', '1:28'],
  ['select a from t jion u using (a)', 'there is jion where JOIN is expected', '1:17'],
  ['select a from t limit 1 where b', 'there is WHERE where it cannot be: the order of clauses is', '1:25'],
  ['select a b c from t', 'there is c where it cannot be', '1:12'],
]

const unsupported: Refused[] = [
  ['select 1 union all from t', 'a query that begins with FROM needs parentheses here', '1:20'],
  ['from t |> peek a', 'there is peek where a pipe operator should be: one of WHERE, SELECT', '1:11'],
  ['from t |> tablesample system (1 percent)', 'TABLESAMPLE is not supported', '1:11'],
  ['from t |>', 'the query ends where a pipe operator should be', '1:10'],
  ['from t |> aggregate count(*) group by 1', 'in a pipe, GROUP BY takes no number of a column', '1:39'],
  ['from t, u |> full join v using (a)', 'FULL JOIN behind a comma needs parentheses', '1:14'],
  ['select 1 from t tablesample system (1 percent)', 'not supported: write WHERE MOD(ABS(FARM_FI', '1:17'],
  ['select id from t for update', 'FOR SYSTEM_TIME and FOR UPDATE are not supported', '1:18'],
  ['select a into b from t', 'INTO is not supported: a query reads', '1:10'],
  ['select 1 from t match_recognize (order by x)', 'MATCH_RECOGNIZE is not supported', '1:17'],
  ['select @{hint = 1} 2', 'hints are not supported', '1:8'],
  ['select 1 from t @{a=1}', 'hints are not supported', '1:17'],
  ['select @@project_id', 'system variables are not supported', '1:8'],
  ['select ?', 'parameters need a name', '1:8'],
  ['select 1 from f(1)', 'table functions are not supported', '1:15'],
  ['select 1 from ml.predict(model m, table t)', 'table functions are not supported', '1:15'],
  ['select f(table t)', 'TABLE arguments are not supported', '1:10'],
  ['select f(1, model `m.n`)', 'MODEL arguments are not supported', '1:13'],
  ['select 1 from t for system_time as of x', 'FOR SYSTEM_TIME and FOR UPDATE are not supported', '1:17'],
  ['select 1 from a natural join b', 'NATURAL JOIN is not supported', '1:17'],
  ['select 1 from a, lateral (select 1)', 'LATERAL is not supported', '1:18'],
  [
    'select 1 from t group by grouping sets (a, cube (b, c, d, e, f, g, h, i, j))',
    'CUBE inside GROUPING SETS takes up to 8 keys',
    '1:44',
  ],
  ["select a from t order by a collate 'und:ci'", 'COLLATE is not supported', '1:28'],
  ["select collate(a, 'und:ci')", 'COLLATE is not supported', '1:8'],
  ["select a ilike 'x' from t", 'ILIKE is not supported: write LOWER(x) LIKE', '1:10'],
  ["select 1 from t where a ilike 'x'", 'ILIKE is not supported: write LOWER(x) LIKE', '1:25'],
  ['select a::money from t', 'casts with :: take types of PostgreSQL: write CAST(x AS type)', '1:9'],
  ['select a::int64 from t', 'casts with :: take types of PostgreSQL: write CAST(x AS type)', '1:9'],
  ['select a: :text from t', 'a parameter is written @name, and a cast CAST(x AS type)', '1:9'],
  ['select a like any (select b from t)', 'LIKE ANY takes no subquery: write EXISTS', '1:19'],
  ['select a not like all (select b from t)', 'LIKE ALL takes no subquery', '1:23'],
  ['select with anonymization 1', 'SELECT WITH is not supported', '1:8'],
  ['select new my.proto(1)', 'NEW is not supported', '1:8'],
  ['select 1 + with(1)', 'WITH in an expression names values first', '1:17'],
  ['select (with(a as 1))', 'where , should be', '1:20'],
  ["select range<date> '[2026-01-01, 2026-02-01)'", 'RANGE values are not supported', '1:8'],
  ['select cast(a as my.proto)', 'there is my where a type should be', '1:18'],
  ['select cast(a as geography)', 'there is geography where a type should be, such as STRING', '1:18'],
  ['select cast(a as string(max))', 'where the size of a type should be', '1:25'],
  ['select 1 from unnest(a, b)', 'UNNEST takes one array', '1:23'],
  ['select 1 from unnest(a as b)', 'UNNEST takes one array', '1:24'],
  ['select as my.proto 1 as a', 'where STRUCT or VALUE should be', '1:11'],
  ['select 1 fetch first 1 rows only', 'FETCH is not supported: write LIMIT', '1:10'],
  ['select {a: 1}', 'braces are not supported', '1:8'],
]

const grammar: Refused[] = [
  ['select cast(1 as numeric(5, 9223372036854775807))', 'the size of a type', '1:29'],
  ['select', 'the query ends where an expression should be', '1:7'],
  ['select from t', 'there is from where an expression should be', '1:8'],
  [
    'select 1 as select',
    'there is select where a name should be; a reserved word is one only in backticks',
    '1:13',
  ],
  ['select 1 2', 'there is 2 where it cannot be', '1:10'],
  ['select (1', 'the query ends where ) should be', '1:10'],
  ['select 1)', 'there is ) where it cannot be', '1:9'],
  ['select (select 1', 'the query ends where ) should be', '1:17'],
  ['select ()', 'there is ) where an expression should be', '1:9'],
  ['select [1, 2', 'the query ends where ] should be', '1:13'],
  ['select f(select 1)', 'a subquery needs parentheses of its own', '1:10'],
  ['select f(a => x -> x)', 'JSON operators are not supported: write JSON_VALUE', '1:17'],
  ['select a = b = c', 'comparisons do not chain', '1:14'],
  ['select a < b is null', 'comparisons do not chain', '1:14'],
  ['select a between 1 and 2 = b', 'comparisons do not chain', '1:26'],
  ['select a in (1) in (2)', 'comparisons do not chain', '1:17'],
  ['select a is null + 1', 'there is + where it cannot be', '1:18'],
  ['select a = not b', 'there is not where an expression should be; as a name it needs backticks', '1:12'],
  ['select a not b', 'there is not where it cannot be', '1:10'],
  ['select a is b', 'where NULL or TRUE or FALSE or UNKNOWN should be', '1:13'],
  ['select a between 1', 'the query ends where AND should be', '1:19'],
  ['select a in 1', 'there is 1 where ( should be', '1:13'],
  ['select a in ()', 'where an expression should be', '1:14'],
  ['select a > > b', 'there is > where an expression should be', '1:12'],
  ['select case end', 'there is end where an expression should be', '1:13'],
  ['select case when a end', 'there is end where THEN should be', '1:20'],
  ['select case when a then b', 'the query ends where END should be', '1:26'],
  ['select cast(a string)', 'there is string where AS should be', '1:15'],
  ['select interval 1 fortnight', 'there is fortnight where a part of a date should be, such as DAY', '1:19'],
  ['select extract(week(funday) from d)', 'there is week(FUNDAY) where a part of a date should be', '1:16'],
  ["select 'a'[0]", 'there is [ where it cannot be', '1:11'],
  ['select 1 .a', 'there is . where it cannot be', '1:10'],
  ['select 1 from a join b', 'this join needs ON or USING', '1:17'],
  ['select 1 from a right join unnest(b)', 'this join needs ON or USING', '1:17'],
  [
    'select 1 from a cross join b on true',
    'there is on where no condition can be: write JOIN before the table',
    '1:30',
  ],
  ['select 1 from a, b right join c using (x)', 'RIGHT JOIN behind a comma needs parentheses', '1:20'],
  ['select 1 from (a, b)', 'a comma cannot join tables inside parentheses', '1:15'],
  ['select 1 from (a)', 'parentheses in FROM hold a subquery or a join', '1:15'],
  ['select 1 from ((a join b on true))', 'parentheses in FROM hold a subquery or a join', '1:15'],
  ['select 1 from my - table', 'there is - where it cannot be', '1:18'],
  ['select 1 from d.my-table', 'there is - where it cannot be', '1:19'],
  ['select my-project-1.a', 'there is . where it cannot be', '1:20'],
  ['select a from t limit 1 + 1', 'there is + where it cannot be', '1:25'],
  ['select a from t limit -1', 'a number of rows (an integer or a parameter)', '1:23'],
  ['select a from t limit (select 1)', 'a number of rows', '1:23'],
  ['select a from t offset 1', 'OFFSET goes behind LIMIT', '1:17'],
  ['select 1 union select 2', 'there is select where ALL or DISTINCT should be', '1:16'],
  [
    'select 1 union all select 2 except distinct select 3',
    'UNION and EXCEPT in one query need parentheses',
    '1:29',
  ],
  ['with a as (select 1), select 1', 'leave out the comma', '1:23'],
  ['with a (select 1) select 1', 'there is ( where AS should be', '1:8'],
  ['select sum(a) over (rows between x and y)', 'the bound of a frame', '1:34'],
]

const turned: Refused[] = [
  ['select 1 from t pivot (sum(x) for y in (1)) pivot (sum(a) for b in (1))', 'there is pivot', '1:45'],
  ['select 1 from unnest(a) pivot (sum(x) for y in (1))', 'PIVOT goes with a table or a subquery', '1:25'],
  ['select 1 from (a join b on c) unpivot (x for y in (z))', 'UNPIVOT goes with a table', '1:31'],
  ['select 1 from t pivot (sum(x) for y > 1 in (true))', 'there is > where IN should be', '1:37'],
  ['select 1 from t pivot (sum(x) for y in ())', 'where an expression should be', '1:41'],
  ['select 1 from t unpivot (a for b in (f(c)))', 'there is ( where ) should be', '1:39'],
  ['select 1 from t unpivot (a for b in (c as x))', "where a label, as in a AS 'first' should be", '1:43'],
  ['select 1 from t unpivot include (a for b in (c))', 'where NULLS should be', '1:33'],
  ['select 1 as a left union all select 2 as a', 'LEFT UNION ALL needs BY NAME after it', '1:15'],
  ['select 1 as a union all strict by name select 2 as a', 'where CORRESPONDING should be', '1:32'],
  [
    'select 1 as a union all by name select 2 as a union all select 3 as a',
    'UNION and UNION in one query need parentheses',
    '1:47',
  ],
]

/** Syntax of Postgres, ClickHouse, MySQL and T-SQL: the message says what to write. */
const dialects: Refused[] = [
  ["select t - interval '1 hour'", 'write INTERVAL 1 HOUR', '1:21'],
  ["select t - interval '15 min' from u", 'write INTERVAL 15 MINUTE', '1:21'],
  [
    'select t - interval 2 hours',
    'there is hours where a part of a date should be; did you mean HOUR?',
    '1:23',
  ],
  ['select extract(epoch from t)', 'UNIX_SECONDS(x) gives seconds', '1:16'],
  ['select extract(dow from t)', 'did you mean DAYOFWEEK?', '1:16'],
  ["select extract('hour' from t)", 'HOUR should be, without quotes', '1:16'],
  ['select cast(a as text)', 'there is text where a type should be: write STRING', '1:18'],
  ['select cast(a as varchar(10))', 'write STRING', '1:18'],
  ['select cast(a as double)', 'write FLOAT64', '1:18'],
  ['select cast(a as integr)', 'write INTEGER', '1:18'],
  ["select a from t where b not ilike 'x'", 'ILIKE is not supported', '1:29'],
  ["select a from t where b ~* 'x'", '~ does not match patterns: write REGEXP_CONTAINS', '1:25'],
  ["select a from t where b similar to 'x'", 'SIMILAR is not supported', '1:25'],
  ["select a from t where b rlike 'x'", 'RLIKE is not supported', '1:25'],
  ['select a from t where b == 1', 'there is == where = should be', '1:25'],
  ['select a from t where b && c', 'there is && where AND should be', '1:25'],
  ['select a from t where a = 1 || b = 2', '|| joins texts: the other one is written OR', '1:34'],
  ['select a from t where b in [1, 2]', 'write IN (1, 2), or IN UNNEST([1, 2])', '1:28'],
  ['select a % 2', 'the remainder is written MOD(a, b)', '1:10'],
  ['select a mod 2', 'MOD is a function: write MOD(a, b)', '1:10'],
  ['select a from t limit 10, 20', 'write LIMIT 20 OFFSET 10', '1:25'],
  ['select top 10 a from t', 'TOP is not supported: write LIMIT', '1:8'],
  ['select a from t order a desc', 'there is a where BY should be', '1:23'],
  ['select a from t order by a descending', 'write DESC', '1:28'],
  ['select distinct on (a) a from t', 'DISTINCT ON is not supported', '1:17'],
  ['select a from t minus select a from u', 'write EXCEPT DISTINCT', '1:17'],
  ['select sum(a) over (partition b) from t', 'there is b where BY should be', '1:31'],
  ['select percentile_cont(0.5) within group (order by a)', 'WITHIN GROUP is not supported', '1:29'],
  ['select count(*) filter (where a) from t', 'FILTER is not supported: write COUNTIF', '1:17'],
  ["select position('a' in b)", 'there is IN where , should be: write STRPOS(x, text)', '1:21'],
  ['select substring(a from 1 for 3)', 'write SUBSTR(x, 1, 3)', '1:20'],
  ['select a from t, u on t.a = u.a', 'there is on where no condition can be: write JOIN', '1:20'],
  ['select a from t where where b', 'there is where twice', '1:23'],
  ['select a from t where b and and c', 'there is and twice', '1:29'],
  ['select a from from t', 'there is from twice', '1:15'],
  ['select a from t, where b', 'there is where behind a comma: leave the comma out', '1:16'],
  ['select a from t group by a, order by a', 'there is order behind a comma', '1:27'],
  ['select * except a from t', 'EXCEPT behind * takes parentheses', '1:10'],
  ['select unnest(a) from t', 'UNNEST stands in FROM: write CROSS JOIN UNNEST(x) AS y', '1:8'],
  ['select try_cast(a as int64)', 'a cast is CAST(x AS type) or SAFE_CAST', '1:19'],
  ["select a like 'b' escape '!'", 'ESCAPE is not supported', '1:19'],
  ['select count(* from t', 'there is from where ) should be', '1:16'],
  ['select count(distinct *) from t', 'write COUNT(DISTINCT x)', '1:23'],
  ['select a // comment', 'a comment begins with -- or #', '1:10'],
  ['select :name', 'a parameter is written @name', '1:8'],
  ['select {{name}}', 'a parameter is written @name', '1:8'],
  ['select $1', 'a parameter is written @name', '1:8'],
  ['select a from "t"', 'text in quotes is a string, a name has backticks', '1:15'],
  ['select a as "the a"', 'text in quotes is a string, a name has backticks', '1:13'],
  ["select 'it's'", 'a quote inside a string is written', '1:12'],
  ["select regexp_contains(a, '\\d+')", "a regular expression is written r'...'", '1:28'],
  ['select a from t, unest(b)', 'there is unest where UNNEST is expected', '1:18'],
  ['select a from generate_series(1, 3)', 'write UNNEST(GENERATE_ARRAY(1, 10)) AS n', '1:15'],
  ['from t |> selct a', 'there is selct where SELECT is expected', '1:11'],
  ['from t |> group by a', 'groups are written AGGREGATE', '1:11'],
]

const tokens: Refused[] = [
  ["select 'a", 'this string is not closed', '1:8'],
  ["select '''a''", 'this string is not closed', '1:8'],
  ["select 'a\nb'", 'ends on its own line', '1:10'],
  ["select 'a\rb'", 'ends on its own line', '1:10'],
  ["select 'a\\\nb'", 'ends on its own line', '1:11'],
  ["select r'\\'", 'this string is not closed', '1:8'],
  ["select '\\q'", '\\q is not an escape', '1:9'],
  ["select '\\x4'", '\\x is not an escape: it takes two hexadecimal digits', '1:9'],
  ["select '\\400'", '\\4 is not an escape: it takes three octal digits up to \\377', '1:9'],
  ["select '\\1'", '\\1 is not an escape: it takes three octal digits', '1:9'],
  ["select '\\u123'", '\\u is not an escape: it takes four hexadecimal digits', '1:9'],
  ["select '\\ud800'", '\\u is not an escape: it takes four hexadecimal digits that are no half', '1:9'],
  ["select '\\U0000dfff'", '\\U is not an escape', '1:9'],
  [
    "select '\\U00110000'",
    '\\U is not an escape: it takes eight hexadecimal digits up to \\U0010ffff',
    '1:9',
  ],
  ["select b'\\u0041'", 'bytes take \\x', '1:10'],
  ["select '''a\\\nb'''", 'is not an escape', '1:12'],
  ["select 'a' 'b'", 'two strings stand side by side', '1:12'],
  ["select 'a''b'", 'two strings stand side by side', '1:11'],
  ["select 'a'b", 'a string ends here, and a space is missing', '1:11'],
  ['select 1a', 'a number ends before a letter or a dot', '1:9'],
  ['select 1.2.3', 'a number ends before a letter or a dot', '1:11'],
  ['select 0xg', 'a number ends before a letter or a dot', '1:9'],
  ['select 1e', 'a number ends before a letter or a dot', '1:9'],
  ['select t.1 from t', 'where it cannot be', '1:9'],
  ['select /* a', 'this comment is not closed', '1:8'],
  ['select `a', 'a name in backticks', '1:8'],
  ['select ``', 'a name in backticks', '1:8'],
  ['select `a\\`b`', 'a name in backticks', '1:8'],
  ['select `a\nb`', 'a name in backticks', '1:8'],
  ['select @', 'a parameter is written @name', '1:8'],
  ['select @1', 'a parameter is written @name', '1:8'],
  ['select @`a`', 'a parameter is written @name', '1:8'],
  ['select größe', '"ö" is not allowed here', '1:10'],
  ['select\u200b1', 'the character U+200B is not allowed here: delete it', '1:7'],
  ['select ‘a’', '"‘" is not allowed here', '1:8'],
  ['\ufeffselect 1', 'the character U+FEFF is not allowed here', '1:1'],
  ['select 😀', '"😀" is not allowed here', '1:8'],
  ['select $a', '"$" is not allowed here', '1:8'],
  ['select a ! b', '"!" is not allowed here', '1:10'],
  ['select a \\ b', '"\\\\" is not allowed here', '1:10'],
  ["select '\0'", 'the query holds a NUL character', '1:9'],
]

describe.each([
  ['statements other than one query', statements],
  ['a misspelt keyword', misspelt],
  ['what is not supported', unsupported],
  ['sizes of types', sizes],
  ['what is not grammar', grammar],
  ['what other dialects have', dialects],
  ['PIVOT, UNPIVOT and set operations by name', turned],
  ['what is not a token', tokens],
])('%s', (_subject, cases) => {
  test.each(cases)('%j: %s', (sql, message, at) => {
    const { message: actual, place } = refusal(sql)
    expect(actual).toContain(message)
    expect(`${place?.line}:${place?.column}`).toBe(at)
  })
})

test('half a character is refused', () => {
  expect(refusal("select '\ud800'").message).toBe('the query is not valid Unicode')
})

test('a comment that a carriage return ends hides nothing', () => {
  expect(refusal('select 1 -- \r; drop table t').message).toBe('only one statement is allowed')
})

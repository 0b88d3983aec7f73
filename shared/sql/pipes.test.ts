/** Pipes are read as the ordinary queries that they stand for. */
import { expect, test } from '@jest/globals'
import { parse } from './parser.ts'
import { print } from './printer.ts'

test.each([
  ['FROM t', 'SELECT * FROM t'],
  ['FROM t |> WHERE a = 1 |> WHERE b OR c', 'SELECT * FROM t WHERE a = 1 AND (b OR c)'],
  ['FROM t |> WHERE a OR b |> WHERE c AND d', 'SELECT * FROM t WHERE (a OR b) AND (c AND d)'],
  [
    'FROM t |> SELECT a, b AS x |> ORDER BY x DESC |> LIMIT 5',
    'SELECT a, b AS x FROM t ORDER BY x DESC LIMIT 5',
  ],
  ['FROM t |> SELECT DISTINCT a', 'SELECT DISTINCT a FROM t'],
  ['FROM t |> EXTEND a + 1 AS b', 'SELECT *, a + 1 AS b FROM t'],
  ['FROM t |> SET a = 1, b = a', 'SELECT * REPLACE (1 AS a, a AS b) FROM t'],
  ['FROM t |> DROP a, b |> DISTINCT', 'SELECT DISTINCT * FROM (SELECT * EXCEPT (a, b) FROM t)'],
  [
    'FROM t |> WITH c AS (SELECT 1 AS a), d AS (FROM c) |> JOIN d USING (a) |> WITH e AS (FROM d) |> UNION ALL (FROM e)',
    'WITH c AS (SELECT 1 AS a), d AS (SELECT * FROM c), e AS (SELECT * FROM d) (SELECT * FROM t JOIN d USING (a)) UNION ALL (SELECT * FROM e)',
  ],
  ['FROM t |> SELECT a |> AS u |> SELECT u.a', 'SELECT u.a FROM (SELECT a FROM t) AS u'],
  ['FROM t |> AGGREGATE COUNT(*) AS n', 'SELECT COUNT(*) AS n FROM t'],
  [
    'FROM t |> AGGREGATE COUNT(*) AS n GROUP BY a, b AS k',
    'SELECT a, b AS k, COUNT(*) AS n FROM t GROUP BY 1, 2',
  ],
  ['FROM t |> AGGREGATE GROUP BY a', 'SELECT a FROM t GROUP BY 1'],
  [
    'FROM t |> AGGREGATE COUNT(*) AS n DESC NULLS LAST, MAX(b) AS m GROUP BY a ASC, c',
    'SELECT a, c, COUNT(*) AS n, MAX(b) AS m FROM t GROUP BY 1, 2 ORDER BY 1 ASC, 3 DESC NULLS LAST',
  ],
  ['FROM t |> SELECT AS STRUCT a, b', 'SELECT AS STRUCT a, b FROM t'],
  [
    'FROM t |> AGGREGATE SUM(b) AS s GROUP AND ORDER BY a DESC',
    'SELECT a, SUM(b) AS s FROM t GROUP BY 1 ORDER BY 1 DESC',
  ],
  [
    'FROM t AS x |> CROSS JOIN UNNEST(x.m) AS m |> WHERE m.a |> SELECT m.a',
    'SELECT m.a FROM t AS x CROSS JOIN UNNEST(x.m) AS m WHERE m.a',
  ],
  [
    'FROM t |> WHERE a |> LEFT JOIN u USING (id)',
    'SELECT * FROM (SELECT * FROM t WHERE a) AS t LEFT JOIN u USING (id)',
  ],
  ['FROM t |> LIMIT 5 |> WHERE a', 'SELECT * FROM (SELECT * FROM t LIMIT 5) WHERE a'],
  [
    'FROM t AS x |> EXTEND x.a + 1 AS b |> WHERE x.c.d > 0 AND b > X.c.e |> SELECT x.f AS g, b',
    'SELECT x__row.f AS g, b FROM (SELECT *, x.a + 1 AS b, STRUCT(x.c, x.f) AS x__row FROM t AS x) WHERE x__row.c.d > 0 AND b > x__row.c.e',
  ],
  [
    'FROM t AS x |> SET a = 1 |> DROP b |> WHERE x.a > 1',
    'SELECT * EXCEPT (x__row) FROM (SELECT * EXCEPT (b) FROM (SELECT * REPLACE (1 AS a), STRUCT(x.a) AS x__row FROM t AS x)) WHERE x__row.a > 1',
  ],
  [
    'FROM t AS x |> LIMIT 5 |> EXTEND TO_JSON_STRING(x) AS j |> AS y',
    'SELECT * FROM (SELECT * EXCEPT (x__row) FROM (SELECT *, TO_JSON_STRING(x__row) AS j FROM (SELECT *, x AS x__row FROM t AS x LIMIT 5))) AS y',
  ],
  [
    'FROM t, UNNEST(t.m) AS m |> WHERE m.a |> JOIN u ON m.b = u.b |> WHERE t.c = 1 |> AGGREGATE COUNT(*) GROUP BY m.d',
    'SELECT m__row.d, COUNT(*) FROM (SELECT *, STRUCT(m.b, m.d) AS m__row, STRUCT(t.c) AS t__row FROM t, UNNEST(t.m) AS m WHERE m.a) JOIN u ON m__row.b = u.b WHERE t__row.c = 1 GROUP BY 1',
  ],
  [
    'FROM t AS x |> EXTEND x.a AS y |> EXTEND x.b AS x |> WHERE x > 1',
    'SELECT * FROM (SELECT * EXCEPT (x__row), x__row.b AS x FROM (SELECT *, x.a AS y, STRUCT(x.b) AS x__row FROM t AS x)) WHERE x > 1',
  ],
  [
    'FROM t, UNNEST(tags) AS g |> EXTEND 1 AS a |> WHERE g = a |> UNION ALL (SELECT g.x FROM g)',
    '(SELECT * FROM (SELECT *, 1 AS a FROM t, UNNEST(tags) AS g) WHERE g = a) UNION ALL (SELECT g.x FROM g)',
  ],
  ['FROM t AS x |> DISTINCT |> SELECT x.a', 'SELECT x.a FROM (SELECT DISTINCT * FROM t AS x) AS x'],
  ['FROM t |> LIMIT 5 OFFSET 2 |> LIMIT 3', 'SELECT * FROM (SELECT * FROM t LIMIT 5 OFFSET 2) LIMIT 3'],
  [
    'FROM t |> UNION ALL (SELECT 1), (FROM u)',
    '(SELECT * FROM t) UNION ALL (SELECT 1) UNION ALL (SELECT * FROM u)',
  ],
  [
    'FROM t |> WHERE a |> PIVOT (COUNT(*) FOR b IN (1)) AS p |> SELECT p._1',
    'SELECT p._1 FROM (SELECT * FROM t WHERE a) AS t PIVOT(COUNT(*) FOR b IN (1)) AS p',
  ],
  [
    'FROM t AS x, u |> UNPIVOT (v FOR k IN (a, b)) |> WHERE v > 1',
    'SELECT * FROM (SELECT * FROM t AS x, u) UNPIVOT((v) FOR k IN ((a), (b))) WHERE v > 1',
  ],
  [
    'FROM t |> LEFT OUTER UNION ALL BY NAME ON (a) (SELECT 1 AS a), (FROM u)',
    '(SELECT * FROM t) LEFT UNION ALL CORRESPONDING BY (a) (SELECT 1 AS a) LEFT UNION ALL CORRESPONDING BY (a) (SELECT * FROM u)',
  ],
  ['SELECT a FROM t LIMIT 3 |> AGGREGATE MAX(a) AS m', 'SELECT MAX(a) AS m FROM (SELECT a FROM t LIMIT 3)'],
  [
    'WITH c AS (FROM t |> LIMIT 3) FROM c |> SELECT a,',
    'WITH c AS (SELECT * FROM t LIMIT 3) SELECT a FROM c',
  ],
  ['SELECT (FROM t |> SELECT a |> LIMIT 1)', 'SELECT (SELECT a FROM t LIMIT 1)'],
  ['((SELECT 1) |> LIMIT 1) UNION ALL (FROM t)', '((SELECT 1) LIMIT 1) UNION ALL (SELECT * FROM t)'],
  [
    'WITH c AS (FROM t) FROM c |> WITH d AS (FROM c) |> LIMIT 1',
    'WITH c AS (SELECT * FROM t), d AS (SELECT * FROM c) SELECT * FROM c LIMIT 1',
  ],
])('%s', (sql, expected) => {
  expect(print(parse(sql))).toBe(expected)
  expect(print(parse(expected))).toBe(expected)
})

test('RENAME, which no SELECT can say, is printed as a pipe', () => {
  const printed = 'SELECT * FROM (FROM t |> WHERE a |> RENAME a AS b, `c d` AS e) ORDER BY b'
  expect(print(parse('FROM t |> WHERE a |> RENAME a AS b, `c d` e |> ORDER BY b'))).toBe(printed)
  expect(print(parse(printed))).toBe(printed)

  const carrying =
    'SELECT t__row.b AS b FROM (FROM (SELECT *, STRUCT(t.b) AS t__row FROM t WHERE t.a) |> RENAME b AS c) WHERE c = t__row.b'
  expect(print(parse('FROM t |> WHERE t.a |> RENAME b AS c |> WHERE c = t.b |> SELECT t.b AS b'))).toBe(
    carrying,
  )
})

test('names from before a join are read behind it, and * has the columns of both tables', () => {
  const left = '(SELECT *, 1 AS n, STRUCT(t.a) AS t__row FROM t)'
  const sql = 'FROM t |> EXTEND 1 AS n |> JOIN u ON t.a = u.a'
  expect(print(parse(`${sql} |> LIMIT 3`))).toBe(
    `SELECT * EXCEPT (t__row) FROM ${left} JOIN u ON t__row.a = u.a LIMIT 3`,
  )
  expect(print(parse(`${sql} |> SELECT u.t`))).toBe(`SELECT u.t FROM ${left} JOIN u ON t__row.a = u.a`)
})

test('a whole row keeps its name, and the rows of a subquery their own', () => {
  expect(print(parse('FROM t |> EXTEND 1 AS n |> SELECT t, ARRAY_LENGTH(t.m) AS l'))).toBe(
    'SELECT t__row AS t, ARRAY_LENGTH(t__row.m) AS l FROM (SELECT *, 1 AS n, t AS t__row FROM t)',
  )
  const subquery = '(SELECT MAX(t.b) FROM u AS t WHERE t.a = n ORDER BY t.c)'
  expect(print(parse(`FROM t |> EXTEND 1 AS n |> EXTEND ${subquery} AS m`))).toBe(
    `SELECT *, ${subquery} AS m FROM (SELECT *, 1 AS n FROM t)`,
  )
  expect(
    print(parse('FROM t |> EXTEND 1 AS n |> WHERE EXISTS (SELECT 1 FROM UNNEST(t.m) AS t WHERE t.a)')),
  ).toBe(
    'SELECT * EXCEPT (t__row) FROM (SELECT *, 1 AS n, STRUCT(t.m) AS t__row FROM t) WHERE EXISTS(SELECT 1 FROM UNNEST(t__row.m) AS t WHERE t.a)',
  )
})

test.each([
  ['WINDOW RANK() OVER (ORDER BY a) AS r', 'EXTEND RANK() OVER'],
  ['CALL f(1)', 'table functions'],
  ['ASSERT a > 1', 'COUNTIF(NOT condition)'],
  ['TABLESAMPLE SYSTEM (1 PERCENT)', 'FARM_FINGERPRINT'],
  ['RECURSIVE UNION ALL (|> LIMIT 1)', 'WITH RECURSIVE at the beginning'],
  ['QUALIFY RANK() OVER (ORDER BY a) = 1', 'WHERE r = 1'],
  ['FORK (|> LIMIT 1)', 'FORK is not supported in a pipe'],
  ['FILTER a > 1', 'write WHERE'],
])('|> %s says what to write', (operator, message) => {
  expect(() => parse(`FROM t |> ${operator}`)).toThrow(message)
})

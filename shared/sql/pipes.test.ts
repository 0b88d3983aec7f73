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
})

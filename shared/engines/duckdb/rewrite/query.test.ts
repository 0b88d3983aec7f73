/** WITH, set operations, joins, grouping, ordering and names, each with its rows worked out by hand. */
import { describe, expect, test } from '@jest/globals'
import type { Row } from '../../engine.ts'
import { expectProcessorTime } from '../../../testing/processor-time.ts'
import { describeDuckDb } from '../../testing/describe-engines.ts'
import { rewrite } from './rewrite.ts'

type Claim = [claim: string, sql: string, rows: Row[]]

const one = '(SELECT 1 AS a, 2 AS b)'
const numbers = 'UNNEST([3, 1, 2]) AS x'
/** Forty values, each of the one before. */
const doubled = (value: string) =>
  Array.from({ length: 40 }, (_, at) => `v${at + 1} AS ${value.replaceAll('v', `v${at}`)}`).join(', ')

const claims: Record<string, Claim[]> = {
  WITH: [
    [
      'a common table is seen by those behind it',
      'WITH t AS (SELECT 1 AS a), u AS (SELECT a + 1 AS b FROM t) SELECT t.a, u.b FROM t, u',
      [{ a: 1, b: 2 }],
    ],
    [
      'values of values of an expression are each computed once',
      `SELECT WITH(v0 AS x, ${doubled('IF(v = 1, v + 1, v)')}, v40) AS a, WITH(v0 AS x, ${doubled('v + v')}, v40) AS b FROM ${numbers} ORDER BY a, b`,
      [
        { a: 2, b: 2 ** 40 },
        { a: 2, b: 2 ** 41 },
        { a: 3, b: 3 * 2 ** 40 },
      ],
    ],
    ['in any case of letters', 'WITH T AS (SELECT 1 AS a) SELECT A FROM t', [{ A: 1 }]],
    [
      'one inside hides one outside, in its own query only',
      'WITH t AS (SELECT 1 AS a) SELECT (WITH t AS (SELECT a + 1 AS a FROM t) SELECT a FROM t) AS inside, a FROM t',
      [{ inside: 2, a: 1 }],
    ],
    [
      'a query in parentheses may have its own',
      'WITH t AS (SELECT 1 AS a) (WITH u AS (SELECT a + 1 AS b FROM t) SELECT b FROM u)',
      [{ b: 2 }],
    ],
    [
      'and so may each side of a set operation',
      '(WITH t AS (SELECT 1 AS a) SELECT a FROM t) UNION ALL (WITH t AS (SELECT 2 AS a) SELECT a FROM t) ORDER BY a',
      [{ a: 1 }, { a: 2 }],
    ],
    [
      'a common table hides a table of its name',
      'WITH logs AS (SELECT 5 AS a) SELECT a FROM logs',
      [{ a: 5 }],
    ],
    [
      'a value table has the fields of its structs',
      'WITH t AS (SELECT AS STRUCT 1 AS a, 2 AS b) SELECT a, t.b FROM t',
      [{ a: 1, b: 2 }],
    ],
  ],
  'set operations': [
    [
      'take the names of the left and the wider types',
      'SELECT 1 AS a UNION ALL SELECT 2.5 ORDER BY a',
      [{ a: 1 }, { a: 2.5 }],
    ],
    [
      'take a NULL for any type',
      `SELECT NULL AS a UNION ALL SELECT 'x' ORDER BY a`,
      [{ a: null }, { a: 'x' }],
    ],
    [
      'match structs by place',
      `SELECT [STRUCT(1 AS x)] AS a UNION ALL SELECT [STRUCT(2 AS y)]`,
      [{ a: [{ x: 1 }] }, { a: [{ x: 2 }] }],
    ],
    [
      'by name take the columns in the order of the left',
      'SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS B, 4 AS a ORDER BY a',
      [
        { a: 1, b: 2 },
        { a: 4, b: 3 },
      ],
    ],
    [
      'by name and INNER keep what both have',
      'SELECT 1 AS a, 2 AS b INNER UNION ALL BY NAME SELECT 3 AS c, 4 AS b ORDER BY b',
      [{ b: 2 }, { b: 4 }],
    ],
    [
      'by name and LEFT keep the columns of the left, NULL where the right has none',
      'SELECT 1 AS a, 2 AS b LEFT UNION ALL BY NAME SELECT 3 AS c, 4 AS b ORDER BY b',
      [
        { a: 1, b: 2 },
        { a: null, b: 4 },
      ],
    ],
    [
      'by name and FULL keep all columns',
      "SELECT 1 AS a FULL OUTER UNION ALL BY NAME SELECT 'x' AS b ORDER BY a",
      [
        { a: null, b: 'x' },
        { a: 1, b: null },
      ],
    ],
    [
      'by name in a chain match every query with those before it',
      'SELECT 1 AS a FULL UNION ALL BY NAME SELECT 2 AS b FULL UNION ALL BY NAME SELECT 3 AS c, 4 AS a ORDER BY a',
      [
        { a: null, b: 2, c: null },
        { a: 1, b: null, c: null },
        { a: 4, b: null, c: 3 },
      ],
    ],
    [
      'by name and a list take its columns in its order',
      'SELECT 1 AS a, 2 AS b, 5 AS c FULL UNION ALL BY NAME ON (d, b) SELECT 3 AS d, 4 AS b ORDER BY b',
      [
        { d: null, b: 2 },
        { d: 3, b: 4 },
      ],
    ],
    [
      'by name and LEFT take EXCEPT and INTERSECT too',
      '(SELECT 1 AS a, 2 AS b LEFT EXCEPT DISTINCT BY NAME SELECT 2 AS b) UNION ALL (SELECT 3 AS a, 4 AS b INTERSECT DISTINCT BY NAME SELECT 4 AS b, 3 AS a) ORDER BY a',
      [
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ],
    ],
    ['UNION DISTINCT drops doubles', 'SELECT 1 AS a UNION DISTINCT SELECT 1', [{ a: 1 }]],
    [
      'INTERSECT keeps what both have',
      '(SELECT x FROM UNNEST([1, 2]) AS x) INTERSECT DISTINCT (SELECT 2)',
      [{ x: 2 }],
    ],
    [
      'EXCEPT keeps what the right has not',
      '(SELECT x FROM UNNEST([1, 2]) AS x) EXCEPT DISTINCT (SELECT 2)',
      [{ x: 1 }],
    ],
    [
      'EXCEPT ALL takes away one for one',
      '(SELECT x FROM UNNEST([1, 1]) AS x) EXCEPT ALL SELECT 1',
      [{ x: 1 }],
    ],
    [
      'a side may be ordered and cut',
      '(SELECT x FROM UNNEST([1, 3, 2]) AS x ORDER BY x DESC LIMIT 1) UNION ALL (SELECT 0) ORDER BY 1',
      [{ x: 0 }, { x: 3 }],
    ],
    [
      'parentheses group them',
      '(SELECT 1 AS a UNION ALL SELECT 2) EXCEPT DISTINCT (SELECT 1 UNION ALL SELECT 3)',
      [{ a: 2 }],
    ],
  ],
  joins: [
    [
      'LEFT JOIN keeps the left row',
      'SELECT l.a, r.c FROM (SELECT 1 AS a) AS l LEFT JOIN (SELECT 2 AS c) AS r ON l.a = r.c',
      [{ a: 1, c: null }],
    ],
    [
      'USING merges its columns, first and once',
      `SELECT * FROM ${one} JOIN (SELECT 5 AS c, 1 AS a) USING (a)`,
      [{ a: 1, b: 2, c: 5 }],
    ],
    [
      'USING of a FULL JOIN takes the side that is there',
      'SELECT a, b, c FROM (SELECT 1 AS a, 2 AS b) FULL JOIN (SELECT 5 AS a, 3 AS c) USING (a) ORDER BY a',
      [
        { a: 1, b: 2, c: null },
        { a: 5, b: null, c: 3 },
      ],
    ],
    [
      'USING of a RIGHT JOIN takes the right side',
      'SELECT x FROM (SELECT 1 AS x) AS l RIGHT JOIN (SELECT 2 AS x) AS r USING (x)',
      [{ x: 2 }],
    ],
    [
      'both sides of USING can still be named',
      'SELECT l.x, r.x AS y FROM (SELECT 1 AS x) AS l LEFT JOIN (SELECT 2 AS x) AS r USING (x)',
      [{ x: 1, y: null }],
    ],
    [
      'a join in parentheses joins as one',
      'SELECT c, a, b FROM (SELECT 1 AS c) JOIN ((SELECT 1 AS a) JOIN (SELECT 1 AS b) ON a = b) ON c = a',
      [{ c: 1, a: 1, b: 1 }],
    ],
    [
      'a comma and CROSS JOIN pair every row',
      'SELECT x, y FROM UNNEST([1, 2]) AS x, UNNEST([5]) AS y ORDER BY x',
      [
        { x: 1, y: 5 },
        { x: 2, y: 5 },
      ],
    ],
  ],
  'the select list': [
    [
      'EXCEPT leaves out, REPLACE takes the place',
      'SELECT * EXCEPT (b) REPLACE (a + 1 AS a) FROM (SELECT 1 AS a, 2 AS b, 3 AS c)',
      [{ a: 2, c: 3 }],
    ],
    [
      't.* is one table, s.* the fields of a struct',
      'SELECT t.*, s.* FROM (SELECT 1 AS a, STRUCT(2 AS b) AS s) AS t',
      [{ a: 1, s: { b: 2 }, b: 2 }],
    ],
    [
      'a name of a table is its row',
      `SELECT t FROM (SELECT 1 AS a, 'x' AS b) AS t`,
      [{ t: { a: 1, b: 'x' } }],
    ],
    ['row[0] is the first column', 'SELECT t[0] AS a FROM (SELECT 7 AS x) AS t', [{ a: 7 }]],
    ['AS STRUCT at the top gives its fields', 'SELECT AS STRUCT 1 AS a, 2 AS b', [{ a: 1, b: 2 }]],
    [
      'DISTINCT drops doubles',
      'SELECT DISTINCT MOD(x, 2) AS m FROM UNNEST([1, 2, 3]) AS x ORDER BY m',
      [{ m: 0 }, { m: 1 }],
    ],
    ['without FROM there is one row', 'SELECT 1 AS a', [{ a: 1 }]],
  ],
  'GROUP BY': [
    [
      'a name in the select list hides a column',
      'SELECT MOD(x, 2) AS x, COUNT(*) AS n FROM UNNEST([1, 2, 3]) AS x GROUP BY x ORDER BY x',
      [
        { x: 0, n: 1 },
        { x: 1, n: 2 },
      ],
    ],
    [
      'an item may be a number or an expression',
      'SELECT MOD(x, 2) AS m, x > 2 AS big, COUNT(*) AS n FROM UNNEST([1, 2, 3]) AS x GROUP BY 1, x > 2 ORDER BY 1, 2',
      [
        { m: 0, big: false, n: 1 },
        { m: 1, big: false, n: 1 },
        { m: 1, big: true, n: 1 },
      ],
    ],
    [
      'HAVING sees names of the select list',
      'SELECT MOD(x, 2) AS m, COUNT(*) AS n FROM UNNEST([1, 2, 3]) AS x GROUP BY m HAVING n > 1',
      [{ m: 1, n: 2 }],
    ],
    [
      'ROLLUP and CUBE inside GROUPING SETS stand for their sets',
      `SELECT x, y, COUNT(*) AS n FROM (SELECT 1 AS x, 2 AS y UNION ALL SELECT 1, 3)
        GROUP BY GROUPING SETS (ROLLUP (x, (y)), CUBE ((x, y)), y) ORDER BY x, y, n`,
      [
        { x: null, y: null, n: 2 },
        { x: null, y: null, n: 2 },
        { x: null, y: 2, n: 1 },
        { x: null, y: 3, n: 1 },
        { x: 1, y: null, n: 2 },
        ...[2, 2, 3, 3].map(y => ({ x: 1, y, n: 1 })),
      ],
    ],
    [
      'GROUPING SETS groups by each set, and by nothing for the total',
      'SELECT x, y, COUNT(*) AS n FROM (SELECT 1 AS x, 2 AS y UNION ALL SELECT 1, 3) GROUP BY GROUPING SETS (x, (x, y), ()) ORDER BY x, y',
      [
        { x: null, y: null, n: 2 },
        { x: 1, y: null, n: 2 },
        { x: 1, y: 2, n: 1 },
        { x: 1, y: 3, n: 1 },
      ],
    ],
    [
      'ROLLUP takes several keys for one',
      'SELECT x, y, SUM(1) AS s FROM (SELECT 1 AS x, 2 AS y) GROUP BY ROLLUP(x, (y, x)) ORDER BY x, y',
      [
        { x: null, y: null, s: 1 },
        { x: 1, y: null, s: 1 },
        { x: 1, y: 2, s: 1 },
      ],
    ],
    [
      'ROLLUP by an alias that a subquery reads adds the total',
      'SELECT UPPER(x) AS y, SUM(LENGTH(UPPER(x))) AS n FROM UNNEST(["a", "b", "A"]) AS x GROUP BY ROLLUP(y) ORDER BY (SELECT y) DESC',
      [
        { y: 'B', n: 1 },
        { y: 'A', n: 2 },
        { y: null, n: 3 },
      ],
    ],
    [
      'a pipe gives what its query gives',
      `FROM ${numbers} |> WHERE x > 1 |> EXTEND x * 2 AS y |> AGGREGATE SUM(y) AS s GROUP BY x |> ORDER BY s DESC |> LIMIT 1`,
      [{ x: 3, s: 6 }],
    ],
    [
      'RENAME keeps a column in its place',
      'FROM UNNEST([STRUCT(1 AS a, 2 AS b)]) |> RENAME a AS c |> WITH d AS (SELECT 3 AS e) |> CROSS JOIN d',
      [{ c: 1, b: 2, e: 3 }],
    ],
    [
      'ROLLUP adds the total',
      'SELECT x, COUNT(*) AS n, GROUPING(x) AS g FROM UNNEST([1, 1, 2]) AS x GROUP BY ROLLUP(x) ORDER BY x',
      [
        { x: null, n: 3, g: 1 },
        { x: 1, n: 2, g: 0 },
        { x: 2, n: 1, g: 0 },
      ],
    ],
    [
      'ALL groups by whatever is not aggregated',
      'SELECT x, COUNT(*) AS n FROM UNNEST([1, 1]) AS x GROUP BY ALL',
      [{ x: 1, n: 2 }],
    ],
    [
      'keys in parentheses may stand anywhere, as others',
      'SELECT x, y + 1 AS z, GROUPING(x) AS g FROM (SELECT 1 AS x, 2 AS y) GROUP BY GROUPING SETS ((x, y), (y)) HAVING y > 0 ORDER BY x, y',
      [
        { x: null, z: 3, g: 1 },
        { x: 1, z: 3, g: 0 },
      ],
    ],
    [
      'an expression is the same in the select list',
      `SELECT REGEXP_EXTRACT(s, '(a)') AS g FROM UNNEST(['a']) AS s GROUP BY REGEXP_EXTRACT(s, '(a)') HAVING g = 'a' ORDER BY g`,
      [{ g: 'a' }],
    ],
  ],
  'ORDER BY': [
    [
      'NULL comes first ascending',
      'SELECT x FROM UNNEST([2, NULL, 1]) AS x ORDER BY x',
      [{ x: null }, { x: 1 }, { x: 2 }],
    ],
    [
      'and last descending',
      'SELECT x FROM UNNEST([2, NULL, 1]) AS x ORDER BY x DESC',
      [{ x: 2 }, { x: 1 }, { x: null }],
    ],
    [
      'unless it is said where',
      'SELECT x FROM UNNEST([2, NULL, 1]) AS x ORDER BY x NULLS LAST',
      [{ x: 1 }, { x: 2 }, { x: null }],
    ],
    [
      'a name in the select list comes before a column',
      `SELECT -x AS x FROM ${numbers} ORDER BY x`,
      [{ x: -3 }, { x: -2 }, { x: -1 }],
    ],
    [
      'in an expression too',
      `SELECT -x AS x FROM ${numbers} ORDER BY x + 1 DESC`,
      [{ x: -1 }, { x: -2 }, { x: -3 }],
    ],
    [
      'a column that is not selected may sort',
      `SELECT 'a' AS a FROM ${numbers} ORDER BY x LIMIT 1`,
      [{ a: 'a' }],
    ],
    [
      'count is a name like others',
      `SELECT x, COUNT(*) AS count FROM UNNEST([1, 2, 2]) AS x GROUP BY x ORDER BY count DESC`,
      [
        { x: 2, count: 2 },
        { x: 1, count: 1 },
      ],
    ],
    ['LIMIT and OFFSET cut', `SELECT x FROM ${numbers} ORDER BY x LIMIT 1 OFFSET 1`, [{ x: 2 }]],
  ],
  'the order of a subquery': [
    [
      'reaches a plain SELECT from it',
      `WITH t AS (SELECT x FROM ${numbers} ORDER BY x DESC) SELECT x + 1 AS y FROM t`,
      [{ y: 4 }, { y: 3 }, { y: 2 }],
    ],
    [
      'through several',
      `WITH t AS (SELECT x FROM ${numbers} ORDER BY x DESC), u AS (SELECT x AS y FROM t) SELECT y FROM u LIMIT 2`,
      [{ y: 3 }, { y: 2 }],
    ],
    [
      'and into an array',
      `SELECT ARRAY(SELECT x FROM (SELECT x FROM ${numbers} ORDER BY x)) AS a`,
      [{ a: [1, 2, 3] }],
    ],
    [
      'by a column that is not selected',
      `SELECT x FROM (SELECT x, -x AS y FROM ${numbers} ORDER BY y)`,
      [{ x: 3 }, { x: 2 }, { x: 1 }],
    ],
    [
      'and gives way to another',
      `WITH t AS (SELECT x FROM ${numbers} ORDER BY x DESC) SELECT x FROM t ORDER BY x`,
      [{ x: 1 }, { x: 2 }, { x: 3 }],
    ],
    [
      'with a LIMIT decides which rows there are',
      `SELECT x FROM (SELECT x FROM ${numbers} ORDER BY x DESC LIMIT 2) ORDER BY x`,
      [{ x: 2 }, { x: 3 }],
    ],
    [
      'does no harm to a count',
      `WITH t AS (SELECT x FROM ${numbers} ORDER BY x DESC) SELECT COUNT(*) AS n FROM t`,
      [{ n: 3 }],
    ],
  ],
  QUALIFY: [
    [
      'sees names of the select list',
      `SELECT x, ROW_NUMBER() OVER (ORDER BY x DESC) AS n FROM ${numbers} QUALIFY n = 1`,
      [{ x: 3, n: 1 }],
    ],
    [
      'and window functions of its own',
      `SELECT x FROM ${numbers} WHERE TRUE QUALIFY RANK() OVER (ORDER BY x) = 1`,
      [{ x: 1 }],
    ],
  ],
}

describeDuckDb(
  'a query',
  { logs: [{ name: 'status_code', type: { kind: 'INT64' } }] },
  ({ rows, failure }) => {
    for (const [subject, cases] of Object.entries(claims))
      describe(subject, () => {
        test.each(cases)('%s', async (_, sql, expected) => {
          expect(await rows(sql)).toEqual(expected)
        })
      })

    describe('refusals', () => {
      test.each([
        ['SELECT statuscode FROM logs', 'Unrecognized name: statuscode; did you mean status_code?', 1, 8],
        ['SELECT log_attributes FROM logs', 'log_attributes; there are logs, status_code', 1, 8],
        ['SELECT l.statuscode\nFROM logs AS l', 'did you mean status_code?', 1, 10],
        ['SELECT 1 FROM log', 'Table not found: log; did you mean logs?', 1, 15],
        ['SELECT x FROM UNNEST([1]) AS x WHERE y = 1', 'Unrecognized name: y', 1, 38],
        ['SELECT a FROM (SELECT 1 AS a), (SELECT 2 AS a)', 'Column name a is ambiguous', 1, 8],
        [
          'SELECT a FROM (SELECT 1 AS a) AS x, (SELECT 2 AS a) AS y',
          'Column name a is ambiguous: write x.a or y.a',
          1,
          8,
        ],
        ['SELECT x AS y FROM UNNEST([1]) AS x WHERE y = 1', 'Unrecognized name: y', 1, 43],
        [
          'SELECT 1 FROM logs, (SELECT l.status_code FROM logs AS l WHERE logs.status_code = 1)',
          'Unrecognized name: logs',
          1,
          64,
        ],
        [
          'SELECT status_code AS s FROM logs WHERE s = 1',
          'Unrecognized name: s, a name of the SELECT list, which WHERE does not see',
          1,
          41,
        ],
        ['SELECT COUNT(1, 2) FROM logs', 'does not match for function COUNT: it takes 1, not 2', 1, 8],
        ['SELECT STRING_AGG() FROM logs', 'for function STRING_AGG: it takes 1 to 2, not 0', 1, 8],
        ["SELECT ('a').b", 'if it holds JSON, write JSON_VALUE', 1, 14],
        ['SELECT 1 FROM logs AS a, logs AS A', 'Duplicate table alias A', 1, 26],
        ['SELECT 1 FROM UNNEST([1]) AS x, UNNEST([2]) AS x', 'Duplicate table alias x', 1, 33],
        ['SELECT 1 FROM UNNEST([1]) AS x CROSS JOIN UNNEST([2]) AS x', 'Duplicate table alias x', 1, 43],
        [
          'SELECT 1 FROM UNNEST([1]) AS a WITH OFFSET AS o, UNNEST([2]) AS o',
          'Duplicate table alias o',
          1,
          50,
        ],
        ['WITH t AS (SELECT 1), T AS (SELECT 2) SELECT 1', 'Duplicate alias T', 1, 23],
        ['SELECT 1 AS a UNION ALL SELECT 1, 2', 'mismatched column count: 1 and 2', 1, 25],
        [
          'SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 1 AS a',
          'BY NAME needs the same columns on both sides: the second query has no b',
          1,
          1,
        ],
        ['SELECT 1 AS a UNION ALL BY NAME SELECT 1 AS a, 2 AS c', 'the first query has no c', 1, 1],
        ['SELECT 1 AS a UNION ALL BY NAME SELECT 2', 'BY NAME needs a name for every column', 1, 1],
        ['SELECT 1 AS a, 2 AS a UNION ALL BY NAME SELECT 2 AS a', 'two columns are called a', 1, 1],
        ['SELECT 1 AS a LEFT UNION ALL BY NAME SELECT 2 AS b', 'no column name in common', 1, 1],
        ['SELECT 1 AS a UNION ALL BY NAME ON (b) SELECT 2 AS a', 'are not there: b', 1, 1],
        [
          "SELECT 1 AS a INNER UNION ALL BY NAME SELECT 'x' AS a",
          'No matching signature for set operation',
          1,
          1,
        ],
        [`SELECT 1 AS a UNION ALL SELECT 'x'`, 'No matching signature for set operation', 1, 1],
        ['SELECT x FROM UNNEST([1]) AS x ORDER BY 2', 'There is no column 2', 1, 41],
        ['SELECT 1 FROM logs WHERE status_code', 'No matching signature for WHERE clause', 1, 26],
        ['SELECT DISTINCT x FROM UNNEST([1]) AS x, UNNEST([2]) AS y ORDER BY y', 'y is not visible', 1, 68],
        [
          'SELECT DISTINCT x FROM UNNEST([1]) AS x ORDER BY COUNT(*)',
          'An aggregate or window function',
          1,
          50,
        ],
        ['SELECT *', 'SELECT * needs a FROM clause', 1, 8],
        ['SELECT x.* FROM UNNEST([1]) AS x', 'these have none: name the columns', 1, 8],
        [`SELECT * FROM ${one} JOIN ${one} USING (c)`, 'Column c in USING is not on both sides', 1, 75],
      ])('%s: %s', async (sql, message, line, column) => {
        const error = await failure(sql)
        expect(error.message).toContain(message)
        expect(error).toMatchObject({ reason: 'rejected', place: { line, column } })
      })

      test.each([
        'SELECT 1 FROM j GROUP BY x',
        'SELECT DISTINCT x FROM j',
        'SELECT 1 FROM j ORDER BY x',
        'SELECT COUNT(DISTINCT x) FROM j',
        'SELECT ROW_NUMBER() OVER (PARTITION BY x) FROM j',
        'SELECT ROW_NUMBER() OVER (ORDER BY x) FROM j',
        'SELECT ARRAY_AGG(1 ORDER BY x) FROM j',
        'SELECT x FROM j UNION DISTINCT SELECT x FROM j',
        'SELECT 1 FROM j AS a JOIN j AS b ON a.x = b.x',
        "SELECT 1 FROM j WHERE x = '1'",
        'SELECT 1 FROM j WHERE x = 1',
        'SELECT 1 FROM j WHERE x != TRUE',
        'SELECT 1 FROM j WHERE x > 1',
        'SELECT 1 FROM j WHERE x = x',
        'SELECT 1 FROM j WHERE x IN (1, 2)',
        'SELECT 1 FROM j WHERE x IN (x)',
        'SELECT 1 FROM j WHERE x IN UNNEST([x])',
        'SELECT 1 FROM j WHERE x BETWEEN 1 AND 2',
        'SELECT MIN(x) FROM j',
        'SELECT GREATEST(x, x) FROM j',
        "SELECT 1 FROM j WHERE x LIKE 'a'",
      ])('of JSON, which is neither compared nor ordered, say what is: %s', async sql => {
        const { message } = await failure(`WITH j AS (SELECT JSON '1' AS x) ${sql}`)
        expect(message).toMatch(/; for the JSON write (JSON_VALUE|LAX_\w+)\(x\)/)
      })

      test.each([
        ['SELECT x, y FROM UNNEST([1]) AS x, UNNEST([5]) AS y GROUP BY x', 'neither grouped nor aggregated'],
        ['SELECT 1 FROM UNNEST([1]) AS x WHERE COUNT(*) > 1', 'aggregate function cannot stand here'],
        ...[
          '(SELECT COUNT(*) FROM UNNEST(ARRAY_AGG(x)))',
          '(SELECT 1 FROM UNNEST([1]) AS y WHERE SUM(x) > 0)',
          '(SELECT 1 FROM UNNEST([1]) AS y JOIN UNNEST([2]) AS z ON SUM(x) > 0)',
          '(SELECT 1 FROM UNNEST([1]) AS y GROUP BY SUM(x))',
          'EXISTS(SELECT 1 FROM UNNEST(ARRAY_AGG(x)) AS y WHERE y > 0)',
        ].map((query): [string, string] => [
          `SELECT ${query} FROM UNNEST([1]) AS x`,
          'aggregate function cannot stand here',
        ]),
        ['SELECT 1 IS TRUE', 'No matching signature for operator IS TRUE for argument types: INT64'],
        [`SELECT 'a' IS NOT UNKNOWN`, 'No matching signature for operator IS UNKNOWN'],
        ...[
          'SELECT x + 1 + 1 FROM UNNEST([1]) AS x GROUP BY x + 1',
          'SELECT x + 1 FROM UNNEST([1]) AS x GROUP BY (X + 1) HAVING `x` + 1 > 0',
          'SELECT COUNT(*) FROM UNNEST([1]) AS x GROUP BY x + 1 ORDER BY x + 1',
          'SELECT x + 1 AS y, RANK() OVER (ORDER BY x + 1) FROM UNNEST([1]) AS x GROUP BY y',
          'SELECT x + 1, RANK() OVER w FROM UNNEST([1]) AS x GROUP BY 1 WINDOW w AS (ORDER BY x + 1)',
          'SELECT x + 1 AS y FROM UNNEST([1]) AS x GROUP BY y QUALIFY RANK() OVER (PARTITION BY x + 1 ORDER BY 1) = 1',
        ].map((sql): [string, string] => [sql, 'can be repeated as a whole item of the SELECT list only']),
        ['SELECT SUM(COUNT(*)) FROM UNNEST([1]) AS x', 'Aggregate functions cannot be nested'],
        [
          'WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x FROM b), b AS (SELECT x FROM a) SELECT x FROM a',
          'a and b read each other',
        ],
        ...[
          ['SELECT 1 AS n', '(SELECT n + 1 FROM t ORDER BY n)', 'where rows are sorted or cut'],
          ['SELECT 1 AS n', '(SELECT n + 1 FROM t LIMIT 1)', 'where rows are sorted or cut'],
          ['SELECT 1 AS n', 'SELECT n + 1 FROM (SELECT DISTINCT n FROM t)', 'where rows are grouped'],
          ['SELECT 1 AS n', 'SELECT x.m FROM (SELECT MAX(n) AS m FROM t) AS x', 'where rows are grouped'],
          [
            'SELECT 1 AS n',
            'SELECT n + 1 FROM t QUALIFY RANK() OVER (ORDER BY n) = 1',
            'where rows are grouped',
          ],
          ['SELECT 1 AS n', 'SELECT (SELECT MAX(n) FROM t)', 'in an expression'],
          ['SELECT 1 AS n', 'SELECT 2 FROM UNNEST([1]) WHERE EXISTS (SELECT 1 FROM t)', 'in an expression'],
          [
            'SELECT 1 AS n',
            'SELECT x FROM UNNEST([1]) AS x WHERE x IN (SELECT n FROM t)',
            'in an expression',
          ],
          ['SELECT 1 AS n', '(WITH x AS (SELECT n FROM t) SELECT n FROM x)', 'in a WITH inside'],
          ['SELECT 1 AS n', '(SELECT n FROM t EXCEPT DISTINCT SELECT 3)', 'in EXCEPT DISTINCT'],
          [
            'SELECT 1 AS n',
            'SELECT t.n FROM UNNEST([1]) AS x LEFT JOIN t ON TRUE',
            'on the side of a LEFT JOIN',
          ],
          [
            'SELECT 1 AS n',
            'SELECT t.n FROM t RIGHT JOIN UNNEST([1]) AS x ON TRUE',
            'on the side of a RIGHT JOIN',
          ],
          [
            'SELECT 1 AS n',
            'SELECT t.n FROM t FULL JOIN UNNEST([1]) AS x ON TRUE',
            'on the side of a FULL JOIN',
          ],
          ['SELECT 1 AS n', 'SELECT a.n FROM t AS a JOIN t AS b ON TRUE', 'must read itself once'],
          ['SELECT n FROM t', 'SELECT 1', 'must not read itself before UNION'],
          ['SELECT 1 AS n', `SELECT 'x' FROM t`, 'another type than before UNION'],
          ['SELECT 1 AS n', 'SELECT n + 1 FROM t', 'the maximum number of iterations: 500'],
        ].map(
          ([first, next, message]) =>
            [`WITH RECURSIVE t AS (${first} UNION ALL ${next}) SELECT n FROM t`, message!] as [
              string,
              string,
            ],
        ),
      ])('%s: %s', async (sql, message) => {
        const error = await failure(sql)
        expect(error.message).toContain(message)
        expect(error.reason).toBe('rejected')
      })
    })
  },
)

test('as many columns as a list may have are rewritten in a moment', async () => {
  const names = Array.from({ length: 1000 }, (_, at) => `c${at + 1000}`)
  const wide = `WITH a AS (SELECT ${names.map(name => `1 AS ${name}`).join(', ')})`
  const except = `SELECT * EXCEPT (${names.slice(1).join(', ')}) FROM a`
  for (const sql of [
    `${wide} SELECT * FROM a${' UNION ALL BY NAME SELECT * FROM a'.repeat(40)}`,
    `${wide} ${Array.from({ length: 30 }, () => except).join(' UNION ALL ')}`,
  ])
    await expectProcessorTime(2_000, () => rewrite(sql, new Map(), new Map()))
})

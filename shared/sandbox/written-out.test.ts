/** What a caller leaves out is written out: the columns of `*`, and UNNEST around the array of a row. */
import { describe, expect, test } from '@jest/globals'
import { EngineError } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Column } from '../sql/types.ts'
import { columnsByEngine } from './offered-tables.ts'
import { sandbox } from './sandbox.ts'
import { endpoint } from './testing/endpoints.ts'

const shop = endpoint(
  `WITH orders AS (SELECT id, o.total, o.lines FROM \`p.orders\` AS o),
   named AS (SELECT * FROM orders),
   counted AS (SELECT *, 1 AS \`group\` FROM orders),
   open AS (SELECT * FROM \`p.open\`)
   SELECT id FROM orders`,
)

/** The caller's part of the statement. */
const written = (sql: string) => sandbox(shop, sql).normal

function refusal(sql: string): string {
  try {
    sandbox(shop, sql)
  } catch (error) {
    if (error instanceof ApiError) return error.problems[0]!.detail
    throw error
  }
  throw new Error(`not refused: ${sql}`)
}

describe('the columns that a * stands for', () => {
  test.each([
    [
      "of the endpoint's table are those of its SELECT",
      'SELECT * FROM orders',
      'orders.id, orders.total, orders.lines FROM orders',
    ],
    ["follow the endpoint's own *", 'SELECT * FROM named AS n', 'n.id, n.total, n.lines FROM named AS n'],
    [
      'have backticks where they need them',
      'SELECT counted.* EXCEPT (id, total, lines) FROM counted',
      'counted.`group` FROM counted',
    ],
    [
      'have the new names of RENAME in their places',
      'FROM orders |> RENAME total AS sum',
      'orders.id, orders.total AS sum, orders.lines FROM orders',
    ],
    [
      'of a subquery without a name are bare',
      'SELECT * FROM (SELECT 1 AS a, 2 AS `from`)',
      'a, `from` FROM (SELECT 1 AS a, 2 AS `from`)',
    ],
    [
      'of a common table follow its * ',
      'WITH a AS (SELECT *, 1 AS n FROM orders) SELECT a.* FROM a',
      'a.id, a.total, a.lines, a.n FROM a',
    ],
    [
      'are those of the first query of a UNION',
      'SELECT * FROM (SELECT 1 AS a UNION ALL SELECT 2 AS b)',
      'a FROM (SELECT 1 AS a UNION ALL SELECT 2 AS b)',
    ],
    [
      'of a join are those of its tables',
      'SELECT * EXCEPT (lines) FROM orders AS o, (SELECT 1 AS x) AS y',
      'o.id, o.total, y.x FROM orders AS o, (SELECT 1 AS x) AS y',
    ],
    [
      'of USING come first and once',
      'SELECT * FROM (SELECT 1 AS n, 2 AS id) AS a JOIN orders USING (id)',
      'id, a.n, orders.total, orders.lines FROM (SELECT 1 AS n, 2 AS id) AS a JOIN orders USING (id)',
    ],
    [
      'of an array of scalars are its elements and offset',
      'SELECT * FROM UNNEST([1]) AS x WITH OFFSET AS i',
      'x, i FROM UNNEST([1]) AS x WITH OFFSET AS i',
    ],
    [
      'of an array of structs are their fields',
      'SELECT * FROM UNNEST([STRUCT(1 AS a)]) AS x',
      'x.a FROM UNNEST([STRUCT(1 AS a)]) AS x',
    ],
    [
      'leave out EXCEPT and put in REPLACE',
      'SELECT * EXCEPT (lines) REPLACE (1 AS ID) FROM orders',
      '1 AS ID, orders.total FROM orders',
    ],
    [
      'of an array whose fields only the engine knows stay a * of its name',
      'SELECT * EXCEPT (lines, sku) FROM orders AS o CROSS JOIN UNNEST(o.lines) AS l WITH OFFSET AS i',
      'o.id, o.total, l.* EXCEPT (sku), i FROM orders AS o CROSS JOIN UNNEST(o.lines) AS l WITH OFFSET AS i',
    ],
    [
      'of subqueries and arrays without a name give them one',
      'SELECT * FROM orders, (SELECT 1 AS t0), UNNEST(orders.lines)',
      'orders.id, orders.total, orders.lines, t1.t0, t2.* FROM orders, (SELECT 1 AS t0) AS t1, UNNEST(orders.lines) AS t2',
    ],
    [
      'without a name get one',
      'SELECT * FROM (SELECT id, UPPER(total), 1 AS f0_, 2 FROM orders)',
      'id, f1_, f0_, f2_ FROM (SELECT id, UPPER(total) AS f1_, 1 AS f0_, 2 AS f2_ FROM orders)',
    ],
    [
      'of a struct stay as they are',
      'SELECT o.lines[0].*, STRUCT(1 AS a).* FROM orders AS o',
      'o.lines[0].*, STRUCT(1 AS a).* FROM orders AS o',
    ],
    [
      'of PIVOT are those that it does not read, and one for each value and aggregate',
      "SELECT * FROM orders PIVOT (MAX(id) AS m, COUNT(*) AS n FOR total IN (1, -2.5, 'x', NULL AS none)) AS p",
      `p.lines, p.m_1, p.n_1, p.m_minus_2_point_5, p.n_minus_2_point_5, p.m_x, p.n_x, p.m_none, p.n_none FROM orders ` +
        "PIVOT(MAX(id) AS m, COUNT(*) AS n FOR total IN (1, -2.5, 'x', NULL AS none)) AS p",
    ],
    [
      'of UNPIVOT are those in no group, and the new ones',
      'SELECT * FROM orders AS o UNPIVOT (v FOR k IN (o.id, total))',
      'lines, v, k FROM orders AS o UNPIVOT((v) FOR k IN ((o.id), (total)))',
    ],
    [
      'of a FULL UNION by name are those of both queries',
      'SELECT * FROM (SELECT 1 AS a FULL UNION ALL BY NAME SELECT 2 AS b, 3 AS A)',
      'a, b FROM (SELECT 1 AS a FULL UNION ALL CORRESPONDING SELECT 2 AS b, 3 AS A)',
    ],
    ...[
      ["['a']", 'e'],
      ['ARRAY<INT64>[]', 'e'],
      ["SPLIT('a,b')", 'e'],
      ['ARRAY_CONCAT([1], [2])', 'e'],
      ['ARRAY(SELECT x FROM UNNEST([1]) AS x)', 'e'],
      ['(SELECT ARRAY_AGG(x) FROM UNNEST([1]) AS x)', 'e'],
      ['IF(TRUE, NULL, [1])', 'e'],
      ['CAST(NULL AS ARRAY<STRING>)', 'e'],
      ['[STRUCT(1 AS a)]', 'e.*'],
      ['ARRAY(SELECT AS STRUCT 1 AS a)', 'e.*'],
      ['ARRAY(SELECT l FROM orders AS o, UNNEST(o.lines) AS l)', 'e.*'],
      ['(SELECT ARRAY_AGG(id) FROM orders)', 'e.*'],
    ].map(([array, what]): [string, string, string] => [
      `of the elements of ${array} in a table's column are ${what}`,
      `SELECT * FROM (SELECT ${array} AS c) AS t, UNNEST(t.c) AS e`,
      `t.c, ${what} FROM (SELECT ${array} AS c) AS t, UNNEST(t.c) AS e`,
    ]),
    [
      'of a field of an array of structs are known by its first element, or by its type',
      "SELECT * FROM UNNEST([STRUCT(['a'] AS c)]) AS s, UNNEST(s.c) AS e, UNNEST(ARRAY<STRUCT<d ARRAY<DATE>>>[]) AS t, t.d AS f",
      "s.c, e, t.d, f FROM UNNEST([STRUCT(['a'] AS c)]) AS s, UNNEST(s.c) AS e, UNNEST(ARRAY<STRUCT<d ARRAY<DATE>>>[]) AS t, UNNEST(t.d) AS f",
    ],
    ['are of no interest to EXISTS', 'SELECT EXISTS(SELECT * FROM open)', 'EXISTS(SELECT 1 FROM open)'],
  ])('%s', (_, sql, expected) => {
    expect(written(sql).replace(/^WITH .*?\) (?=SELECT)/, '')).toBe(`SELECT ${expected}`)
  })

  test.each([
    ['SELECT * FROM open', 'the columns of * inside it are not known'],
    ['SELECT * FROM orders AS o JOIN UNNEST(o.lines) AS l USING (id)', 'the fields of l are not known'],
    ['SELECT total.*, nothing.* FROM orders', 'FROM has no table nothing'],
    ['SELECT * FROM (SELECT o.*, p.* FROM orders AS o, orders AS p)', 'two columns are called id'],
  ])('are not known in %j', (sql, why) => {
    expect(refusal(sql)).toBe(`* cannot stand for columns here, since ${why}; name the columns`)
  })

  test.each([
    'FROM orders |> RENAME idd AS x',
    'SELECT * EXCEPT (idd) FROM orders',
    'SELECT * REPLACE (1 AS idd) FROM orders',
  ])('have all names of EXCEPT and REPLACE: %s', sql => {
    expect(refusal(sql)).toBe('* has no column idd')
  })
})

describe('the columns that the engine says of a table whose SQL does not', () => {
  const own = endpoint(
    'WITH open AS (SELECT t.* FROM `p.open` AS t), both AS (SELECT * FROM open), sum AS (SELECT 1 AS n) SELECT 1 FROM open',
  )
  const columns: Column[] = [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'tags', type: { kind: 'ARRAY', element: { kind: 'STRING' } } },
    { name: 'lines', type: { kind: 'ARRAY', element: { kind: 'STRUCT', fields: [] } } },
  ]
  const asked: string[] = []
  const known = (sql: string) =>
    columnsByEngine(own, sql, async query => {
      asked.push(query)
      return columns
    })
  const writtenWith = async (sql: string) => sandbox(own, sql, await known(sql)).normal

  test.each([
    ['SELECT * FROM open', 'SELECT open.id, open.tags, open.lines FROM open'],
    ['SELECT b.* EXCEPT (lines) FROM Both AS b', 'SELECT b.id, b.tags FROM Both AS b'],
    [
      'SELECT * REPLACE (1 AS id) FROM open UNION ALL SELECT * FROM open',
      'SELECT 1 AS id, open.tags, open.lines FROM open UNION ALL SELECT open.id, open.tags, open.lines FROM open',
    ],
    [
      'WITH w AS (SELECT t.* FROM (SELECT * FROM open) AS t) SELECT * FROM w JOIN sum ON TRUE',
      'WITH w AS (SELECT t.id, t.tags, t.lines FROM (SELECT open.id, open.tags, open.lines FROM open) AS t) ' +
        'SELECT w.id, w.tags, w.lines, sum.n FROM w JOIN sum ON TRUE',
    ],
    [
      'SELECT * EXCEPT (tags, lines) FROM open, UNNEST(tags) AS tag, UNNEST(lines) AS line',
      'SELECT open.id, tag, line.* FROM open, UNNEST(tags) AS tag, UNNEST(lines) AS line',
    ],
    ['FROM open |> DROP tags, lines', 'SELECT open.id FROM open'],
  ])('take the place of * in %s', async (sql, expected) => {
    expect(await writtenWith(sql)).toBe(expected)
  })

  test('are asked for where the query may name such a table, and are not needed where two have one name', async () => {
    asked.length = 0
    await known('SELECT n FROM sum')
    expect(asked).toEqual([])
    await known('SELECT 1 FROM BOTH')
    expect(asked).toEqual([expect.stringMatching(/\(SELECT \* FROM `both`\)$/)])
    const refused = await columnsByEngine(own, 'FROM open', async () => {
      throw new EngineError('rejected', 'Duplicate column names')
    })
    expect(sandbox(own, 'SELECT id FROM open', refused).normal).toBe('SELECT id FROM open')
    expect(() => sandbox(own, 'SELECT * FROM open', refused)).toThrow('name the columns')
  })
})

describe('the array of a row in FROM', () => {
  test.each([
    ['SELECT 1 FROM orders AS o, o.lines', 'SELECT 1 FROM orders AS o, UNNEST(o.lines) AS lines'],
    [
      'SELECT 1 FROM orders, Orders.lines AS l WITH OFFSET',
      'SELECT 1 FROM orders, UNNEST(Orders.lines) AS l WITH OFFSET AS offset',
    ],
    [
      'SELECT 1 FROM orders AS o LEFT JOIN o.lines AS l',
      'SELECT 1 FROM orders AS o LEFT JOIN UNNEST(o.lines) AS l',
    ],
    [
      'SELECT 1 FROM orders AS o, o.lines AS l, l.parts.select',
      'SELECT 1 FROM orders AS o, UNNEST(o.lines) AS l, UNNEST(l.parts.select) AS `select`',
    ],
    [
      'SELECT ARRAY(SELECT l.n FROM orders AS o, o.lines AS l)',
      'SELECT ARRAY(SELECT l.n FROM orders AS o, UNNEST(o.lines) AS l)',
    ],
    [
      'SELECT (SELECT MAX(p.n) FROM o.lines AS l, l.parts AS p) FROM orders AS o ORDER BY (SELECT 1 FROM o.lines)',
      'SELECT (SELECT MAX(p.n) FROM UNNEST(o.lines) AS l, UNNEST(l.parts) AS p) FROM orders AS o ORDER BY (SELECT 1 FROM UNNEST(o.lines) AS lines)',
    ],
    [
      'SELECT 1 FROM orders AS o JOIN UNNEST([1]) AS x ON EXISTS(SELECT 1 FROM (SELECT 1 FROM O.lines))',
      'SELECT 1 FROM orders AS o JOIN UNNEST([1]) AS x ON EXISTS(SELECT 1 FROM (SELECT 1 FROM UNNEST(O.lines) AS lines))',
    ],
  ])('%s has UNNEST', (sql, expected) => {
    expect(written(sql)).toBe(expected)
  })

  test.each([
    'SELECT 1 FROM orders AS o, (SELECT 1 FROM o.lines) AS x',
    'SELECT (SELECT 1 FROM o.lines) FROM (SELECT 1 FROM orders AS o) AS x',
    'SELECT (WITH c AS (SELECT 1 FROM o.lines) SELECT 1 FROM c) FROM orders AS o',
    'SELECT 1 FROM orders AS o UNION ALL SELECT (SELECT 1 FROM o.lines)',
    'SELECT 1 FROM orders AS o LIMIT 1 |> WHERE EXISTS(SELECT 1 FROM o.lines)',
  ])('of a row that is out of sight is none: %s', sql => {
    expect(refusal(sql)).toMatch(/"o\.lines" is not a table/)
  })
})

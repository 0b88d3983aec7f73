/** What a batch refuses, and what it reads; `shared/warm/batch.test.ts` compares its rows. */
import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../error.ts'
import type { Column } from '../types.ts'
import { batchOf } from './batch.ts'

const string = { kind: 'STRING' } as const
const integer = { kind: 'INT64' } as const
const columns: Column[] = [
  { name: 'id', type: integer },
  { name: 'url', type: string },
  { name: 'ts', type: { kind: 'TIMESTAMP' } },
]
const parameters: Column[] = [
  { name: 'p', type: string },
  { name: 'n', type: integer },
]

function made(sql: string): string {
  const catalog = { columnsOf: (table: string) => (table === 'logs' ? columns : undefined), tables: ['logs'] }
  return batchOf(sql, catalog, { parameters, representatives: () => null })
}

function refusal(sql: string): string {
  try {
    return made(sql)
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    return `${error.place!.column} ${error.message}`
  }
}

describe('a batch refuses at its place', () => {
  test.each([
    ['1 SELECT AS STRUCT', 'SELECT AS STRUCT id FROM logs WHERE url = @p'],
    ['16 FULL JOIN with', 'SELECT id FROM logs FULL JOIN (SELECT @n AS id) AS d USING (id)'],
    ['18 RIGHT JOIN with', 'SELECT l.id FROM logs AS l RIGHT JOIN logs AS r ON l.id = @n'],
    ['18 LEFT JOIN with USING', 'SELECT l.id FROM logs AS l LEFT JOIN (SELECT @n AS id) AS r USING (id)'],
    ['18 a parameter in a join in parentheses', 'SELECT l.id FROM (logs AS l JOIN logs AS m ON l.url = @p)'],
    ['47 GROUP BY ROLLUP', 'SELECT COUNT(*) AS c FROM logs WHERE url = @p GROUP BY ROLLUP(url)'],
    ['46 GROUP BY ALL', 'SELECT url, @n AS n, COUNT(*) AS c FROM logs GROUP BY ALL'],
    ['47 GROUP BY ALL', 'SELECT COUNT(*) AS c FROM logs WHERE url = @p GROUP BY ALL'],
    ['49 an aggregate of all rows in', 'SELECT 1 AS x FROM logs WHERE url = @p ORDER BY COUNT(*)'],
    [
      '1 as a batch it would not be valid: Unrecognized name: l',
      'SELECT id FROM logs AS l WHERE EXISTS (SELECT 1 FROM logs AS m WHERE m.url = @p AND m.id = l.id)',
    ],
    [
      '8 an ARRAY subquery of',
      'SELECT ARRAY(SELECT id FROM logs WHERE url = @p ORDER BY id) AS ids FROM logs',
    ],
    [
      '60 a subquery in ON',
      'SELECT l.id FROM logs AS l LEFT JOIN logs AS m ON l.id IN (SELECT id FROM logs WHERE url = @p)',
    ],
    ['54 LIMIT or OFFSET by', 'SELECT id FROM logs WHERE url = @p ORDER BY id LIMIT @n'],
    ['8 a parameter where a constant', 'SELECT STRING_AGG(url, @p) AS urls FROM logs'],
    ['8 a parameter where a constant', 'SELECT JSON_VALUE(url, @p) AS v FROM logs'],
    ['39 a parameter where a constant', 'SELECT SUM(id) OVER (ORDER BY id ROWS @n PRECEDING) AS s FROM logs'],
    [
      '70 the whole row',
      'WITH l AS (SELECT id FROM logs WHERE url = @p) SELECT TO_JSON_STRING(l) AS l FROM l',
    ],
    [
      '16 a table that reads itself',
      'WITH RECURSIVE r AS (SELECT @n AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r',
    ],
    ['15 PIVOT of', 'SELECT * FROM (SELECT id FROM logs WHERE url = @p) PIVOT(COUNT(*) FOR id IN (1))'],
    ['64 a parameter in ORDER BY', 'SELECT id FROM logs WHERE url = @p UNION ALL SELECT 1 ORDER BY id + @n'],
    ['54 ORDER BY something', 'SELECT DISTINCT id FROM logs WHERE url = @p ORDER BY id + 1 LIMIT 3'],
    ['8 a window function over', 'SELECT COUNT(*) OVER () + COUNT(*) AS s FROM logs WHERE url = @p'],
    ['1 names that begin with batch__', 'SELECT id AS batch__x FROM logs WHERE url = @p'],
    [
      '1 as a batch it would not be valid',
      'SELECT url FROM logs WHERE url = @p UNION ALL SELECT NULL FROM logs GROUP BY id',
    ],
    ['27 more windows of time', 'SELECT id FROM logs WHERE ts > TIMESTAMP(@p)'],
    ['27 Unrecognized name: uri', 'SELECT id FROM logs WHERE uri = @p'],
  ])('%s', (expected, sql) => {
    expect(refusal(sql)).toContain(expected)
  })
})

test('a batch asks a pattern of distinct values, and reads the table once, with the columns that it needs', () => {
  const sql = made('SELECT id FROM logs WHERE REGEXP_CONTAINS(url, @p) AND id > 3')
  expect(sql.match(/FROM logs/g)).toHaveLength(1)
  expect(sql).toContain('SELECT id AS batch__c1, url AS batch__c2 FROM logs WHERE id > 3')
  expect(sql).toMatch(/CROSS JOIN \(SELECT DISTINCT batch__c2 FROM batch__rows1\) .* REGEXP_CONTAINS/)
})

test('a batch joins by a comparison, and asks it of no distinct values', () => {
  expect(made('SELECT id FROM logs WHERE url = @p')).toMatch(
    /CROSS JOIN logs WHERE url = batch__s.batch__p_p$/,
  )
})

test('a batch reads the rows beside each set that a set operation has for all', () => {
  const sql = made('SELECT url FROM logs WHERE url = @p UNION ALL SELECT url FROM logs GROUP BY url')
  expect(sql).toContain('CROSS JOIN (SELECT url FROM logs GROUP BY url)')
})

test('a batch computes once what depends on no parameter', () => {
  const sql = made(
    'WITH a AS (SELECT url, COUNT(*) AS c FROM logs GROUP BY url) SELECT c FROM a WHERE url = @p',
  )
  expect(sql).toContain('a AS (SELECT url, COUNT(*) AS c FROM logs GROUP BY url)')
})

import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newestRows } from './newest-rows.ts'
import { parse } from './parser.ts'

const entries =
  'WITH entries AS (SELECT t.id, t.timestamp, t.lines FROM logs AS t WHERE t.timestamp > @start)'

const limitOf = (sql: string) => newestRows(sql, parse(sql), 'start')

describe('a query asks for the newest rows of a table', () => {
  test.each([
    'SELECT id FROM logs WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7',
    'SELECT id FROM logs WHERE @start < timestamp AND id > 3 ORDER BY timestamp DESC, id LIMIT 7 OFFSET 3',
    "SELECT id FROM logs WHERE (timestamp > IFNULL(@start, TIMESTAMP '2000-01-01')) ORDER BY timestamp DESC NULLS LAST LIMIT 7",
    'SELECT l.timestamp AS t FROM a.b.logs AS l WHERE l.timestamp > @start ORDER BY t DESC LIMIT 7',
    'SELECT l.timestamp FROM `a.logs` AS l CROSS JOIN UNNEST(l.lines) AS x WHERE timestamp > @start ORDER BY 1 DESC LIMIT 7',
    `${entries} SELECT id FROM entries ORDER BY timestamp DESC LIMIT 7`,
    `${entries} (SELECT * FROM entries AS e WHERE e.id = 'a' ORDER BY e.timestamp DESC LIMIT 7)`,
    `${entries} SELECT id FROM (SELECT * EXCEPT (lines) FROM entries) AS e ORDER BY timestamp DESC LIMIT 7`,
    `${entries} SELECT id FROM entries LEFT JOIN UNNEST(lines) AS l ON l > 3 ORDER BY timestamp DESC LIMIT 7`,
    `${entries} SELECT id, ARRAY(SELECT l FROM UNNEST(lines) AS l) AS few FROM entries ORDER BY timestamp DESC LIMIT 7`,
    `${entries}, later AS (SELECT timestamp AS t FROM entries) SELECT t FROM later ORDER BY t DESC LIMIT 7`,
    'WITH e AS (SELECT *, 1 AS one FROM logs) SELECT id FROM e WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7',
    'WITH e AS (SELECT * FROM logs WHERE timestamp > @start) SELECT t.* FROM e AS t, UNNEST(t.lines) AS l ORDER BY t.timestamp DESC LIMIT 7',
    'SELECT t AS u FROM (SELECT timestamp AS t FROM logs) WHERE @start < t ORDER BY u DESC LIMIT 7',
    'SELECT id FROM logs AS l, UNNEST(l.lines) WHERE timestamp > @start ORDER BY l.timestamp DESC LIMIT 7',
    `${entries}, other AS (SELECT @start AS s) SELECT id FROM entries ORDER BY timestamp DESC LIMIT 7`,
  ])('%s', sql => {
    expect(limitOf(sql)).toBe(7)
  })

  test('as logs.all does', () => {
    const sql = readFileSync(join(import.meta.dirname, '../../queries/logs.all.sql'), 'utf8')
    expect(newestRows(sql, parse(sql), 'iso_timestamp_start')).toBe(100)
  })
})

describe('a query asks for something else', () => {
  test.each([
    ['SELECT id FROM logs WHERE timestamp > @start ORDER BY timestamp DESC', 'LIMIT'],
    ['SELECT id FROM logs WHERE timestamp > @start ORDER BY timestamp DESC LIMIT @n', 'LIMIT'],
    ['SELECT id FROM logs WHERE timestamp > @start LIMIT 7', 'sorted'],
    ['SELECT id FROM logs WHERE timestamp > @start ORDER BY timestamp LIMIT 7', 'sorted'],
    ['SELECT id FROM logs WHERE timestamp > @start ORDER BY timestamp DESC NULLS FIRST LIMIT 7', 'sorted'],
    ['SELECT id FROM logs WHERE timestamp >= @start ORDER BY timestamp DESC LIMIT 7', 'not bounded'],
    ['SELECT id FROM logs WHERE NOT timestamp > @start ORDER BY timestamp DESC LIMIT 7', 'not bounded'],
    ['SELECT id FROM logs WHERE timestamp > @start OR id = 1 ORDER BY timestamp DESC LIMIT 7', 'not bounded'],
    [
      'SELECT id FROM logs WHERE timestamp > COALESCE(@start, other) ORDER BY timestamp DESC LIMIT 7',
      'not bounded',
    ],
    [
      'WITH e AS (SELECT * EXCEPT (timestamp), id AS timestamp FROM logs WHERE timestamp > @start) SELECT id FROM e ORDER BY timestamp DESC LIMIT 7',
      'not bounded',
    ],
    [
      'SELECT x.at FROM logs AS l, UNNEST(l.lines) AS x WHERE x.at > @start ORDER BY x.at DESC LIMIT 7',
      'must be a column',
    ],
    [
      'WITH logs AS (SELECT timestamp FROM logs), l AS (SELECT timestamp FROM logs UNION ALL SELECT timestamp FROM logs) SELECT timestamp FROM l WHERE timestamp > @start ORDER BY 1 DESC LIMIT 7',
      'one SELECT',
    ],
    ['SELECT id FROM logs WHERE seen > @start ORDER BY timestamp DESC LIMIT 7', 'not bounded'],
    [
      'SELECT id FROM logs WHERE timestamp > @start AND seen > @start ORDER BY timestamp DESC LIMIT 7',
      'may only bound',
    ],
    [
      'SELECT id, @start AS s FROM logs WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7',
      'may only bound',
    ],
    [
      'SELECT id, seen AS timestamp FROM logs WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7',
      'not bounded',
    ],
    [
      'SELECT id FROM logs WHERE timestamp > @start ORDER BY UNIX_SECONDS(timestamp) DESC LIMIT 7',
      'must be a column',
    ],
    ['SELECT DISTINCT id FROM logs WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7', 'for each row'],
    [
      'SELECT MAX(timestamp) AS t FROM logs WHERE timestamp > @start GROUP BY id ORDER BY t DESC LIMIT 7',
      'for each row',
    ],
    [
      'SELECT MAX(timestamp) AS t FROM logs WHERE timestamp > @start ORDER BY t DESC LIMIT 7',
      'must be a column',
    ],
    [
      'SELECT LAG(id) OVER (ORDER BY id) FROM logs WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7',
      'window',
    ],
    [
      'SELECT id FROM logs JOIN others ON TRUE WHERE timestamp > @start ORDER BY timestamp DESC LIMIT 7',
      'join',
    ],
    [
      'SELECT id FROM logs WHERE timestamp > @start AND id IN (SELECT id FROM others) ORDER BY timestamp DESC LIMIT 7',
      'another table',
    ],
    [`${entries} SELECT id FROM (SELECT * FROM entries LIMIT 3) ORDER BY timestamp DESC LIMIT 7`, 'no LIMIT'],
    [
      `${entries} SELECT id FROM (SELECT * REPLACE (id AS timestamp) FROM entries) ORDER BY timestamp DESC LIMIT 7`,
      'not bounded',
    ],
    [
      `${entries} SELECT id FROM entries UNION ALL SELECT id FROM entries ORDER BY timestamp DESC LIMIT 7`,
      'one SELECT',
    ],
    [`${entries} SELECT id FROM entries AS a, entries AS b ORDER BY a.timestamp DESC LIMIT 7`, 'join'],
  ])('%s', (sql, why) => {
    expect(() => limitOf(sql)).toThrow(why)
  })
})

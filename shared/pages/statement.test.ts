import { describe, expect, test } from '@jest/globals'
import { parse } from '../sql/parser.ts'
import { pagedSelection, pageStatement } from './statement.ts'

const page = { by: ['timestamp', 'id'] as [string, string] }

const rowsOf = (sql: string) => pagedSelection(sql, parse(sql), page).rows

describe('a query has pages', () => {
  test.each([
    'SELECT id, timestamp FROM logs ORDER BY timestamp DESC LIMIT 7',
    'SELECT l.id, l.timestamp FROM logs AS l ORDER BY l.timestamp DESC, id DESC LIMIT 7',
    'WITH a AS (SELECT 1 AS x) SELECT uuid AS id, at_time AS timestamp FROM a ORDER BY timestamp DESC NULLS LAST LIMIT 7',
    'SELECT timestamp, id FROM (SELECT 1 + 1 AS timestamp, id FROM logs) ORDER BY 1 DESC, 2 DESC LIMIT 7',
    '(SELECT id, timestamp FROM logs ORDER BY timestamp DESC LIMIT 7)',
  ])('%s', sql => {
    expect(rowsOf(sql)).toBe(7)
  })
})

describe('a query has no pages', () => {
  test.each([
    ['SELECT id, timestamp FROM logs ORDER BY timestamp DESC', 'LIMIT'],
    ['SELECT id, timestamp FROM logs ORDER BY timestamp DESC LIMIT 7 OFFSET 1', 'OFFSET'],
    ['SELECT id, timestamp FROM logs LIMIT 7', 'ORDER BY timestamp DESC'],
    ['SELECT id, timestamp FROM logs ORDER BY timestamp LIMIT 7', 'ORDER BY timestamp DESC'],
    ['SELECT id, timestamp FROM logs ORDER BY timestamp DESC, id LIMIT 7', 'id DESC is added'],
    ['SELECT id, timestamp FROM logs ORDER BY timestamp DESC, project, id DESC LIMIT 7', 'id DESC is added'],
    [
      'SELECT id, seen AS timestamp, timestamp AS t FROM logs ORDER BY t DESC LIMIT 7',
      'ORDER BY timestamp DESC',
    ],
    [
      'SELECT id, t AS timestamp FROM (SELECT id, 1 + 1 AS t, 2 + 2 AS u FROM logs) ORDER BY u DESC LIMIT 7',
      'ORDER BY timestamp DESC',
    ],
    ['SELECT id, l.a.t AS timestamp FROM logs AS l ORDER BY l.b.t DESC LIMIT 7', 'ORDER BY timestamp DESC'],
    ['SELECT timestamp FROM logs ORDER BY timestamp DESC LIMIT 7', 'need id among'],
    ['SELECT UPPER(id) AS id, timestamp FROM logs ORDER BY timestamp DESC LIMIT 7', 'need id among'],
    ['SELECT id, timestamp FROM logs GROUP BY id, timestamp ORDER BY timestamp DESC LIMIT 7', 'GROUP BY'],
    [
      'SELECT id, timestamp FROM a UNION ALL SELECT id, timestamp FROM b ORDER BY timestamp DESC LIMIT 7',
      'one SELECT',
    ],
  ])('%s', (sql, why) => {
    expect(() => rowsOf(sql)).toThrow(why)
  })
})

describe('a page', () => {
  const sql = 'SELECT l.id, l.timestamp FROM logs AS l WHERE l.a OR l.b ORDER BY timestamp DESC LIMIT 7'
  const version = 'of-this-test'
  const bounds = { start: 'start', end: 'end', steps: [1] }
  const time = { kind: 'TIMESTAMP' as const }
  const bindings = (start: string | null, end: string | null) => [
    { name: 'end', type: time, value: end },
    { name: 'start', type: time, value: start },
  ]
  const after = { time: '1767787200000000', tie: 'a' }
  const statement = (direction: 'next' | 'follow', start: string | null, end: string | null) =>
    pageStatement({ sql, version, page, newestFirst: bounds }, bindings(start, end), { direction, after })
  const values = ({ bindings }: ReturnType<typeof statement>) => bindings.map(({ value }) => value)

  test('asks for one row more, and goes on behind the position', () => {
    expect(pageStatement({ sql, version, page, newestFirst: null }, [], null).sql).toContain(
      'WHERE l.a OR l.b ORDER BY `timestamp` DESC, `id` DESC LIMIT 8',
    )
    expect(statement('next', null, null).sql).toContain(
      "WHERE (l.a OR l.b) AND (`l`.`timestamp` <= @page_time AND (`l`.`timestamp` < @page_time OR IFNULL(`l`.`id`, '') < @page_tie))",
    )
    expect(statement('follow', null, null).sql).toContain('ORDER BY `timestamp` ASC, `id` ASC LIMIT 8')
  })

  test('reads no further than its position, nor than the caller’s own bounds', () => {
    const moment = '2026-01-07T12:00:00.000000Z'
    const before = '2026-01-07T11:59:59.999999Z'
    const tie = [moment, 'a']
    expect(values(statement('next', null, null))).toEqual([moment, null, ...tie])
    expect(values(statement('next', '2026-01-01', '2026-01-03'))).toEqual([
      '2026-01-03',
      '2026-01-01',
      ...tie,
    ])
    expect(values(statement('follow', null, null))).toEqual([null, before, ...tie])
    expect(values(statement('follow', '2026-01-09', null))).toEqual([null, '2026-01-09', ...tie])
  })
})

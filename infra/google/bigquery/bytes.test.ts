/** What the server counts as read. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type LocalBigQuery, openLocalBigQuery } from '../../../shared/engines/testing/bigquery.ts'
import type { Column, SqlType } from '../../../shared/sql/types.ts'

const string: SqlType = { kind: 'STRING' }
const request: SqlType = {
  kind: 'ARRAY',
  element: {
    kind: 'STRUCT',
    fields: [
      { name: 'url', type: string },
      { name: 'body', type: string },
    ],
  },
}
const columns: Column[] = [
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'id', type: string },
  { name: 'request', type: request },
]

let local: LocalBigQuery
beforeAll(async () => {
  local = await openLocalBigQuery({ 'a.logs': columns, 'b.logs': columns }, { now: '2026-01-07T12:00:00Z' })
  for (const day of [1, 6, 7])
    for (const table of ['a.logs', 'b.logs'])
      await local.append(
        table,
        Array.from({ length: 300 }, (_, i) => ({
          timestamp: `2026-01-0${day}T11:00:00Z`,
          id: `${day}-${i}`,
          request: [{ url: `/${i}`, body: `${day} ${i} `.repeat(20) }],
        })),
      )
}, 30_000)
afterAll(() => local.close())

async function bytes(sql: string, hours: number | null = null): Promise<number> {
  const bindings = [{ name: 'hours', type: { kind: 'INT64' } as const, value: hours }]
  return (await local.engine.describe({ sql, bindings })).bytes!
}

const window = 'TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE), INTERVAL @hours HOUR)'

test('columns count by their size, and fields of records by theirs', async () => {
  const [id, url, all, star] = [
    await bytes('SELECT id FROM `a.logs`'),
    await bytes('SELECT r.url FROM `a.logs` AS t, UNNEST(t.request) AS r'),
    await bytes('SELECT id, request FROM `a.logs`'),
    await bytes('SELECT * FROM `a.logs`'),
  ]
  expect(id).toBeGreaterThan(0)
  expect(url).toBeGreaterThan(0)
  expect(all).toBeGreaterThan(5 * (id + url))
  expect(star).toBeGreaterThan(all)
  expect(await bytes('SELECT COUNT(*) FROM `a.logs`')).toBe(0)
})

test('bounds on the time leave out the days before and after', async () => {
  const sql = `SELECT id FROM \`a.logs\` AS t WHERE t.timestamp >= ${window}`
  const [whole, days, hours] = [
    await bytes('SELECT id, timestamp FROM `a.logs`'),
    await bytes(sql, 48),
    await bytes(sql, 2),
  ]
  expect(await bytes(sql, 24 * 30)).toBe(whole)
  expect(days / whole).toBeCloseTo(2 / 3, 1)
  expect(hours / whole).toBeCloseTo(1 / 3, 1)
  expect(await bytes(`${sql} AND t.timestamp < TIMESTAMP '2026-01-07'`, 48)).toBe(days - hours)
  expect(await bytes(`${sql} OR TRUE`, 2)).toBe(whole)
})

test('a common table that nothing reads costs nothing', async () => {
  const one = await bytes('SELECT id FROM `a.logs`')
  expect(
    await bytes('WITH a AS (SELECT id FROM `a.logs`), b AS (SELECT id FROM `b.logs`) SELECT id FROM a'),
  ).toBe(one)
  expect(await bytes('SELECT id FROM `a.logs` UNION ALL SELECT id FROM `b.logs`')).toBe(2 * one)
})

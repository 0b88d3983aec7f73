/** What the server counts as read. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type LocalBigQuery, openLocalBigQuery } from '../../../shared/engines/testing/bigquery.ts'
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'

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

/** Of a STRING, by https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types, "Data type sizes". */
const sizeOf = (text: string) => 2 + Buffer.byteLength(text)
const rows = [1, 6, 7].flatMap(day => Array.from({ length: 300 }, (_, i) => ({ day, i })))
const sum = (of: (row: { day: number; i: number }) => string) =>
  rows.reduce((bytes, row) => bytes + sizeOf(of(row)), 0)

test('columns count by the logical size of their values, and fields of records by theirs', async () => {
  const id = sum(({ day, i }) => `${day}-${i}`)
  const url = sum(({ i }) => `/${i}`)
  const body = sum(({ day, i }) => `${day} ${i} `.repeat(20))
  expect(await bytes('SELECT id FROM `a.logs`')).toBe(id)
  expect(await bytes('SELECT timestamp FROM `a.logs`')).toBe(8 * rows.length)
  expect(await bytes('SELECT r.url FROM `a.logs` AS t, UNNEST(t.request) AS r')).toBe(url)
  expect(await bytes('SELECT id, request FROM `a.logs`')).toBe(id + url + body)
  expect(await bytes('SELECT * FROM `a.logs`')).toBe(id + url + body + 8 * rows.length)
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

test('values count by their types, and NULL and an empty array not at all', async () => {
  const of = (kind: ScalarName) => ({ name: kind.toLowerCase(), type: { kind } })
  const kinds = ['BOOL', 'BYTES', 'DATE', 'FLOAT64', 'INT64', 'JSON', 'NUMERIC', 'BIGNUMERIC'] as const
  const array: Column = { name: 'texts', type: { kind: 'ARRAY', element: string } }
  const typed = [...kinds.map(of), array]
  const other = await openLocalBigQuery({ 'c.logs': [...columns, ...typed] })
  try {
    const values = {
      bool: true,
      bytes: 'ab',
      date: '2026-01-01',
      float64: 1,
      int64: 1,
      json: { a: 'é' },
      numeric: '1',
      bignumeric: '1',
      texts: ['a', 'é'],
    }
    await other.append('c.logs', [
      { timestamp: '2026-01-07T11:00:00Z', id: 'é', request: [], ...values },
      { timestamp: '2026-01-07T11:00:00Z', id: null, request: [], texts: [] },
    ])
    const ofColumn = async (name: string) =>
      (await other.engine.describe({ sql: `SELECT ${name} FROM \`c.logs\``, bindings: [] })).bytes
    const found = []
    for (const { name } of [...typed, { name: 'id' }, { name: 'request' }]) found.push(await ofColumn(name))
    expect(found).toEqual([1, 4, 8, 8, 8, 10, 16, 32, 7, 4, 0])
  } finally {
    await other.close()
  }
})

test('a table without partitions is read whole, and one of hours by the hour', async () => {
  const sql = `SELECT id FROM \`d.logs\` AS t WHERE t.timestamp >= ${window}`
  const bindings = [{ name: 'hours', type: { kind: 'INT64' } as const, value: 2 }]
  const read: number[] = []
  for (const partition of ['HOUR', 'DAY', null] as const) {
    const other = await openLocalBigQuery({ 'd.logs': columns }, { now: '2026-01-07T12:00:00Z', partition })
    const at = (hour: number) => ({ timestamp: `2026-01-07T0${hour}:00:00Z`, id: '12345678', request: [] })
    // One file, and so one block, of ten hours.
    await other.append('d.logs', [
      ...Array.from({ length: 9 }, (_, i) => at(i)),
      { ...at(9), timestamp: '2026-01-07T10:00:00Z' },
    ])
    read.push((await other.engine.describe({ sql, bindings })).bytes!)
    await other.close()
  }
  expect(read).toEqual([Math.round(180 / 11), 180, 180])
})

test('a common table that nothing reads costs nothing', async () => {
  const one = await bytes('SELECT id FROM `a.logs`')
  expect(
    await bytes('WITH a AS (SELECT id FROM `a.logs`), b AS (SELECT id FROM `b.logs`) SELECT id FROM a'),
  ).toBe(one)
  expect(await bytes('SELECT id FROM `a.logs` UNION ALL SELECT id FROM `b.logs`')).toBe(2 * one)
})

/** The first rows of a sorted table: DuckDB finds them by row number and fetches their columns after (`database.ts`). */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Column } from '../../sql/types.ts'
import type { Row } from '../engine.ts'
import { rounds } from '../../testing/rounds.ts'
import { describeDuckDb } from '../testing/describe-engines.ts'

const text: Column['type'] = { kind: 'STRING' }
const columns: Column[] = [
  { name: 'id', type: text },
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'project', type: text },
  {
    name: 'metadata',
    type: {
      kind: 'ARRAY',
      element: { kind: 'STRUCT', fields: [{ name: 'status', type: { kind: 'INT64' } }] },
    },
  },
]

/** Few times, so that many rows have the same; some have none, and some rows have no metadata. */
const row = fc.record({
  timestamp: fc.option(fc.integer({ min: 0, max: 40 }).map(second => new Date(second * 1000).toISOString())),
  project: fc.constantFrom('red', 'blue'),
  metadata: fc.array(fc.record({ status: fc.constantFrom(200, 404, 500) }), { maxLength: 3 }),
})

/** What stands between SELECT and ORDER BY. */
const sources = [
  'FROM logs',
  "FROM logs WHERE project = 'red'",
  "FROM logs WHERE project = 'none'",
  'FROM logs WHERE timestamp > TIMESTAMP_SECONDS(20) AND timestamp <= TIMESTAMP_SECONDS(30)',
  'FROM logs AS t WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.status = 404)',
  'FROM logs CROSS JOIN UNNEST(metadata) AS m',
  'FROM logs LEFT JOIN UNNEST(metadata) AS m WHERE m.status IS NULL OR m.status > 200',
  "FROM (SELECT * FROM logs WHERE project = 'blue' ORDER BY timestamp DESC)",
  'FROM ordered',
  "FROM ordered WHERE id LIKE '%1%'",
]
const lists = [
  '*',
  'id, timestamp, metadata',
  'metadata, id, timestamp',
  'CONCAT(id, project) AS both, timestamp, id',
]
const orders = [
  ['timestamp DESC'],
  ['timestamp'],
  ['timestamp DESC', 'id'],
  ['TIMESTAMP_TRUNC(timestamp, MINUTE) DESC', 'id'],
]

const query = fc.record({
  source: fc.constantFrom(...sources),
  list: fc.constantFrom(...lists),
  order: fc.constantFrom(...orders),
  limit: fc.integer({ min: 0, max: 120 }),
  offset: fc.option(fc.integer({ min: 0, max: 80 }), { nil: 0 }),
})

describeDuckDb('the first rows', { logs: columns }, ({ append, rows }) => {
  test('are those of the whole sorted table, with any of those that are equal at the ends', async () => {
    const files = fc.sample(fc.array(row, { minLength: 20, maxLength: 90 }), { numRuns: 4, seed: 7 })
    for (const [file, added] of files.entries())
      await append(
        'logs',
        added.map((fields, at): Row => ({ id: `${file}-${at}`, ...fields })),
      )
    const property = fc.asyncProperty(query, async ({ source, list, order, limit, offset }) => {
      // The ids tell rows apart; the keys tell what their order is.
      const keys = order.map((key, at) => `${key.replace(' DESC', '')} AS key${at}`)
      const all = `WITH ordered AS (SELECT * FROM logs ORDER BY timestamp DESC)
        SELECT ${[list, ...keys].join(', ')} ${source} ORDER BY ${order.join(', ')}`
      const sorted = await rows(all)
      const found = await rows(`${all} LIMIT ${limit} OFFSET ${offset}`)
      const key = (row: Row) => JSON.stringify(keys.map((_, at) => row[`key${at}`]))
      expect(found.map(key)).toEqual(sorted.slice(offset, offset + limit).map(key))
      const left = new Map<string, number>()
      for (const text of sorted.map(row => JSON.stringify(row))) left.set(text, (left.get(text) ?? 0) + 1)
      for (const text of found.map(row => JSON.stringify(row))) {
        expect(left.get(text) ?? 0).toBeGreaterThan(0)
        left.set(text, left.get(text)! - 1)
      }
    })
    await fc.assert(property, { numRuns: rounds(12, 2_000) })
  })
})

describeDuckDb('the first rows in FROM', { logs: columns }, ({ append, rows }) => {
  test('are not those that what they are joined with leaves', async () => {
    const of = (id: number, project: string): Row => ({ id: String(100 + id), project, metadata: [] })
    await append(
      'logs',
      Array.from({ length: 60 }, (_, at) => of(at, at < 40 ? 'red' : 'blue')),
    )
    const first = 'SELECT id, project FROM logs ORDER BY id, project LIMIT 3'
    const blue = "SELECT project FROM UNNEST(['blue']) AS project"
    for (const sql of [
      `WITH first AS (${first}) SELECT id FROM first WHERE project IN (${blue})`,
      `SELECT f.id FROM (${first}) AS f JOIN (SELECT DISTINCT p.project FROM (${blue}) AS p) USING (project)`,
      `SELECT f.id FROM ((${first}) UNION ALL (${first})) AS f WHERE f.project IN (${blue})`,
      `SELECT f.id FROM (SELECT id, project FROM logs WHERE id < '110' OR id > '140' LIMIT 3) AS f WHERE f.project IN (${blue})`,
    ])
      // It is so in most runs: when one side has been read before the other begins.
      for (let again = 0; again < 20; again++) expect(await rows(sql)).toEqual([])
  })
})

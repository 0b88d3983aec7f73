/** The saved queries, and one that answers many parameter sets in one scan, over rows counted by hand. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { SqlType } from '../../sql/types.ts'
import type { Binding, Row, Value } from '../engine.ts'
import { describeDuckDb } from '../testing/describe-engines.ts'
import { readTableSchemas } from './tables.ts'

const root = join(import.meta.dirname, '../../..')
const query = (name: string) => readFileSync(join(root, 'queries', `${name}.sql`), 'utf8')
const tables = Object.fromEntries(readTableSchemas(join(root, 'infra/tables')))

const string: SqlType = { kind: 'STRING' }
const time: SqlType = { kind: 'TIMESTAMP' }
const bind = (values: Record<string, [SqlType, Value]>): Binding[] =>
  Object.entries(values).map(([name, [type, value]]) => ({ name, type, value }))

/** A request at the edge to a project, whose name is in the host's. */
const request = (id: string, timestamp: string, project: string, path: string): Row => ({
  id,
  timestamp,
  event_message: `GET ${path}`,
  project,
  metadata: [{ request: [{ path, url: `https://${project}.example.com${path}` }] }],
})

/** The current time is 2026-01-07T12:34:56.789Z. */
const edge = [
  request('1', '2026-01-07T12:34:01Z', 'red', '/rest/v1/a'),
  request('2', '2026-01-07T12:34:59Z', 'red', '/auth/v1/token'),
  request('3', '2026-01-07T12:01:00Z', 'red', '/rest/v1/rest'),
  request('4', '2026-01-07T11:34:55Z', 'red', '/storage/v1/o'),
  request('5', '2026-01-06T00:00:00Z', 'red', '/realtime/v1'),
  request('6', '2026-01-06T23:59:59Z', 'red', '/other'),
  request('7', '2025-12-31T12:34:00Z', 'red', '/rest/v1/a'),
  request('8', '2026-01-07T12:34:02Z', 'blue', '/rest/v1/a'),
]

describeDuckDb('the saved query', tables, ({ append, rows }) => {
  test('its tables get their rows', async () => {
    await append('cloudflare.logs.prod', edge)
    const entry = { id: 'f', timestamp: '2026-01-07T12:00:00Z', event_message: 'log' }
    await append('deno-subhosting-events', [
      { ...entry, metadata: [{ project_ref: 'red' }] },
      { ...entry, id: 'g', metadata: [{ project_ref: 'blue' }] },
    ])
  })

  describe('logs.all', () => {
    const ids = async (sql: string, start: Value, end: Value) => {
      const bindings = bind({
        project: [string, 'red'],
        iso_timestamp_start: [time, start],
        iso_timestamp_end: [time, end],
      })
      return (await rows(sql, bindings)).map(row => row['id'])
    }

    test('has the entries of the project, newest first', async () => {
      expect(await ids(query('logs.all'), null, null)).toEqual(['2', '1', '3', '4', '6', '5', '7'])
    })

    test('from its start, exclusive, to its end, inclusive', async () => {
      const sql = query('logs.all')
      expect(await ids(sql, '2026-01-06T00:00:00Z', '2026-01-07T12:01:00Z')).toEqual(['3', '4', '6'])
    })

    test('reads a table whose project is in its metadata', async () => {
      const sql = query('logs.all').replace(/SELECT id[^)]*$/, 'SELECT id FROM function_logs')
      expect(await ids(sql, null, null)).toEqual(['f'])
    })
  })

  const counts = (rest: number, storage: number, auth: number, realtime: number) => ({
    total_rest_requests: rest,
    total_storage_requests: storage,
    total_auth_requests: auth,
    total_realtime_requests: realtime,
  })

  const charts: Record<string, Row[]> = {
    minutely: [
      { timestamp: '2026-01-07T12:01:00', ...counts(1, 0, 0, 0) },
      { timestamp: '2026-01-07T12:34:00', ...counts(1, 0, 1, 0) },
    ],
    hourly: [{ timestamp: '2026-01-07T12:00:00', ...counts(2, 0, 1, 0) }],
    daily: [
      { timestamp: '2026-01-06T00:00:00', ...counts(0, 0, 0, 1) },
      { timestamp: '2026-01-07T00:00:00', ...counts(2, 1, 1, 0) },
    ],
  }

  describe('usage.api-counts', () => {
    test.each(Object.entries(charts))('by %s buckets counts what the paths say', async (interval, chart) => {
      const bindings = bind({ interval: [string, interval], project: [string, '^https://red\\.'] })
      expect(await rows(query('usage.api-counts'), bindings)).toEqual(chart)
    })
  })

  test('for many sets at once gives each its own chart', async () => {
    const set: SqlType = {
      kind: 'STRUCT',
      fields: [
        { name: 'interval', type: string },
        { name: 'project', type: string },
      ],
    }
    const sets = [
      { interval: 'daily', project: 'red' },
      { interval: 'hourly', project: 'red' },
      { interval: 'hourly', project: 'blue' },
      { interval: 'hourly', project: 'blue' },
      { interval: 'daily', project: 'nobody' },
    ]
    const result = await rows(manySets, bind({ sets: [{ kind: 'ARRAY', element: set }, sets] }))
    const of = (interval: string, project: string, chart: Row[]) =>
      chart.map(row => ({ interval, project, ...row }))
    expect(result).toEqual([
      ...of('daily', 'red', charts['daily']!),
      ...of('hourly', 'blue', [{ timestamp: '2026-01-07T12:00:00', ...counts(1, 0, 0, 0) }]),
      ...of('hourly', 'red', charts['hourly']!),
    ])
  })
})

/** Counts by URL first, then matches URLs with sets: the large table is read once. */
const manySets = `
  WITH sets AS (SELECT DISTINCT s.interval, s.project FROM UNNEST(@sets) AS s),
  per_url AS (
    SELECT
      r.url AS url,
      TIMESTAMP_TRUNC(t.timestamp, DAY) AS day,
      IF(t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 60 MINUTE), TIMESTAMP_TRUNC(t.timestamp, MINUTE), NULL) AS minute,
      COUNTIF(STRPOS(r.path, '/rest') > 0) AS rest,
      COUNTIF(STRPOS(r.path, '/storage') > 0) AS storage,
      COUNTIF(STRPOS(r.path, '/auth') > 0) AS auth,
      COUNTIF(STRPOS(r.path, '/realtime') > 0) AS realtime
    FROM \`cloudflare.logs.prod\` AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r
    WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
    GROUP BY url, day, minute
  ),
  matches AS (
    SELECT p.project, u.url
    FROM (SELECT DISTINCT project FROM sets) AS p CROSS JOIN (SELECT DISTINCT url FROM per_url) AS u
    WHERE REGEXP_CONTAINS(u.url, p.project)
  )
  SELECT s.interval, s.project,
    DATETIME(CASE s.interval WHEN 'daily' THEN c.day WHEN 'hourly' THEN TIMESTAMP_TRUNC(c.minute, HOUR) END, 'UTC') AS timestamp,
    SUM(c.rest) AS total_rest_requests, SUM(c.storage) AS total_storage_requests,
    SUM(c.auth) AS total_auth_requests, SUM(c.realtime) AS total_realtime_requests
  FROM sets AS s JOIN matches AS h ON h.project = s.project JOIN per_url AS c ON c.url = h.url
  WHERE s.interval = 'daily' OR c.minute IS NOT NULL
  GROUP BY s.interval, s.project, timestamp
  ORDER BY s.interval, s.project, timestamp`

/** The endpoints of this folder beside the shipped ones, over the sample logs, as Studio asks for them. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { sampleEntries } from '../lqe/logs/sample.ts'

/** Studio's only project on a machine of one's own. */
const project = 'default'
const now = new Date()
const day = 86_400_000

interface Metadata {
  function_id: string
  project_ref: string
  level?: string
  execution_time_ms?: number
  request?: { url: string; path: string }
  response?: { status_code: number }
}

/** The sample's busiest project under the name that Studio asks for. */
const entries = [...sampleEntries(4_000, 1, now)].flat().map(({ table, entry }) => {
  const text = JSON.stringify(entry).replaceAll('qhzvnxwtrkdplmcoyaeb', project)
  return { table, entry: JSON.parse(text) as { timestamp: number; project?: string; metadata: Metadata } }
})
const of = (table: string) => entries.filter(each => each.table === table).map(({ entry }) => entry)
const since = (ms: number) => (now.getTime() - ms) * 1000

let folder: string
let service: TestService

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'studio-'))
  for (const from of ['queries', import.meta.dirname]) cpSync(from, folder, { recursive: true })
  const names = new Set(entries.map(({ table }) => table))
  service = await startService({
    tables: Object.fromEntries([...names].map(table => [table, of(table)])),
    queries: folder,
    env: { FROZEN_NOW: now.toISOString() },
  })
}, 60_000)

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** As `retrieveAnalyticsData` in Studio's lib/api/self-hosted/logs.ts asks: the project first, then the page's parameters. */
async function ask<Row = Record<string, number | string>>(
  name: string,
  parameters: Record<string, string>,
): Promise<Row[]> {
  const query = new URLSearchParams({ project, ...parameters }).toString()
  const headers = { 'x-api-key': service.key, 'Content-Type': 'application/json', Accept: 'application/json' }
  const response = await service.fetch(`/api/endpoints/query/${name}?${query}`, { headers, key: null })
  const { result, error } = (await response.json()) as {
    result: Row[]
    error?: object
  }
  expect([response.status, error]).toEqual([200, undefined])
  return result
}

test('the home page gets the number of requests', async () => {
  const week = of('cloudflare.logs.prod').filter(
    entry => entry.project === project && entry.timestamp >= since(7 * day),
  )
  expect(await ask('usage.api-requests-count', {})).toEqual([{ count: week.length }])
  expect(week.length).toBeGreaterThan(100)
})

/** Studio labels these "Last 60 minutes", "Last 24 hours" and "Last 7 days": `CHART_INTERVALS` in its logs.utils.ts. */
test.each([
  ['1hr', 3_600_000, /T\d\d:\d\d:00$/],
  ['1day', day + (now.getTime() % 3_600_000), /T\d\d:00:00$/],
  ['7day', 7 * day, /T00:00:00$/],
])('the home page gets its charts for %s', async (interval, ms, form) => {
  const requests = of('cloudflare.logs.prod').filter(
    ({ timestamp, metadata: { request } }) =>
      timestamp >= since(ms) && request!.url.includes(project) && request!.path.includes('/rest'),
  )
  const rows = await ask('usage.api-counts', { interval })
  expect(rows.reduce((total, row) => total + (row['total_rest_requests'] as number), 0)).toBe(requests.length)
  expect(rows.length).toBeGreaterThan(interval === '7day' ? 6 : 20)
  for (const { timestamp } of rows) expect(timestamp).toMatch(form)
})

describe('the page of a function', () => {
  const calls = of('deno-relay-logs').filter(({ metadata }) => metadata.project_ref === project)
  const lines = of('deno-subhosting-events').filter(({ metadata }) => metadata.project_ref === project)
  const { function_id } = calls.at(-1)!.metadata

  test.each([
    ['15min', 15, 'minute'],
    ['1hr', 60, 'minute'],
    ['3hr', 180, 'hour'],
    ['1day', 1440, 'hour'],
  ])('gets its calls and lines for %s, by the %3$s', async (interval, minutes, unit) => {
    const rows = await ask('functions.combined-stats', { function_id, interval })
    const recent = <T extends { timestamp: number; metadata: Metadata }>(all: T[]) =>
      all.filter(
        ({ timestamp, metadata }) =>
          metadata.function_id === function_id && timestamp >= since(minutes * 60_000),
      )
    const sum = (name: string) => rows.reduce((total, row) => total + (row[name] as number), 0)
    const [called, written] = [recent(calls), recent(lines)]
    const statuses = (from: number) =>
      called.filter(({ metadata }) => Math.floor(metadata.response!.status_code / 100) === from).length
    expect({
      requests: sum('requests_count'),
      by: ['success_count', 'redirect_count', 'client_err_count', 'server_err_count'].map(sum),
      logs: sum('log_count'),
      levels: ['log_info_count', 'log_warn_count', 'log_error_count'].map(sum),
    }).toEqual({
      requests: called.length,
      by: [2, 3, 4, 5].map(statuses),
      logs: written.length,
      levels: ['info', 'warn', 'error'].map(
        level => written.filter(({ metadata }) => metadata.level === level).length,
      ),
    })
    const form = unit === 'hour' ? /T\d\d:00:00$/ : /T\d\d:\d\d:00$/
    for (const { timestamp } of rows) expect(timestamp).toMatch(form)
    if (minutes === 1440) expect(called.length).toBeGreaterThan(3)
  })

  test('gets the times of its calls, and no use of CPU or memory, which no table has', async () => {
    const rows = await ask('functions.combined-stats', { function_id, interval: '1day' })
    const slowest = calls
      .filter(({ timestamp, metadata }) => metadata.function_id === function_id && timestamp >= since(day))
      .map(({ metadata }) => metadata.execution_time_ms!)
    expect(Math.max(...rows.map(row => row['max_execution_time'] as number))).toBe(Math.max(...slowest))
    for (const row of rows)
      expect(row).toMatchObject({
        avg_cpu_time_used: null,
        max_cpu_time_used: null,
        avg_memory_used: null,
        avg_heap_memory_used: null,
        avg_external_memory_used: null,
      })
  })
})

describe('the health of services', () => {
  type Health = Record<'ok' | 'warning' | 'error' | 'total', number>
  type Row = Record<string, Health> & { timestamp: string }
  /** Of each of Studio's, in its order, the table. */
  const sources: Record<string, string | null> = {
    postgres_logs: 'postgres.logs',
    auth_logs: 'gotrue.logs.prod',
    function_edge_logs: 'deno-relay-logs',
    storage_logs: 'storage.logs.prod.2',
    realtime_logs: 'realtime.logs.prod',
    postgrest_logs: 'postgREST.logs.prod',
    edge_logs: 'cloudflare.logs.prod',
    supavisor_logs: null,
    function_logs: 'deno-subhosting-events',
    etl_replication_logs: null,
  }
  const bounds = {
    iso_timestamp_start: new Date(now.getTime() - day).toISOString(),
    iso_timestamp_end: now.toISOString(),
  }
  const isOwn = ({ project: own, metadata }: (typeof entries)[number]['entry']) =>
    [own, metadata.project_ref, (metadata as { project?: string }).project].includes(project)

  test.each([
    ['minute', /T\d\d:\d\d:00$/],
    ['hour', /T\d\d:00:00$/],
    ['day', /T00:00:00$/],
  ])('counts the entries of each in buckets of a %s', async (granularity, form) => {
    const rows = await ask<Row>('service-health', { ...bounds, granularity })
    for (const { timestamp } of rows) expect(timestamp).toMatch(form)
    expect(Object.keys(rows[0]!)).toEqual(['timestamp', ...Object.keys(sources)])
    for (const [source, table] of Object.entries(sources)) {
      const expected =
        table === null ? [] : of(table).filter(entry => entry.timestamp > since(day) && isOwn(entry))
      const sum = (kind: keyof Health) => rows.reduce((total, row) => total + row[source]![kind], 0)
      expect([source, sum('total'), sum('ok') + sum('warning') + sum('error')]).toEqual([
        source,
        expected.length,
        expected.length,
      ])
    }
    expect(rows.reduce((total, row) => total + row['edge_logs']!.total, 0)).toBeGreaterThan(50)
  })

  test('tells requests by their status', async () => {
    const rows = await ask<Row>('service-health', bounds)
    const requests = of('cloudflare.logs.prod').filter(entry => entry.timestamp > since(day) && isOwn(entry))
    const within = (from: number, to: number) =>
      requests.filter(
        ({ metadata }) => metadata.response!.status_code >= from && metadata.response!.status_code < to,
      ).length
    const sum = (kind: keyof Health) => rows.reduce((total, row) => total + row['edge_logs']![kind], 0)
    expect([sum('ok'), sum('warning'), sum('error')]).toEqual([
      within(0, 400),
      within(400, 500),
      within(500, 600),
    ])
    expect(sum('warning')).toBeGreaterThan(0)
  })
})

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
  project?: string
  level?: string
  msg?: string
  status?: string
  auth_event?: { action: string; actor_id: string }
  execution_time_ms?: number
  parsed?: { error_severity: string }
  request?: { url: string; path: string; sb: { jwt: { apikey: { payload: ApiKey } } } }
  response?: { status_code: number }
}

interface ApiKey {
  role: string
  signature_prefix: string
}

/** The sample's busiest project under the name that Studio asks for. */
const entries = [...sampleEntries(4_000, 1, now)].flat().map(({ table, entry }) => {
  const text = JSON.stringify(entry).replaceAll('qhzvnxwtrkdplmcoyaeb', project)
  return { table, entry: JSON.parse(text) as { timestamp: number; project?: string; metadata: Metadata } }
})
const of = (table: string) => entries.filter(each => each.table === table).map(({ entry }) => entry)
const since = (ms: number) => (now.getTime() - ms) * 1000
const isOwn = ({ project: own, metadata }: (typeof entries)[number]['entry']) =>
  [own, metadata.project_ref, metadata.project].includes(project)
/** Its entries in the two windows of one length that end now. */
const windowsOf = (table: string, ms: number) => {
  const own = of(table).filter(isOwn)
  return {
    current: own.filter(({ timestamp }) => timestamp >= since(ms)),
    previous: own.filter(({ timestamp }) => timestamp >= since(2 * ms) && timestamp < since(ms)),
  }
}
const windows = ['current', 'previous'] as const
/** The intervals with windows, in milliseconds, and whole buckets of theirs. */
const intervals = [
  ['15min', day / 96, 60_000],
  ['30min', day / 48, 60_000],
  ['1hr', day / 24, 60_000],
  ['3hr', day / 8, 60_000],
  ['1day', day, 3_600_000],
  ['3day', 3 * day, 3_600_000],
  ['7day', 7 * day, day],
] as const

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
})

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
    ['5min', 5, /T\d\d:\d\d:00$/],
    ['15min', 15, /T\d\d:\d\d:00$/],
    ['1hr', 60, /T\d\d:\d\d:00$/],
    ['3hr', 180, /T\d\d:\d\d:00$/],
    ['1day', 1440, /T\d\d:00:00$/],
    ['7day', 10_080, /T00:00:00$/],
  ])('gets its calls and lines for %s', async (interval, minutes, form) => {
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
    for (const { timestamp } of rows) expect(timestamp).toMatch(form)
    if (minutes === 1440) expect(called.length).toBeGreaterThan(3)
  })

  test.each(['functions.req-stats', 'functions.inv-stats', 'functions.resource-usage'])(
    'gets the same where it is an older one that asks %s',
    async name => {
      const parameters = { function_id, interval: '1day' }
      const rows = await ask(name, parameters)
      expect(rows).toEqual(await ask('functions.combined-stats', parameters))
      expect(rows.map(row => row['count'])).toEqual(rows.map(row => row['requests_count']))
    },
  )

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

test.each(intervals)(
  'the overview of auth gets its numbers for %s, and those before',
  async (interval, ms, _) => {
    const rows = await ask('auth.metrics', { interval })
    for (const period of windows) {
      const entries = windowsOf('gotrue.logs.prod', ms)[period]
      const calls = windowsOf('cloudflare.logs.prod', ms)[period].filter(({ metadata }) =>
        metadata.request!.path.includes('auth/v1'),
      )
      if (entries.length + calls.length === 0) continue
      const events = entries.flatMap(({ metadata }) => metadata.auth_event ?? [])
      const served = entries.filter(({ metadata }) => metadata.msg === 'request completed')
      const acted = (action: string) => events.filter(event => event.action === action).length
      expect(rows.find(row => row['period'] === period)).toEqual({
        period,
        active_users: new Set(
          events.filter(({ action }) => action !== 'logout').map(({ actor_id }) => actor_id),
        ).size,
        sign_up_count: acted('user_signedup'),
        password_reset_requests: acted('user_recovery_requested'),
        api_total_requests: calls.length,
        api_error_requests: calls.filter(({ metadata }) => metadata.response!.status_code >= 400).length,
        auth_total_requests: served.length,
        auth_total_errors: served.filter(({ metadata }) => Number(metadata.status) >= 500).length,
      })
      if (ms > day) expect(Math.min(events.length, calls.length, served.length)).toBeGreaterThan(10)
    }
  },
)

/** As its own data/analytics/project-metrics-query.ts checks the rows. */
test.each(intervals)(
  'the home page gets the services’ numbers for %s, and those before',
  async (interval, ms, bucket) => {
    const rows = await ask('project.metrics', { interval })
    for (const { timestamp } of rows) expect((timestamp as number) % (bucket * 1000)).toBe(0)
    const tables = {
      auth: 'gotrue.logs.prod',
      db: 'postgres.logs',
      functions: 'deno-relay-logs',
      realtime: 'realtime.logs.prod',
      storage: 'storage.logs.prod.2',
    }
    const bad = ['ERROR', 'FATAL', 'PANIC', 'CRITICAL']
    const kindOf = ({ level, parsed, response }: Metadata) => {
      const word = (parsed?.error_severity ?? level ?? '').toUpperCase()
      const status = response?.status_code ?? 0
      if (status >= 500 || bad.includes(word)) return 'error'
      return status >= 400 || ['WARNING', 'WARN'].includes(word) ? 'warning' : 'ok'
    }
    for (const [service, table] of Object.entries(tables))
      for (const window of windows) {
        const found = rows.filter(row => row['service'] === service && row['time_window'] === window)
        const kinds = windowsOf(table, ms)[window].map(({ metadata }) => kindOf(metadata))
        for (const kind of ['ok', 'warning', 'error'])
          expect([
            service,
            window,
            kind,
            found.reduce((n, row) => n + (row[`${kind}_count`] as number), 0),
          ]).toEqual([service, window, kind, kinds.filter(each => each === kind).length])
      }
  },
)

test('the page of API keys gets when each was last used', async () => {
  const last = new Map<string, object>()
  for (const { timestamp, metadata } of windowsOf('cloudflare.logs.prod', day).current) {
    const { role, signature_prefix } = metadata.request!.sb.jwt.apikey.payload
    const row = { timestamp: Math.floor(timestamp / 1000), role, signature_prefix }
    const before = last.get(signature_prefix) as typeof row | undefined
    if (!before || before.timestamp < row.timestamp) last.set(signature_prefix, row)
  }
  const rows = await ask('api_keys.last_used.otel', {
    iso_timestamp_start: new Date(now.getTime() - day).toISOString(),
    iso_timestamp_end: now.toISOString(),
  })
  expect(new Set(rows)).toEqual(new Set(last.values()))
  expect(rows.length).toBeGreaterThan(1)
})

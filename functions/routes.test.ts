/**
 * Requests of real callers of Logflare and hosted Supabase, as their public sources make them: each gets what it reads. The table in
 * `infra/docs/moving-in.md`, "Callers", is this one. From Logflare's documents, not from a caller's source, are the UUID behind `/api`,
 * JSON columns, queries in `lql`, `ch_sql` and `bq_sql`, and the call without a key. gonzo's poller asks as the first does, as
 * its pull request 151 tells; its source was not found.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from './testing/edges.ts'
import { startService, type TestService } from './testing/service.ts'

const now = '2026-11-21T03:34:30.000Z'
const at = (secondsAgo: number) => new Date(Date.parse(now) - secondsAgo * 1000).toISOString()
const project = 'default'

interface Answer {
  status: number
  body: { result: Record<string, unknown>[]; error?: { message: string } }
}

interface Recorded {
  caller: string
  method?: 'GET' | 'HEAD' | 'POST'
  path: string
  parameters?: Record<string, string>
  /** `KEY` stands for the key. */
  headers: Record<string, string>
  body?: object
  /** Whether the key pins the project. */
  pinned?: true
  reads: string
  check(answer: Answer): void
}

const json = { 'Content-Type': 'application/json' }
const studio = { 'x-api-key': 'KEY', ...json, Accept: 'application/json' }
const newest = 'select id, timestamp, event_message from edge_logs order by timestamp desc limit 10'
const bounds = { iso_timestamp_start: at(3600), iso_timestamp_end: at(0) }
const ofEndpoint = '/api/endpoints/query'
const management = `/v1/projects/${project}/analytics/endpoints`
const platform = `/platform/projects/${project}/analytics/endpoints`
/** As Vela names an endpoint: of a branch. */
const branch = '01JZX4T0Q2V7C5J9K3M8N6P1RS.logs.all'

const rowsAre =
  (...ids: string[]) =>
  ({ status, body }: Answer) => {
    expect([status, body.error]).toEqual([200, undefined])
    expect(body.result.map(({ id }) => id)).toEqual(ids)
  }

/** Of one service, in buckets of an hour; the others stand as zeros, each under the name of a table. */
const health = `with service_events as (
  select timestamp_trunc(el.timestamp, hour) as timestamp, 'edge_logs' as source,
    countif(response.status_code >= 500) as error, countif(response.status_code < 500) as ok, count(el.id) as total
  from edge_logs as el cross join unnest(el.metadata) as m cross join unnest(m.response) as response
  where el.timestamp >= timestamp('${at(3600)}') and el.timestamp <= timestamp('${at(0)}')
  group by timestamp
  union all
  select timestamp_trunc(timestamp, hour) as timestamp, 'auth_logs' as source, 0 as error, count(id) as ok, count(id) as total
  from auth_logs where timestamp >= timestamp('${at(3600)}') group by timestamp
) select timestamp, struct(sum(if(source = 'edge_logs', ok, 0)) as ok, sum(if(source = 'edge_logs', total, 0)) as total) as edge_logs,
  struct(0 as ok, 0 as total) as supavisor_logs from service_events group by timestamp order by timestamp asc`

const recorded: Recorded[] = [
  {
    caller: 'Clients of the Management API (opentabs, scripts)',
    path: `${management}/logs.all`,
    parameters: { ...bounds, sql: newest },
    headers: { Authorization: 'Bearer KEY' },
    reads: '`result`, `error`',
    check: rowsAre('new', 'minute'),
  },
  {
    caller: 'Dyad, logs of functions',
    path: `${management}/logs.all`,
    parameters: {
      sql: `\nSELECT \n  timestamp,\n  event_message,\n  metadata\nFROM function_logs\nWHERE timestamp > TIMESTAMP_MICROS(${Date.parse(at(600)) * 1000})\nORDER BY timestamp ASC\nLIMIT 1000`,
      ...bounds,
    },
    headers: { Authorization: 'Bearer KEY' },
    reads: '`result`, each with `event_message`, `metadata`',
    check: ({ body }) =>
      expect(body.result).toEqual([
        {
          timestamp: Date.parse(at(50)) * 1000,
          event_message: 'called',
          metadata: [expect.objectContaining({ level: 'log' })],
        },
      ]),
  },
  {
    caller: 'Klavis, and Supabase’s MCP server up to 0.8.3',
    path: `${management}/logs.all`,
    parameters: {
      sql: `select id, identifier, timestamp, event_message, request.method, request.path, response.status_code
        from edge_logs
        cross join unnest(metadata) as m
        cross join unnest(m.request) as request
        cross join unnest(m.response) as response
        order by timestamp desc
        limit 100`,
    },
    headers: { Authorization: 'Bearer KEY', ...json },
    reads: '`result` of the last minute',
    check: rowsAre('new'),
  },
  ...[
    ['usage.api-counts', { interval: '30min' }, 'total_rest_requests', 2],
    ['usage.api-requests-count', {}, 'count', 3],
    ['functions.combined-stats', { interval: '3hr', function_id: 'fn' }, 'requests_count', 1],
  ].map(([name, parameters, field, sum]): Recorded => ({
    caller: `supabase-management-js, \`${name as string}\``,
    path: `${management}/${name as string}`,
    parameters: parameters as Record<string, string>,
    headers: { Authorization: 'Bearer KEY' },
    reads: `\`result[].${field as string}\``,
    check: ({ body }) =>
      expect(body.result.reduce((total, row) => total + (row[field as string] as number), 0)).toBe(sum),
  })),
  ...Object.entries({
    'service-health': {
      parameters: { ...bounds, granularity: 'hour' },
      row: { timestamp: '2026-11-21T03:00:00', edge_logs: { ok: 2, warning: 0, error: 0, total: 2 } },
    },
    'auth.metrics': {
      parameters: { interval: '1day' },
      row: { period: 'current', active_users: 1, api_total_requests: 0, auth_total_requests: 1 },
    },
    'project.metrics': {
      parameters: { interval: '1hr' },
      row: {
        timestamp: Date.parse('2026-11-21T03:33:00Z') * 1000,
        service: 'functions',
        time_window: 'current',
        ok_count: 1,
      },
    },
    'functions.combined-stats': {
      parameters: { function_id: 'fn', interval: '15min' },
      row: {
        timestamp: '2026-11-21T03:33:00',
        success_count: 1,
        avg_execution_time: 5,
        avg_memory_used: null,
      },
    },
    'functions.req-stats': {
      parameters: { function_id: 'fn', interval: '15min' },
      row: { timestamp: '2026-11-21T03:33:00', success_count: 1, avg_execution_time: 5 },
    },
    'functions.resource-usage': {
      parameters: { interval: '5min', function_id: 'fn' },
      row: { avg_cpu_time_used: null, avg_heap_memory_used: null, avg_external_memory_used: null },
    },
    'functions.inv-stats': {
      parameters: { interval: '5min', function_id: 'fn' },
      row: { timestamp: '2026-11-21T03:33:00', count: 1, avg_execution_time: 5 },
    },
    'api_keys.last_used.otel': {
      parameters: bounds,
      row: { timestamp: Date.parse(at(10)), role: 'anon', signature_prefix: 'abcdef' },
    },
  }).map(([name, { parameters, row }]): Recorded => ({
    caller: `Studio, \`${name}\``,
    path: `${platform}/${name}`,
    parameters,
    headers: { Authorization: 'Bearer KEY' },
    reads: `\`result[]\`: ${Object.keys(row)
      .map(field => `\`${field}\``)
      .join(', ')}`,
    check: ({ body }) => expect(body.result).toContainEqual(expect.objectContaining(row)),
  })),
  {
    caller: 'Studio, list of functions',
    method: 'POST',
    path: `${platform}/logs.all`,
    parameters: { key: 'last-hour-stats' },
    headers: { Authorization: 'Bearer KEY', ...json },
    body: {
      sql: `-- edge-functions-last-hour-stats
        select function_id, count(distinct id) as requests_count,
          count(distinct case when response.status_code >= 500 then id end) as server_err_count
        from function_edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as response
        where function_id is not null and function_id in ('fn', 'other') group by function_id`,
      ...bounds,
    },
    reads: '`result[]`: `function_id`, `requests_count`, `server_err_count`',
    check: ({ body }) =>
      expect(body.result).toEqual([{ function_id: 'fn', requests_count: 1, server_err_count: 0 }]),
  },
  {
    caller: 'Studio, unified logs',
    method: 'POST',
    path: `${platform}/logs.all`,
    headers: { Authorization: 'Bearer KEY', ...json },
    body: { sql: newest, ...bounds },
    reads: '`result`, `error`',
    check: rowsAre('new', 'minute'),
  },
  {
    caller: 'Studio of 2023',
    path: `${ofEndpoint}/name/usage.api-counts`,
    parameters: { interval: '1hr', ref: project, project_tier: 'ENTERPRISE' },
    headers: studio,
    pinned: true,
    reads: '`result`',
    check: ({ body }) => expect(body.result).toHaveLength(2),
  },
  {
    caller: 'Studio, self-hosted',
    path: `${ofEndpoint}/logs.all`,
    parameters: { project, sql: newest, iso_timestamp_start: '', iso_timestamp_end: '' },
    headers: studio,
    reads: '`result`',
    check: rowsAre('new', 'minute', 'day'),
  },
  {
    caller: 'The same, of a table that is not here',
    path: `${ofEndpoint}/logs.all`,
    parameters: { project, sql: 'select id from supavisor_logs' },
    headers: studio,
    reads: '`error.message`, where each `*_logs` is missing',
    check: ({ status, body }) =>
      expect([status, body.error!.message]).toEqual([
        403,
        '"supavisor_logs" is not a table of this endpoint.',
      ]),
  },
  {
    caller: 'Forks of Studio, health of services',
    path: `${ofEndpoint}/logs.all`,
    parameters: { project, ...bounds, sql: health },
    headers: studio,
    reads: '`result[].timestamp`, `result[].edge_logs`',
    check: ({ body }) =>
      expect(body.result).toEqual([
        {
          timestamp: Date.parse('2026-11-21T03:00:00Z') * 1000,
          edge_logs: { ok: 2, total: 2 },
          supavisor_logs: { ok: 0, total: 0 },
        },
      ]),
  },
  ...['backends', 'sources', 'rules'].map((path): Recorded => ({
    caller: `Studio, log drains: ${path}`,
    path: `/api/${path}`,
    parameters: path === 'backends' ? { 'metadata[type]': 'log-drain' } : {},
    headers: { Authorization: 'Bearer KEY', ...json, Accept: 'application/json' },
    reads: 'an array',
    check: ({ status, body }) => expect([status, body]).toEqual([200, []]),
  })),
  {
    caller: 'Supabase Wrappers, `logflare_fdw`',
    path: `${ofEndpoint}/typed`,
    parameters: { org_id: '7' },
    headers: { 'x-api-key': 'KEY' },
    reads: '`result`, each column of its own JSON type',
    check: ({ body }) =>
      expect(body.result).toEqual([
        { name: 'a', count: 3, share: 0.5, ok: true, time: 1795229663671397, price: '1.50' },
      ]),
  },
  {
    caller: 'The same, of no endpoint',
    path: `${ofEndpoint}/not.there`,
    headers: { 'x-api-key': 'KEY' },
    reads: 'status 404: no rows',
    check: ({ status }) => expect(status).toBe(404),
  },
  {
    caller: 'Sites that call a name with blanks',
    path: `${ofEndpoint}/exposed%20service_role%20advisor%20hack`,
    parameters: { project },
    headers: { 'X-API-KEY': 'KEY', 'Content-Type': 'application/json; charset=utf-8' },
    reads: '`result.length`',
    check: ({ body }) => expect(body.result).toHaveLength(1),
  },
  {
    caller: 'Vela, names of `ULID.NAME`',
    path: `${ofEndpoint}/${branch}`,
    parameters: { sql: 'select a from logs', project },
    headers: studio,
    reads: '`result`, `error`',
    check: ({ body }) => expect(body.result).toEqual([{ a: 1 }]),
  },
  {
    caller: 'Edge functions that pass rows on',
    path: `${ofEndpoint}/run_logs.prod`,
    parameters: { user_id: 'u', builtin_id: 'b', flow_id: 'f' },
    headers: { ...json, 'X-API-KEY': 'KEY' },
    reads: '`result`, `error`',
    check: ({ body }) => expect([body.result, body.error]).toEqual([[{ flow: 'f' }], undefined]),
  },
  ...['/endpoints/query', ofEndpoint].map((path): Recorded => ({
    caller: path === ofEndpoint ? 'The same with `/api`' : 'Sites and widgets without a key',
    path: `${path}/69425db0-1cfb-48b4-84c7-2a872b6f0a61`,
    parameters: { day: '30' },
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    reads: '`result`, or `[]`',
    check: ({ body }) => expect(body.result).toEqual([{ count: 4, method: 'GET' }]),
  })),
  {
    caller: 'Forwarders that know no project (Selfbase)',
    path: `/analytics/v1${ofEndpoint}/logs.all`,
    parameters: {
      sql: 'SELECT id, timestamp, event_message FROM edge_logs ORDER BY timestamp DESC LIMIT 100',
    },
    headers: { 'X-API-KEY': 'KEY', Accept: 'application/json' },
    pinned: true,
    reads: '`result`, or `data`',
    check: rowsAre('new', 'minute', 'day'),
  },
  {
    caller: 'The same with a number for a time',
    path: `/analytics/v1${ofEndpoint}/logs.all`,
    parameters: { sql: 'SELECT id FROM edge_logs WHERE timestamp >= 1795229663671397' },
    headers: { 'X-API-KEY': 'KEY', Accept: 'application/json' },
    pinned: true,
    reads: 'status 400, which says what to write',
    check: ({ status, body }) => {
      expect(status).toBe(400)
      expect(body.error!.message).toMatch('for the INT64 write TIMESTAMP_MICROS(x)')
    },
  },
  {
    caller: 'The CLI’s test of its stack',
    path: `/analytics/v1${ofEndpoint}/logs.all`,
    parameters: {
      project,
      ...bounds,
      sql: "select count(*) as c from edge_logs where regexp_contains(event_message, '/rest')",
    },
    headers: { 'x-api-key': 'KEY' },
    reads: '`Number(result[0].c)`',
    check: ({ body }) => expect(Number(body.result[0]!['c'])).toBe(2),
  },
  ...(['GET', 'HEAD'] as const).map((method): Recorded => ({
    caller: `Checks of health: ${method}`,
    method,
    path: '/health',
    headers: {},
    reads: 'status 200',
    check: ({ status }) => expect(status).toBe(200),
  })),
  ...['lql', 'pg_sql', 'ch_sql'].map((name): Recorded => ({
    caller: `Queries in \`${name}\``,
    path: `${ofEndpoint}/logs.all`,
    parameters: { project, [name]: 'm.status:>499' },
    headers: { 'x-api-key': 'KEY' },
    reads: 'an error that names GoogleSQL, and no rows',
    check: ({ status, body }) => {
      expect([status, body.result]).toEqual([400, undefined])
      expect(body.error!.message).toMatch(`${name} is `)
    },
  })),
  {
    caller: 'Queries in `bq_sql`',
    path: `${ofEndpoint}/logs.all`,
    parameters: { project, bq_sql: newest },
    headers: { 'x-api-key': 'KEY' },
    reads: '`result`',
    check: rowsAre('new', 'minute', 'day'),
  },
  {
    caller: 'Readers of JSON columns',
    path: `${ofEndpoint}/usage.json`,
    headers: { 'x-api-key': 'KEY' },
    reads: '`JSON.parse(row.x)`',
    check: ({ body }) => expect(JSON.parse(body.result[0]!['x'] as string)).toEqual({ a: [1] }),
  },
  {
    caller: 'Without a key',
    path: `${ofEndpoint}/logs.all`,
    parameters: { project },
    headers: {},
    reads: 'status 401, `error.message`',
    check: ({ status, body }) =>
      expect([status, body.error!.message]).toEqual([
        401,
        'Send a valid API key, as X-API-KEY or as Authorization: Bearer.',
      ]),
  },
]

/** As `lqe import` makes them, and as an operator opens them. */
const definitions: Record<string, [sql: string, settings: string]> = {
  'exposed-service_role-advisor-hack': [
    'SELECT id FROM `cloudflare.logs.prod` WHERE project = @project LIMIT 1',
    'id: 00000000-0000-4000-8000-00000000000a\naliases: [exposed service_role advisor hack]\nparameters: {properties: {project: {type: string}}}',
  ],
  'e-01jzx4t0q2v7c5j9k3m8n6p1rs.logs.all': [
    'WITH logs AS (SELECT 1 AS a, @project AS project) SELECT a FROM logs',
    `id: 00000000-0000-4000-8000-00000000000b\naliases: [${branch}]\nsandbox: true\nparameters: {properties: {project: {type: string}}}`,
  ],
  'run_logs.prod': [
    "SELECT @flow_id AS flow FROM UNNEST([0]) WHERE @user_id = 'u' AND @builtin_id = 'b'",
    'id: 00000000-0000-4000-8000-00000000000e\nparameters: {properties: {flow_id: {type: string}, user_id: {type: string}, builtin_id: {type: string}}}',
  ],
  contributors: [
    // The query of Supabase's article on Logflare, over another table.
    `select count(t.timestamp) as count, r.method from \`cloudflare.logs.prod\` as t
     cross join unnest(metadata) as m cross join unnest(m.request) as r
     where timestamp::date > current_date() - @day::int
     group by r.method order by count desc limit 25`,
    'id: 69425db0-1cfb-48b4-84c7-2a872b6f0a61\npublic: true\nredact: true\ncache: {seconds: 60}\nparameters: {properties: {day: {type: string}}}',
  ],
  typed: [
    "SELECT 'a' AS name, 3 AS count, 0.5 AS share, CAST(@org_id AS INT64) = 7 AS ok, TIMESTAMP_MICROS(1795229663671397) AS time, FORMAT('%.2f', 1.5) AS price",
    'id: 00000000-0000-4000-8000-00000000000c\nparameters: {properties: {org_id: {type: string}}}',
  ],
  'usage.json': [
    `SELECT JSON '{"a": [1]}' AS x`,
    'id: 00000000-0000-4000-8000-00000000000d\njson: text\nparameters: {properties: {}}',
  ],
}

let folder: string
let service: TestService
let pinnedKey: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'callers-'))
  for (const from of ['queries', 'infra/studio']) cpSync(from, folder, { recursive: true })
  for (const [name, [sql, settings]] of Object.entries(definitions)) {
    writeFileSync(join(folder, `${name}.sql`), sql)
    writeFileSync(join(folder, `${name}.yaml`), `description: d\n${settings}\n`)
  }
  const own = Object.entries({ new: 10, minute: 90, day: 86_400 }).map(([id, age]) =>
    edgeRow(id, at(age), project, '/rest/v1/a'),
  )
  const key = { jwt: { apikey: { payload: { role: 'anon', signature_prefix: 'abcdef' } } } }
  Object.assign(own[0]!.metadata.request, { sb: key })
  const rows = [...own, edgeRow('other', at(20), 'other', '/rest/v1/a')]
  const completed = { level: 'info', msg: 'request completed', status: '200' }
  const auth = { ...completed, auth_event: { action: 'login', actor_id: 'u' } }
  const called = { project_ref: project, function_id: 'fn' }
  const relayed = { ...called, execution_time_ms: 5, response: { status_code: 200 } }
  service = await startService({
    tables: {
      'cloudflare.logs.prod': rows,
      'gotrue.logs.prod': [{ id: 'auth', timestamp: at(30), project, metadata: auth }],
      'deno-relay-logs': [{ id: 'call', timestamp: at(50), metadata: relayed }],
      'deno-subhosting-events': [
        { id: 'line', timestamp: at(50), event_message: 'called', metadata: { ...called, level: 'log' } },
      ],
    },
    queries: folder,
    env: { FROZEN_NOW: now },
  })
  pinnedKey = await service.issue({ pins: { project } })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

describe('gets what it reads:', () => {
  test.each(recorded.map(request => [request.caller, request] as const))('%s', async (_, request) => {
    const { method = 'GET', path, parameters = {}, body, pinned, check } = request
    const key = pinned ? pinnedKey : service.key
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, value.replace('KEY', key)]),
    )
    const query = new URLSearchParams(parameters).toString()
    const response = await service.fetch(query ? `${path}?${query}` : path, {
      method,
      headers,
      key: null,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    check({ status: response.status, body: JSON.parse(text || '{}') as Answer['body'] })
  })
})

/** As the document writes it: names without their values. */
function requestOf({ method = 'GET', path, parameters = {}, headers, body = {} }: Recorded): string {
  const query = Object.keys(parameters).map(name => `${name}=`)
  const address = [path.replace(project, 'REF'), ...(query.length > 0 ? [query.join('&')] : [])].join('?')
  const sent = Object.keys(body).length > 0 ? [`a body of ${Object.keys(body).join(', ')}`] : []
  return [`\`${method} ${address}\``, ...sent, ...Object.keys(headers)].join(', ')
}

test('the document has the same callers, requests and fields', () => {
  const page = readFileSync('infra/docs/moving-in.md', 'utf8').split('## Callers\n')[1]!.split('\n## ')[0]!
  const rows = page
    .split('\n')
    .filter(line => line.startsWith('|'))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
  expect(rows.slice(2)).toEqual(recorded.map(request => [request.caller, requestOf(request), request.reads]))
})

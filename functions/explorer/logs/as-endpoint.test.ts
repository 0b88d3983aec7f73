/** What is on the page as an endpoint: its two files pass `lqe apply`, and answer the same rows, on DuckDB. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { apply } from '../../../infra/lqe/apply/apply.ts'
import { sampleEntries } from '../../../infra/lqe/logs/sample.ts'
import { iso } from '../../../shared/answers/times.ts'
import type { Row } from '../../../shared/engines/engine.ts'
import type { DraftAnswer } from '../../query/draft.ts'
import type { TableDescription } from '../../query/endpoints.ts'
import { startService, type TestService } from '../../testing/service.ts'
import { type Endpoint, parametersOf } from '../service.ts'
import { appRow, withAppLogs } from '../testing/app-logs.ts'
import { chartAsEndpoint, type Made, rowsAsEndpoint, type Shown } from './as-endpoint.ts'
import { momentSql, reachOf } from './moment-sql.ts'
import { momentOf, rangeOf } from './range.ts'
import { allOf, type Shape, shapeOf } from './shape.ts'
import { histogramSql, rowsSql } from './sql.ts'
import { type Filter, initial, type State } from './state.ts'

const now = Date.parse('2026-03-10T12:30:00.000Z') // a whole minute, from which relative times of an endpoint with a cache count
const project = 'qhzvnxwtrkdplmcoyaeb'
const folder = mkdtempSync(join(tmpdir(), 'as-endpoint-'))
let service: TestService
let queries: string
const endpoints = new Map<string, Endpoint>()
const shapes = new Map<string, Shape[]>()

/** One without bounds of its own. */
const bare = `WITH entries AS (SELECT t.* FROM \`app.logs\` AS t)\nSELECT id FROM entries`
const bareYaml = `id: 5c7d1f60-57c1-4f0c-9d0e-6f6f2a1c9b11
description: Without bounds.
parameters: { properties: {} }
sandbox: true
redact: true
cache: { seconds: 120 }
labels: { team: ops }
explore: { entries: { message: words, severity: grade } }
`

/** One with bounds that always have a value. */
const preset = `WITH entries AS (
  SELECT t.* FROM \`app.logs\` AS t WHERE t.timestamp > @since AND t.timestamp <= @until
)
SELECT id FROM entries`
const presetYaml = bareYaml.replace('b11', 'b12').replace(
  '{ properties: {} }',
  `{ properties: {
  since: { type: string, format: iso-timestamp, default: -10m },
  until: { type: string, format: iso-timestamp, default: -5m } } }`,
)

beforeAll(async () => {
  const tables: Record<string, object[]> = {}
  for (const entries of sampleEntries(400, 1, new Date(now)))
    for (const { table, entry } of entries) (tables[table] ??= []).push(entry)
  tables['app.logs'] = Array.from({ length: 60 }, (_, i) =>
    appRow(i, new Date(now - 1 - i * 60_000).toISOString()),
  )
  const app = withAppLogs(folder)
  queries = app.queries
  writeFileSync(join(queries, 'bare.sql'), bare)
  writeFileSync(join(queries, 'bare.yaml'), bareYaml)
  writeFileSync(join(queries, 'preset.sql'), preset)
  writeFileSync(join(queries, 'preset.yaml'), presetYaml)
  service = await startService({
    tables,
    queries,
    env: { ...app.env, FROZEN_NOW: new Date(now).toISOString(), REMEMBER_MS: '1' },
  })
  const listed = (await (await service.fetch('/api/endpoints')).json()) as { result: Endpoint[] }
  for (const endpoint of listed.result) endpoints.set(endpoint.name, endpoint)
  for (const name of ['logs.all', 'app', 'bare', 'preset']) {
    const response = await service.fetch(`/api/endpoints/${name}/tables`)
    const { result } = (await response.json()) as { result: TableDescription[] }
    shapes.set(
      name,
      result.map(shapeOf).filter(shape => shape !== null),
    )
  }
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const post = (path: string, body: object) =>
  service.fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

let made = 0

/** The answer of the endpoint that is made, applied with the folder that it stands in. */
async function answerOf(of: string, wish: Made, values: Record<string, string> = {}) {
  const name = `made.${++made}`
  const drafted = await post(`/api/endpoints/${of}/draft`, { ...wish, name, description: 'Made: "so".' })
  const answer = (await drafted.json()) as { result: DraftAnswer; detail?: string }
  expect([drafted.status, answer.detail]).toEqual([200, undefined])
  for (const file of answer.result.files) writeFileSync(join(queries, file.name), file.text)
  await apply(service.services, { queries, dryRun: false, out: () => {} })
  const { rows } = await ask(`/api/endpoints/query/${name}?${new URLSearchParams(values)}`)
  return { rows, files: answer.result.files.map(({ text }) => text), name }
}

async function ask(path: string, sql?: string): Promise<{ rows: Row[] }> {
  const response = await (sql === undefined ? service.fetch(path) : post(path, { sql }))
  const { result, detail } = (await response.json()) as { result: Row[]; detail?: string }
  expect([response.status, detail]).toEqual([200, undefined])
  return { rows: result }
}

/** What the page asks, as the store does. */
async function viewed({ endpoint, state, range }: Shown, sql: string): Promise<Row[]> {
  const { start, end } = parametersOf(endpoint)
  const values = { ...state.values }
  if (start && range.from !== null) values[start] = iso(range.from - 1)
  if (end && range.to !== null) values[end] = iso(range.to)
  return (await ask(`/api/endpoints/query/${endpoint.name}?${new URLSearchParams(values)}`, sql)).rows
}

function shownOf(endpoint: string, table: string, patch: Partial<State>): Shown {
  const own = shapes.get(endpoint)!
  const shape = table === '*' ? allOf(own as [Shape, ...Shape[]]) : own.find(shape => shape.table === table)!
  const values: Record<string, string> = endpoint === 'logs.all' ? { project } : {}
  const state: State = { ...initial, values, table, redact: false, from: 'now-6h', ...patch }
  return { endpoint: endpoints.get(endpoint)!, state, shape, range: rangeOf(state, now * 1000) as never }
}

const filter = (path: string, operator: Filter['operator'], value: Filter['value']): Filter => ({
  path,
  operator,
  value,
})
const status = 'metadata.response.status_code'
const method = 'metadata.request.method'

const yesterday = { from: 'now-1d/d', to: 'now-1d/d', zone: 'Europe/Berlin' }

const views: [what: string, endpoint: string, table: string, patch: Partial<State>, parameters: string[]][] =
  [
    ['a range that moves', 'logs.all', 'edge_logs', {}, []],
    ['yesterday in a zone', 'logs.all', 'edge_logs', yesterday, []],
    ['today, over a table whose bounds are preset', 'preset', 'entries', { from: 'now/d', to: 'now/d' }, []],
    [
      'today, over a table without bounds',
      'bare',
      'entries',
      { from: 'now/d', zone: 'Asia/Kolkata' },
      ['since'],
    ],
    [
      'a search, a filter, severities and columns',
      'logs.all',
      'edge_logs',
      {
        search: 'get',
        severity: ['info', 'warning'],
        filters: [filter(method, '=', 'GET'), filter(status, '>=', 200), filter(status, '<', 500)],
        columns: [method, status],
      },
      ['method', 'status_code_from', 'status_code_to'],
    ],
    [
      'bounds of numbers, of which a whole number cannot be a parameter of a fraction',
      'logs.all',
      'edge_logs',
      { filters: [filter('metadata.response.origin_time', '>=', 10.5), filter(status, '<=', 500)] },
      ['status_code_to'],
    ],
    [
      'alternatives, an exclusion, a regular expression, and a column that rows are sorted by',
      'logs.all',
      'edge_logs',
      {
        search: '/rest|auth/i',
        filters: [filter(status, '=', 200), filter(status, '=', 404), filter(method, '!=', 'OPTIONS')],
        columns: [status],
        sort: status,
        from: '2026-03-10T08:00:00Z',
        to: '2026-03-10T12:00:00.500Z',
      },
      [],
    ],
    [
      'all tables',
      'logs.all',
      '*',
      { scope: 'entry', search: 'a', filters: [filter('table_name', '=', 'edge_logs')], from: '', to: '' },
      [],
    ],
    [
      'a value inside JSON, over a table with bounds of other names',
      'app',
      'app',
      { filters: [filter('payload.user.name', '=', 'Ann')], from: 'now-30m' },
      ['name'],
    ],
    [
      'a range that begins with an entry, and ends before one',
      'app',
      'app',
      { from: '2026-03-10T12:19:59.999Z', to: '2026-03-10T12:24:59.999Z' },
      [],
    ],
    [
      'no entry, for a value with quotes and a comment',
      'app',
      'app',
      { filters: [filter('payload.user.name', '=', "Ann'); --")], search: "'; -- x" },
      ['name'],
    ],
    [
      'a table without bounds',
      'bare',
      'entries',
      { from: '2026-03-10T12:00:00Z', filters: [filter('id', '=', 'app-7')] },
      ['since', 'id'],
    ],
  ]

test('a time that moves is the same moment in SQL as on the page', async () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Kiritimati']
  const written =
    'now/d today now-1d/d yesterday now-2d/d now/w now-1w/w now/M now-1M/M now-3M now/y now/h now-1d-6h -2h/h now/d+6h'
  const cases = zones.flatMap(zone =>
    written.split(' ').flatMap(text => [false, true].map(isEnd => ({ text, zone, isEnd }))),
  )
  const moments = cases.map(({ text, zone, isEnd }) => `UNIX_MICROS(${momentSql(text, zone, isEnd)})`)
  const { rows } = await ask(
    '/api/endpoints/query/bare',
    `SELECT [${moments.join(', ')}] AS moments FROM entries LIMIT 1`,
  )
  const expected = cases.map(({ text, zone, isEnd }) => momentOf(text, now * 1000, zone, isEnd))
  expect(cases.map((each, i) => [each, (rows[0]!['moments'] as number[])[i]])).toEqual(
    cases.map((each, i) => [each, expected[i]]),
  )
  expect(momentSql('2026-03-10', 'UTC')).toBeNull()
})

test('the time that is told the service reaches back behind the one that is written', () => {
  expect(['now-1d/d', 'now/w', 'now-1M/M', 'now-90m/m'].map(reachOf)).toEqual([
    '-50h',
    '-169h',
    '-1490h',
    '-2h',
  ])
})

describe('an endpoint that is made of a view', () => {
  test.each(views)('has the rows of %s', async (what, endpoint, table, patch, parameters) => {
    const shown = shownOf(endpoint, table, patch)
    const expected = await viewed(shown, rowsSql(shown.state, shown.shape, shown.range, 100))
    const made = rowsAsEndpoint(shown, 100)
    expect(Object.keys(made.parameters)).toEqual(parameters)
    const required = endpoint === 'logs.all' ? { project } : {}
    const { rows } = await answerOf(endpoint, made, required)
    expect(rows).toEqual(expected)
    expect(rows.length > 0).toBe(!what.startsWith('no entry'))
  })

  test('of yesterday has no date, so that it means the day before whenever it is asked', async () => {
    const shown = shownOf('logs.all', 'edge_logs', yesterday)
    const { files, name } = await answerOf('logs.all', rowsAsEndpoint(shown, 100), { project })
    expect(files[0]).toContain("DATETIME_SUB(CURRENT_DATETIME('Europe/Berlin'), INTERVAL 1 DAY)")
    expect(files.join('\n')).not.toContain('2026-03')
    const bounds = {
      iso_timestamp_start: '2026-03-07T22:59:59.999Z',
      iso_timestamp_end: '2026-03-08T23:00:00Z',
    }
    const other = await ask(`/api/endpoints/query/${name}?${new URLSearchParams({ project, ...bounds })}`)
    const before = shownOf('logs.all', 'edge_logs', { ...yesterday, from: 'now-2d/d', to: 'now-2d/d' })
    expect(other.rows).toEqual(await viewed(before, rowsSql(before.state, before.shape, before.range, 100)))
    expect(other.rows.length).toBeGreaterThan(0)
  })

  test('takes other values of its parameters, and other times', async () => {
    const shown = shownOf('logs.all', 'edge_logs', { filters: [filter(method, '=', 'GET')], from: 'now-1h' })
    const { name } = await answerOf('logs.all', rowsAsEndpoint(shown, 100), { project })
    const values = { project, method: 'POST', iso_timestamp_start: '-6h' }
    const other = await ask(`/api/endpoints/query/${name}?${new URLSearchParams(values)}`)
    const same = shownOf('logs.all', 'edge_logs', { filters: [filter(method, '=', 'POST')] })
    expect(other.rows).toEqual(await viewed(same, rowsSql(same.state, same.shape, same.range, 100)))
    expect(other.rows.length).toBeGreaterThan(0)
  })

  test.each([
    ['severity', '', 'rows'],
    ['each value of a field, also one that is not drawn', method, 'rows'],
    ['what is measured of a field', method, 'p95:metadata.response.origin_time'],
  ])('has the chart by %s', async (_, by, measure) => {
    const shown = shownOf('logs.all', 'edge_logs', { by, measure, filters: [filter(status, '>=', 200)] })
    const split = { width: 300e6, values: 'each' } as const
    const expected = await viewed(shown, histogramSql(shown.state, shown.shape, shown.range, split))
    const { rows } = await answerOf('logs.all', chartAsEndpoint(shown, split), { project })
    const inOrder = (some: Row[]) => some.map(row => JSON.stringify(row)).toSorted()
    expect(inOrder(rows)).toEqual(inOrder(expected))
    expect(rows.length).toBeGreaterThan(3)
  })

  test('has the SQL that was typed, over the tables by their real names', async () => {
    const sql = `WITH slow AS (SELECT r.path, resp.origin_time FROM edge_logs AS t
      CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r CROSS JOIN UNNEST(m.response) AS resp)
      SELECT *, 'a: "b" # -- c' AS note FROM slow ORDER BY origin_time DESC, path LIMIT 20 -- the slowest`
    const values = { project, iso_timestamp_start: '-6h' }
    const expected = await ask(`/api/endpoints/query/logs.all?${new URLSearchParams(values)}`, sql)
    const { rows, files } = await answerOf(
      'logs.all',
      { sql, parameters: {}, values, redact: false },
      { project },
    )
    expect(rows).toEqual(expected.rows)
    expect(rows).toHaveLength(20)
    const [query, definition] = files as [string, string]
    expect(query).toMatch(/^-- Made on the page, of logs\.all\.\nWITH edge_logs AS \(\n {2}SELECT /)
    expect(query).toContain('FROM `cloudflare.logs.prod` AS t')
    expect(query).not.toContain('postgres.logs')
    expect(definition).toContain('  required: ["project"]\n')
    expect(definition).toContain(
      '    iso_timestamp_start:\n      type: string\n      format: iso-timestamp\n',
    )
    expect(definition).toContain('      default: "-6h"\n')
    expect(definition).toContain(`      examples: ["${project}"]\n`)
  })

  test('has the settings of the endpoint that it is made of', async () => {
    const shown = shownOf('bare', 'entries', {})
    const { files } = await answerOf('bare', rowsAsEndpoint(shown, 100))
    expect(files[1]).toMatch(
      /^description: "Made: \\"so\\"\."\n[^]*\nmaxRows: 1000\ntimeoutSeconds: 30\ncache:\n {2}seconds: 120\nlabels:\n {2}team: ops\nredact: true\n$/m,
    )
    const redacted = shownOf('app', 'app', { redact: true })
    expect((await answerOf('app', rowsAsEndpoint(redacted, 100))).files[1]).toContain('\nredact: true\n')
  })
})

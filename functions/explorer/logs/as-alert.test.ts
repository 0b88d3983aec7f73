/** What is on the page as an alert: its files pass `lqe apply` with their tests, and it fires as the rows of DuckDB say. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { apply } from '../../../infra/lqe/apply/apply.ts'
import { readAlert } from '../../../infra/lqe/apply/read.ts'
import { failedAlertCases } from '../../../infra/lqe/endpoint-tests/command.ts'
import type { Row } from '../../../shared/engines/engine.ts'
import type { AlertStatus } from '../../../shared/alerts/list.ts'
import { loadConfig } from '../../../shared/config.ts'
import type { DraftAnswer } from '../../query/draft.ts'
import type { TableDescription } from '../../query/endpoints.ts'
import { edgeRow } from '../../testing/edges.ts'
import { startService, type TestService } from '../../testing/service.ts'
import { warmEndpoints } from '../../warm/handler.ts'
import { AlertPreview } from '../alert-preview.ts'
import { alertOf, type Chosen, firstChoice, rowsWatched, type Watched } from '../alerts.ts'
import { type Answer, type Endpoint } from '../service.ts'
import { appRow, withAppLogs } from '../testing/app-logs.ts'
import { watchedBy, watchedOf } from './as-alert.ts'
import { allOf, type Shape, shapeOf } from './shape.ts'
import { type Filter, initial, type State } from './state.ts'

const now = Date.parse('2026-03-10T12:30:00.000Z')
const folder = mkdtempSync(join(tmpdir(), 'as-alert-'))
const endpoints = new Map<string, Endpoint>()
const shapes = new Map<string, Shape[]>()
let service: TestService
let queries: string
let made = 0

const bare =
  'WITH entries AS (SELECT t.* FROM `app.logs` AS t)\nSELECT id, LENGTH(words) AS size FROM entries'
const bareYaml = `id: 5c7d1f60-57c1-4f0c-9d0e-6f6f2a1c9b11
description: Without bounds.
parameters: { properties: {} }
sandbox: true
explore: { entries: { message: words, severity: grade } }
`

beforeAll(async () => {
  const app = withAppLogs(folder)
  queries = app.queries
  writeFileSync(join(queries, 'bare.sql'), bare)
  writeFileSync(join(queries, 'bare.yaml'), bareYaml)
  writeFileSync(join(queries, 'channels.yaml'), 'ops: { kind: slack, secret: OPS }\n')
  const minutesAgo = (minutes: number) => new Date(now - 1 - minutes * 60_000).toISOString()
  const rows = Array.from({ length: 70 }, (_, i) => appRow(i, minutesAgo(i)))
  const edges = ['/a', '/a', '/b'].map((path, i) => edgeRow(`edge-${i}`, minutesAgo(i), 'shop', path))
  service = await startService({
    tables: { 'app.logs': rows, 'cloudflare.logs.prod': edges },
    queries,
    env: { ...app.env, FROZEN_NOW: new Date(now).toISOString(), REMEMBER_MS: '1' },
  })
  const listed = (await (await service.fetch('/api/endpoints')).json()) as { result: Endpoint[] }
  for (const endpoint of listed.result) {
    const response = await service.fetch(`/api/endpoints/${endpoint.name}/tables`)
    const { result } = (await response.json()) as { result: TableDescription[] }
    endpoints.set(endpoint.name, endpoint)
    shapes.set(
      endpoint.name,
      result.map(shapeOf).filter(shape => shape !== null),
    )
  }
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

function viewed(of: string, table: string, patch: Partial<State>, measure = 'rows'): Watched {
  const own = shapes.get(of)! as [Shape, ...Shape[]]
  const shape = table === '*' ? allOf(own) : own.find(each => each.table === table)!
  const values: Record<string, string> = of === 'logs.all' ? { project: 'shop' } : {}
  const state: State = { ...initial, values, table, redact: false, ...patch }
  const shown = { endpoint: endpoints.get(of)!, state, shape, range: { from: null, to: null } }
  return watchedBy(shown, measure)
}

function ownRows(of: string, sql?: string): Watched {
  const made = sql === undefined ? null : { sql, values: {}, redact: false, parameters: {} }
  return rowsWatched(endpoints.get(of)!, {}, made)
}

async function draft(of: string, watched: Watched, chosen: Partial<Chosen>): Promise<DraftAnswer> {
  const alert = alertOf(watched, { ...firstChoice, title: watched.title, name: `made.${++made}`, ...chosen })
  const endpoint = watched.made && { ...watched.made, name: alert.name, description: 'For an alert.' }
  const response = await service.fetch(`/api/endpoints/${of}/draft`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...endpoint, alert }),
  })
  const answer = (await response.json()) as { result: DraftAnswer; detail?: string }
  expect([response.status, answer.detail]).toEqual([200, undefined])
  return answer.result
}

/** Its state once it is applied and evaluated. */
async function stateOf(of: string, watched: Watched, chosen: Partial<Chosen>): Promise<AlertStatus> {
  const { files } = await draft(of, watched, chosen)
  for (const file of files) writeFileSync(join(queries, file.name), file.text)
  const source = readAlert(join(queries, files.at(-1)!.name))
  expect(source.tests.map(({ fires }) => fires)).toEqual([true, false])
  expect(failedAlertCases(source)).toEqual([])
  await apply(service.services, { queries, dryRun: false, out: () => {} })
  const { services, env } = service
  const found = await services.endpoints.find(source.endpoint)
  await warmEndpoints({ services, config: loadConfig(env), log: () => {} }, [found!])
  const response = await service.fetch(`/api/endpoints/${source.endpoint}/alerts`)
  const { result } = (await response.json()) as { result: AlertStatus[] }
  return result.find(({ alert }) => alert === source.alert.name)!
}

/** What the window says of it before it is made. */
async function presentOf(of: string, watched: Watched, patch: Partial<Chosen>) {
  const calls: Promise<Answer>[] = []
  const run: ConstructorParameters<typeof AlertPreview>[0] = ({ sql, values }) => {
    const path = `/api/endpoints/query/${of}?${new URLSearchParams(values)}`
    const body = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sql }),
    }
    const call = service.fetch(path, sql === null ? {} : body).then(async response => {
      const { result: rows } = (await response.json()) as { result: Row[] }
      return { rows } as Answer
    })
    calls.push(call)
    return call
  }
  const preview = new AlertPreview(run)
  const chosen: Chosen = { ...firstChoice, title: watched.title, name: 'x', ...patch }
  const clock = jest.spyOn(Date, 'now').mockReturnValue(now) // the service's
  preview.look(watched, chosen)
  clock.mockRestore()
  await Promise.all(calls)
  await new Promise(resolve => setTimeout(resolve))
  return { value: preview.valueOf(watched, chosen), said: preview.said(watched, chosen), calls: calls.length }
}

const filter = (path: string, value: Filter['value']): Filter => ({ path, operator: '=', value })
const severe: Partial<State> = { severity: ['error'] }
const nobody: Partial<State> = { filters: [filter('payload.user.name', 'Nobody')] }
const status = 'metadata.response.status_code'

const cases: [
  what: string,
  watched: () => [string, Watched],
  chosen: Partial<Chosen>,
  found: string,
  value: number,
][] = [
  ['entries', () => ['app', viewed('app', 'app', {})], { bound: '14' }, 'firing', 15],
  [
    'entries of a shorter window',
    () => ['app', viewed('app', 'app', {})],
    { bound: '5', window: '5m' },
    'ok',
    5,
  ],
  ['entries of a severity', () => ['app', viewed('app', 'app', severe)], { bound: '2' }, 'firing', 3],
  ['a share', () => ['app', viewed('app', 'app', severe, 'share:error')], { bound: '19.5' }, 'firing', 0.2],
  [
    'a share that is lower',
    () => ['app', viewed('app', 'app', severe, 'share:error')],
    { bound: '20' },
    'ok',
    0.2,
  ],
  [
    'a number of a field',
    () => ['logs.all', viewed('logs.all', 'edge_logs', {}, `average:${status}`)],
    { bound: '199' },
    'firing',
    200,
  ],
  ['nothing', () => ['app', viewed('app', 'app', nobody)], { side: 'none' }, 'firing', 0],
  ['something', () => ['app', viewed('app', 'app', {})], { side: 'none' }, 'ok', 15],
  [
    'entries of all tables',
    () => ['logs.all', viewed('logs.all', '*', {})],
    { bound: '0', window: '1d' },
    'firing',
    3,
  ],
  [
    'a share of the entries of all tables',
    () => ['logs.all', viewed('logs.all', '*', {}, 'share:error')],
    { bound: '0', window: '1d' },
    'ok',
    0,
  ],
  [
    'as much as an hour before',
    () => ['app', viewed('app', 'app', {})],
    { before: 'PT1H', bound: '0.9', window: '5m' },
    'firing',
    1,
  ],
  [
    'less than a table without bounds had',
    () => ['bare', viewed('bare', 'entries', severe)],
    { side: 'below', bound: '4' },
    'firing',
    3,
  ],
  ['rows of the endpoint itself', () => ['app', ownRows('app')], { bound: '4' }, 'firing', 5],
  [
    'a column of it',
    () => ['bare', { ...ownRows('bare'), title: 'size', value: 'size', isCount: false }],
    { bound: '12' },
    'ok',
    12,
  ],
  [
    'rows of SQL',
    () => [
      'app',
      ownRows('app', "SELECT grade, COUNT(*) AS n FROM app WHERE grade = 'fatal' GROUP BY grade"),
    ],
    { bound: '1' },
    'ok',
    1,
  ],
]

describe('an alert that is made of a view', () => {
  test.each(cases)('fires or not as the rows say: %s', async (_, watched, chosen, found, value) => {
    const [of, one] = watched()
    const { state, value: last } = await stateOf(of, one, chosen)
    expect([state, last]).toEqual([found, value])
    const present = await presentOf(of, one, chosen)
    expect([present.value, present.calls]).toEqual([value, chosen.before ? 2 : 1])
    expect(present.said).toMatch(found === 'firing' ? /: it would fire\.$/ : /: it would not fire\.$/)
  })

  test('is the same from the view of alerts as from the logs, of which the link is', () => {
    const subject = { endpoint: endpoints.get('logs.all')!, shapes: shapes.get('logs.all')! }
    const view: [string, string][] = [
      ['table', 'edge_logs'],
      ['severity', 'error'],
      ['search', 'done'],
      ['measure', 'average:metadata.response.origin_time'],
    ]
    const link = { endpoint: 'logs.all', values: {}, sql: null }
    expect(watchedOf(subject, { ...link, view }).map(({ title, about }) => [title, about])).toEqual([
      ['Average origin_time (ms)', 'errors in edge_logs, “done”'],
      ['Entries', 'errors in edge_logs, “done”'],
      ['Share of 5xx', 'edge_logs, “done”'],
      ['Share of 4xx', 'errors in edge_logs, “done”'],
    ])
    const plain = watchedOf(subject, { ...link, view: [['view', 'alerts']] })
    expect(plain[0]).toMatchObject({ title: 'Entries', about: 'edge_logs' })
  })

  test('has what was chosen in its file, and names the endpoint that goes with it', async () => {
    const watched = viewed('logs.all', 'edge_logs', { filters: [filter('metadata.request.path', '/a')] })
    const chosen = {
      name: 'shop.busy',
      bound: '2',
      for: 'PT5M',
      severity: 'critical',
      channels: ['ops'],
    } as const
    const { files, offers } = await draft('logs.all', watched, { ...chosen, channels: [...chosen.channels] })
    expect(files.map(({ name }) => name)).toEqual(['shop.busy.sql', 'shop.busy.yaml', 'shop.busy.alert.yaml'])
    expect(files[2]!.text).toBe(`# Made on the page.
endpoint: shop.busy
parameters:
  project: shop
  iso_timestamp_start: "-15m"
  iso_timestamp_end: now
condition:
  value: entries
  above: 2
every: PT5M
for: PT5M
severity: critical
text: "Entries: {{ value }}"
channels: ["ops"]
tests:
  - rows:
      - entries: 5
    fires: true
  - rows:
      - entries: 0
    fires: false
`)
    expect(offers).toEqual({ numbers: ['entries'], channels: ['ops'] })
    const own = await draft('bare', ownRows('bare'), { name: 'bare.many' })
    expect(own.files.map(({ name }) => name)).toEqual(['bare.many.alert.yaml'])
    expect(own.offers!.numbers).toEqual(['size'])
  })
})

/** Alerts as the warm function evaluates them: from rows in the log tables to what a channel gets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { alertsCollection, recordIn, silence } from '../../shared/alerts/record.ts'
import { listAlerts } from '../../shared/alerts/list.ts'
import { answersCollection, headOf } from '../../shared/cache/head.ts'
import { DeliveryError, type Message } from '../../shared/alerts/channels.ts'
import { loadConfig } from '../../shared/config.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { withFaults } from '../../shared/stores/testing/faults.ts'
import { EngineError, type QueryEngine } from '../../shared/engines/engine.ts'
import type { Details } from '../../shared/log.ts'
import type { Services } from '../../shared/services.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'
import { lineOfAlerts, warmEndpoints } from './handler.ts'

const now = '2026-03-10T12:30:30.000Z'
const many = rounds(100, 1_000)
const projects = Array.from({ length: many }, (_, i) => `project${String(i).padStart(4, '0')}`)

const definition = `
description: Requests of a project.
parameters:
  required: [project]
  properties:
    project: { type: string, maxLength: 100 }
    since: { type: string, format: iso-timestamp, default: -1h }
    until: { type: string, format: iso-timestamp, default: now }
cache: { seconds: 60 }
`
const sql = `SELECT project, COUNT(*) AS requests, MAX(event_message) AS last, MAX(timestamp) AS newest FROM \`cloudflare.logs.prod\`
WHERE project = @project AND timestamp > @since AND timestamp <= @until GROUP BY project`
const files: Record<string, string> = {
  'channels.yaml': 'ops: { kind: slack, secret: OPS }',
  'edge.requests.yaml': `id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e11${definition}`,
  'edge.requests.sql': sql,
  'edge.busy.alert.yaml': `
endpoint: edge.requests
parameters: { project: busy }
condition: { value: requests, above: 1 }
text: '{{ requests }} requests of {{ project }}, the last at {{ newest }}: {{ last }}'
channels: [ops]
severity: critical`,
  'edge.grown.alert.yaml': `
endpoint: edge.requests
parameters: { project: busy }
condition: { value: requests, before: P1D, above: 2.5 }
text: '{{ value }} times as many'
channels: [ops]`,
  'edge.silent.alert.yaml': `
endpoint: edge.requests
parameters: { project: nobody }
condition: { value: rows, below: 1 }
text: nothing of {{ project }}
channels: [ops]`,
  'many.yaml': `id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e12${definition}`,
  'many.sql': sql,
  'many.requests.alert.yaml': `
endpoint: many
parameters: [${projects.map(project => `{ project: ${project} }`).join(', ')}]
condition: { value: rows, above: 0 }
text: '{{ requests }} of {{ project }}'
channels: [ops]`,
}

const queries = mkdtempSync(join(tmpdir(), 'queries-'))
let service: TestService
let got: Message[]
let refuse: (message: Message) => DeliveryError | null
let runs: number
let isBroken: boolean
let logged: [string, Details][]

beforeAll(async () => {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(queries, file), text)
  const row = (time: string, project: string) =>
    edgeRow(`${time}${project}`, time, project, '/rest/v1/a?who=tom@example.com')
  const rows = [
    ...[1, 2, 3].map(n => row(`2026-03-10T12:0${n}:00.000Z`, 'busy')),
    row('2026-03-09T12:01:00.000Z', 'busy'),
    ...projects.filter((_, i) => i % 2 === 0).map(project => row('2026-03-10T12:20:00.000Z', project)),
  ]
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows },
    queries,
    env: { FROZEN_NOW: now },
  })
})
afterAll(async () => {
  await service.stop()
  rmSync(queries, { recursive: true })
})

beforeEach(async () => {
  got = []
  logged = []
  runs = 0
  isBroken = false
  refuse = () => null
  const { store } = service.services
  for (const collection of [alertsCollection, 'silences', 'warming'])
    for (const { id } of (await store.query({ collection, limit: 1_000 })).documents)
      await store.remove({ collection, id })
})

async function call(...names: string[]): Promise<string[]> {
  const endpoints = await service.services.endpoints.all()
  return callFor(endpoints.filter(({ name }) => names.includes(name)))
}

/** @param storeMs how long a call of the store takes at least, but for those of the cache */
async function callFor(endpoints: Endpoint[], storeMs = 0): Promise<string[]> {
  const { engine } = service.services
  const run: QueryEngine['run'] = async (...asked) => {
    runs++
    if (isBroken) throw new EngineError('failed', 'broken')
    return { ...(await engine.run(...asked)), bytes: 1_000 }
  }
  const describe: QueryEngine['describe'] = async (...asked) => {
    if (isBroken) throw new EngineError('failed', 'broken')
    return engine.describe(...asked)
  }
  const services: Services = {
    ...service.services,
    store: withFaults(service.services.store, { before: () => (storeMs > 0 ? sleep(storeMs) : undefined) }),
    engine: Object.assign(Object.create(engine) as QueryEngine, { run, describe }),
    async deliver(_channel, message) {
      const error = refuse(message)
      if (error) throw error
      got.push(message)
    },
  }
  const config = loadConfig(service.env)
  const log = (_: unknown, message: string, details: Details = {}) => void logged.push([message, details])
  return (await warmEndpoints({ services, config, log }, endpoints)).alerts.map(lineOfAlerts)
}

/** One like the endpoint of many sets, whose answers are not cached yet. */
async function another(digit: number): Promise<Endpoint> {
  const endpoint = (await service.services.endpoints.find('many'))!
  return { ...endpoint, id: `${endpoint.id.slice(0, -1)}${digit}`, name: `many.${digit}` }
}

/** As if the last call had been ten minutes before. */
async function later(): Promise<void> {
  const { store } = service.services
  for (const { id, fields } of (await store.query({ collection: 'warming', limit: 100 })).documents) {
    const alerts = Object.entries((fields['alerts'] ?? {}) as Record<string, { at: number }>)
    const earlier = alerts.map(([name, last]) => [name, { ...last, at: last.at - 600_000 }])
    await store.update(
      { collection: 'warming', id },
      { set: { alerts: Object.fromEntries(earlier) as never } },
    )
  }
}

const byAlert = () => Object.fromEntries(got.map(message => [message.alert, message]))

test('what the rows show is told to the channel, once, without personal data', async () => {
  expect(await call('edge.requests')).toEqual(['edge.requests evaluated=3 firing=3 sent=3'])
  expect(byAlert()).toMatchObject({
    'edge.busy': {
      id: expect.stringMatching(/^msg_[0-9a-f-]{36}$/),
      endpoint: 'edge.requests',
      state: 'firing',
      severity: 'critical',
      text: expect.stringMatching(/^3 requests of busy, the last at 2026-03-10T12:03:00Z: .*who=REDACTED/),
      parameters: { project: 'busy' },
      rows: [{ project: 'busy', requests: 3 }],
    },
    'edge.grown': { text: '3 times as many' },
    'edge.silent': { text: 'nothing of nobody', rows: [] },
  })
  expect(JSON.stringify(got)).not.toContain('tom@example.com')
  expect(await call('edge.requests')).toEqual(['edge.requests'])
  await later()
  expect(await call('edge.requests')).toEqual(['edge.requests evaluated=3'])
  expect(got).toHaveLength(3)
})

test('each is a caller of its own in the log of requests', async () => {
  await call('edge.requests')
  const lines = logged.filter(([message]) => message === 'alert evaluated').map(([, details]) => details)
  expect(lines.map(({ how, key, endpoint, sets, status }) => ({ how, key, endpoint, sets, status }))).toEqual(
    [
      { how: 'alert', key: 'alert:edge.busy', endpoint: 'edge.requests', sets: 1, status: 200 },
      { how: 'alert', key: 'alert:edge.grown', endpoint: 'edge.requests', sets: 2, status: 200 },
      { how: 'alert', key: 'alert:edge.silent', endpoint: 'edge.requests', sets: 1, status: 200 },
    ],
  )
  expect(
    logged.filter(([message]) => message === 'alert').map(([, { alert, state }]) => [alert, state]),
  ).toEqual(expect.arrayContaining([['edge.busy', 'firing']]))
})

test('what a channel refuses is sent again later under the same id', async () => {
  const tried: string[] = []
  refuse = ({ id, alert }) => {
    tried.push(`${alert} ${id}`)
    return new DeliveryError('gone')
  }
  const [line] = await call('edge.requests')
  expect(line).toMatch(/evaluated=3 firing=3 .*unsent=/)
  const unsent = (await service.services.store.query({ collection: alertsCollection, limit: 10 })).documents
    .map(({ fields }) => recordIn(fields).outbox)
    .flat()
  expect(unsent.length).toBeGreaterThan(0)
  refuse = ({ id, alert }) => (tried.push(`${alert} ${id}`), null)
  expect(await call('edge.requests')).toEqual([expect.stringContaining('unsent=')])
  expect(got.filter(({ alert }) => alert === 'edge.busy')).toEqual([])
  const { store } = service.services
  for (const { id, fields } of (await store.query({ collection: alertsCollection, limit: 10 })).documents) {
    const record = recordIn(fields)
    for (const { to } of record.outbox) for (const one of to) one.notBefore = 0
    await store.update({ collection: alertsCollection, id }, { set: { record: JSON.stringify(record) } })
  }
  await call('edge.requests')
  expect(got.map(({ alert }) => alert)).toContain('edge.busy')
  const ids = tried.filter(text => text.startsWith('edge.busy '))
  expect(new Set(ids).size).toBe(1)
})

test('where the engine fails each set is evaluated all the same, and nobody is told at once', async () => {
  isBroken = true
  const endpoint = await another(3)
  expect(await callFor([endpoint])).toEqual([`many.3 evaluated=${many}`])
  const set = endpoint.alerts![0]!.sets[0]!
  const [first] = await listAlerts(service.services.store, [endpoint], subject => subject.set === set)
  expect(first).toMatchObject({ state: 'pending', value: null })
  const lines = logged.filter(([message]) => message === 'alert evaluated').map(([, details]) => details)
  expect(lines).toMatchObject([{ error: 'engine_error', status: 502, sets: many }])
  expect(got).toEqual([])
})

test('what one statement reads for many sets is the alert’s, and the warmer does not keep it for readers', async () => {
  const endpoint = await another(4)
  const [alert] = endpoint.alerts!
  const half = { ...alert!, name: 'other', sets: alert!.sets.slice(0, many / 2) }
  await callFor([{ ...endpoint, alerts: [alert!, half], warm: { seconds: 60, maxSets: 100 } }])
  const lines = logged.filter(([message]) => message === 'alert evaluated').map(([, details]) => details)
  const all = Math.ceil(many / 500) * 1_000
  expect(lines.map(({ bytes }) => bytes)).toEqual([Math.round((all * 2) / 3), Math.round(all / 3)])
  await later()
  await callFor([{ ...endpoint, warm: { seconds: 60, maxSets: 100 } }])
  const where = [{ field: 'endpoint', operator: '==' as const, value: endpoint.id }]
  const { documents } = await service.services.store.query({
    collection: answersCollection,
    where,
    limit: 1_000,
  })
  expect(documents).toHaveLength(many)
  expect(Math.max(...documents.map(document => headOf(document)!.uses))).toBe(1)
})

test('nothing is told of a silenced alert, and what still holds is told afterwards', async () => {
  const endpoint = (await service.services.endpoints.find('edge.requests'))!
  const { store } = service.services
  await silence(store, endpoint, endpoint.alerts![0]!, 3_600_000)
  expect(await call('edge.requests')).toEqual(['edge.requests evaluated=3 firing=2 sent=2'])
  await silence(store, endpoint, endpoint.alerts![0]!, -1)
  await later()
  expect(await call('edge.requests')).toEqual(['edge.requests evaluated=3 firing=1 sent=1'])
  expect(got.map(({ alert }) => alert).sort()).toEqual(['edge.busy', 'edge.grown', 'edge.silent'])
})

test(`${many} sets are evaluated by one scan, and told in one call`, async () => {
  const started = performance.now()
  const [line] = await call('many')
  const ms = Math.round(performance.now() - started)
  expect(line).toBe(`many evaluated=${many} firing=${many / 2} sent=${many / 2}`)
  expect(runs).toBe(Math.ceil(many / 500))
  const [usage] = logged.filter(([message]) => message === 'alert evaluated')
  expect(usage![1]).toMatchObject({ sets: many, cache: 'hit', rows: many / 2 })
  await later()
  const again = performance.now()
  expect(await call('many')).toEqual([`many evaluated=${many}`])
  if (many > 100)
    process.stdout.write(
      `${many} sets: ${ms} ms, without a change ${Math.round(performance.now() - again)} ms\n`,
    )
})

test(`${many} alerts on ${many / 10} endpoints are evaluated and told in one call, also by a slow store`, async () => {
  const base = (await service.services.endpoints.find('many'))!
  const alert = base.alerts![0]!
  const endpoints = Array.from({ length: many / 10 }, (_, at): Endpoint => ({
    ...base,
    id: `${base.id.slice(0, -3)}${String(at).padStart(3, '0')}`,
    name: `many.${at}`,
    alerts: projects
      .slice(at * 10, at * 10 + 10)
      .map(project => ({ ...alert, name: `${alert.name}.${project}`, sets: [{ project }] })),
  }))
  const started = performance.now()
  const lines = await callFor(endpoints, 20)
  const ms = Math.round(performance.now() - started)
  expect(lines).toEqual(endpoints.map(({ name }) => `${name} evaluated=10 firing=5 sent=5`))
  expect(runs).toBe(endpoints.length)
  if (many === 100) return
  process.stdout.write(`${many} alerts on ${many / 10} endpoints, 20 ms for a call of the store: ${ms} ms\n`)
  expect(ms).toBeLessThan(60_000)
})

/** The calls of the warm function on a laptop, in place of Cloud Scheduler's. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { edgeRow } from '../../functions/testing/edges.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { warmHere } from '../../functions/warm/handler.ts'
import { type Alert, type Endpoint, fieldsOf } from '../../shared/endpoints/definition.ts'
import { endpointsCollection } from '../../shared/endpoints/lookup.ts'
import { type Config, loadConfig } from '../../shared/config.ts'
import type { Details } from '../../shared/log.ts'
import { openServices } from '../../shared/services.ts'
import { answerOf } from '../lqe/query.ts'
import { keepWarm } from './scheduler.ts'

let service: TestService
let config: Config
const name = 'usage.api-counts'

beforeAll(async () => {
  const rows = [edgeRow('a', new Date().toISOString(), 'abcdefgh', '/rest/v1/a')]
  const env = { REMEMBER_MS: '100' }
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env, bundle: null })
  config = loadConfig(service.env)
})

afterAll(() => service.stop())

/** As `apply` does, but for an interval that no definition may have. */
async function applyInterval(seconds: number): Promise<void> {
  const endpoint = (await service.services.endpoints.find(name))!
  const changed: Endpoint = { ...endpoint, warm: { ...endpoint.warm!, seconds } }
  const at = { collection: endpointsCollection, id: endpoint.id }
  await service.services.store.update(at, { set: fieldsOf(changed) })
}

/** By services of its own, whose memory has nothing. */
async function look(): Promise<void> {
  const services = await openServices(config)
  const endpoint = (await services.endpoints.find(name))!
  const options = { sql: null, redact: false, fresh: false }
  await answerOf(services, endpoint, 'interval=daily&project=abcdefgh', options)
  await services.close()
}

test('calls for a chart in use come over and over, by the interval of the definition in force', async () => {
  const lines: Details[] = []
  const log = (_: string, message: string, details: Details = {}) =>
    void (message === 'warm' && lines.push(details))
  const ending = new AbortController()
  const { services } = service
  const scheduled = keepWarm(services, each => warmHere({ services, config, log }, each), {
    signal: ending.signal,
    everyMs: 50,
  })
  await look()
  await applyInterval(2)
  await sleep(700)
  await look() // a second time: it is in use
  const refreshed = () => lines.filter(line => Number(line['refreshed']) > 0)
  while (refreshed().length < 3) await sleep(50)
  ending.abort()
  await scheduled
  for (const line of refreshed())
    expect(line).toMatchObject({
      how: 'warm',
      key: 'warm',
      endpoint: name,
      status: 200,
      refreshed: 1,
      failed: 0,
    })
})

test('calls for alerts too, also where nothing is kept warm', async () => {
  const { services } = service
  const logs = (await services.endpoints.find('logs.all'))!
  const alert: Alert = {
    name: 'entries',
    sets: [{ project: 'abcdefgh' }],
    condition: { value: 'rows', above: 0 },
    everyMs: 60_000,
    forMs: 0,
    repeatMs: null,
    severity: 'info',
    text: '{{ rows }} rows',
    channels: [],
    redact: true,
  }
  const at = { collection: endpointsCollection, id: logs.id }
  await services.store.update(at, { set: fieldsOf({ ...logs, alerts: [alert] }) })
  await sleep(config.rememberMs)
  const ending = new AbortController()
  const { promise, resolve } = Promise.withResolvers<Details>()
  const log = (_: string, message: string, details: Details = {}) =>
    void (message === 'alert' && resolve(details))
  const scheduled = keepWarm(services, each => warmHere({ services, config, log }, each), {
    signal: ending.signal,
    everyMs: 50,
  })
  expect(await promise).toMatchObject({ alert: 'entries', endpoint: 'logs.all', state: 'firing' })
  ending.abort()
  await scheduled
})

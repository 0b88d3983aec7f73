import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunLimits } from '../../shared/engines/engine.ts'
import { startService, type TestService } from '../testing/service.ts'

const queries = mkdtempSync(join(tmpdir(), 'labels-'))
const reservation = 'projects/admin/locations/EU/reservations/logs'
const logs = '/api/endpoints/query/logs.all?project=a'
let service: TestService
let limits: Partial<RunLimits> = {}

beforeAll(async () => {
  cpSync('queries', queries, { recursive: true })
  const file = join(queries, 'logs.all.yaml')
  const settings = `labels: { service: console }\ncallerLabels: [team, page, constructor]\nreservation: ${reservation}\n`
  writeFileSync(file, readFileSync(file, 'utf8') + settings)
  service = await startService({ tables: {}, queries, bundle: null })
  const { engine } = service.services
  const run = engine.run.bind(engine)
  engine.run = (statement, given) => {
    limits = given
    return run(statement, given)
  }
})

afterAll(async () => {
  await service.stop()
  rmSync(queries, { recursive: true })
})

const ask = async (path: string, headers: Record<string, string> = {}) => {
  limits = {}
  return service.fetch(path, { headers })
}

test.each(['SVC-ENDPOINT-LABELS', 'LF-ENDPOINT-LABELS'])(
  'a run has the labels of its endpoint, and of %s those that the endpoint takes',
  async name => {
    const { status } = await ask(logs, {
      [name]: 'team=search, page=a_b-1,constructor=x,other=x,service=mine,endpoint=none',
    })
    expect(status).toBe(200)
    const own = { service: 'console', endpoint: 'logs.all', key: expect.any(String) }
    expect(limits.labels).toEqual({ ...own, team: 'search', page: 'a_b-1', constructor: 'x' })
    expect(service.key).toContain(limits.labels!.key)
    expect(limits.reservation).toBe(reservation)
  },
)

test('an endpoint that takes no labels reads none, and is assigned to no reservation', async () => {
  const usage = '/api/endpoints/query/usage.api-counts?interval=daily&project=a'
  expect((await ask(usage, { 'SVC-ENDPOINT-LABELS': 'Not A Label' })).status).toBe(200)
  expect(Object.keys(limits.labels!)).toEqual(['endpoint', 'key'])
  expect(limits).not.toHaveProperty('reservation')
})

test.each(['team', 'team=Search', 'team=a b', `team=${'a'.repeat(64)}`, '=a', 'team=a,,page=b'])(
  'the header %j is refused',
  async text => {
    const response = await ask(logs, { 'SVC-ENDPOINT-LABELS': text })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'invalid_parameter',
      errors: [{ header: 'svc-endpoint-labels', detail: expect.stringContaining('must be name=value') }],
    })
  },
)

test('a label with two values is refused, in one header or over both; one that is said twice is not', async () => {
  const asked = async (own: string, logflare: string) => {
    const response = await ask(logs, { 'SVC-ENDPOINT-LABELS': own, 'LF-ENDPOINT-LABELS': logflare })
    return [response.status, ((await response.json()) as { detail?: string }).detail]
  }
  const second = 'gives the label team a second value'
  expect(await asked('team=a', 'team=b')).toEqual([400, `lf-endpoint-labels ${second}`])
  expect(await asked('team=a,team=b', '')).toEqual([400, `svc-endpoint-labels ${second}`])
  expect(await asked('team=a', 'team=a')).toEqual([200, undefined])
})

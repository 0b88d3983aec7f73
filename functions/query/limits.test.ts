/** A key's limits, as its callers see them. The engine is the real one, with bytes as BigQuery would bill them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const project = 'abcdefghijklmnopqrst'
const logs = `/api/endpoints/query/logs.all?project=${project}`
const usage = `/api/endpoints/query/usage.api-counts?project=${project}&interval=`
const bytesOfRun = 1000

let service: TestService
let runs = 0

beforeAll(async () => {
  const rows = [edgeRow('a', '2026-03-10T12:00:00Z', project, '/rest/v1/items')]
  const env = { FROZEN_NOW: '2026-03-10T12:30:30.000Z' }
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env, bundle: null })
  const { engine } = service.services
  const run = engine.run.bind(engine)
  engine.run = async (...args) => {
    runs++
    return { ...(await run(...args)), bytes: bytesOfRun }
  }
})

afterAll(() => service.stop())

describe('a key with a number of calls a minute', () => {
  test('gets a 429 with Retry-After for one more, of any kind, while other keys go on', async () => {
    const key = await service.issue({ limits: { callsPerMinute: 3, bytesPerDay: null } })
    for (const path of [logs, '/api/endpoints', '/api/endpoints/logs.all/tables'])
      expect((await service.fetch(path, { key })).status).toBe(200)
    const refused = await service.fetch(logs, { key })
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('3') })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    const [, id] = key.split('_')
    expect(service.logged.at(-1)!.details).toMatchObject({ status: 429, error: 'rate_limited', key: id })
    expect((await service.fetch(logs)).status).toBe(200)
  })
})

describe('RateLimit', () => {
  const fields = (response: Response) =>
    ['ratelimit-policy', 'ratelimit'].map(name => response.headers.get(name))

  test('says what is left of each limit, on answers and refusals', async () => {
    const key = await service.issue({ limits: { callsPerMinute: 3, bytesPerDay: 2 * bytesOfRun } })
    const policies = `"calls";q=3;w=60, "bytes";q=${2 * bytesOfRun};qu="content-bytes";w=86400`
    const [first, second, third, refused] = [
      await service.fetch(logs, { key }),
      await service.fetch(logs, { key }),
      await service.fetch(logs, { key }),
      await service.fetch(logs, { key }),
    ]
    expect([first, second, third, refused].map(({ status }) => status)).toEqual([200, 200, 429, 429])
    expect(fields(first)).toEqual([
      policies,
      expect.stringMatching(new RegExp(`^"calls";r=2;t=\\d+, "bytes";r=${bytesOfRun};t=\\d+$`)),
    ])
    expect(fields(second)[1]).toMatch(/^"calls";r=1;t=\d+, "bytes";r=0;t=\d+$/)
    expect(fields(third)[1]).toMatch(/^"calls";r=0;t=\d+, "bytes";r=0;t=\d+$/)
    expect(await third.json()).toMatchObject({ code: 'budget_exhausted' })
    expect(fields(refused)).toEqual([
      policies,
      expect.stringMatching(/^"calls";r=0;t=\d+, "bytes";r=0;t=\d+$/),
    ])
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    expect(refused.headers.get('ratelimit')).toContain(`t=${refused.headers.get('retry-after')},`)
  })

  test('is absent for a key without limits, and can be read by a page', async () => {
    const response = await service.fetch(logs)
    expect(fields(response)).toEqual([null, null])
    expect(response.headers.get('access-control-expose-headers')).toBe('*')
  })
})

describe('a key with a number of bytes a day', () => {
  const limits = { callsPerMinute: null, bytesPerDay: 2 * bytesOfRun }

  test('runs until they are read, and then gets cached answers and no run', async () => {
    const key = await service.issue({ limits })
    const first = await service.fetch(`${usage}daily`, { key })
    expect([first.status, first.headers.get('x-bytes-read')]).toEqual([200, String(bytesOfRun)])
    expect((await service.fetch(`${usage}hourly`, { key })).status).toBe(200)
    const before = runs
    for (const path of [`${usage}minutely`, logs, `${logs}&sql=SELECT 1`]) {
      const refused = await service.fetch(path, { key })
      expect(await refused.json()).toMatchObject({ status: 429, code: 'budget_exhausted' })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const cached = await service.fetch(`${usage}daily`, { key })
    expect([cached.status, cached.headers.get('cache-status')]).toEqual([200, expect.stringContaining('hit')])
    expect(cached.headers.get('x-bytes-read')).toBeNull()
    expect(runs).toBe(before)
    expect((await service.fetch(`${usage}minutely`)).status).toBe(200)
  })

  test('gets a hot answer without a read of the bytes it has used', async () => {
    const key = await service.issue({ limits })
    await service.fetch(`${usage}daily`)
    const { store } = service.services
    const get = store.get.bind(store)
    const read: string[] = []
    store.get = (at, fields) => {
      read.push(at.collection)
      return get(at, fields)
    }
    expect((await service.fetch(`${usage}daily`, { key })).headers.get('cache-status')).toContain('hit')
    store.get = get
    expect(read).toEqual(['keys'])
  })

  test('pays for no run but its own', async () => {
    const key = await service.issue({ limits: { ...limits, bytesPerDay: 1 } })
    await service.fetch(`${usage}daily`)
    for (let call = 0; call < 5; call++)
      expect((await service.fetch(`${usage}daily`, { key })).status).toBe(200)
    expect((await service.fetch(logs, { key })).status).toBe(200)
    expect((await service.fetch(logs, { key })).status).toBe(429)
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { answerOf } from '../../infra/lqe/query.ts'
import { loadConfig } from '../../shared/config.ts'
import { openServices } from '../../shared/services.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
const logs = `/api/endpoints/query/logs.all?project=${project}`

let service: TestService
let calls = 0

beforeAll(async () => {
  const rows = [edgeRow('a', now, project, '/rest/v1/items'), edgeRow('b', now, project, '/auth/v1/token')]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env: { FROZEN_NOW: now } })
})

afterAll(() => service.stop())

/** A parameter set that no call has had yet. */
const fresh = () => `/api/endpoints/query/usage.api-counts?interval=daily&project=example|${++calls}`

const status = (response: Response) => response.headers.get('cache-status')

describe('an endpoint with a cache', () => {
  test('runs once, then hits, as Cache-Status says', async () => {
    const path = fresh()
    const first = await service.fetch(path)
    const second = await service.fetch(path)
    expect([status(first), status(second)]).toEqual([
      'lqe; fwd=miss; stored',
      expect.stringMatching(/^lqe; hit; ttl=\d+$/),
    ])
    expect(await second.text()).toBe(await first.text())
    expect(second.headers.get('age')).toMatch(/^\d+$/)
    expect(second.headers.get('cache-control')).toMatch(/^private, max-age=(900|8\d\d)$/)
    expect(Date.parse(second.headers.get('last-modified')!)).toBeLessThanOrEqual(Date.now())
    expect(first.headers.get('server-timing')).toMatch(/auth;dur=.*engine;dur=.*cache;dur=/)
  })

  test('has one answer for all callers, by name and by UUID, however parameters are written', async () => {
    const path = fresh()
    await service.fetch(path)
    const other = await service.issue({ endpoints: ['usage.api-counts'] })
    const [, query] = path.split('?')
    const reversed = query!.split('&').toReversed().join('&').replace('daily', '%64aily')
    const requests = [
      service.fetch(path, { key: other }),
      service.fetch(`/api/endpoints/query/5d2e8a94-0c7b-4b1d-8e3f-62a9d1c4b720?${query}`),
      service.fetch(`/api/endpoints/query/usage.api-counts?${reversed}&unknown=1`),
    ]
    for (const response of await Promise.all(requests)) expect(status(response)).toMatch(/^lqe; hit/)
  })

  test('collapses simultaneous calls', async () => {
    const path = fresh()
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.fetch(path)))
    expect(answers.map(status).filter(text => text === 'lqe; fwd=miss; stored')).toHaveLength(1)
  })

  test('runs again for a caller with the right to bypass, and for no other', async () => {
    const path = fresh()
    await service.fetch(path)
    const headers = { 'Cache-Control': 'no-cache' }
    const plain = await service.issue({})
    expect(status(await service.fetch(path, { headers, key: plain }))).toMatch(/hit/)
    expect(status(await service.fetch(path, { headers }))).toBe('lqe; fwd=stale; stored')
  })

  test('says of a stale copy for how long it has not been fresh', async () => {
    const path = fresh()
    // Made by another process, so that this one has to read it from the store.
    const other = await openServices(loadConfig(service.env))
    const endpoint = (await other.endpoints.find('usage.api-counts'))!
    const options = { sql: null, redact: false, fresh: false, now }
    await answerOf(other, endpoint, path.split('?')[1]!, options)
    await other.close()
    const { store } = service.services
    const { documents, readAt } = await store.query({ collection: 'answers', limit: 1000 })
    const isIts = new RegExp(`example\\|${calls}\\D`)
    const { id, fields } = documents.find(document => isIts.test(JSON.stringify(document)))!
    const stored = { ...(fields['stored'] as object), madeAt: readAt - 1_000_000 }
    const at = { collection: 'answers', id }
    await store.update(at, { set: { stored, lease: { nonce: 'of another', ms: 60_000 } } })
    const { headers } = await service.fetch(path)
    expect(headers.get('cache-status')).toMatch(/^lqe; hit; ttl=-10[0-4]; detail=refreshing$/)
    expect(headers.get('age')).toMatch(/^100\d$/)
    expect(headers.get('cache-control')).toBe('private, max-age=0')
  })

  test('remembers a caller’s mistake', async () => {
    const path = `${fresh()}(`
    for (let i = 0; i < 3; i++) expect((await service.fetch(path)).status).toBe(400)
  })
})

describe('an endpoint without a cache', () => {
  test('takes relative times and those of its answers, and says what they stand for', async () => {
    const rows = async (bounds: string) => {
      const response = await service.fetch(`${logs}&${bounds}`)
      const { result } = (await response.json()) as { result: { id: string; timestamp: number }[] }
      return { result, times: response.headers.get('x-resolved-times') }
    }
    const all = await rows('iso_timestamp_start=-1h&iso_timestamp_end=now')
    expect(all.result).toHaveLength(2)
    expect(all.times).toBe(
      'iso_timestamp_start=2026-03-10T11:30:30.000000Z, iso_timestamp_end=2026-03-10T12:30:30.000000Z',
    )
    const { timestamp } = all.result[0]!
    expect(await rows(`iso_timestamp_end=${timestamp}`)).toEqual({ result: all.result, times: null })
    expect((await rows(`iso_timestamp_start=${timestamp}`)).result).toEqual([])
  })

  test('runs for every call', async () => {
    for (let i = 0; i < 2; i++) {
      const response = await service.fetch(logs)
      expect(status(response)).toBe('lqe; fwd=bypass')
      expect(response.headers.get('cache-control')).toBe('private, no-cache')
      expect(response.headers.has('age')).toBe(false)
    }
  })
})

describe('validators', () => {
  test('a known tag gets 304 and no body, from cached and uncached endpoints', async () => {
    for (const path of [fresh(), logs]) {
      const tag = (await service.fetch(path)).headers.get('etag')!
      expect(tag).toMatch(/^"[0-9a-f]{32}/)
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const response = await service.fetch(path, { headers: { 'If-None-Match': known } })
        expect([response.status, await response.text()]).toEqual([304, ''])
        expect(response.headers.get('vary')).toMatch(/X-API-KEY/)
      }
      expect((await service.fetch(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
    }
  })

  test('a tag is that of one format, in any encoding, and as a whole', async () => {
    const path = fresh()
    const tagOf = async (format: string, encoding: string) => {
      const headers = { 'Accept-Encoding': encoding }
      return (await service.fetch(`${path}&format=${format}`, { headers })).headers.get('etag')!
    }
    const ask = async (format: string, tag: string) =>
      (await service.fetch(`${path}&format=${format}`, { headers: { 'If-None-Match': tag } })).status
    const [json, csv] = [await tagOf('json', 'identity'), await tagOf('csv', 'br')]
    expect(
      await Promise.all([ask('json', json), ask('csv', csv), ask('json', await tagOf('json', 'br'))]),
    ).toEqual([304, 304, 304])
    const others = [ask('csv', json), ask('json', csv), ask('json', json.replace(/"$/, 'zzzz"'))]
    expect(await Promise.all(others)).toEqual([200, 200, 200])
  })

  test('a refresh that changes nothing keeps the tag', async () => {
    const path = fresh()
    const before = await service.fetch(path)
    const after = await service.fetch(path, { headers: { 'Cache-Control': 'no-cache' } })
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'))
  })

  test('each representation has a tag of its own', async () => {
    const path = fresh()
    const variants = [{}, { 'Accept-Encoding': 'gzip' }, { 'Accept-Encoding': 'br' }, { Accept: 'text/csv' }]
    const tags = await Promise.all(
      variants.map(async headers => {
        const response = await service.fetch(path, { headers: { 'Accept-Encoding': 'identity', ...headers } })
        return response.headers.get('etag')
      }),
    )
    expect(new Set(tags).size).toBe(variants.length)
  })
})

describe('encodings', () => {
  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, br', 'gzip'],
    ['br, gzip', 'gzip'],
    ['br, gzip;q=0.5', 'br'],
    ['gzip;q=0.5, br', 'br'],
    ['*', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
    ['zstd', null],
    ['identity, gzip;q=0.1', null],
  ])('Accept-Encoding: %s gets %s, and the same text', async (accepted, encoding) => {
    const plain = await (await service.fetch(logs, { headers: { 'Accept-Encoding': 'identity' } })).text()
    const response = await service.fetch(logs, { headers: { 'Accept-Encoding': accepted } })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(await response.text()).toBe(plain)
  })
})

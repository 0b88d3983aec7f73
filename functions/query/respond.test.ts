/** A finished answer as it is sent: what its headers say of the cache, and what becomes of large ones. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { answerOf } from '../../infra/lqe/query.ts'
import { loadConfig } from '../../shared/config.ts'
import { EngineError, type RunLimits } from '../../shared/engines/engine.ts'
import { openServices } from '../../shared/services.ts'
import { edgeRow } from '../testing/edges.ts'
import { type TestService, asShipped, startService } from '../testing/service.ts'

describe('caching', () => {
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
      const variants = [
        {},
        { 'Accept-Encoding': 'gzip' },
        { 'Accept-Encoding': 'br' },
        { Accept: 'text/csv' },
      ]
      const tags = await Promise.all(
        variants.map(async headers => {
          const response = await service.fetch(path, {
            headers: { 'Accept-Encoding': 'identity', ...headers },
          })
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
})

/** Large results, many of them at once, and clients that leave: what a process holds and what it stops. */
describe('load', () => {
  const large = `SELECT REPEAT('a', 900000) AS a, @n AS n FROM UNNEST(GENERATE_ARRAY(1, 10))`
  const endpoints: Record<string, [sql: string, rules: string]> = {
    large: [large, 'maxResultBytes: 10000000'],
    'large.cached': [large, 'maxResultBytes: 10000000\ncache: {seconds: 60}'],
    default: [large, ''],
    small: ['SELECT @n AS n', 'cache: {seconds: 60}'],
    redacted: ['SELECT @n AS n', 'redact: true\ncache: {seconds: 60}'],
  }

  let folder: string
  let service: TestService
  /** Runs of the engine so far: the signal of each, and how it ended. */
  const runs: { limits: RunLimits; ended?: unknown }[] = []
  /** What a run waits for before it begins. */
  let gate: Promise<unknown> = Promise.resolve()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'load-'))
    for (const [at, [name, [sql, rules]]] of Object.entries(endpoints).entries()) {
      writeFileSync(join(folder, `${name}.sql`), sql)
      writeFileSync(
        join(folder, `${name}.yaml`),
        `id: 00000000-0000-4000-8000-00000000010${at}
description: d
parameters: {properties: {n: {type: integer, default: 0}}}
${rules}
`,
      )
    }
    const env = { MAX_BYTES_IN_FLIGHT: '40000000', MAX_RESULT_BYTES: '5000000' }
    service = await startService({ tables: {}, queries: folder, env, bundle: null })
    const { engine } = service.services
    const run = engine.run.bind(engine)
    engine.run = async (statement, limits) => {
      const noted: (typeof runs)[number] = { limits }
      runs.push(noted)
      try {
        await Promise.race([gate, aborted(limits.signal)])
        const result = await run(statement, limits)
        noted.ended = 'with rows'
        return result
      } catch (error) {
        noted.ended = error instanceof EngineError ? error.reason : error
        throw error
      }
    }
  })

  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  function aborted(signal?: AbortSignal): Promise<void> {
    return new Promise(resolve => signal?.addEventListener('abort', () => resolve()))
  }

  const address = (name: string, n = 0) => `/api/endpoints/query/${name}?n=${n}`

  /** Begins a request and reads nothing of the body. */
  function open(path: string, headers: Record<string, string> = {}) {
    const request = http.get(service.url + path, { headers: { 'X-API-KEY': service.key, ...headers } })
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve)
      request.once('error', reject)
    })
    response.catch(() => {})
    return { request, response }
  }

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await sleep(5)
  }

  describe('a result of more bytes than the limit', () => {
    test('is a 422 that says the limit: the one of the settings, or of the definition', async () => {
      const refused = await service.fetch(address('default'))
      expect(refused.status).toBe(422)
      expect(await refused.json()).toMatchObject({
        code: 'result_too_large',
        detail: 'The result passes 5,000,000 bytes of JSON with row 6; ask for fewer rows or columns.',
      })
      expect((await service.fetch(address('large'))).status).toBe(200)
    })

    test('is shown by the list of endpoints', async () => {
      const { result } = (await (await service.fetch('/api/endpoints')).json()) as {
        result: { name: string; maxResultBytes: number }[]
      }
      const limits = Object.fromEntries(result.map(({ name, maxResultBytes }) => [name, maxResultBytes]))
      expect(limits).toMatchObject({ default: 5_000_000, large: 10_000_000 })
    })
  })

  describe('large results at once', () => {
    test('get a 503 with Retry-After past the bound, which is not held against the query; small hot ones never', async () => {
      await service.fetch(address('small'))
      const slow = []
      for (const n of [1, 2]) {
        const one = open(address('large', n))
        slow.push(one)
        expect((await one.response).statusCode).toBe(200)
      }
      const before = runs.length
      const refused = await service.fetch(address('large.cached'))
      expect(refused.status).toBe(503)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.json()).toMatchObject({ code: 'overloaded' })
      expect(runs.length).toBe(before + 1)
      const hot = await Promise.all(Array.from({ length: 20 }, () => service.fetch(address('small'))))
      expect(hot.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
      for (const { request } of slow) request.destroy()
      const ask = () => service.fetch(address('large.cached'))
      let again = await ask()
      while (again.status === 503) again = await ask() // until the service knows that they have left
      expect(again.headers.get('cache-status')).toContain('fwd=miss')
    })

    test('of one answer are counted once, in any format and encoding', async () => {
      await (await service.fetch(address('large.cached', 3))).arrayBuffer()
      for (const [format, encoding] of [
        ['json', 'identity'],
        ['json', 'gzip'],
        ['csv', 'identity'],
      ] as const) {
        const path = `${address('large.cached', 3)}&format=${format}`
        const slow = Array.from({ length: 6 }, () => open(path, { 'Accept-Encoding': encoding }))
        const statuses = await Promise.all(slow.map(async ({ response }) => (await response).statusCode))
        expect(new Set(statuses)).toEqual(new Set([200]))
        for (const { request } of slow) request.destroy()
        await sleep(50)
      }
    })
  })

  describe('a client that leaves', () => {
    const leave = async (path: string, headers: Record<string, string> = {}) => {
      const { promise, resolve: openGate } = Promise.withResolvers<void>()
      gate = promise
      const before = runs.length
      const { request } = open(path, headers)
      await until(() => runs.length > before)
      request.destroy()
      return { run: runs[before]!, openGate }
    }

    test.each([
      ['of an endpoint without a cache', address('large', 7), {}],
      ['with redaction lifted', address('redacted', 7), { 'SVC-ENDPOINT-REDACT-PII': 'false' }],
    ])('ends a run that nothing will be kept of: %s', async (_, path, headers) => {
      const { run } = await leave(path, headers)
      await until(() => run.ended !== undefined)
      expect(run.ended).toBe('cancelled')
      const line = () => service.logged.at(-1)!
      await until(() => line().details['status'] === 499)
      expect(line()).toMatchObject({
        severity: 'INFO',
        message: 'request',
        details: { status: 499, error: 'client_closed_request' },
      })
      service.logged.length = 0
    })

    test('leaves a run whose answer will be cached, and finds the answer when it comes back', async () => {
      const { run, openGate } = await leave(address('small', 7))
      expect(run.limits.signal).toBeUndefined()
      openGate()
      await until(() => run.ended !== undefined)
      expect(run.ended).toBe('with rows')
      const before = runs.length
      expect((await service.fetch(address('small', 7))).headers.get('cache-status')).toMatch(/hit|collapsed/)
      expect(runs.length).toBe(before)
    })
  })
})

/** What callers get where runs together need more memory than the local engine has. */
describe('memory', () => {
  let service: TestService
  let other: string

  beforeAll(async () => {
    const rows = Array.from({ length: 50 }, (_, n) =>
      edgeRow(`r${n}`, new Date(Date.now() - n * 60_000).toISOString(), 'abcdefgh', '/rest/v1/a'),
    )
    const env = { ...asShipped, ENGINE_MEMORY_BYTES: '60000000' }
    service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env, bundle: null })
    other = await service.issue({ name: 'other' })
  })

  afterAll(() => service.stop())

  /** An array of so many texts of 10 kB, all in memory at once. */
  function arrayOf(texts: number): string {
    const sql = `SELECT ARRAY_LENGTH(ARRAY_AGG(CONCAT(REPEAT('x', 10000), CAST(a AS STRING)))) AS n
    FROM UNNEST(GENERATE_ARRAY(1, ${texts})) AS a`
    return `/api/endpoints/query/logs.all?${new URLSearchParams({ project: 'abcdefgh', sql }).toString()}`
  }

  const tooMuch = arrayOf(10_000)

  async function answer(path: string, key?: string) {
    const response = await service.fetch(path, key === undefined ? {} : { key })
    const { code = null } = (await response.json()) as { code?: string }
    return { status: response.status, code, retryAfter: response.headers.get('retry-after') }
  }

  describe('a query that needs more memory than there is', () => {
    test('is told so where it runs alone', async () => {
      expect(await answer(tooMuch)).toEqual({ status: 422, code: 'result_too_large', retryAfter: null })
    })

    test('is told so, or to come back, where several run; those of another key get their answers', async () => {
      const heavy: Awaited<ReturnType<typeof answer>>[] = []
      const callers = Array.from({ length: 4 }, async () => {
        for (let call = 0; call < 2; call++) heavy.push(await answer(tooMuch))
      })
      const plain = []
      for (let n = 0; n < 6; n++) {
        const path =
          n % 2 === 0 ? `logs.all?project=abcdefgh` : `usage.api-counts?interval=hourly&project=p${n}`
        plain.push(await answer(`/api/endpoints/query/${path}`, other))
      }
      await Promise.all(callers)
      expect(plain.filter(({ status }) => status !== 200)).toEqual([])
      for (const { status, code, retryAfter } of heavy)
        expect([status, code, retryAfter]).toEqual(
          status === 503 ? [503, 'overloaded', '5'] : [422, 'result_too_large', null],
        )
    })

    test('is answered where it fits alone, though others run that it does not fit beside', async () => {
      const path = arrayOf(1_500)
      const answers = await Promise.all([answer(path), answer(path, other), answer(path)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    })
  })
})

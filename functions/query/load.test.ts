/** Large results, many of them at once, and clients that leave: what a process holds and what it stops. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EngineError, type RunLimits } from '../../shared/engines/engine.ts'
import { asShipped, startService, type TestService } from '../testing/service.ts'

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
  const env = { ...asShipped, MAX_BYTES_IN_FLIGHT: '40000000', MAX_RESULT_BYTES: '5000000' }
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
      const slow = Array.from({ length: 10 }, () => open(path, { 'Accept-Encoding': encoding }))
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

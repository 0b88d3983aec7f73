import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Body, interleave, path, restore, startVersions, type Versions } from '../testing/versions.ts'

const rememberMs = 50
let versions: Versions
const header = 'SVC-ENDPOINT-VERSION'

beforeAll(async () => {
  versions = await startVersions(['a', 'b', 'c'], rememberMs)
})

afterAll(() => versions.service.stop())

const ask = (headers: Record<string, string> = {}, which = 1, more = {}) =>
  versions.service.fetch(`${path}?which=${which}`, { headers, ...more })
const of = (name: string) => versions.all.get(name)!

describe('a call', () => {
  test('is answered by the current version, and says which it is', async () => {
    const response = await ask()
    const { result, meta } = (await response.json()) as Body
    expect([result[0]!.made_by, meta.version, response.headers.get(header)]).toEqual(['c', of('c'), of('c')])
  })

  test.each([header, 'LF-ENDPOINT-VERSION'])('gets the version that it names by %s', async name => {
    const response = await ask({ [name]: of('a') })
    expect(((await response.json()) as Body).result[0]!.made_by).toBe('a')
    expect(response.headers.get(header)).toBe(of('a'))
    expect(response.headers.get('vary')).toContain(name)
  })

  test('gets answers of its version from the cache, and revalidates them by a tag of its own', async () => {
    const first = await ask({ [header]: of('b') }, 7)
    const again = await ask({ [header]: of('b') }, 7)
    expect(again.headers.get('cache-status')).toMatch(/^lqe; hit/)
    expect(await again.text()).toBe(await first.text())
    expect((await ask({}, 7)).headers.get('cache-status')).toMatch(/^lqe; fwd=miss/)
    const tag = again.headers.get('etag')!
    expect((await ask({ [header]: of('b'), 'If-None-Match': tag }, 7)).status).toBe(304)
    expect((await ask({ 'If-None-Match': tag }, 7)).status).toBe(200)
  })

  test.each([
    ['0123456789abcdef', 404, 'not_found', 'names no version of this endpoint that was applied'],
    ['newest', 400, 'invalid_parameter', 'must be one version, 16 of 0-9 and a-f'],
  ])('for the version %s gets %d', async (version, status, code, detail) => {
    const response = await ask({ [header]: version })
    const problem = (await response.json()) as { code: string; errors: { header: string; detail: string }[] }
    expect([response.status, problem.code]).toEqual([status, code])
    expect(problem.errors[0]!.header).toBe('svc-endpoint-version')
    expect(problem.errors[0]!.detail).toContain(detail)
    const { details } = versions.service.logged.at(-1)!
    expect([details['error'], details['version']]).toEqual([code, undefined])
  })

  test('names one version: of two it is told that there are two', async () => {
    const response = await ask({ [header]: of('a'), 'LF-ENDPOINT-VERSION': of('b') })
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({
        detail: 'lf-endpoint-version names another version than svc-endpoint-version: send one of the two',
      }),
    ])
  })

  test('needs a key that may call the endpoint, whatever version it names', async () => {
    const key = await versions.service.issue({ endpoints: ['another'] })
    expect((await ask({ [header]: of('a') }, 1, { key })).status).toBe(404)
  })
})

test('300 interleaved calls are each answered by the version that they are for', async () => {
  const { url } = versions.service
  const seed = Date.now() % 2 ** 31
  const counts = await interleave(versions, { urls: [url], calls: 300, restoreEvery: 100, rememberMs, seed })
  expect({ seed, versions: Object.keys(counts).length }).toEqual({ seed, versions: 3 })
})

describe('going back', () => {
  test('lifts no redaction and opens no sandbox', async () => {
    versions.write('tom@example.com', 'cache: { seconds: 60 }\nredact: true')
    await versions.apply()
    const strict = (await versions.service.services.endpoints.all())[0]!.version
    while ((await ask()).headers.get(header) !== strict);
    const plain = await versions.service.issue({})
    const past = { [header]: of('a') }
    const lifting = await ask({ ...past, 'SVC-ENDPOINT-REDACT-PII': 'false' }, 1, { key: plain })
    expect(lifting.status).toBe(403)
    const redacted = (await (await ask(past, 1, { key: plain })).json()) as { meta: { redacted: boolean } }
    expect(redacted.meta.redacted).toBe(true)
    const sql = await versions.service.fetch(`${path}?which=1&sql=SELECT 1`, { headers: past })
    expect(((await sql.json()) as { code: string }).code).toBe('sandbox_disabled')
    await restore(versions, of('a'))
    while ((await ask()).headers.get(header) !== of('a'));
    expect((await versions.service.fetch(`${path}?which=1&sql=SELECT 1`)).status).toBe(200)
  })
})

describe('a definition that ends its earlier versions', () => {
  const status = async (name: string) => (await ask({ [header]: of(name) }, 7)).status
  const applyAs = async (name: string, settings: string) => {
    versions.write(name, settings)
    await versions.apply()
    versions.all.set(name, (await versions.service.services.endpoints.all())[0]!.version)
    while ((await ask()).headers.get(header) !== of(name));
  }

  test('leaves callers none of them, with their stored answers, also when it is replaced or gone back from', async () => {
    expect(await status('a')).toBe(200)
    expect((await ask({ [header]: of('a') }, 7)).headers.get('cache-status')).toMatch(/^lqe; hit/)
    await applyAs('d', 'cache: { seconds: 60 }\nendEarlierVersions: true')
    const ended = await ask({ [header]: of('a') }, 7)
    expect([ended.status, await ended.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })])
    expect(await Promise.all(['b', 'c', 'd'].map(status))).toEqual([404, 404, 200])
    await applyAs('e', 'cache: { seconds: 60 }')
    await setTimeout(2 * rememberMs)
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(status))).toEqual([404, 404, 404, 200])
    await restore(versions, of('b'))
    while ((await ask()).headers.get(header) !== of('b'));
    expect(await Promise.all(['a', 'c', 'b'].map(status))).toEqual([404, 404, 200])
  })
})

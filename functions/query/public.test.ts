/** Endpoints that anyone may call, by all their names, and JSON as text, which their readers parse. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { startService, type TestService } from '../testing/service.ts'

const uuid = 'C3BACA31-3DB0-4252-BF6F-92F0B6F927ED'
const open = 'cache: {seconds: 60}\nredact: true'
const definitions: Record<string, [sql: string, settings: string]> = {
  open: [
    "SELECT @url AS url, '203.0.113.7' AS ip",
    `id: ${uuid.toLowerCase()}\naliases: [Open Views]\npublic: true\n${open}\nparameters: {properties: {url: {type: string}}}`,
  ],
  few: [
    'SELECT 1 AS a',
    `id: 00000000-0000-4000-8000-00000000000b\npublic: {callsPerMinute: 2}\n${open}\nparameters: {properties: {}}`,
  ],
  closed: [
    `SELECT JSON '{"a": [1, {"token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}]}' AS one, [STRUCT(JSON 'null' AS none, JSON '"x"' AS text)] AS many`,
    'id: 00000000-0000-4000-8000-00000000000c\naliases: [exposed service_role advisor hack, 01ARZ_logs.all, My/Errors]\njson: text\ncache: {seconds: 60}\nparameters: {properties: {}}',
  ],
}
let folder: string
let service: TestService

function write(into: string, name: string, [sql, settings]: [string, string]): void {
  writeFileSync(join(into, `${name}.sql`), sql)
  writeFileSync(join(into, `${name}.yaml`), `description: d\n${settings}\n`)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'public-'))
  for (const [name, definition] of Object.entries(definitions)) write(folder, name, definition)
  service = await startService({
    tables: {},
    queries: folder,
    env: { CORS_ORIGIN: 'https://console.example.com' },
  })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

beforeEach(() => {
  service.logged.length = 0
})

const query = '/api/endpoints/query'
const ask = (path: string, headers = {}, init: RequestInit = {}) =>
  service.fetch(path, { key: null, headers, ...init })

describe('a public endpoint', () => {
  test.each([
    `/endpoints/query/${uuid}`,
    `${query}/${uuid.toLowerCase()}`,
    `${query}/open`,
    `${query}/Open%20Views`,
  ])('answers %s without a key, redacted, and to pages of any origin', async path => {
    const response = await ask(`${path}?url=blog-post/a`, {
      'Content-Type': 'application/json',
      'X-API-KEY': '',
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(await response.json()).toMatchObject({ result: [{ url: 'blog-post/a', ip: 'REDACTED' }] })
    const before = await ask(path, {}, { method: 'OPTIONS' })
    expect(before.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('is one run for all, and its calls are in the log under a name of their own', async () => {
    await ask(`${query}/open?url=x`)
    const again = await ask(`${query}/open?url=x`)
    expect(again.headers.get('cache-status')).toMatch(/hit/)
    const lines = service.logged.filter(({ message }) => message === 'request')
    expect(lines.at(-1)!.details).toMatchObject({ key: 'public', endpoint: 'open', status: 200 })
    expect(JSON.stringify(lines)).not.toContain('127.0.0.1')
  })

  test.each([
    ['SQL', '?sql=select+1', {}, 400, 'sandbox_disabled'],
    ['clear data', '', { 'SVC-ENDPOINT-REDACT-PII': 'false' }, 403, 'redaction_locked'],
    ['an earlier version', '', { 'SVC-ENDPOINT-VERSION': '0123456789abcdef' }, 401, 'unauthenticated'],
    ['a wrong key', '', { 'X-API-KEY': 'lqe_wrong' }, 401, 'unauthenticated'],
  ])('gives no %s without a key', async (_, sent, headers, status, code) => {
    const response = await ask(`${query}/open${sent}`, headers)
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code])
  })

  test('ends no other: lists, tables and other endpoints take a key as before', async () => {
    for (const path of [
      `${query}/closed`,
      `${query}/none`,
      '/api/endpoints',
      '/api/endpoints/open/tables',
      '/mcp',
    ]) {
      const response = await ask(path, {}, path === '/mcp' ? { method: 'POST' } : {})
      expect([response.status, response.headers.get('access-control-allow-origin')]).not.toContain('*')
      expect(response.status).toBe(401)
    }
  })

  test('answers so many calls of an address in a minute, whatever the client says of itself', async () => {
    const of = async (n: number) => (await ask(`${query}/few`, { 'X-Forwarded-For': `192.0.2.${n}` })).status
    expect([await of(1), await of(2), await of(3)]).toEqual([200, 200, 429])
    const refused = await ask(`${query}/few`)
    expect((await refused.json()) as object).toMatchObject({
      code: 'rate_limited',
      detail: 'This endpoint without an API key may be used 2 times a minute; come back later.',
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await service.fetch(`${query}/few`)).status).toBe(200)
  })
})

test.each(['exposed%20service_role%20advisor%20hack', '01ARZ_logs.all', 'My%2FErrors'])(
  'the name %s finds its endpoint, as it is alone, for the keys that may call it',
  async name => {
    expect((await service.fetch(`${query}/${name}`)).status).toBe(200)
    expect((await service.fetch(`${query}/${name.toLowerCase()}x`)).status).toBe(404)
    const key = await service.issue({ endpoints: ['open'] })
    expect((await service.fetch(`${query}/${name}`, { key })).status).toBe(404)
  },
)

test('JSON is text where a definition says so, at any depth, in each format, and redacted as before', async () => {
  interface Body {
    result: { one: string; many: { none: null; text: string }[] }[]
  }
  const of = async (headers = {}) =>
    ((await (await service.fetch(`${query}/closed`, { headers })).json()) as Body).result[0]!
  const { one, many } = await of()
  expect(JSON.parse(one)).toMatchObject({ a: [1, { token: expect.stringContaining('eyJ') }] })
  expect(many).toEqual([{ none: null, text: '"x"' }])
  expect(JSON.parse((await of({ 'SVC-ENDPOINT-REDACT-PII': 'true' })).one)).toEqual({
    a: [1, { token: 'REDACTED' }],
  })
  const { paths } = (await (await service.fetch('/openapi.json')).json()) as { paths: object }
  const rows = JSON.stringify(Object.entries(paths).find(([path]) => path.endsWith('/closed')))
  expect(rows).toContain('"one":{"type":["string","null"]}')
})

describe('apply refuses', () => {
  const id = (n: number) => `id: 00000000-0000-4000-8000-00000000000${n}\nparameters: {properties: {}}`
  test.each<[string, Record<string, string>, string[]]>([
    [
      'a public endpoint without a cache',
      { a: `${id(1)}\npublic: true\nredact: true` },
      ['a.yaml:4:9 public needs cache.seconds'],
    ],
    [
      'one that takes SQL or shows personal data',
      { a: `${id(1)}\npublic: true\ncache: {seconds: 1}\nsandbox: true` },
      ['a.yaml:4:9 public does not go with sandbox', 'a.yaml:4:9 public needs redact: true'],
    ],
    [
      'an alias that is a name, an id or another alias',
      {
        a: `${id(1)}\naliases: [b, x]`,
        b: `${id(2)}\naliases: [x, b, 00000000-0000-4000-8000-000000000001, B]`,
      },
      [
        'a.yaml:4:11 aliases.0 "b" is the name of b',
        'b.yaml:4:11 aliases.0 "x" is an alias of a',
        'b.yaml:4:14 aliases.1 "b" is the name of b',
        'b.yaml:4:17 aliases.2 "00000000-0000-4000-8000-000000000001" is the id of a',
      ],
    ],
  ])('%s', async (_, files, problems) => {
    const other = mkdtempSync(join(tmpdir(), 'refused-'))
    for (const [name, settings] of Object.entries(files)) write(other, name, ['SELECT 1 AS a', settings])
    const refusal = await apply(service.services, { queries: other, dryRun: true, out: () => {} }).then(
      () => '',
      (error: Error) => error.message,
    )
    rmSync(other, { recursive: true })
    const lines = refusal.replaceAll(`${other}/`, '').split('\n')
    expect(lines).toEqual(problems.map(problem => expect.stringContaining(problem)))
  })
})

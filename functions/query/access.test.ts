/** Who may call what, and how often: anyone, keys with limits, and two tenants with pins. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pMap from 'p-map'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { addresses, gatewayPath, pathsOf } from '../http/addresses.ts'
import { edgeRow } from '../testing/edges.ts'
import { type TestService, startService } from '../testing/service.ts'

/** Endpoints that anyone may call, by all their names, and JSON as text, which their readers parse. */
describe('public endpoints', () => {
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
      const of = async (n: number) =>
        (await ask(`${query}/few`, { 'X-Forwarded-For': `192.0.2.${n}` })).status
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
})

/** A key's limits, as its callers see them. The engine is the real one, with bytes as BigQuery would bill them. */
describe('limits', () => {
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
      expect(await refused.json()).toMatchObject({
        code: 'rate_limited',
        detail: expect.stringContaining('3'),
      })
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
      expect([cached.status, cached.headers.get('cache-status')]).toEqual([
        200,
        expect.stringContaining('hit'),
      ])
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
})

/** Two tenants, each with a key that pins its project, at every address, in every form: neither sees a row of the other. */
describe('tenants', () => {
  const tenants = ['abcdefghijklmnopqrst', 'tsrqponmlkjihgfedcba'] as const
  const now = '2026-03-10T12:00:30.000Z'
  const id = '6d1c2f0e-7a55-4d0b-8f3a-1c9e5b7d2a44'
  const calls = rounds(120, 10_000)

  let folder: string
  let service: TestService
  let keys: string[]

  const marker = (tenant: string) => `row-of-${tenant}`

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tenants-'))
    cpSync('queries', folder, { recursive: true })
    writeFileSync(join(folder, 'kept.sql'), 'SELECT id FROM `cloudflare.logs.prod` WHERE project = @project')
    writeFileSync(
      join(folder, 'kept.yaml'),
      `id: ${id}\ndescription: d\naliases: [Kept Rows]\ncache: {seconds: 60}\nparameters: {properties: {project: {type: string}}}\n`,
    )
    const rows = tenants.map(tenant => edgeRow(marker(tenant), '2026-03-10T12:00:00Z', tenant, '/rest/v1/a'))
    service = await startService({
      tables: { 'cloudflare.logs.prod': rows },
      queries: folder,
      env: { FROZEN_NOW: now },
    })
    keys = await Promise.all(tenants.map(project => service.issue({ pins: { project } })))
  })

  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const paths = addresses
    .filter(({ handler }) => handler === 'answer')
    .flatMap(pathsOf)
    .flatMap(path => [path, gatewayPath + path])
  const names = ['logs.all', 'kept', id, id.toUpperCase(), 'Kept%20Rows']
  const forms = ['GET', 'HEAD', 'POST'] as const
  const sqls = [null, 'select id from edge_logs', 'select id, identifier from edge_logs']

  /** The call of this number: each choice is made in turn, with another period. */
  function callOf(n: number) {
    const [mine, other] = n % 2 === 0 ? tenants : tenants.toReversed()
    const pick = <T>(all: readonly T[], every: number): T => all[Math.floor(n / every) % all.length]!
    const [path, name, form] = [pick(paths, 2), pick(names, 3), pick(forms, 5)]
    const sql = name === 'logs.all' ? pick(sqls, 7) : null
    const asked = pick([null, mine, other, mine], 11)
    const ref = pick([mine, other, mine], 13)
    const parameters = {
      ...(sql ? { sql } : {}),
      ...(asked && !path.includes('{ref}') ? { project: asked } : {}),
    }
    const isOwn = path.includes('{ref}') ? ref === mine : asked !== other
    return {
      mine,
      other,
      key: keys[n % 2]!,
      isOwn,
      form,
      parameters,
      path: path.replace('{ref}', ref).replace('{name}', name),
    }
  }

  test(`no call of ${calls} shows a row of the other, and each shows its own where it asks for them`, async () => {
    const seen = { own: 0, refused: 0 }
    await pMap(
      Array.from({ length: calls }, (_, n) => callOf(n)),
      async ({ mine, other, key, isOwn, form, parameters, path }) => {
        const query = new URLSearchParams(parameters).toString()
        const response = await service.fetch(form === 'POST' ? path : `${path}?${query}`, {
          method: form,
          key,
          ...(form === 'POST'
            ? { body: JSON.stringify(parameters), headers: { 'Content-Type': 'application/json' } }
            : {}),
        })
        const text = await response.text()
        const what = `${form} ${path} ${query}`
        expect([what, response.status]).toEqual([what, isOwn ? 200 : 403])
        expect([what, text.includes(marker(other))]).toEqual([what, false])
        if (isOwn && form !== 'HEAD') expect([what, text.includes(marker(mine))]).toEqual([what, true])
        seen[isOwn ? 'own' : 'refused']++
      },
      { concurrency: 8 },
    )
    expect(seen.own).toBeGreaterThan(calls / 3)
    expect(seen.refused).toBeGreaterThan(calls / 8)
  })

  test('a key is told of no endpoint that its pins close', async () => {
    const key = await service.issue({ pins: { nowhere: 'x' } })
    const told = async (path: string, method?: string) => {
      const body = method && JSON.stringify({ jsonrpc: '2.0', id: 1, method })
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
      return (await service.fetch(path, { key, ...(body ? { method: 'POST', body, headers } : {}) })).text()
    }
    expect(JSON.parse(await told('/api/endpoints'))).toMatchObject({ result: [] })
    expect(JSON.parse(await told('/api/endpoints/kept/tables'))).toMatchObject({ status: 404 })
    expect(await told('/api/endpoints/query/kep')).not.toContain('kept')
    for (const open of [told('/openapi.json'), told('/mcp', 'tools/list'), told('/mcp', 'resources/list')])
      expect(await open).not.toMatch(/kept|lqe:\/\//)
  })
})

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parse } from '../../shared/sql/parser.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'
import { rounds } from '../../shared/testing/rounds.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
const minute = 60_000
const ago = (ms: number) => new Date(Date.parse(now) - ms).toISOString()

/** Edge rows of two projects: 150 of one second each, then one inside and one outside each interval's window. */
const edges = [
  ...Array.from({ length: 150 }, (_, i) => edgeRow(`a${i}`, ago(i * 1000), project, '/rest/v1/items')),
  edgeRow('hour', ago(30 * minute), project, '/auth/v1/token'),
  edgeRow('day', ago(26 * 60 * minute), project, '/storage/v1/object'),
  edgeRow('days', ago(5 * 24 * 60 * minute), project, '/realtime/v1/websocket'),
  edgeRow('long', ago(8 * 24 * 60 * minute), project, '/rest/v1/old'),
  edgeRow('other', ago(1000), 'zyxwvutsrqponmlkjihg', '/rest/v1/other'),
]

interface LogRow {
  id: string
  timestamp: number
  metadata: unknown
}

interface Body<Row> {
  result: Row[]
  meta: { endpoint: string; rows: number; truncated: boolean; redacted: boolean }
}

interface ProblemBody {
  code: string
  status: number
  detail: string
  message: string
  requestId: string
  error: { code: string; message: string }
  errors: { parameter?: string; detail: string }[]
}

let service: TestService

beforeAll(async () => {
  service = await startService({
    tables: { 'cloudflare.logs.prod': edges },
    env: { FROZEN_NOW: now, EXPLORER_DIR: 'off' },
  })
})

afterAll(() => service.stop())

const logs = '/api/endpoints/query/logs.all'
const usage = '/api/endpoints/query/usage.api-counts'

async function rows<Row = LogRow>(path: string): Promise<Row[]> {
  const response = await service.fetch(path)
  const body = (await response.json()) as Body<Row>
  expect([response.status, body]).toEqual([200, expect.objectContaining({ result: expect.any(Array) })])
  return body.result
}

async function problem(path: string, init: Parameters<TestService['fetch']>[1] = {}) {
  const response = await service.fetch(path, init)
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  return { response, body: (await response.json()) as ProblemBody }
}

describe('logs.all', () => {
  test('gives the newest 100 entries of the project, newest first, in the value forms of the contract', async () => {
    const result = await rows(`${logs}?project=${project}`)
    expect(result.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, i) => `a${i}`))
    expect(Object.keys(result[0]!)).toEqual(['id', 'timestamp', 'event_message', 'metadata'])
    expect(result[0]!.timestamp).toBe(Date.parse(now) * 1000)
    expect(result[0]!.metadata).toMatchObject([{ request: [{ path: '/rest/v1/items' }] }])
  })

  test('is the same by UUID, in either case, and at both addresses', async () => {
    const id = '0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e10'
    const query = `?project=${project}`
    const byName = await rows(logs + query)
    for (const address of [
      `/api/endpoints/query/${id}`,
      `/api/endpoints/query/${id.toUpperCase()}`,
      '/endpoints/query/logs.all',
    ])
      expect(await rows(address + query)).toEqual(byName)
  })

  test('starts after its start and ends with its end', async () => {
    const bounds = `&iso_timestamp_start=${ago(10_000)}&iso_timestamp_end=${ago(5000)}`
    const result = await rows(`${logs}?project=${project}${bounds}`)
    expect(result.map(({ id }) => id)).toEqual(['a5', 'a6', 'a7', 'a8', 'a9'])
  })

  test('takes empty bounds as absent ones', async () => {
    const absent = await rows(`${logs}?project=${project}`)
    expect(await rows(`${logs}?project=${project}&iso_timestamp_start=&iso_timestamp_end=`)).toEqual(absent)
  })

  test('defines its nine tables, each newest first', async () => {
    const endpoint = await service.services.endpoints.find('logs.all')
    const ctes = parse(endpoint!.sql).with!.ctes
    expect(ctes.map(({ name }) => name.name)).toEqual([
      'edge_logs',
      'postgres_logs',
      'function_edge_logs',
      'function_logs',
      'auth_logs',
      'realtime_logs',
      'storage_logs',
      'postgrest_logs',
      'pgbouncer_logs',
    ])
    for (const { query } of ctes) expect(query.orderBy).toMatchObject([{ direction: 'DESC' }])
  })

  test('gives no rows of another project', async () => {
    expect(await rows(`${logs}?project=none`)).toEqual([])
  })
})

describe('usage.api-counts', () => {
  type Bucket = Record<
    'timestamp' | `total_${'rest' | 'storage' | 'auth' | 'realtime'}_requests`,
    string | number
  >

  /** The same counts, in plain TypeScript over the same rows. */
  function recount(windowMs: number, bucketMs: number, matches: (url: string) => boolean): Bucket[] {
    const buckets = new Map<number, Bucket>()
    for (const { timestamp, metadata } of edges) {
      const { url, path } = metadata.request
      const time = Date.parse(timestamp)
      if (time < Date.parse(now) - windowMs || !matches(url)) continue
      const start = Math.floor(time / bucketMs) * bucketMs
      const bucket: Bucket = buckets.get(start) ?? {
        timestamp: new Date(start).toISOString().slice(0, 19),
        total_rest_requests: 0,
        total_storage_requests: 0,
        total_auth_requests: 0,
        total_realtime_requests: 0,
      }
      for (const api of ['rest', 'storage', 'auth', 'realtime'] as const)
        if (path.includes(`/${api}`))
          bucket[`total_${api}_requests`] = Number(bucket[`total_${api}_requests`]) + 1
      buckets.set(start, bucket)
    }
    return [...buckets.entries()].toSorted(([a], [b]) => a - b).map(([, bucket]) => bucket)
  }

  const intervals = [
    ['minutely', 60 * minute, minute],
    ['hourly', 60 * minute, 60 * minute],
    ['daily', 7 * 24 * 60 * minute, 24 * 60 * minute],
  ] as const

  /** What is over of the hour: the windows of whole hours begin so much earlier. */
  const ofHour = Date.parse(now) % (60 * minute)
  const ofSupabase = [
    ['15min', 15 * minute, minute],
    ['30min', 30 * minute, minute],
    ['1hr', 60 * minute, minute],
    ['3hr', 180 * minute, minute],
    ['1day', 24 * 60 * minute + ofHour, 60 * minute],
    ['3day', 72 * 60 * minute + ofHour, 60 * minute],
    ['7day', 7 * 24 * 60 * minute, 24 * 60 * minute],
  ] as const

  test.each([...intervals, ...ofSupabase])(
    'counts %s as a recount of the rows does',
    async (interval, windowMs, bucketMs) => {
      const expected = recount(windowMs, bucketMs, url => url.includes(project))
      expect(expected.length).toBeGreaterThan(0)
      for (const pattern of [`(${project})`, project, `^https://${project}\\.`]) {
        const query = `interval=${interval}&project=${encodeURIComponent(pattern)}`
        expect(await rows(`${usage}?${query}`)).toEqual(expected)
      }
    },
  )

  test('takes a regular expression for its project', async () => {
    const pattern = encodeURIComponent('^https://a.*\\.example')
    const expected = recount(60 * minute, minute, url => /^https:\/\/a.*\.example/.test(url))
    expect(await rows(`${usage}?interval=minutely&project=${pattern}`)).toEqual(expected)
    const all = recount(60 * minute, minute, () => true)
    expect(await rows(`${usage}?interval=minutely&project=.`)).toEqual(all)
  })

  test('names the parameter whose regular expression is invalid', async () => {
    const { response, body } = await problem(`${usage}?interval=daily&project=(`)
    expect([response.status, body.code]).toEqual([400, 'invalid_query'])
    expect(body.detail).toMatch(/regular expression/)
    expect(body.errors).toMatchObject([{ parameter: 'project' }])
  })

  test('lists its intervals where another is sent', async () => {
    const { body } = await problem(`${usage}?interval=weekly&project=a`)
    expect(body).toMatchObject({ status: 400, code: 'invalid_parameter' })
    expect(body.errors).toEqual([
      {
        parameter: 'interval',
        detail: 'must be one of minutely, hourly, daily, 15min, 30min, 3hr, 1day, 3day, 1hr, 7day',
      },
    ])
  })
})

describe('parameters that are wrong', () => {
  test.each([
    ['', 'project'],
    ['project=', 'project'],
    [`project=${project}&project=${project}`, 'project'],
    ['project=%ff', 'project'],
    ['project=%', 'project'],
    [`project=${'x'.repeat(201)}`, 'project'],
    [`project=${project}&iso_timestamp_start=yesterday`, 'iso_timestamp_start'],
    [`project=${project}&iso_timestamp_end=2026-02-30`, 'iso_timestamp_end'],
  ])('%s is a 400 that names %s', async (query, parameter) => {
    const { response, body } = await problem(`${logs}?${query}`)
    expect([response.status, body.code, body.errors.map(error => error.parameter)]).toEqual([
      400,
      'invalid_parameter',
      [parameter],
    ])
    expect([body.message, body.error]).toEqual([body.detail, { code: body.code, message: body.detail }])
  })

  test('SQL text in a parameter stays text', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom(
        "' OR 1=1 --",
        "'; DROP TABLE edge_logs; --",
        '`',
        '\\',
        "\\' OR TRUE --",
        '@project',
        '$1',
        '"',
      ),
    )
    await fc.assert(
      fc.asyncProperty(hostile, async text => {
        fc.pre(text !== '' && !text.includes('\0') && text !== project)
        expect(await rows(`${logs}?project=${encodeURIComponent(text)}`)).toEqual([])
      }),
      { numRuns: rounds(8, 1_000) },
    )
  })

  test('that are not declared are all named in meta; a header has ten plain names, and says if there are more', async () => {
    const many = Array.from({ length: 24 }, (_, at) => `x${at}`)
    const ask = (names: string[]) =>
      service.fetch(
        `${logs}?project=${project}&${names.map(name => `${encodeURIComponent(name)}=1`).join('&')}`,
      )
    for (const [names, header, listed] of [
      [['start[0]', 'x\u202e'], '...', ['start[0]', 'x\\u{202e}']],
      [['a b', 'ab'], 'ab, ...', ['a b', 'ab']],
      [many, `${many.slice(0, 10).join(', ')}, ...`, [...many.slice(0, 20), 'and 4 more']],
    ] as const) {
      const response = await ask([...names])
      expect(response.headers.get('x-ignored-parameters')).toBe(header)
      expect(await response.json()).toMatchObject({ meta: { ignored: listed } })
    }
  })

  test('that are lists, records or numbers past the largest in a body are refused; undeclared ones are ignored', async () => {
    const send = (body: string) =>
      service.fetch(logs, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    const ask = (members: object) => send(JSON.stringify({ project, sql: 'SELECT 1 AS a', ...members }))
    for (const number of ['1e400', '-1e400'])
      expect(await (await send(`{"sql": "SELECT 1 AS a", "project": ${number}}`)).json()).toMatchObject({
        detail: 'project is a number past ±1.7976931348623157e308',
      })
    for (const wrong of [{ project: { a: 1 } }, { project: ['x'] }, { sql: ['SELECT 1'] }, { format: {} }]) {
      const response = await ask(wrong)
      const errors = [expect.objectContaining({ parameter: Object.keys(wrong)[0] })]
      expect(await response.json()).toMatchObject({ status: 400, code: 'invalid_parameter', errors })
    }
    expect(await (await ask({ other: [1] })).json()).toMatchObject({
      result: [{ a: 1 }],
      meta: { ignored: ['other'] },
    })
  })

  test.each([
    ['lql', 's:edge_logs', 'lql is Logflare’s own query language, which is not spoken here'],
    ['pg_sql', 'select 1', 'pg_sql is PostgreSQL’s SQL, which is not spoken here'],
    ['ch_sql', 'select 1', 'ch_sql is ClickHouse’s SQL, which is not spoken here'],
  ])('with a query in %s are refused, as the rows would not be those asked for', async (name, sql, words) => {
    for (const endpoint of ['logs.all', 'service.usage']) {
      const address = `/api/endpoints/query/${endpoint}?project=${project}&${name}=`
      const refused = await service.fetch(address + encodeURIComponent(sql))
      expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
        400,
        `${words}: send GoogleSQL, BigQuery’s, as sql`,
      ])
      expect((await service.fetch(address)).status).toBe(200)
    }
  })

  test('bq_sql and sql are the same, and come alone', async () => {
    const address = `/api/endpoints/query/logs.all?project=${project}`
    const response = await service.fetch(`${address}&bq_sql=select+1+as+a`)
    expect(await response.json()).toMatchObject({ result: [{ a: 1 }] })
    expect((await service.fetch(`${address}&bq_sql=select+1+as+a&sql=select+1+as+a`)).status).toBe(400)
    const usage = `/api/endpoints/query/service.usage?bq_sql=select+1`
    expect((await (await service.fetch(usage)).json()) as object).toMatchObject({ code: 'sandbox_disabled' })
  })

  test('that are near an optional one are said to be, where that was not sent', async () => {
    const address = `/api/endpoints/query/logs.all?project=${project}&iso_timestamp_strat=2026-01-31T00:00:00Z`
    const { meta } = (await (await service.fetch(address)).json()) as { meta: object }
    expect(meta).toMatchObject({
      ignored: ['iso_timestamp_strat'],
      didYouMean: { iso_timestamp_strat: 'iso_timestamp_start' },
    })
    const both = (await (await service.fetch(`${address}&iso_timestamp_start=-1h`)).json()) as {
      meta: object
    }
    expect(both.meta).not.toHaveProperty('didYouMean')
  })

  test('that are not declared are ignored, and a header and meta name them', async () => {
    const ask = (query: string, headers = {}) =>
      service.fetch(`${logs}?project=${project}${query}`, {
        headers: { 'Accept-Encoding': 'identity', ...headers },
      })
    const [response, plain] = [await ask('&proyect=x&limit=5'), await ask('')]
    expect(response.headers.get('x-ignored-parameters')).toBe('proyect, limit')
    expect(plain.headers.has('x-ignored-parameters')).toBe(false)
    const body = (await plain.json()) as { result: object[]; meta: object }
    const noted = { ...body, meta: { ...body.meta, ignored: ['proyect', 'limit'] } }
    expect(await response.text()).toBe(JSON.stringify(noted))
    expect(await (await ask('&proyect=x&limit=5', { 'Accept-Encoding': 'gzip' })).json()).toEqual(noted)
    const [own, other] = [response, plain].map(({ headers }) => headers.get('etag')!)
    expect(own).not.toBe(other)
    expect((await ask('&proyect=x&limit=5', { 'If-None-Match': own })).status).toBe(304)
    expect((await ask('&proyect=x&limit=5', { 'If-None-Match': other })).status).toBe(200)
    const csv = await Promise.all([ask('&format=csv&limit=5'), ask('&format=csv')])
    expect(csv.map(({ headers }) => headers.get('etag'))[0]).toBe(csv[1].headers.get('etag'))
  })
})

describe('keys', () => {
  const path = `${logs}?project=${project}`

  async function refusal(init: Parameters<TestService['fetch']>[1], to = path) {
    const { response, body } = await problem(to, init)
    const { requestId, ...rest } = body
    expect(requestId).toBe(response.headers.get('x-request-id'))
    return { status: response.status, challenge: response.headers.get('www-authenticate'), rest }
  }

  test('that are missing, malformed, unknown, expired, revoked or doubled get one and the same 401', async () => {
    const expired = await service.issue({ expiresAt: new Date(Date.now() - 1000) })
    const other = await service.issue({})
    const answers = [
      await refusal({ key: null }),
      await refusal({ key: '' }),
      await refusal({ key: 'lqe_nonsense' }),
      await refusal({ key: `${other.slice(0, -1)}${other.endsWith('0') ? '1' : '0'}` }),
      await refusal({ key: expired }),
      await refusal({ key: null, headers: { Authorization: 'Basic abc' } }),
      await refusal({ headers: { Authorization: `Bearer ${other}` } }),
    ]
    expect(answers[0]).toMatchObject({ status: 401, challenge: expect.stringContaining('Bearer') })
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  test('are taken as a bearer token too, but not from the query string', async () => {
    const headers = { Authorization: `Bearer ${service.key}` }
    expect((await service.fetch(path, { key: null, headers })).status).toBe(200)
    expect((await service.fetch(`${path}&api_key=${service.key}`, { key: null })).status).toBe(401)
  })

  test('are read beside the bearer token of a proxy', async () => {
    const headers = { Authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.SIGNATURE_REMOVED_BY_GOOGLE' }
    expect((await service.fetch(path, { headers })).status).toBe(200)
  })

  test('are needed before anything is said about an endpoint', async () => {
    const unknown = await refusal({ key: null }, '/api/endpoints/query/no.such')
    expect(unknown.status).toBe(401)
  })

  test('get one and the same 404 for an unknown endpoint and one out of their scope', async () => {
    const key = await service.issue({ endpoints: ['usage.api-counts'] })
    const unknown = await refusal({ key }, '/api/endpoints/query/no.such?project=a')
    const outside = await refusal({ key }, `${logs}?project=a`)
    expect(unknown.rest).toMatchObject({ status: 404, code: 'not_found' })
    expect({ ...outside.rest, instance: '' }).toEqual({ ...unknown.rest, instance: '' })
  })

  test('with a pin read what it fixes, and nothing else', async () => {
    const key = await service.issue({ pins: { project } })
    const pinned = (query: string) => service.fetch(`${logs}?${query}`, { key })
    const open = await rows(path)
    for (const query of ['', 'project=', `project=${project}`])
      expect(((await (await pinned(query)).json()) as Body<LogRow>).result).toEqual(open)
    const { body } = await problem(`${logs}?project=zyxwvutsrqponmlkjihg`, { key })
    expect(body).toMatchObject({ status: 403, code: 'pinned_parameter', errors: [{ parameter: 'project' }] })
  })
})

describe('HTTP', () => {
  const path = `${logs}?project=${project}`

  test.each([
    ['/', 'GET'],
    ['/health', 'GET'],
    ['/openapi.json', 'GET'],
    ['/nothing', 'GET'],
    ['/%ff', 'GET'],
    ['/health', 'DELETE'],
    ['/api/endpoints', 'GET'],
    ['/api/endpoints', 'OPTIONS'],
    ['/api/endpoints/logs.all/tables', 'GET'],
    [`/api/endpoints/query/logs.all?project=${project}`, 'GET'],
    [`/api/endpoints/query/logs.all?project=${project}&format=csv`, 'HEAD'],
    ['/api/endpoints/query/logs.all', 'POST'],
  ])('lets no browser guess a type: %s by %s', async (path, method) => {
    const { headers } = await service.fetch(path, { method })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('takes a GET with a JSON content type and no body', async () => {
    const headers = { 'Content-Type': 'application/json; charset=utf-8' }
    expect((await service.fetch(path, { headers })).status).toBe(200)
  })

  test('answers HEAD like GET, without a body', async () => {
    const [get, head] = [await service.fetch(path), await service.fetch(path, { method: 'HEAD' })]
    expect(head.status).toBe(200)
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'vary'])
      expect(head.headers.get(name)).toBe(get.headers.get(name))
    expect(await head.text()).toBe('')
  })

  test('answers a preflight for pages of any origin', async () => {
    const response = await service.fetch(path, { method: 'OPTIONS', key: null })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-headers')).toBe('Authorization, *')
    expect((await service.fetch(path)).headers.get('access-control-allow-origin')).toBe('*')
  })

  test.each([
    ['/nothing', {}],
    ['/api/endpoints/query/%ff', {}],
    [path, { method: 'PUT' }],
    [path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' }],
    [path, { method: 'POST', body: 'x'.repeat(300_000) }],
    [`${path}&x=${'y'.repeat(33_000)}`, {}],
  ])('lets a page read what is wrong, and its id: %.40s %o', async (path, init) => {
    const { response, body } = await problem(path, init)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(body['requestId']).toBe(response.headers.get('x-request-id'))
  })

  test.each(['/health', '/mcp', '/openapi.json', '/api/endpoints', path])(
    'says at %s what is allowed, which OPTIONS is everywhere',
    async path => {
      const { response } = await problem(path, { method: 'DELETE' })
      const allowed = response.headers.get('allow')!.split(', ')
      for (const method of allowed) expect((await service.fetch(path, { method })).status).not.toBe(405)
      expect(allowed).toContain('OPTIONS')
    },
  )

  test('takes a slash at the end of an address', async () => {
    for (const path of [`${logs}/?project=${project}`, '/api/endpoints/logs.all/tables/', '/health/'])
      expect((await service.fetch(path)).status).toBe(200)
  })

  test.each(['PUT', 'DELETE', 'PATCH'])('answers %s with 405 and what is allowed', async method => {
    const { response, body } = await problem(path, { method })
    expect([response.status, body.code]).toEqual([405, 'method_not_allowed'])
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
  })

  test.each(['/nothing', '/api/endpoints/query/', '/api/endpoints/query/a/b', '/'])(
    'answers %s with 404',
    async path => {
      expect((await problem(path)).body).toMatchObject({ status: 404, code: 'not_found', instance: path })
    },
  )

  test.each([33_000, 120_000])('answers a URL of %i bytes with 414', async length => {
    expect((await problem(`${path}&x=${'y'.repeat(length)}`)).body).toMatchObject({
      status: 414,
      code: 'uri_too_long',
    })
  })

  test('answers headers past Node’s limit with a problem document', async () => {
    const { response, body } = await problem(`${path}&x=${'y'.repeat(300_000)}`)
    expect([response.status, body.code]).toEqual([414, 'uri_too_long'])
  })

  test.each(['/api/endpoints/query/%ff', '/api/endpoints/query/%', '/%c0%ae'])(
    'answers the path %s with 400',
    async bad => {
      expect((await problem(bad)).body).toMatchObject({ status: 400, code: 'invalid_request' })
    },
  )

  test('answers a body that is not JSON with 400, and keeps it out of the log', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const before = service.logged.length
    const { body } = await problem(path, { method: 'POST', headers, body: '{"sql": canary-body' })
    expect(body).toMatchObject({ status: 400, code: 'invalid_request' })
    // A process of its own prints its lines in batches.
    while (service.logged.length === before) await sleep(10)
    expect(JSON.stringify([body, service.logged])).not.toContain('canary-body')
  })

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('answers a body of deeply nested %s with 400', async (_, opening, closing) => {
    const headers = { 'Content-Type': 'application/json' }
    for (const levels of [500, 5_000, 40_000]) {
      const deep = opening.repeat(levels) + '1' + closing.repeat(levels)
      const init = { method: 'POST', headers, body: `{"sql": "SELECT \\"[[", "project": ${deep}}` }
      const { body } = await problem(path, init)
      expect(body).toMatchObject({ status: 400, detail: 'The body is nested deeper than 500 levels.' })
    }
  })

  test('answers a body over 256 KB with 413, and ends the connection on which the rest would come', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const { response, body } = await problem(path, {
      method: 'POST',
      headers,
      body: JSON.stringify({ sql: 'x'.repeat(300_000) }),
    })
    expect(body).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect(response.headers.get('connection')).toBe('close')
  })

  test('lists the endpoints that a key may call', async () => {
    const key = await service.issue({ endpoints: ['usage.api-counts'] })
    const listed = (await (await service.fetch('/api/endpoints', { key })).json()) as Body<{ name: string }>
    expect(listed.result.map(({ name }) => name)).toEqual(['usage.api-counts'])
    expect(listed.meta).toEqual({ rights: [] })
    const all = (await (await service.fetch('/api/endpoints')).json()) as Body<{
      name: string
      limit: number | null
    }>
    expect(all.result.find(({ name }) => name === 'logs.all')!.limit).toBe(100)
    expect(all.result.find(({ name }) => name === 'usage.api-counts')!.limit).toBeNull()
    expect((await service.fetch('/api/endpoints', { key: null })).status).toBe(401)
  })

  test('lists a parameter with the value to which the key fixes it', async () => {
    const key = await service.issue({ pins: { project: 'abc' } })
    const { result } = (await (await service.fetch('/api/endpoints', { key })).json()) as Body<{
      parameters: { name: string; pinned?: string }[]
    }>
    const pinned = result.flatMap(({ parameters }) => parameters.map(each => [each.name, each.pinned]))
    expect(Object.fromEntries(pinned)).toMatchObject({ project: 'abc', interval: undefined })
  })

  test('answers /health, with the version of the service, which each log line has', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const answer = await service.fetch('/health', { key: null })
    expect(await answer.json()).toEqual({ status: 'ok', version })
    const id = answer.headers.get('x-request-id')
    const line = () => service.logged.find(({ details }) => details['requestId'] === id)
    while (!line()) await sleep(20) // a bundle's lines come through a pipe
    expect(line()!.details['serviceVersion']).toBe(version)
  })
})

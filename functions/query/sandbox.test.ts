import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
const logs = `/api/endpoints/query/logs.all?project=${project}`
const usage = '/api/endpoints/query/usage.api-counts?interval=daily&project=example'

let service: TestService

beforeAll(async () => {
  const rows = [
    ...Array.from({ length: 1200 }, (_, i) => edgeRow(`a${i}`, now, project, '/rest/v1/items')),
    edgeRow('auth', now, project, '/auth/v1/token'),
    edgeRow('other', now, 'zyxwvutsrqponmlkjihg', '/rest/v1/other'),
  ]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env: { FROZEN_NOW: now } })
})

afterAll(() => service.stop())

describe('a body', () => {
  const json = 'application/json'
  const sql = '"sql":"SELECT 1 AS a"'
  test.each<[what: string, type: string, body: string, status: number, detail: string]>([
    ['of other names', json, `{${sql},"x":[{"a":1},{"a":2,"b":{"a":"\\"a\\":"}}]}`, 200, ''],
    ['with a name twice', json, `{${sql},"sql":"SELECT 2"}`, 400, '"sql" twice'],
    ['with one twice further down', json, `{${sql},"x":[{"a\\u0062":1, "ab" : 2}]}`, 400, '"ab" twice'],
    ['with personal data twice', json, `{${sql},"a@b.co":1,"a@b.co":1}`, 400, '"REDACTED" twice'],
    ['in UTF-8', `${json}; charset="UTF-8"`, `{${sql}}`, 200, ''],
    ['in another charset', `${json};charset=iso-8859-1`, `{${sql}}`, 400, 'in UTF-8'],
  ])('%s', async (_, type, body, status, detail) => {
    const response = await service.fetch(logs, { method: 'POST', headers: { 'Content-Type': type }, body })
    const answer = (await response.json()) as Partial<Body>
    expect([response.status, answer.detail ?? '']).toEqual([status, expect.stringContaining(detail)])
  })
})

interface Body {
  result: Record<string, unknown>[]
  meta: { rows: number; truncated: boolean }
  code?: string
  detail: string
  errors: { parameter: string; line?: number; column?: number; detail: string }[]
}

async function runSql(sql: string, { path = logs, method = 'GET', key = service.key } = {}) {
  const response =
    method === 'GET'
      ? await service.fetch(`${path}&sql=${encodeURIComponent(sql)}`, { key })
      : await service.fetch(path, {
          key,
          method,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ sql }),
        })
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers }
}

/** With a body, which `fetch` has for no GET. */
async function send(method: string, parameters: object, query = '') {
  const body = JSON.stringify(parameters)
  const headers = {
    'X-API-KEY': service.key,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
  }
  const sent = request(`${service.url}/api/endpoints/query/logs.all${query}`, { method, headers }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return {
    status: response.statusCode,
    headers: response.headers,
    body: JSON.parse(await text(response)) as Body,
  }
}

const paths = `select r.path, count(*) as count from edge_logs
  cross join unnest(metadata) as m cross join unnest(m.request) as r group by r.path order by count desc`

describe('SQL of the caller’s own', () => {
  test('answers with the caller’s columns, over the endpoint’s tables and parameters', async () => {
    const expected = [
      { path: '/rest/v1/items', count: 1200 },
      { path: '/auth/v1/token', count: 1 },
    ]
    expect((await runSql(paths)).body.result).toEqual(expected)
    expect((await runSql(paths, { method: 'POST' })).body.result).toEqual(expected)
  })

  test('reads the tables of usage.api-counts too', async () => {
    const { body } = await runSql('SELECT COUNT(*) AS n FROM requests', { path: usage })
    expect(body.result).toEqual([{ n: 1202 }])
  })

  test('that is empty counts as absent', async () => {
    expect((await runSql('')).body.meta.rows).toBe(100)
  })

  test('is cut at the endpoint’s limit, and a header says so', async () => {
    const { body, headers } = await runSql('SELECT id FROM edge_logs')
    expect(body.meta).toMatchObject({ rows: 1000, truncated: true })
    expect(headers.get('x-result-truncated')).toBe('true')
  })

  test('is cached where the endpoint caches, whatever its layout and comments', async () => {
    await runSql('SELECT path, COUNT(*) AS n FROM requests GROUP BY path', { path: usage })
    const again = await runSql('select  path , count( * ) as n -- again\nfrom requests group by path;', {
      path: usage,
    })
    expect(again.headers.get('cache-status')).toBe('lqe; fwd=miss; stored')
    const same = await runSql('SELECT path, COUNT(*) AS n /* same */ FROM requests\nGROUP BY path', {
      path: usage,
    })
    expect(same.headers.get('cache-status')).toMatch(/^lqe; hit/)
  })

  test('in the URL and in the body at once is refused', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await service.fetch(`${logs}&sql=SELECT%201`, {
      method: 'POST',
      headers,
      body: '{"sql":"SELECT 2"}',
    })
    expect(response.status).toBe(400)
  })

  test('and parameters are read from the body of a POST, and of a GET, which Logflare’s clients send', async () => {
    const given = {
      project,
      iso_timestamp_start: null,
      foo: { a: 1 },
      sql: 'SELECT COUNT(*) AS n FROM edge_logs',
    }
    for (const method of ['POST', 'GET']) {
      const { status, headers, body } = await send(method, given)
      expect([status, body.result]).toEqual([200, [{ n: 1201 }]])
      expect(headers['x-ignored-parameters']).toBe('foo')
      expect(headers['cache-control']).toBe('no-store')
    }
    const late = { project, iso_timestamp_start: '2090-01-01' }
    expect((await send('POST', late)).body.result).toEqual([])
    const twice = await send('POST', late, `?project=${project}`)
    expect(twice.body.detail).toBe('project is given more than once; send it once')
  })

  test.each([['[]'], ['"SELECT 1"'], ['{"sql": 1}']])('in the body %s is a 400', async body => {
    const headers = { 'Content-Type': 'application/json' }
    expect((await service.fetch(logs, { method: 'POST', headers, body })).status).toBe(400)
  })
})

describe('a refusal', () => {
  test('of a table outside names the place and the tables it may read, and no real table', async () => {
    const { status, body } = await runSql(
      'select id from edge_logs\nunion all select id from `cloudflare.logs.prod`',
    )
    expect([status, body.code]).toEqual([403, 'sandbox_violation'])
    const tables = expect.arrayContaining(['edge_logs', 'postgres_logs'])
    expect(body.errors).toMatchObject([{ parameter: 'sql', line: 2, column: 26, tables }])
  })

  test('of columns with one name is the caller’s', async () => {
    for (const sql of ['SELECT id, id FROM edge_logs', 'WITH a AS (SELECT 1 AS x) SELECT x, x FROM a'])
      expect(await runSql(sql)).toMatchObject({ status: 400, body: { code: 'invalid_query' } })
  })

  test('of text that does not parse names the place', async () => {
    const { status, body } = await runSql('select id\nfrom edge_logs where')
    expect([status, body.code]).toEqual([400, 'invalid_query'])
    expect(body.errors[0]).toMatchObject({ parameter: 'sql', line: 2 })
  })

  test('of an unknown column names the place in the caller’s text, and similar names', async () => {
    const { status, body } = await runSql('select id,\n  evnt_message -- typo\nfrom edge_logs')
    expect([status, body.code]).toEqual([400, 'invalid_query'])
    expect(body.errors).toMatchObject([{ parameter: 'sql', line: 2, column: 3 }])
    expect(body.detail).toMatch(/event_message/)
  })

  test('of a value that fails shows no row and no table', async () => {
    const { status, body } = await runSql('select cast(event_message as int64) as n from edge_logs')
    expect(status).toBe(400)
    expect(JSON.stringify(body)).not.toMatch(/203\.0\.113|cloudflare|parquet/)
  })
})

describe('a key with pins', () => {
  test('may send SQL where every table filters by them', async () => {
    const key = await service.issue({ pins: { project } })
    const { body } = await runSql('SELECT COUNT(*) AS n FROM edge_logs', { key })
    expect(body.result).toEqual([{ n: 1201 }])
  })

  test('may not where one does not, and the refusal says why', async () => {
    const key = await service.issue({ pins: { interval: 'daily' } })
    const { status, body } = await runSql('SELECT COUNT(*) AS n FROM requests', { path: usage, key })
    expect([status, body.code]).toEqual([403, 'sandbox_violation'])
    expect(body.detail).toMatch(/interval/)
  })
})

describe('the tables of an endpoint', () => {
  test('are listed with their columns and types, nested ones included', async () => {
    const response = await service.fetch('/api/endpoints/logs.all/tables')
    const { result } = (await response.json()) as { result: { name: string; columns: object[] }[] }
    expect(result.map(({ name }) => name)).toContain('pgbouncer_logs')
    expect(result[0]).toMatchObject({
      name: 'edge_logs',
      columns: [
        { name: 'id', type: 'STRING', repeated: false },
        { name: 'timestamp', type: 'TIMESTAMP', repeated: false },
        { name: 'event_message', type: 'STRING' },
        { name: 'metadata', type: 'STRUCT', repeated: true, fields: expect.any(Array) },
        { name: 'identifier', type: 'STRING', repeated: false },
      ],
    })
  })

  test('are for keys that may call it', async () => {
    const key = await service.issue({ endpoints: ['usage.api-counts'] })
    expect((await service.fetch('/api/endpoints/logs.all/tables', { key })).status).toBe(404)
    expect((await service.fetch('/api/endpoints/usage.api-counts/tables', { key })).status).toBe(200)
  })
})

/** Statements that are composed: a caller’s own SQL, and pages. */
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { loadConfig } from '../../shared/config.ts'
import { edgeRow } from '../testing/edges.ts'
import { type TestService, startService } from '../testing/service.ts'

describe('the sandbox', () => {
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
})

describe('a page', () => {
  const now = '2026-03-10T12:30:30.000Z'
  const project = 'abcdefghijklmnopqrst'
  const logs = `/api/endpoints/query/logs.all?project=${project}`

  interface Body {
    result: { id: string; timestamp: number }[]
    meta: { next?: string; newest?: string; truncated: boolean; redacted: boolean; rows: number }
  }

  /** 250 rows in pairs and fours of one moment, so that pages end among equal times. */
  const rows = Array.from({ length: 250 }, (_, at) => {
    const second = new Date(Date.parse(now) - Math.floor(at / 4) * 1000).toISOString()
    return edgeRow(`row-${String(at).padStart(3, '0')}@example.com`, second, project, `/rest/v1/${at}`)
  })

  let service: TestService
  let queries: string

  beforeAll(async () => {
    queries = mkdtempSync(join(tmpdir(), 'queries-'))
    cpSync('queries', queries, { recursive: true })
    const edit = (file: string, change: (text: string) => string) =>
      writeFileSync(join(queries, file), change(readFileSync(join(queries, file), 'utf8')))
    // The same with a cache, under another name.
    for (const ending of ['sql', 'yaml'])
      cpSync(join(queries, `logs.all.${ending}`), join(queries, `logs.cached.${ending}`))
    edit('logs.cached.yaml', text =>
      text
        .replace(/id: .*/, 'id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e99')
        .replace('seconds: 0', 'seconds: 900'),
    )
    service = await startService({
      tables: { 'cloudflare.logs.prod': rows },
      queries,
      env: { FROZEN_NOW: now },
    })
  })

  afterAll(async () => {
    await service.stop()
    rmSync(queries, { recursive: true, force: true })
  })

  async function get(path: string, init: Parameters<TestService['fetch']>[1] = {}) {
    const response = await service.fetch(path, init)
    if (response.status !== 200) throw new Error(JSON.stringify(service.logged.at(-1)))
    return { response, body: (await response.json()) as Body }
  }

  async function refusal(path: string, init: Parameters<TestService['fetch']>[1] = {}) {
    const response = await service.fetch(path, init)
    const { code, detail } = (await response.json()) as { code: string; detail: string }
    return `${response.status} ${code}: ${detail}`
  }

  const idsOf = ({ result }: Body) => result.map(({ id }) => id)

  async function load(added: ReturnType<typeof edgeRow>[]): Promise<void> {
    const { dataDir, tablesDir } = loadConfig(service.env)
    const file = join(queries, `${Math.random()}.ndjson`)
    writeFileSync(file, added.map(row => `${JSON.stringify(row)}\n`).join(''))
    const table = 'cloudflare.logs.prod'
    await loadLogs({
      logsFolder: join(dataDir, 'logs'),
      tablesFolder: tablesDir,
      table,
      files: [file],
      out: () => {},
    })
  }

  describe('pages', () => {
    test('have every row once, newest first, and the last one leads no further', async () => {
      const seen: string[] = []
      let path: string | null = logs
      const sizes: number[] = []
      while (path) {
        const { response, body }: Awaited<ReturnType<typeof get>> = await get(path)
        seen.push(...idsOf(body))
        sizes.push(body.meta.rows)
        expect(body.meta.truncated).toBe(false)
        const [, target] = /^<([^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? []
        expect(target !== undefined).toBe(body.meta.next !== undefined)
        path =
          target === undefined
            ? null
            : new URL(target, `http://x${path}`).pathname + new URL(target, `http://x${path}`).search
      }
      expect(sizes).toEqual([100, 100, 50])
      expect(seen).toEqual(seen.toSorted((a, b) => timeOf(b) - timeOf(a) || (a < b ? 1 : -1)))
      expect(new Set(seen).size).toBe(250)
    })

    const timeOf = (id: string) => Date.parse(rows.find(row => row.id === id)!.timestamp)

    test('that are full to the last row have no empty one behind them', async () => {
      const start = new Date(Date.parse(now) - 25_000).toISOString()
      const { body } = await get(`${logs}&iso_timestamp_start=${start}`)
      expect([body.meta.rows, body.meta.next]).toEqual([100, undefined])
    })

    test('are had as CSV, too, by the Link, which leaves out what is not declared', async () => {
      const response = await service.fetch(`${logs}&format=csv&other=${'x'.repeat(20_000)}`)
      expect(response.headers.get('link')).toMatch(/^<\?project=\w+&format=csv&cursor=[\w-]+>; rel="next"$/)
    })

    test('keep relative times as they were on the first page', async () => {
      const { body, response } = await get(`${logs}&iso_timestamp_start=-50s`)
      const second = await get(`${logs}&iso_timestamp_start=-50s&cursor=${body.meta.next}`)
      expect(second.response.headers.get('x-resolved-times')).toBe(response.headers.get('x-resolved-times'))
      expect(body.meta.rows + second.body.meta.rows).toBe(200)
    })

    test('of a cached endpoint are cached each by itself, redacted or not', async () => {
      const path = logs.replace('logs.all', 'logs.cached')
      const first = await get(path)
      const cursor = `${path}&cursor=${first.body.meta.next}`
      const second = await get(cursor)
      const again = await get(cursor)
      expect(again.response.headers.get('cache-status')).toMatch(/hit/)
      expect(again.body).toEqual(second.body)
      expect(idsOf(second.body)).not.toEqual(idsOf(first.body))
      const headers = { 'SVC-ENDPOINT-REDACT-PII': 'true' }
      const redacted = await get(path, { headers })
      expect(redacted.body.meta).toEqual({ ...first.body.meta, redacted: true })
      expect(JSON.stringify(redacted.body)).not.toContain('@example.com')
      expect((await get(path)).response.headers.get('link')).toBe(first.response.headers.get('link'))
    })

    test('go on behind a tie-breaker that redaction takes out, and the cursor does not tell it', async () => {
      const headers = { 'SVC-ENDPOINT-REDACT-PII': 'true' }
      const { body } = await get(logs, { headers })
      expect(new Set(idsOf(body))).toEqual(new Set(['REDACTED']))
      const decoded = Buffer.from(body.meta.next!, 'base64url').toString('latin1')
      expect(decoded).not.toMatch(/row|example/)
      const { body: second } = await get(`${logs}&cursor=${body.meta.next}`)
      expect(idsOf(second)).toEqual(
        idsOf((await get(`${logs}&cursor=${(await get(logs)).body.meta.next}`)).body),
      )
    })

    test('keep to the pins of a key', async () => {
      const key = await service.issue({ pins: { project } })
      const { body } = await get(logs.replace(/\?.*/, ''), { key })
      expect(
        (await get(`${logs.replace(/\?.*/, '')}?cursor=${body.meta.next}`, { key })).body.meta.rows,
      ).toBe(100)
      const other = await service.issue({ pins: { project: 'zzzz' } })
      expect(await refusal(`${logs.replace(/\?.*/, '')}?cursor=${body.meta.next}`, { key: other })).toMatch(
        /^400 invalid_parameter: cursor is of other parameters/,
      )
    })
  })

  describe('a cursor is refused', () => {
    let next: string
    let newest: string
    beforeAll(async () => {
      const { meta } = (await get(logs)).body
      next = meta.next!
      newest = meta.newest!
    })

    test('where it is damaged, of another endpoint, of other parameters, or leads the other way', async () => {
      const changed = next.replace(/^./, first => (first === 'A' ? 'B' : 'A'))
      expect(await refusal(`${logs}&cursor=${changed}`)).toBe(
        '400 invalid_parameter: cursor is damaged, or its time is over: send it as meta.next or meta.newest had it, or begin with the first page',
      )
      for (const text of ['x', next.slice(1), `${next}A`, `${next}=`, next.slice(0, -1)])
        expect(await refusal(`${logs}&cursor=${encodeURIComponent(text)}`)).toMatch(/cursor is damaged/)
      expect(await refusal(`${logs.replace('all', 'cached')}&cursor=${next}`)).toMatch(
        /cursor is of another endpoint/,
      )
      expect(await refusal(`${logs}x&cursor=${next}`)).toMatch(/cursor is of other parameters/)
      expect(await refusal(`${logs}&iso_timestamp_start=2026-01-01&follow=${newest}`)).toMatch(
        /follow is of other/,
      )
      expect(await refusal(`${logs}&cursor=${newest}`)).toMatch(/cursor leads the other way/)
      expect(await refusal(`${logs}&follow=${next}`)).toMatch(/follow leads the other way/)
      expect(await refusal(`${logs}&cursor=${next}&follow=${newest}`)).toMatch(/send one of them/)
      expect(await refusal(`${logs}&cursor=${next}&cursor=${next}`)).toMatch(/cursor is given more than once/)
    })

    test('beside SQL of the caller’s own, which has no marks either', async () => {
      const sql = 'SELECT id, timestamp FROM edge_logs ORDER BY timestamp DESC LIMIT 10'
      expect(await refusal(`${logs}&cursor=${next}&sql=${encodeURIComponent(sql)}`)).toMatch(
        /cursor does not go with sql/,
      )
      const { body, response } = await get(`${logs}&sql=${encodeURIComponent(sql)}`)
      expect(body.meta).not.toHaveProperty('next')
      expect(body.meta).not.toHaveProperty('newest')
      expect(response.headers.has('link')).toBe(false)
    })

    test('nowhere where the endpoint has no pages: it is named as ignored', async () => {
      const { response, body } = await get(
        `/api/endpoints/query/usage.api-counts?interval=daily&project=x&cursor=${next}`,
      )
      expect(response.headers.get('x-ignored-parameters')).toBe('cursor')
      expect(body.meta).not.toHaveProperty('newest')
    })
  })

  describe('follow', () => {
    const other = 'followedprojectabcde'
    const path = logs.replace(project, other)
    const entry = (id: string, seconds: number) =>
      edgeRow(id, new Date(Date.parse(now) + seconds * 1000).toISOString(), other, '/rest/v1/a')

    test('gives what is newer, oldest first, from nothing on, and ends nowhere', async () => {
      const { body: empty } = await get(path)
      expect(empty.result).toEqual([])
      const nothing = await get(`${path}&follow=${empty.meta.newest}`)
      expect(nothing.body.meta.newest).toBe(empty.meta.newest)
      await load([entry('b', 1), entry('a', 1), entry('c', 3)])
      const { body: first } = await get(`${path}&follow=${empty.meta.newest}`)
      expect(idsOf(first)).toEqual(['a', 'b', 'c'])
      expect(first.meta).not.toHaveProperty('next')
      await load([entry('d', 3), entry('late', 2), entry('e', 4)])
      const { body: second } = await get(`${path}&follow=${first.meta.newest}`)
      expect(idsOf(second)).toEqual(['d', 'e'])
      const newest = (await get(path)).body
      expect(idsOf(newest)).toEqual(['e', 'd', 'c', 'late', 'b', 'a'])
      expect((await get(`${path}&follow=${newest.meta.newest}`)).body.result).toEqual([])
    })

    test('gives many newer ones page by page', async () => {
      const { body } = await get(path)
      await load(Array.from({ length: 120 }, (_, at) => entry(`m${at}`, 60)))
      const first = (await get(`${path}&follow=${body.meta.newest}`)).body
      const second = (await get(`${path}&follow=${first.meta.newest}`)).body
      expect([first.meta.rows, second.meta.rows]).toEqual([100, 20])
      expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(120)
    })
  })
})

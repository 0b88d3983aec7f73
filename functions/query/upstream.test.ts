/** Endpoints that read the rows of others as tables: infra/docs/reference.md, "Endpoints that read others". */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Called, type Files, type Reading, rowOf, startReading, table } from '../testing/upstream.ts'

const byProject = 'parameters: { required: [project], properties: { project: { type: string } } }'
const reading = (parameters = 'project: "@project"', more = '') =>
  `${byProject}\nupstream: { counts: { endpoint: counts, parameters: { ${parameters} } } }\n${more}`

const files: Files = {
  counts: {
    yaml: `${byProject}\ncache: { seconds: 600 }\nsandbox: true`,
    sql: `WITH logs AS (SELECT t.id, t.event_message FROM \`${table}\` AS t WHERE t.project = @project)
      SELECT COUNT(*) AS n, MAX(id) AS last, @project AS project FROM logs`,
  },
  share: {
    yaml: reading(undefined, 'cache: { seconds: 600 }\nsandbox: true'),
    sql: `WITH own AS (SELECT COUNT(*) AS n FROM \`${table}\` AS t WHERE t.project = @project)
      SELECT c.n, c.last, c.project, own.n AS own FROM counts AS c CROSS JOIN own`,
  },
  live: { yaml: reading(), sql: 'SELECT c.n, @project AS asked FROM Counts AS c' },
  foreign: {
    yaml: reading('project: b', 'cache: { seconds: 600 }'),
    sql: 'SELECT n, @project AS p FROM counts',
  },
  mails: {
    yaml: `parameters: { properties: {} }\nredact: true\ncache: { seconds: 600 }`,
    sql: `SELECT 'tom@example.com' AS contact, 7 AS n`,
  },
  inbox: {
    yaml: `parameters: { properties: {} }\nredact: true\nsandbox: true\ncache: { seconds: 600 }
upstream: { mails: { endpoint: mails } }`,
    sql: 'SELECT REVERSE(m.contact) AS backwards, m.n FROM mails AS m',
  },
  many: {
    yaml: `parameters: { properties: {} }\nmaxRows: 3`,
    sql: 'SELECT n FROM UNNEST([1, 2, 3, 4]) AS n',
  },
  cut: {
    yaml: `parameters: { properties: {} }\nupstream: { many: { endpoint: many } }`,
    sql: 'SELECT SUM(n) AS n FROM many',
  },
  large: {
    yaml: `parameters: { properties: {} }`,
    sql: `SELECT REPEAT('x', 600000) AS text FROM UNNEST([1, 2]) AS n`,
  },
  heavy: {
    yaml: `parameters: { properties: {} }\nupstream: { large: { endpoint: large } }`,
    sql: 'SELECT SUM(LENGTH(text)) AS n FROM large',
  },
  search: {
    yaml: 'parameters: { required: [q], properties: { q: { type: string, format: regular-expression } } }',
    sql: `SELECT t.id FROM \`${table}\` AS t WHERE REGEXP_CONTAINS(t.id, @q)`,
  },
  found: {
    yaml: `parameters: { required: [text], properties: { text: { type: string } } }
upstream: { hits: { endpoint: search, parameters: { q: "@text" } } }`,
    sql: 'SELECT COUNT(*) AS n FROM hits',
  },
  outer: {
    yaml: `${byProject}\nupstream: { inner_share: { endpoint: share, parameters: { project: "@project" } } }`,
    sql: 'SELECT s.n + s.own AS sum FROM inner_share AS s',
  },
}

describe.each(['duckdb', 'bigquery'] as const)('an endpoint that reads another, on %s', engine => {
  let it: Reading
  beforeAll(async () => {
    it = await startReading(engine, files)
  })
  afterAll(() => it.stop())
  const asked = (name: string, project = 'a', init = {}) => it.call(`${name}?project=${project}`, init)
  const fresh = { headers: { 'Cache-Control': 'no-cache' } }

  test('reads its rows as a table, with the parameters that it passes on', async () => {
    const { result } = await asked('share')
    expect(result).toEqual([{ n: 2, last: 'a2', project: 'a', own: 2 }])
    expect((await asked('share', 'b')).result).toEqual([{ n: 2, last: 'b2', project: 'b', own: 2 }])
  })

  test('reads one that reads another', async () => {
    expect((await asked('outer')).result).toEqual([{ sum: 4 }])
  })

  test('gets the answer that callers have in the cache, and is as old as that', async () => {
    const direct = await asked('counts', 'c')
    await it.add([rowOf('c1', 'c', '/new')])
    expect((await asked('live', 'c')).result).toEqual([{ n: 0, asked: 'c' }])
    const share = await asked('share', 'c')
    expect(share.result).toEqual([{ n: 0, last: null, project: 'c', own: 1 }])
    for (const name of ['last-modified'])
      expect(share.response.headers.get(name)).toBe(direct.response.headers.get(name))
    expect(share.response.headers.get('cache-status')).toMatch(/^lqe; fwd=miss; stored/)
    expect((await asked('share', 'c')).response.headers.get('cache-status')).toMatch(/^lqe; hit/)
  })

  test('leaves an answer in the cache that callers of the other get', async () => {
    await asked('live', 'd')
    expect((await asked('counts', 'd')).response.headers.get('cache-status')).toMatch(/^lqe; hit/)
  })

  test('runs both again for no-cache, where the key may bypass', async () => {
    await asked('share', 'e')
    await it.add([rowOf('e1', 'e', '/new')])
    const plain = await it.service.issue({})
    expect((await asked('share', 'e', { ...fresh, key: plain })).result[0]).toMatchObject({ n: 0, own: 0 })
    expect((await asked('share', 'e', fresh)).result[0]).toMatchObject({ n: 1, own: 1 })
    expect((await asked('counts', 'e')).result[0]!['n']).toBe(1)
  })

  test('needs no right of the key to call the other one', async () => {
    const key = await it.service.issue({ endpoints: ['share'] })
    expect((await asked('share', 'a', { key })).status).toBe(200)
    expect((await asked('counts', 'a', { key })).status).toBe(404)
  })

  test('gives no rows of others to a key with pins, also where they are in the cache', async () => {
    const key = await it.service.issue({ pins: { project: 'a' } })
    expect((await asked('foreign')).result).toEqual([{ n: 2, p: 'a' }])
    const refused = await asked('foreign', 'a', { key })
    expect([refused.status, refused.code]).toEqual([403, 'pinned_parameter'])
    expect(refused.detail).toBe(
      'project is fixed by the API key, and this endpoint reads counts with another project',
    )
    expect((await it.call('share', { key })).result[0]!['project']).toBe('a')
    expect((await it.call('inbox', { key })).code).toBe('pinned_parameter')
  })

  describe('a caller’s own SQL', () => {
    const sql = (text: string, init = {}) => it.call(`share?project=a&sql=${encodeURIComponent(text)}`, init)

    test('reads the table, all columns of it, and the endpoint’s own', async () => {
      expect((await sql('SELECT * FROM counts')).result).toEqual([{ n: 2, last: 'a2', project: 'a' }])
      expect((await sql('SELECT SUM(n) AS n FROM own')).result).toEqual([{ n: 2 }])
    })

    test.each([
      ['SELECT * FROM logs', 'sandbox_violation'],
      [`SELECT * FROM \`${table}\``, 'sandbox_violation'],
      ['SELECT r.n FROM UNNEST(@counts) AS r', 'sandbox_violation'],
    ])('%s is refused', async (text, code) => {
      expect((await sql(text)).code).toBe(code)
    })

    test('is confined by the pins of its key', async () => {
      const key = await it.service.issue({ pins: { project: 'a' } })
      expect((await sql('SELECT project FROM counts', { key })).result).toEqual([{ project: 'a' }])
    })

    test('is offered the tables with their columns', async () => {
      const tables = (await (await it.service.fetch('/api/endpoints/share/tables')).json()) as {
        result: { name: string; columns: { name: string; type: string }[] }[]
      }
      expect(tables.result.map(({ name }) => name)).toEqual(['counts', 'own'])
      expect(tables.result[0]!.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
        'n INT64',
        'last STRING',
        'project STRING',
      ])
    })
  })

  test('is explained as it runs', async () => {
    const response = await it.service.fetch('/api/endpoints/share/explain')
    const { result } = (await response.json()) as { result: { title: string; sql: string }[] }
    expect(result.map(({ title }) => title)).toEqual(['query 1 answers every other call'])
    expect(result[0]!.sql).toContain('FROM UNNEST(@counts)')
  })

  describe('redaction', () => {
    const lifted = { headers: { 'SVC-ENDPOINT-REDACT-PII': 'false' } }

    test('is kept: rows are redacted before they are read', async () => {
      const { result, meta } = await it.call('inbox')
      expect(result).toEqual([{ backwards: 'DETCADER', n: 7 }])
      expect(meta.redacted).toBe(true)
    })

    test('is lifted as for a call of the other, and nothing clear is stored', async () => {
      const plain = await it.service.issue({})
      expect((await it.call('inbox', { ...lifted, key: plain })).code).toBe('redaction_locked')
      const clear = await it.call('inbox', lifted)
      expect(clear.result).toEqual([{ backwards: 'moc.elpmaxe@mot', n: 7 }])
      expect(clear.response.headers.get('cache-status')).toBe('lqe; fwd=bypass')
      expect((await it.call('inbox', { key: plain })).result[0]!['backwards']).toBe('DETCADER')
    })

    test('by a key or a header redacts what is read', async () => {
      const key = await it.service.issue({ redacted: true })
      expect((await asked('share', 'a', { key })).meta.redacted).toBe(true)
      expect((await asked('share')).meta.redacted).toBe(false)
    })

    test('locks a caller’s own SQL', async () => {
      const key = await it.service.issue({})
      expect((await it.call('inbox?sql=SELECT contact FROM mails', { key })).code).toBe('redaction_locked')
    })
  })

  describe('what goes wrong', () => {
    const operators = (called: Called) => expect([called.status, called.code]).toEqual([500, 'internal'])

    test('rows that are cut are no table', async () => {
      operators(await it.call('cut'))
      const cause = JSON.stringify(it.service.logged.at(-1))
      expect(cause).toContain('has more than 3 rows')
    })

    test('more than a megabyte of rows is refused', async () => {
      operators(await it.call('heavy'))
      expect(JSON.stringify(it.service.logged.at(-1))).toContain('pass 1,000,000 bytes of JSON')
    })

    test('a value that the other cannot take is the caller’s to change, and the error names both', async () => {
      expect((await it.call('found?text=a')).result).toEqual([{ n: 2 }])
      const refused = await it.call('found?text=(')
      expect([refused.status, refused.code]).toEqual([400, 'invalid_query'])
      expect(refused.detail).toContain('(in search, which this endpoint reads)')
      expect(refused.errors![0]!.endpoint).toBe('search')
    })
  })

  test('costs its key what the runs read, once each', async () => {
    const limits = { callsPerMinute: null, bytesPerDay: 1e12 }
    const key = await it.service.issue({ limits })
    const read = async (name: string) => {
      const { response } = await asked(name, 'f', { key })
      const left = Number(/"bytes";r=(\d+)/.exec(response.headers.get('ratelimit')!)![1])
      return { read: Number(response.headers.get('x-bytes-read')), spent: limits.bytesPerDay - left }
    }
    const cold = await read('share')
    expect(cold.spent).toBe(cold.read)
    expect(await read('live')).toMatchObject({ spent: cold.spent })
    if (engine === 'bigquery') expect(cold.read).toBeGreaterThan(0)
  })

  test('is a tool of the Model Context Protocol', async () => {
    const params = { name: 'share', arguments: { project: 'a', format: 'json' } }
    const response = await it.service.fetch('/mcp', {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-06-18',
      } as Record<string, string>,
    })
    expect(await response.text()).toContain('"rows":[{"n":2,"last":"a2","project":"a","own":2}]')
  })

  test('is described in the OpenAPI document with its own columns', async () => {
    const text = await (await it.service.fetch('/openapi.json')).text()
    const { paths } = JSON.parse(text) as { paths: Record<string, object> }
    expect(JSON.stringify(paths['/api/endpoints/query/share'])).toContain('"own"')
  })
})

import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { answerOf } from '../../infra/lqe/query.ts'
import { runCommand } from '../../infra/lqe/testing/command.ts'
import { restoreCommand } from '../../infra/lqe/versions/commands.ts'
import { compareCommand } from '../../infra/lqe/versions/compare.ts'
import { loadConfig } from '../../shared/config.ts'
import { fieldsOf } from '../../shared/endpoints/definition.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import { openServices } from '../../shared/services.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { callsDuringRestores, common, files, named, reader } from '../testing/upstream-versions.ts'
import { type Called, type Files, type Reading, rowOf, startReading, table } from '../testing/upstream.ts'

/** Endpoints that read the rows of others as tables: infra/docs/reference.md, "Endpoints that read others". */
describe('reading the rows of others', () => {
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
      const sql = (text: string, init = {}) =>
        it.call(`share?project=a&sql=${encodeURIComponent(text)}`, init)

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
})

/** Endpoints that read others, while these are changed, restored, or come to read each other. */
describe('changes of what is read', () => {
  let it: Reading
  const current = async (name: string) => (await it.service.services.endpoints.find(name))!
  const command = async (make: typeof restoreCommand | typeof compareCommand, ...args: string[]) =>
    runCommand(
      make(
        act => act(it.service.services),
        () => 'tester',
      ),
      args,
    )

  beforeAll(async () => {
    it = await startReading('duckdb', files('first'))
  })
  afterAll(() => it.stop())
  beforeEach(() => it.apply(files('first')))

  describe('the answer of a reader', () => {
    test('is of the current version of what it reads, also after a restore', async () => {
      const first = (await current('part')).version
      const before = await it.call('reader')
      await it.apply(files('second'))
      const second = await it.call('reader')
      expect([before.result, second.result]).toEqual([[{ made_by: 'first' }], [{ made_by: 'second' }]])
      expect(second.meta.version).toBe(before.meta.version)
      expect((await command(restoreCommand, 'part', first)).err).toBe('')
      while ((await it.call('part')).result[0]!['made_by'] !== 'first');
      await new Promise(resolve => setTimeout(resolve, 100))
      const restored = await it.call('reader')
      expect(restored.result).toEqual([{ made_by: 'first' }])
      expect(restored.response.headers.get('cache-status')).toMatch(/^lqe; hit/)
    })

    test('is redacted once what it reads is, and no one lifts that', async () => {
      const { id, version } = await current('part')
      const found = { ...(await current('part')), redact: true, version: `${version.slice(1)}0` }
      await it.service.services.store.update(
        { collection: 'endpoints', id },
        { set: fieldsOf({ ...found, sql: `SELECT 'tom@example.com' AS made_by` }) },
        (await it.service.services.store.get({ collection: 'endpoints', id })).document!.version,
      )
      await new Promise(resolve => setTimeout(resolve, 100))
      for (const lift of ['true', 'false']) {
        const { result, meta } = await it.call('reader', { headers: { 'SVC-ENDPOINT-REDACT-PII': lift } })
        expect([result, meta.redacted]).toEqual([[{ made_by: 'REDACTED' }], true])
      }
    })

    test('is an error that names the circle, should two applies have made one', async () => {
      const { store } = it.service.services
      const part = { ...(await current('part')), upstream: { back: { endpoint: 'reader', parameters: {} } } }
      const at = { collection: 'endpoints', id: part.id }
      await store.update(at, { set: fieldsOf(part) }, (await store.get(at)).document!.version)
      await new Promise(resolve => setTimeout(resolve, 100))
      for (const name of ['reader', 'part']) expect((await it.call(name)).code).toBe('internal')
      expect(JSON.stringify(it.service.logged)).toContain('part reads itself: reader -> part -> reader')
      expect((await it.service.fetch('/openapi.json')).status).toBe(200)
    })

    test('is an error where what it reads is gone', async () => {
      const { id } = await current('part')
      await it.service.services.store.remove({ collection: 'endpoints', id })
      await new Promise(resolve => setTimeout(resolve, 100))
      expect((await it.call('reader')).code).toBe('internal')
      expect(JSON.stringify(it.service.logged.at(-1))).toContain('reader reads part, which is not there')
    })
  })

  test('no answer is made of rows that are older than its own cache.seconds', async () => {
    const of = (seconds: number) => ({
      yaml: `parameters: { properties: {} }\ncache: { seconds: ${seconds} }\nupstream: { ticks: { endpoint: clock } }`,
      sql: 'SELECT t FROM ticks',
    })
    const clock = { yaml: common, sql: 'SELECT UNIX_MICROS(CURRENT_TIMESTAMP()) AS t' }
    await it.apply({ ...files('first'), clock, calm: of(600), brisk: of(60) })
    const before = (await it.call('clock')).result
    await it.age(200_000)
    const another = await openServices(loadConfig(it.service.env))
    const ask = async (name: string) => {
      const options = { sql: null, redact: false, fresh: false }
      return (await answerOf(another, await current(name), '', options)).answer.rows()
    }
    try {
      expect(await ask('calm')).toEqual(before)
      const brisk = await ask('brisk')
      expect(brisk[0]!['t']).toBeGreaterThan(before[0]!['t'] as number)
      expect(await ask('clock')).toEqual(brisk)
    } finally {
      await another.close()
    }
  })

  describe('where the engine fails for what is read', () => {
    const reads = (seconds: number) => ({
      yaml: `parameters: { properties: {} }\ncache: { seconds: ${seconds} }\nupstream: { r: { endpoint: constant } }`,
      sql: 'SELECT n FROM r',
    })
    const options = { sql: null, redact: false, fresh: false }
    const failing = async () => {
      const another = await openServices(loadConfig(it.service.env))
      const run = another.engine.run.bind(another.engine)
      another.engine.run = async (statement, limits) => {
        if (statement.sql.includes('7 AS n')) throw new EngineError('unavailable', 'The quota is used up')
        return run(statement, limits)
      }
      return another
    }

    test('the error names it; a stale copy covers it, and the log says so', async () => {
      const constant = {
        yaml: 'parameters: { properties: {} }\ncache: { seconds: 60 }',
        sql: 'SELECT 7 AS n',
      }
      await it.apply({ ...files('first'), constant, early: reads(60), late: reads(60) })
      const another = await failing()
      try {
        const error = await answerOf(another, await current('early'), '', options).catch(
          (thrown: unknown) => thrown,
        )
        expect(error).toMatchObject({ code: 'engine_unavailable', problems: [{ endpoint: 'constant' }] })
        await new Promise(resolve => setTimeout(resolve, 2_100)) // the engine rests
        await it.call('constant')
        await it.age(100_000)
        const written: string[] = []
        const write = jest
          .spyOn(process.stdout, 'write')
          .mockImplementation(text => written.push(String(text)) > 0)
        const third = await failing()
        const { answer } = await answerOf(third, await current('late'), '', options)
        write.mockRestore()
        await third.close()
        expect(await answer.rows()).toEqual([{ n: 7 }])
        const lines = written.filter(line => line.includes('older rows were read'))
        expect(lines.map(line => JSON.parse(line) as object)).toEqual([
          expect.objectContaining({ severity: 'WARNING', endpoint: 'constant', reason: 'unavailable' }),
        ])
      } finally {
        await another.close()
      }
    })
  })

  test('200 calls while versions of what is read are restored are each of a version that was current', async () => {
    expect(await callsDuringRestores(it, { calls: 200, restoreEvery: 25 })).toBeGreaterThan(1)
  })

  describe('an operator', () => {
    test('cannot restore a version that those who read it do not fit, nor one that would make a circle', async () => {
      const plain = (await current('part')).version
      const wants = {
        ...named('first'),
        yaml: common.replace('properties: {}', 'required: [p], properties: { p: { type: string } }'),
      }
      await it.apply({
        part: { ...wants, sql: 'SELECT @p AS made_by' },
        reader: {
          ...reader,
          yaml: `${common}\nupstream: { rows_of_it: { endpoint: part, parameters: { p: x } } }`,
        },
      })
      const refused = await command(restoreCommand, 'part', plain)
      expect(refused.err).toContain('reader: upstream.rows_of_it.parameters.p is no parameter of part')
      await it.apply({ part: named('x'), reader: named('y') })
      const independent = { part: (await current('part')).version }
      await it.apply({
        part: { yaml: `${common}\nupstream: { r: { endpoint: reader } }`, sql: 'SELECT * FROM r' },
        reader: named('y'),
      })
      const reading = (await current('part')).version
      await it.apply({ part: named('x'), reader })
      expect((await current('part')).version).toBe(independent.part)
      const circle = await command(restoreCommand, 'part', reading)
      expect(circle.err).toContain('part -> reader -> part')
    })

    test('compares versions of a reader', async () => {
      const before = (await current('reader')).version
      await it.apply({
        part: named('first'),
        reader: { ...reader, sql: 'SELECT UPPER(made_by) AS made_by FROM rows_of_it' },
      })
      const { out } = await command(compareCommand, 'reader', '--with', before)
      expect(out).toContain('+- made_by: FIRST')
    })
  })
})

/** An answer that reads the rows of others is that of one query with theirs in it, for random queries and parameters. */
describe('the rows of others inlined', () => {
  const part = `SELECT x, 9007199254740992 + x AS big, TIMESTAMP_MICROS(x * 1000003) AS ts, CAST(x AS NUMERIC) / 7 AS num,
  CONCAT('té', CAST(x AS STRING)) AS txt, CAST(CAST(x AS STRING) AS BYTES) AS bin, [x, x + 1] AS list,
  STRUCT(x AS a, [STRUCT(DATE_ADD(DATE '2026-01-01', INTERVAL x DAY) AS day)] AS days) AS st,
  IF(MOD(x, 3) = 0, NULL, x) AS hole, IF(x = 2, CAST('nan' AS FLOAT64), x / 3) AS f
  FROM UNNEST(GENERATE_ARRAY(1, @n)) AS x WHERE MOD(x, @m) = 0`
  const whole = (name: string) => `${name}: { type: integer, minimum: 0 }`
  const parameters = `parameters: { required: [n, m], properties: { ${whole('n')}, ${whole('m')} } }`
  const of = (m: string) => `{ endpoint: part, parameters: { n: "@n", m: ${m} } }`

  const values = [
    'x',
    'big',
    'ts',
    'num',
    'txt',
    'bin',
    'list',
    'st',
    'hole',
    'f',
    'TO_HEX(bin)',
    'st.days[OFFSET(0)].day',
    'big * 2',
    'UNIX_MICROS(ts)',
  ]
  const sums = [
    'COUNT(hole)',
    'SUM(big)',
    'MAX(ts)',
    'SUM(num)',
    'COUNT(DISTINCT txt)',
    'STRING_AGG(txt, "," ORDER BY x)',
    'MIN(bin)',
  ]
  const picked = (from: string[]) =>
    fc.subarray(from, { minLength: 1 }).map(list => list.map((value, at) => `${value} AS c${at}`).join(', '))

  const queries = fc.oneof(
    fc
      .tuple(picked(values), fc.nat(20))
      .map(([list, k]) => `SELECT ${list} FROM p WHERE x > ${k} OR hole IS NULL ORDER BY x`),
    fc
      .tuple(picked(sums), fc.integer({ min: 1, max: 4 }))
      .map(([list, g]) => `SELECT MOD(x, ${g}) AS k, ${list} FROM p GROUP BY k ORDER BY k`),
    fc
      .nat(3)
      .map(
        d => `SELECT p.x, q.txt, p.big - q.big AS apart FROM p LEFT JOIN q ON p.x = q.x + ${d} ORDER BY p.x`,
      ),
    fc.constant(
      'SELECT x, item FROM p, UNNEST(p.list) AS item WHERE EXISTS (SELECT 1 FROM q WHERE q.x = item) ORDER BY x, item',
    ),
  )

  describe.each(['duckdb', 'bigquery'] as const)('on %s', engine => {
    let it: Reading
    beforeAll(async () => {
      it = await startReading(engine, {
        part: { yaml: `${parameters}\ncache: { seconds: 60 }`, sql: part },
        reader: {
          yaml: `${parameters}\ncache: { seconds: 60 }\nsandbox: true\nupstream: { p: ${of('"@m"')}, q: ${of('1')} }`,
          sql: 'SELECT COUNT(*) AS n FROM p CROSS JOIN q',
        },
      })
    })
    afterAll(() => it.stop())

    test('random queries over the rows of others answer as one query with theirs in it', async () => {
      const sizes = fc.record({ n: fc.nat(30), m: fc.integer({ min: 1, max: 4 }) })
      await fc.assert(
        fc.asyncProperty(queries, sizes, async (sql, { n, m }) => {
          const { result } = await it.call(`reader?n=${n}&m=${m}&sql=${encodeURIComponent(sql)}`)
          const bindings = Object.entries({ n, m }).map(([name, value]) => ({
            name,
            type: { kind: 'INT64' as const },
            value,
          }))
          const inlined = `WITH p AS (${part}), q AS (${part.replace('@m', '1')}) ${sql}`
          const { rows } = await it.service.services.engine.run(
            { sql: inlined, bindings },
            { maxRows: 1000, timeoutMs: 30_000 },
          )
          expect(result).toEqual(JSON.parse(JSON.stringify(rows)))
        }),
        { numRuns: rounds(8, 500) },
      )
    })
  })
})

/** What callers are told while something fails: who is to blame, and what they get instead of an answer. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { endpointFrom } from '../../shared/endpoints/definition-file.ts'
import { type Endpoint, fieldsOf } from '../../shared/endpoints/definition.ts'
import { endpointsCollection } from '../../shared/endpoints/lookup.ts'
import { edgeRow } from '../testing/edges.ts'
import { type TestService, startService } from '../testing/service.ts'

/** 4xx only for what a caller can change: the rest is the operator's, has a stale copy where there is one, and is soon tried again. */
describe('what is to blame', () => {
  const table = 'postgres.logs'
  const queries = mkdtempSync(join(tmpdir(), 'blame-'))
  const tablesFolder = mkdtempSync(join(tmpdir(), 'blame-tables-'))
  let service: TestService
  let made = 0

  beforeAll(async () => {
    const timestamp = '2026-03-10T12:00:00Z'
    const rows = ['7', 'eight'].map((event_message, at) => ({
      id: `r${at}`,
      timestamp,
      project: `p${at}`,
      event_message,
    }))
    cpSync('infra/tables', tablesFolder, { recursive: true })
    const env = { FROZEN_NOW: '2026-03-10T12:30:00Z', REMEMBER_MS: '1', TABLES_DIR: tablesFolder }
    service = await startService({ tables: { [table]: rows }, queries, env, bundle: null })
  })

  afterAll(async () => {
    await service.stop()
    for (const folder of [queries, tablesFolder]) rmSync(folder, { recursive: true })
  })

  interface Definition {
    sql: string
    properties?: Record<string, object>
    cache?: number
    changes?: Partial<Endpoint>
  }

  /** Stores a definition as it is: `apply` would refuse some of these. @returns the path of its endpoint */
  async function define({ sql, properties = {}, cache = 60, changes }: Definition): Promise<string> {
    const id = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
    const definition = {
      id,
      description: 'd',
      parameters: { properties },
      cache: { seconds: cache },
      sandbox: true,
    }
    const endpoint = { ...endpointFrom(`e${made}`, definition, sql), ...changes }
    await service.services.store.replace({ collection: endpointsCollection, id }, fieldsOf(endpoint))
    return `/api/endpoints/query/${endpoint.name}?`
  }

  /** The status and the code of the error, or the way of the answer. */
  async function ask(
    path: string,
    init?: Parameters<TestService['fetch']>[1],
  ): Promise<[number, string | null]> {
    const response = await service.fetch(path, init)
    const body = (await response.json()) as { code?: string }
    return [response.status, body.code ?? response.headers.get('cache-status')]
  }

  /** Loads one more entry. */
  async function load(to: string, entry: object): Promise<void> {
    const file = join(queries, `${to}.ndjson`)
    writeFileSync(file, `${JSON.stringify({ timestamp: '2026-03-10T12:00:00Z', ...entry })}\n`)
    const logsFolder = join(service.env['DATA_DIR']!, 'logs')
    await loadLogs({ logsFolder, tablesFolder, table: to, files: [file], out: () => {} })
  }

  const sql = (text: string) => `&sql=${encodeURIComponent(text)}`
  const all = `SELECT id, event_message FROM \`${table}\``
  const broken = [500, 'internal']
  const text = { type: 'string' }

  /** Puts bytes in place of a log file's, until `undo`. */
  function damage(): () => void {
    const folder = join(service.env['DATA_DIR']!, 'logs', table)
    const [name] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      file => file.endsWith('.parquet') && !file.endsWith('empty.parquet'),
    )
    const file = join(folder, name!)
    const whole = readFileSync(file)
    writeFileSync(file, whole.subarray(0, whole.length / 2))
    return () => writeFileSync(file, whole)
  }

  describe('a log file that is damaged', () => {
    test('is no 4xx for anyone, and forgotten as soon as it is whole', async () => {
      const path = await define({ sql: `WITH logs AS (${all}) SELECT id FROM logs` })
      const undo = damage()
      expect(await ask(path)).toEqual([502, 'engine_error'])
      expect(await ask(path + sql('SELECT COUNT(*) AS n FROM logs'))).toEqual([502, 'engine_error'])
      expect(service.logged.at(-1)).toMatchObject({
        severity: 'ERROR',
        details: { reason: 'failed', engine: expect.stringMatching(/^A log file is damaged: .+\.parquet$/) },
      })
      undo()
      await sleep(1_100)
      expect(await ask(path)).toEqual([200, 'lqe; fwd=miss; stored'])
      expect(await ask(path + sql('SELECT COUNT(*) AS n FROM logs'))).toEqual([200, 'lqe; fwd=miss; stored'])
    })

    test('is covered by a stale copy, and not for a caller who wants none', async () => {
      const path = await define({ sql: all, cache: 1 })
      expect(await ask(path)).toEqual([200, 'lqe; fwd=miss; stored'])
      await sleep(1_100)
      const undo = damage()
      expect(await ask(path)).toEqual([200, 'lqe; fwd=stale; fwd-status=502; detail=engine_error'])
      const covered = { status: 200, cache: 'stale', failure: 'engine_error', reason: 'failed' }
      expect(service.logged.at(-1)).toMatchObject({
        details: { ...covered, engine: expect.stringContaining('A log file is damaged') },
      })
      const fresh = { headers: { 'Cache-Control': 'no-cache' } }
      expect(await ask(path, fresh)).toEqual([502, 'engine_error'])
      undo()
      expect(await ask(path, fresh)).toEqual([200, 'lqe; fwd=stale; stored'])
    })

    test('may be gone with its folder', async () => {
      const path = await define({ sql: all })
      const folder = join(service.env['DATA_DIR']!, 'logs', table)
      renameSync(folder, `${folder}.away`)
      expect(await ask(path)).toEqual([502, 'engine_error'])
      renameSync(`${folder}.away`, folder)
      await sleep(1_100)
      expect(await ask(path)).toEqual([200, 'lqe; fwd=miss; stored'])
    })
  })

  describe('a definition that is wrong', () => {
    test('by a table that the service does not know is no 4xx, with and without SQL of a caller', async () => {
      const unknown = await define({ sql: 'WITH logs AS (SELECT id FROM `new.logs`) SELECT id FROM logs' })
      expect(await ask(unknown)).toEqual(broken)
      expect(await ask(unknown + sql('SELECT COUNT(*) AS n FROM logs'))).toEqual(broken)
      expect(await ask(unknown + sql('SELECT id FROM elsewhere'))).toEqual([403, 'sandbox_violation'])
      for (const last of ['tables', 'explain'])
        expect(await ask(unknown.replace(/query\/(\w+)\?/, `$1/${last}`))).toEqual(broken)
      expect(service.logged.filter(({ details }) => 'frames' in details)).toEqual([]) // it is no bug
    })

    test('by a table that comes later is no 4xx until then, and answers as soon as it has logs', async () => {
      const path = await define({ sql: 'SELECT id FROM `later.logs`' })
      expect(await ask(path)).toEqual(broken)
      cpSync(join(tablesFolder, `${table}.json`), join(tablesFolder, 'later.logs.json'))
      await sleep(1_100)
      expect(await ask(path)).toEqual([502, 'engine_error'])
      await load('later.logs', { id: 'x' })
      await sleep(2_100)
      expect(await ask(path)).toEqual([200, 'lqe; fwd=miss; stored'])
    })

    test('by a name or a function that there is not is no 4xx', async () => {
      expect(await ask(await define({ sql: `SELECT colour FROM \`${table}\`` }))).toEqual(broken)
      expect(await ask(await define({ sql: 'SELECT NO_SUCH_FUNCTION(1) AS x' }))).toEqual(broken)
      expect(await ask(await define({ sql: 'SELECT FROM' }))).toEqual(broken)
    })

    test('by a cast that the logs do not stand is no 4xx, and is forgotten with them', async () => {
      const path = await define({
        sql: `SELECT CAST(event_message AS INT64) AS n FROM \`${table}\` WHERE project = @project`,
        properties: { project: text },
      })
      expect(await ask(`${path}project=p0`)).toEqual([200, 'lqe; fwd=miss; stored'])
      expect(await ask(`${path}project=p1`)).toEqual(broken)
    })

    test('by a default that does not fit is no 4xx, but for a caller who sends such a value', async () => {
      const filtered = `${all} WHERE REGEXP_CONTAINS(event_message, @pattern)`
      const pattern = { type: 'string', format: 'regular-expression', default: '(' }
      const path = await define({ sql: filtered, properties: { pattern } })
      expect(await ask(path)).toEqual(broken)
      expect(await ask(`${path}pattern=7`)).toEqual([200, 'lqe; fwd=miss; stored'])
      expect(await ask(`${path}pattern=)`)).toEqual([400, 'invalid_query'])
      const rows = { type: 'integer', default: -1 }
      const cut = await define({ sql: `${all} LIMIT @rows`, properties: { rows } })
      expect(await ask(cut)).toEqual(broken)
      const refused = await service.fetch(`${cut}rows=-2`)
      expect([refused.status, await refused.json()]).toEqual([
        400,
        expect.objectContaining({
          errors: [{ parameter: 'rows', detail: expect.stringContaining('LIMIT') }],
        }),
      ])
      const limit = { type: 'integer', maximum: 5, default: 6 }
      const limited = await define({ sql: `${all} WHERE 1 < @limit`, properties: { limit } })
      expect(await ask(limited)).toEqual(broken)
      expect(service.logged.at(-1)).toMatchObject({
        details: {
          reason: 'misconfigured',
          engine: expect.stringContaining('the default of limit must be at most 5'),
        },
      })
      expect(await ask(`${limited}limit=6`)).toEqual([400, 'invalid_parameter'])
      expect(await ask(`${limited}limit=5`)).toEqual([200, 'lqe; fwd=miss; stored'])
    })

    test('by an engine that cannot do it is covered by a stale copy', async () => {
      const path = await define({
        sql: `SELECT CAST(event_message AS INT64) AS n FROM \`${table}\` WHERE project = 'p9'`,
        cache: 1,
      })
      expect(await ask(path)).toEqual([200, 'lqe; fwd=miss; stored'])
      await sleep(1_100)
      await load(table, { project: 'p9', event_message: 'nine' })
      expect(await ask(path)).toEqual([200, 'lqe; fwd=stale; fwd-status=500; detail=internal'])
    })
  })

  describe('a pin that the engine refuses', () => {
    test('is no 4xx for the key that has it, and one for a key whose caller sends it', async () => {
      const filtered = `${all} WHERE REGEXP_CONTAINS(event_message, @project)`
      const path = await define({ sql: filtered, properties: { project: text } })
      const pinned = await service.issue({ pins: { project: '(' } })
      expect(await ask(path, { key: pinned })).toEqual(broken)
      await sleep(1_100)
      expect(await ask(`${path}project=(`)).toEqual([400, 'invalid_query'])
      // What is remembered of the one is not said of the other.
      expect(await ask(path, { key: pinned })).toEqual(broken)
      expect(await ask(`${path}project=(`)).toEqual([400, 'invalid_query'])
    })
  })

  describe('a caller', () => {
    test('gets 4xx for its own SQL and values, remembered for a minute', async () => {
      const number = { type: 'string' }
      const path = await define({
        sql: `WITH logs AS (${all}) SELECT id FROM logs WHERE LENGTH(id) = CAST(@number AS INT64)`,
        properties: { number },
      })
      for (let again = 0; again < 2; again++) {
        expect(await ask(`${path}number=many`)).toEqual([400, 'invalid_query'])
        for (const [query, status] of [
          ['SELEC 1', 400],
          ['SELECT colour FROM logs', 400],
          ['SELECT CAST(event_message AS INT64) AS n FROM logs', 400],
          ["SELECT REGEXP_CONTAINS(id, '(') AS x FROM logs", 400],
          ['SELECT id FROM `postgres.logs`', 403],
        ] as const)
          expect((await ask(path + sql(query)))[0]).toBe(status)
      }
    })
  })
})

/** What callers get while the store does not answer, shown by its file, which is taken away under a running service. */
describe('an outage of the store', () => {
  const now = '2026-03-10T12:30:30.000Z'
  const project = 'abcdefghijklmnopqrst'
  const answer = `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`

  let service: TestService

  beforeAll(async () => {
    const rows = [edgeRow('a', now, project, '/rest/v1/items')]
    service = await startService({
      tables: { 'cloudflare.logs.prod': rows },
      // Each call reads the key and the definition: nothing but the memory for outages has them.
      env: { FROZEN_NOW: now, REMEMBER_MS: '1' },
      bundle: null,
    })
  })

  afterAll(() => service.stop())

  /** The store's files under another name. */
  function moveStore(from: string, to: string): void {
    const folder = service.env['DATA_DIR']!
    for (const end of ['', '-wal', '-shm']) renameSync(join(folder, from + end), join(folder, to + end))
  }

  test('known keys get what memory holds, others get 503, and all is well when the store is back', async () => {
    const stranger = await service.issue({})
    const before = await service.fetch(answer)
    const body = await before.text()
    await service.fetch('/api/endpoints')
    moveStore('store.sqlite', 'away.sqlite')
    try {
      const calls = Array.from({ length: 200 }, async () => {
        const response = await service.fetch(answer)
        return [response.status, (await response.text()) === body]
      })
      expect(new Set((await Promise.all(calls)).map(String))).toEqual(new Set(['200,true']))
      expect((await service.fetch('/api/endpoints')).status).toBe(200)

      const refused = await service.fetch(answer, { key: stranger })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
      expect(await refused.json()).toMatchObject({ code: 'store_unavailable' })
      expect(service.logged.at(-1)).toMatchObject({
        severity: 'ERROR',
        message: 'request',
        details: { status: 503, error: 'store_unavailable', reason: 'unavailable', code: 'ENOENT' },
      })
    } finally {
      moveStore('away.sqlite', 'store.sqlite')
    }
    expect((await service.fetch(answer, { key: stranger })).status).toBe(200)
  })
})

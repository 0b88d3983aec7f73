import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Row, RunResult } from '../../shared/engines/engine.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { edgeRow } from '../testing/edges.ts'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'
import { type TestService, asShipped, startService } from '../testing/service.ts'

/** The log line of a call, which every call has, and one. */
describe('a call', () => {
  let service: TestService

  beforeAll(async () => {
    const rows = [edgeRow('a', new Date().toISOString(), 'abcdefgh', '/rest/v1/a')]
    service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env: asShipped, bundle: null })
    await (await service.fetch(address('SELECT 1 AS a'))).text() // the engine is open
  })

  afterAll(() => service.stop())

  beforeEach(() => {
    service.logged.length = 0
  })

  const address = (sql: string) =>
    `/api/endpoints/query/logs.all?${new URLSearchParams({ project: 'abcdefgh', sql }).toString()}`

  const arrays = ['a', 'b', 'c'].map(name => `UNNEST(GENERATE_ARRAY(1, 100000)) AS ${name}`)
  const forHours = address(`SELECT COUNT(*) AS n FROM ${arrays.join(', ')}`)
  const lines = () =>
    service.logged.filter(({ message }) => message === 'request').map(({ details }) => details)

  /** Sends the head and a part of the body, and goes away after `ms`. */
  async function leave(path: string, ms: number, { body = '', length = 0 } = {}): Promise<void> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const head = [`${length > 0 ? 'POST' : 'GET'} ${path} HTTP/1.1`, 'Host: a', `X-API-KEY: ${service.key}`]
    if (length > 0) head.push('Content-Type: application/json', `Content-Length: ${length}`)
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    await sleep(ms)
    socket.destroy()
  }

  async function untilLines(count: number): Promise<void> {
    while (lines().length < count) await sleep(20)
    await sleep(100) // one too many would come now
  }

  describe('a call whose client goes away has one line, with status 499,', () => {
    test.each<[when: string, path: string, ms: number, sent: { body?: string; length?: number }]>([
      ['while its query runs', forHours, 200, {}],
      ['in the middle of its body', address('SELECT 1 AS a'), 50, { body: '{"sql": "SEL', length: 100 }],
    ])('%s', async (_, path, ms, sent) => {
      await leave(path, ms, sent)
      await untilLines(1)
      expect(lines()).toHaveLength(1)
      expect(lines()[0]).toMatchObject({ status: 499, error: 'client_closed_request' })
    })

    test('while it waits for its turn', async () => {
      await Promise.all(Array.from({ length: 6 }, () => leave(forHours, 300)))
      await untilLines(6)
      expect(lines().map(({ status, how, endpoint }) => ({ status, how, endpoint }))).toEqual(
        Array.from({ length: 6 }, () => ({ status: 499, how: 'http', endpoint: 'logs.all' })),
      )
    })

    test('at the end of a run that goes on, with what that cost', async () => {
      const project = 'r'.repeat(20)
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const release = hold(async run => held.then(run))
      await leave(`/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`, 1_500)
      expect(lines()).toEqual([])
      letGo()
      release()
      await untilLines(1)
      expect(lines()).toHaveLength(1)
      expect(lines()[0]).toMatchObject({
        status: 499,
        error: 'client_closed_request',
        cache: 'miss',
        rows: 0,
      })
    })

    test('and no more when a run ends that did not heed its cancellation', async () => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const release = hold(async run => held.then(run))
      await leave(address('SELECT 1 AS a'), 100)
      await untilLines(1)
      expect(lines()).toMatchObject([{ status: 499, error: 'client_closed_request' }])
      letGo()
      release()
      await sleep(300)
      expect(lines()).toHaveLength(1)
    })
  })

  /** Lets runs of the engine begin by `act`. @returns ends that */
  function hold(act: (run: () => Promise<RunResult>) => Promise<RunResult>): () => void {
    const { engine } = service.services
    const run = engine.run.bind(engine)
    engine.run = (...given) => act(() => run(...given))
    return () => void (engine.run = run)
  }

  test('calls whose clients go at any moment have a line each, with their own ids', async () => {
    const calls = Array.from({ length: 40 }, (_, n) => leave(address(`SELECT ${n} AS n`), 10 + n))
    await Promise.all(calls)
    await untilLines(40)
    expect(new Set(lines().map(({ requestId }) => requestId)).size).toBe(40)
    expect(lines()).toHaveLength(40)
    for (const { status } of lines()) expect([200, 499]).toContain(status)
  })
})

/** The log table `service.requests` against the lines that processes have printed, also by processes that were killed. */
describe('the table of requests', () => {
  let service: TestService
  let folder: string
  beforeAll(async () => {
    // A laptop's files; in the cloud a sink fills the table (`infra/deploy/tables.test.ts`).
    service = await startService({ tables: { 'cloudflare.logs.prod': [] }, bundle: null })
    folder = join(service.env['DATA_DIR']!, 'logs/service.requests')
  })
  afterAll(() => service.stop())

  const start = () => startFunction('query', { env: service.env as Record<string, string> })

  const query = '/api/endpoints/query'
  const paths = [
    `${query}/usage.api-counts?interval=daily&project=a`,
    `${query}/usage.api-counts?interval=daily&project=a`,
    `${query}/usage.api-counts?interval=hourly&project=b&sql=SELECT%201%20AS%20a`,
    `${query}/logs.all?project=a`,
    `${query}/logs.all`,
    `${query}/not.there`,
    '/health',
  ]

  /** One call after the other, over and over, until the process ends. */
  async function load({ url }: FunctionProcess, signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted; n++)
      try {
        const key = n % 11 === 5 ? 'lqe_unknown' : service.key
        const response = await fetch(url + paths[n % paths.length]!, {
          headers: { 'X-API-KEY': key },
          signal,
        })
        await response.arrayBuffer()
      } catch {
        return // killed
      }
  }

  interface Line {
    requestId: string
    how?: string
    endpoint?: string
    status: number
    cache?: string
    key?: string
    sql?: boolean
    ms: number
  }

  /** What the processes have printed of calls. */
  function printed(...processes: FunctionProcess[]): Line[] {
    return processes.flatMap(({ output }) => linesOf(output()))
  }

  /** The whole lines of calls in a text. */
  function linesOf(text: string): Line[] {
    const lines = text
      .split('\n')
      .slice(0, -1)
      .filter(line => line.startsWith('{'))
    return lines.map(line => JSON.parse(line) as Line).filter(({ how }) => how !== undefined)
  }

  const columns = ['id', 'how', 'endpoint', 'status', 'cache', 'key', 'sql', 'ms'] as const

  type Request = Row & { id: string }

  async function table(): Promise<Request[]> {
    const sql = `SELECT ${columns.join(', ')} FROM \`service.requests\``
    const { rows } = await service.services.engine.run(
      { sql, bindings: [] },
      { maxRows: 1e6, timeoutMs: 60_000 },
    )
    return rows as Request[]
  }

  function asRow({ requestId, how, endpoint, status, cache, key, sql, ms }: Line): Request {
    const texts = { how: how!, endpoint: endpoint ?? null, cache: cache ?? null, key: key ?? null }
    return { id: requestId, ...texts, status, sql: sql ?? null, ms }
  }

  const byId = (rows: Request[]) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))

  /** Kills it, and waits until all that it printed is here. */
  async function ended({ child }: FunctionProcess): Promise<void> {
    const end = once(child, 'close')
    child.kill('SIGKILL')
    await end
  }

  /** Kills them in the middle of their work, so long after each has printed some calls. */
  async function killed(processes: FunctionProcess[], afterMs: number): Promise<void> {
    const stopped = new AbortController()
    const loads = processes.flatMap(each => Array.from({ length: 4 }, () => load(each, stopped.signal)))
    while (processes.some(each => printed(each).length < 50)) await sleep(10)
    await sleep(afterMs)
    await Promise.all(processes.map(ended))
    stopped.abort()
    await Promise.all(loads)
  }

  describe('service.requests', () => {
    test('equals a recount of the printed lines, also after processes were killed in the middle of their work', async () => {
      const all: FunctionProcess[] = []
      for (let round = 0; round < rounds(1, 50); round++) {
        const processes = await Promise.all([start(), start()])
        all.push(...processes)
        await killed(processes, 137 * (round + 1))
      }
      const lines = printed(...all)
      expect(lines.length).toBeGreaterThanOrEqual(100)
      expect(new Set(lines.map(({ status }) => status))).toEqual(new Set([200, 400, 401, 404]))
      const ids = new Set(lines.map(({ requestId }) => requestId))
      const rows = await table()
      expect(byId(rows.filter(({ id }) => ids.has(id)))).toEqual(byId(lines.map(asRow)))
      // The last batch of a process that was killed between its two writes.
      const unprinted = rows.filter(({ id }) => !ids.has(id)).map(({ id }) => id)
      process.stdout.write(
        `${lines.length} lines of ${all.length} killed processes, ${unprinted.length} more in the table\n`,
      )
      const files = readdirSync(folder).filter(name => name.endsWith('.ndjson'))
      // One of each day that has come, whichever process it was.
      for (const name of files) expect(name).toMatch(/^\d{4}-\d\d-\d\d\.ndjson$/)
      const batches = files.flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n\n'))
      const halfKnown = batches.filter(batch => unprinted.some(id => batch.includes(id)))
      expect(halfKnown.length).toBeLessThanOrEqual(all.length)
    })

    test('is what service.usage sums up', async () => {
      const usage = async (parameters: string) => {
        const headers = { 'Cache-Control': 'no-cache' }
        const response = await service.fetch(`${query}/service.usage?${parameters}`, { headers })
        return ((await response.json()) as { result: Row[] }).result
      }
      const rows = await table()
      for (const [by, name] of [
        ['endpoint', 'endpoint'],
        ['key', 'key'],
      ] as const) {
        const groups = Map.groupBy(rows, row => row[name])
        const expected = [...groups].map(([value, group]) => {
          const ms = group.map(row => Number(row['ms'])).toSorted((a, b) => a - b)
          const reached = group.filter(({ cache }) => cache !== null && cache !== 'uncached')
          const hits = reached.filter(({ cache }) => cache === 'hit')
          return {
            [name]: value,
            calls: group.length,
            errors: group.filter(({ status }) => Number(status) >= 400).length,
            p50_ms: ms[Math.ceil(ms.length * 0.5) - 1],
            p95_ms: ms[Math.ceil(ms.length * 0.95) - 1],
            hit_ratio: reached.length > 0 ? hits.length / reached.length : null,
          }
        })
        const found = await usage(`by=${by}`)
        expect(found).toHaveLength(expected.length)
        for (const row of expected) expect(found).toContainEqual(expect.objectContaining(row))
      }
    })

    test('is summed up for no key with pins, which is a customer’s', async () => {
      const key = await service.issue({ pins: { project: 'a' } })
      const response = await service.fetch(`${query}/service.usage`, { key })
      expect([response.status, await response.json()]).toEqual([
        403,
        expect.objectContaining({ code: 'pinned_parameter' }),
      ])
    })

    test('passes over a line that is being written, and has files of the last days only', async () => {
      const before = await table()
      const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
      const [old, half] = [`${day(31)}.a.ndjson`, `${day(30)}.ndjson`].map(name => join(folder, name))
      writeFileSync(old!, '')
      writeFileSync(half!, '{"requestId":"a","time":"2026-01-07T12:00:00Z","how":"ht')
      expect(byId(await table())).toEqual(byId(before))
      const one = await start()
      await fetch(`${one.url}/health`)
      while (!one.output().includes('"request"')) await sleep(10)
      await ended(one)
      expect(readdirSync(folder)).toEqual(expect.arrayContaining([`${day(30)}.ndjson`]))
      expect(existsSync(old!)).toBe(false)
    })

    test('is left out where it is off, and where its folder cannot be written calls go on', async () => {
      for (const [days, warned] of [
        ['0', false],
        ['1', true],
      ] as const) {
        const data = join(service.env['DATA_DIR']!, `other-${days}`)
        mkdirSync(join(data, 'logs'), { recursive: true })
        writeFileSync(join(data, 'logs/service.requests'), '')
        const one = await startFunction('query', { env: { DATA_DIR: data, REQUESTS_DAYS: days } })
        expect((await fetch(`${one.url}/health`)).status).toBe(200)
        while (!one.output().includes('"request"')) await sleep(10)
        await ended(one)
        expect(one.output().includes('requests are missing in the table')).toBe(warned)
      }
    })
  })
})

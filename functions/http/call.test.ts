/** The log line of a call, which every call has, and one. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { RunResult } from '../../shared/engines/engine.ts'
import { edgeRow } from '../testing/edges.ts'
import { asShipped, startService, type TestService } from '../testing/service.ts'

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
    expect(lines()[0]).toMatchObject({ status: 499, error: 'client_closed_request', cache: 'miss', rows: 0 })
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

/** Raw bytes from a client without a key, against the whole process. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'

const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
const head = 'HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
let server: FunctionProcess

beforeAll(async () => {
  server = await startFunction('query', { env: { DATA_DIR: folder, EXPLORER_DIR: 'off' } })
})

afterAll(async () => {
  server.child.kill('SIGTERM')
  await once(server.child, 'exit')
  rmSync(folder, { recursive: true, force: true })
})

/** One alert for a caller without a key is one too many. */
afterEach(async () => {
  expect(await send(`GET /health ${head}`)).toEqual([200])
  expect(server.output()).not.toMatch(/"severity":"(ERROR|WARNING)"/)
})

/**
 * Sends bytes over a connection of their own.
 * @param after what the client does next: `wait` for an end of the connection, or at most a minute; `end` its half;
 *   `leave` without an answer
 * @returns the statuses of the answers
 */
async function send(bytes: string, after: 'wait' | 'end' | 'leave' = 'wait'): Promise<number[]> {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.on('error', () => {}) // 'close' comes after it
  const closed = new Promise(resolve => socket.on('close', resolve))
  socket.on('end', () => socket.end())
  socket.write(Buffer.from(bytes, 'latin1'))
  if (after === 'end') socket.end()
  if (after === 'leave') setTimeout(() => socket.destroy(), 2)
  await Promise.race([closed, sleep(60_000, undefined, { ref: false })])
  socket.destroy()
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(match => Number(match[1]))
  expect(received.match(/\r\nX-Content-Type-Options: nosniff\r\n/gi) ?? []).toHaveLength(statuses.length)
  return statuses
}

const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'PROPFIND', 'TRACE', 'QUERY', 'M-SEARCH', 'CONNECT', 'get']
const targets = [
  '*',
  '//',
  '/%',
  '/%00',
  '/\\',
  'a',
  'a:443',
  '?x',
  '/#x',
  'https://',
  'http:/x',
  'http://[',
  '/é',
]

describe('a target that names nothing', () => {
  test.each(targets)('%s gets a 4xx, by any method', async target => {
    const text = (method: string) => `${method} ${target} ${head}`
    const statuses = (await Promise.all(methods.map(method => send(text(method))))).flat()
    expect(statuses).toHaveLength(methods.length)
    expect(statuses.filter(status => status < 400 || status >= 500)).toEqual([])
  })

  test('* is 400, also where it is asked for its options', async () => {
    const answers = ['GET', 'OPTIONS'].map(method => send(`${method} * ${head}`))
    expect(await Promise.all(answers)).toEqual([[400], [400]])
  })
})

test('a target in absolute form is its path', async () => {
  for (const target of ['http://a/health', 'HTTPS://a:8080/health?x=1'])
    expect(await send(`GET ${target} ${head}`)).toEqual([200])
})

describe('headers and framing that make no sense', () => {
  test.each([
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a length that no number holds', 'Content-Length: 99999999999999999999\r\n\r\n'],
    ['a length and chunks', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a chunk without a size', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'],
    [
      'a chunk of 300 KB',
      `Transfer-Encoding: chunked\r\n\r\n${(300_000).toString(16)}\r\n${'x'.repeat(300_000)}`,
    ],
    ['an unknown transfer encoding', 'Transfer-Encoding: gzip\r\n\r\n'],
    ['an unknown expectation', 'Expect: miracles\r\nContent-Length: 0\r\n\r\n'],
    ['a header of 300 KB', `X: ${'x'.repeat(300_000)}\r\n\r\n`],
    ['a NUL in a header', 'X: \0\r\n\r\n'],
    ['a header without a name', ': x\r\n\r\n'],
    ['another host twice', 'Host: b\r\n\r\n'],
    [
      'weights that are no numbers',
      'Accept: ;;;\r\nAccept-Encoding: ;q=x,*;q=9\r\nContent-Length: 0\r\n\r\n',
    ],
    ['a body that is not UTF-8', 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"\xff'],
    [
      'an encoding of the body',
      'Content-Type: application/json\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n1',
    ],
    ['another protocol', 'Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n'],
  ])('%s gets a 4xx', async (_, rest) => {
    const statuses = await send(
      `POST /api/endpoints/query/logs.all HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`,
    )
    expect(statuses).toHaveLength(1)
    expect(statuses[0]).toBeGreaterThanOrEqual(400)
    expect(statuses[0]).toBeLessThan(500)
  })
})

const whole = [
  'POST /api/endpoints/query/logs.all?project=a HTTP/1.1\r\nHost: a\r\nX-API-KEY: lqe_a_b\r\n',
  'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
  '11\r\n{"sql":"SELECT 1"\r\n1\r\n}\r\n0\r\n\r\n',
].join('')

test.each(['end', 'leave'] as const)('a client may %s at every byte of a request', async after => {
  const cuts = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length))
  const statuses = (await Promise.all(cuts.map(part => send(part, after)))).flat()
  expect(statuses.filter(status => status >= 500)).toEqual([])
})

test('requests behind each other are answered in order, up to one that cannot be read', async () => {
  const health = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
  const star = 'GET * HTTP/1.1\r\nHost: a\r\n\r\n'
  expect(await send(health + star + `GET /health ${head}`)).toEqual([200, 400, 200])
  expect((await send(`${health}nonsense\r\n\r\n${health}`)).at(-1)).toBe(400)
})

test('no other bytes get a 5xx: requests with parts taken out, put in and repeated', async () => {
  const part = fc.constantFrom(
    '\r\n',
    '\n',
    '\0',
    ':',
    ' ',
    '/',
    '%',
    '*',
    '?',
    '\xff',
    'HTTP/1.1',
    '0',
    'chunked',
  )
  const edit = fc.record({ at: fc.nat(whole.length), cut: fc.nat(8), put: fc.array(part, { maxLength: 3 }) })
  const damaged = fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map(edits =>
      edits.reduce(
        (text, { at, cut, put }) => text.slice(0, at) + put.join('') + text.slice(at + cut),
        whole,
      ),
    )
  await fc.assert(
    fc.asyncProperty(fc.array(damaged, { minLength: 20, maxLength: 20 }), async requests => {
      const statuses = (await Promise.all(requests.map(text => send(text, 'end')))).flat()
      expect(statuses.filter(status => status >= 500)).toEqual([])
    }),
    { numRuns: 20, endOnFailure: true },
  )
})

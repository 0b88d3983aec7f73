/** What functions-framework does by itself, and with the patch. A test of "by itself" that fails names a patch to delete. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'framework-'))
let unpatched: FunctionProcess
let patched: FunctionProcess

/** What a function sees of its request. */
interface Seen {
  domain: boolean
  layered: boolean
  bodyBytes: number
}

/** A function that answers with what it sees. */
async function start(patch: string): Promise<FunctionProcess> {
  const source = join(folder, `${patch === '' ? 'unpatched' : 'patched'}.mjs`)
  writeFileSync(
    source,
    `import { createRequire } from 'node:module'
     import domain from 'node:domain'
     import http from 'node:http'
     const { createServer } = http
     http.createServer = (...args) => {
       const options = { headersTimeout: 1000, connectionsCheckingInterval: 100 } // a minute, and half of one
       return typeof args[0] === 'function' ? createServer(options, args[0]) : createServer({ ...args[0], ...options }, args[1])
     }
     ${patch}
     const functions = createRequire(${JSON.stringify(join(root, 'package.json'))})('@google-cloud/functions-framework')
     functions.http('sees', (req, res) => {
       const bodyBytes = JSON.stringify(req.body ?? '').length
       res.json({ domain: Boolean(domain.active), layered: 'functionExecutionFinished' in res.locals, bodyBytes })
     })`,
  )
  return startFunction('sees', { source })
}

beforeAll(async () => {
  const framework = JSON.stringify(join(root, 'functions/http/framework.ts'))
  const patch = `import { patchFramework } from ${framework}
    patchFramework({ log: () => {}, host: '127.0.0.1', drainMs: 0, interrupt: () => {}, close: async () => {} })`
  ;[unpatched, patched] = await Promise.all([start(''), start(patch)])
})

afterAll(() => {
  for (const { child } of [unpatched, patched]) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const seen = async ({ url }: FunctionProcess) => (await (await fetch(url)).json()) as Seen

async function answer({ url }: FunctionProcess, path: string, init: RequestInit = {}) {
  const response = await fetch(url + path, init)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

const post = (body: string) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body })

test('a domain for each request: one by itself, none with the patch', async () => {
  expect((await seen(unpatched)).domain).toBe(true)
  expect((await seen(patched)).domain).toBe(false)
})

test('layers before the function: many by itself, none with the patch', async () => {
  expect((await seen(unpatched)).layered).toBe(true)
  expect((await seen(patched)).layered).toBe(false)
})

test('other interfaces than the one given: heard by itself, not with the patch', async () => {
  // Linux has the first without a word, others the second.
  const hears = ({ port }: FunctionProcess) =>
    Promise.any(['127.0.0.2', '[::1]'].map(host => fetch(`http://${host}:${port}`))).then(
      () => true,
      () => false,
    )
  expect([await hears(unpatched), await hears(patched)]).toEqual([true, false])
})

test('a type that a browser may guess: by itself, not with the patch', async () => {
  const sniffing = async ({ url }: FunctionProcess) =>
    (await fetch(url)).headers.get('x-content-type-options')
  expect(await sniffing(unpatched)).toBeNull()
  expect(await sniffing(patched)).toBe('nosniff')
})

test('a path that is not UTF-8: a page by itself, given to the function with the patch', async () => {
  expect(await answer(unpatched, '/%ff')).toMatchObject({
    status: 400,
    type: expect.stringContaining('html'),
  })
  expect((await answer(patched, '/%ff')).status).toBe(200)
})

describe('a body', () => {
  test('of 1 MB: read by itself, left to the function with the patch', async () => {
    const large = post(JSON.stringify({ sql: 'x'.repeat(1_000_000) }))
    expect(JSON.parse((await answer(unpatched, '/', large)).text)).toMatchObject({ bodyBytes: 1_000_010 })
    expect(JSON.parse((await answer(patched, '/', large)).text)).toMatchObject({ bodyBytes: 2 })
  })

  test('that is not JSON: printed by itself, and nowhere with the patch', async () => {
    for (const server of [unpatched, patched]) await answer(server, '/', post('{"canary'))
    while (!unpatched.output().includes('canary')) await sleep(20)
    expect(patched.output()).not.toContain('canary')
  })
})

describe('what Node refuses: bare by itself, a problem document with the patch', () => {
  const refused = async (sent: string, { url }: FunctionProcess) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(sent)
    socket.on('error', () => {}) // what is sent behind a refusal
    let answer = ''
    socket.on('data', part => (answer += String(part)))
    await once(socket, 'close')
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body }
  }
  const host = 'Host: a\r\n'

  test.each<[what: string, sent: string, bare: number, status: number, detail: string]>([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 400, 'no Host'],
    [
      'an unknown Expect',
      `GET / HTTP/1.1\r\n${host}Expect: x\r\nConnection: close\r\n\r\n`,
      417,
      400,
      '100-continue',
    ],
    ['no header', `GET / HTTP/1.1\r\n${host}x\r\n\r\n`, 400, 400, 'not valid HTTP'],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 400, 'not valid HTTP'],
    [
      'two lengths',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      400,
      400,
      'not valid HTTP',
    ],
    ['headers that do not come', `GET / HTTP/1.1\r\n${host}`, 408, 400, 'in time'],
  ])('%s', async (_, sent, bare, status, detail) => {
    const own = await refused(sent, unpatched)
    expect([own.status, own.body]).toEqual([bare, expect.not.stringContaining('{')])
    const answer = await refused(sent, patched)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toMatchObject({ status, detail: expect.stringContaining(detail) })
    for (const header of ['application/problem+json', 'connection: close', 'x-content-type-options: nosniff'])
      expect(answer.head).toContain(header)
  })

  test('two Hosts are one too many, which pass by themselves', async () => {
    const two = `GET / HTTP/1.1\r\n${host}hOST: b\r\nConnection: close\r\n\r\n`
    expect((await refused(two, unpatched)).status).toBe(200)
    const { status, body } = await refused(two, patched)
    expect([status, body]).toEqual([400, expect.stringContaining('more than one Host')])
  })

  test('HTTP/1.0 needs no Host, and 100-continue is heard', async () => {
    expect((await refused('GET / HTTP/1.0\r\n\r\n', patched)).status).toBe(200)
    const asked = `POST / HTTP/1.1\r\n${host}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
    expect((await refused(asked, patched)).status).toBe(100)
  })

  test('headers of 300 KB are too long', async () => {
    const { status, body } = await refused(
      `GET / HTTP/1.1\r\n${host}x: ${'x'.repeat(300_000)}\r\n\r\n`,
      patched,
    )
    expect([status, body]).toEqual([414, expect.stringContaining('headers are too long')])
  })
})

/** The status of the answer to a bare request, `null` for none. */
async function statusOf({ url }: FunctionProcess, method: string, target: string): Promise<number | null> {
  const { hostname: host, port } = new URL(url)
  const sent = request({ host, port, method, path: target, agent: false }).end()
  const [event] = await Promise.race([
    once(sent, 'response') as Promise<[IncomingMessage]>,
    once(sent, 'connect') as Promise<[IncomingMessage]>,
  ]).catch(() => [null])
  sent.destroy()
  return event?.statusCode ?? null
}

test('a target that is not a path: 404 with a page by itself, given to the function with the patch', async () => {
  expect(await statusOf(unpatched, 'GET', '*')).toBe(404)
  expect(await statusOf(patched, 'GET', '*')).toBe(200)
})

test('CONNECT: closed without an answer by itself, 400 with the patch', async () => {
  expect(await statusOf(unpatched, 'CONNECT', 'a:443')).toBe(null)
  expect(await statusOf(patched, 'CONNECT', 'a:443')).toBe(400)
})

test('a URL of 20 KB: an empty 431 by itself, an answer of the function with the patch', async () => {
  const long = `/?${'x'.repeat(20_000)}`
  expect(await answer(unpatched, long)).toMatchObject({ status: 431, text: '' })
  expect((await answer(patched, long)).status).toBe(200)
})

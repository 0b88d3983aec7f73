/** The process as a whole, started as when deployed and stopped by a signal. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { loadConfig } from '../../shared/config.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'

const root = join(import.meta.dirname, '../..')

let folder: string
let server: FunctionProcess | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drain-'))
})

afterEach(() => {
  server?.child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** A function whose answer takes `ms`. */
async function start(
  ms: number,
  { patched = true, answer = "'done'", drainMs = 3000 } = {},
): Promise<FunctionProcess> {
  const source = join(folder, 'function.mjs')
  const patch = `
    import { patchFramework } from ${JSON.stringify(join(root, 'functions/http/framework.ts'))}
    patchFramework({ log: (_, message) => console.log(message), host: null, drainMs: ${drainMs}, interrupt: () => {}, close: async () => console.log('closed') })`
  writeFileSync(
    source,
    `import { createRequire } from 'node:module'
     ${patched ? patch : ''}
     const { http } = createRequire(${JSON.stringify(join(root, 'package.json'))})('@google-cloud/functions-framework')
     http('slow', async (req, res) => {
       console.log('in flight')
       await new Promise(resolve => setTimeout(resolve, ${ms}))
       res.end(${answer})
     })`,
  )
  server = await startFunction('slow', { source })
  return server
}

/** A function whose call holds a thread of Node's pool for minutes: `process.exit` would wait for it. */
function busyFunction(): string {
  const source = join(folder, 'busy.mjs')
  const at = (path: string) => JSON.stringify(join(root, path))
  writeFileSync(
    source,
    `import { createRequire } from 'node:module'
     import { pbkdf2 } from 'node:crypto'
     import { promisify } from 'node:util'
     import { patchFramework } from ${at('functions/http/framework.ts')}
     import { httpFunction } from ${at('functions/http/call.ts')}
     const { http } = createRequire(${at('package.json')})('@google-cloud/functions-framework')
     let busy
     patchFramework({ log: () => {}, host: null, drainMs: 2000, interrupt: () => {}, close: () => busy })
     const handle = async () => {
       busy = promisify(pbkdf2)('a', 'b', 2 ** 31 - 1, 64, 'sha512')
       console.log('in flight')
       await busy
     }
     http('busy', httpFunction({ project: null }, handle, status => console.log('line ' + status)))`,
  )
  return source
}

/** The answers to `count` requests that are in flight when `signal` comes: a body, or `null` for none. No more are taken. */
async function answersAtSignal(
  { child, url, output }: FunctionProcess,
  signal: NodeJS.Signals,
  count: number,
  patched = true,
) {
  const answers = Array.from({ length: count }, () =>
    fetch(url).then(
      async response => ({ status: response.status, body: await response.text() }),
      () => null,
    ),
  )
  while (output().split('in flight').length <= count) await sleep(10)
  child.kill(signal)
  if (patched) {
    while (!output().includes('stopping')) await sleep(10)
    // A connection of its own: fetch could take one that the service still answers.
    await expect(once(connect(Number(new URL(url).port), '127.0.0.1'), 'connect')).rejects.toThrow()
  }
  return Promise.all(answers)
}

describe('a signal to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets requests in flight finish, then closes and ends',
    async signal => {
      const slow = await start(500)
      const ended = once(slow.child, 'exit')
      const answers = await answersAtSignal(slow, signal, 20)
      expect(answers).toEqual(Array.from({ length: 20 }, () => ({ status: 200, body: 'done' })))
      expect((await ended)[0]).toBe(0)
      expect(slow.output()).toContain('closed')
    },
  )

  test.each([
    ['nothing', ''],
    ['half a head', 'GET / HTTP/1.1\r\nHost: a'],
  ])('does not wait for a connection that has sent %s', async (_, sent) => {
    const slow = await start(500)
    const ended = once(slow.child, 'exit')
    const { hostname, port } = new URL(slow.url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    await once(socket, 'connect')
    socket.write(sent)
    await sleep(50)
    const answers = await answersAtSignal(slow, 'SIGTERM', 1)
    expect(answers).toEqual([{ status: 200, body: 'done' }])
    expect(await ended).toEqual([0, null]) // at the end of the time it is SIGKILL
    socket.destroy()
  })

  test('tells busy connections in an answer that they end, and loses none of their requests', async () => {
    const busy = await start(20, { drainMs: 60_000 })
    const ended = once(busy.child, 'exit')
    const answered: IncomingMessage[] = []
    const connections = Array.from({ length: 10 }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (let waited = performance.now(); ; waited = performance.now()) {
        const response = once(get(busy.url, { agent }), 'response') as Promise<[IncomingMessage]>
        const [answer] = await response.catch((error: unknown) => {
          // The service waits 200 ms for the head of a request. A client on a busy machine may take longer.
          if (performance.now() - waited < 200) throw error
          return [null]
        })
        if (!answer) return 200
        answer.resume()
        await once(answer, 'end')
        answered.push(answer)
        if (answer.headers.connection === 'close') return answer.statusCode
      }
    })
    while (answered.length < 100) await sleep(10)
    busy.child.kill('SIGTERM')
    expect(await Promise.all(connections)).toEqual(connections.map(() => 200))
    expect(await ended).toEqual([0, null])
  })

  test('sends the whole of an answer that its reader takes slowly', async () => {
    const bytes = 20_000_000
    const large = await start(0, { answer: `'x'.repeat(${bytes})` })
    const ended = once(large.child, 'exit')
    const { hostname, port } = new URL(large.url)
    const socket = connect(Number(port), hostname)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    let read = 0
    socket.on('data', (part: Buffer) => (read += part.length))
    await once(socket, 'data')
    socket.pause()
    await sleep(300)
    large.child.kill('SIGTERM')
    await sleep(600)
    socket.resume()
    await once(socket, 'close')
    expect(read).toBeGreaterThan(bytes)
    expect(await ended).toEqual([0, null])
  })

  test('answers a request that hangs, and does not wait for it for ever', async () => {
    const slow = await start(60_000)
    const ended = once(slow.child, 'exit')
    const answers = await answersAtSignal(slow, 'SIGTERM', 3)
    expect(answers.map(answer => answer?.status)).toEqual([503, 503, 503])
    expect((await ended)[0]).toBe(0)
  })

  test('ends in time, though a thread is busy that nothing interrupts', async () => {
    server = await startFunction('busy', { source: busyFunction() })
    const { child, url, output } = server
    const ended = once(child, 'exit')
    const answer = fetch(url).then(({ status }) => status)
    while (!output().includes('in flight')) await sleep(10)
    child.kill('SIGTERM')
    expect(await answer).toBe(503)
    expect(await ended).toEqual([null, 'SIGKILL'])
    expect(output()).toMatch(/^line 503$/m)
  })

  test('interrupts a query of hours in time for its callers’ answers, and ends well', async () => {
    const env = { DATA_DIR: folder, DRAIN_MS: '2500', EXPLORER_DIR: 'off' }
    const services = await openServices(loadConfig(env))
    await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
    const all = { name: 'test', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
    const { key } = await issueKey(services.store, all)
    await services.close()
    server = await startFunction('query', { env })
    const { child, url, output } = server
    const arrays = ['a', 'b', 'c'].map(name => `UNNEST(GENERATE_ARRAY(1, 100000)) AS ${name}`)
    const sql = `SELECT COUNT(*) AS n FROM ${arrays.join(', ')}`
    const query = new URLSearchParams({ project: 'a', sql }).toString()
    const ended = once(child, 'exit')
    const answers = Array.from({ length: 5 }, async () => {
      const response = await fetch(`${url}/api/endpoints/query/logs.all?${query}`, {
        headers: { 'X-API-KEY': key },
      })
      const { code } = (await response.json()) as { code: string }
      return [response.status, response.headers.get('retry-after'), code]
    })
    await sleep(1_000)
    child.kill('SIGTERM')
    expect(await Promise.all(answers)).toEqual(
      Array.from({ length: 5 }, () => [503, '5', 'engine_unavailable']),
    )
    expect((await ended)[0]).toBe(0)
    expect(output()).toContain('"message":"interrupting"')
  })

  test('ends the requests in flight by the framework alone; if it no longer does, `drain` can go', async () => {
    const slow = await start(500, { patched: false })
    const answers = await answersAtSignal(slow, 'SIGTERM', 5, false)
    expect(answers.filter(answer => answer?.body === 'done')).toEqual([])
  })
})

/** One try of a delivery, over real HTTP and HTTPS to a receiver on this machine. */
import { execFile } from 'node:child_process'
import { type AddressInfo, createServer, setDefaultAutoSelectFamily, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inspect, promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { openSqlite } from '../stores/sqlite/store.ts'
import { StoreError } from '../stores/store.ts'
import { openChannels } from './deliver.ts'
import { channelsAt, DeliveryError, fieldsOfChannels } from './channels.ts'
import { deliveries, environment, failureOf, hookTo, message } from './testing/delivering.ts'
import { answer, type Behaviour, host, type Receiver, startReceiver } from './testing/receiver.ts'

let receiver: Receiver
beforeEach(async () => void (receiver = await startReceiver()))
afterEach(() => receiver.close())

/** Fails whatever the receiver does within this time, and longer where the machine is busy. */
const soon = { timeoutMs: 300 }

describe('a delivery', () => {
  test.each([200, 201, 202, 204, 299])('is one where the receiver answers %d', async status => {
    receiver.behaviour = answer(status)
    await (
      await deliveries(hookTo(receiver.port))
    )()
    expect(receiver.received).toMatchObject([
      { method: 'POST', path: '/alerts', headers: { host: `${host}:${receiver.port}` } },
    ])
  })

  test.each([300, 304, 400, 401, 403, 404, 410, 413, 422, 429, 451, 500, 501, 502, 503, 504, 599])(
    'may be tried again after %d, not before Retry-After',
    async status => {
      const words = `channel hook: the receiver answers ${status}`
      receiver.behaviour = answer(status)
      const deliver = await deliveries(hookTo(receiver.port))
      expect(await failureOf(deliver())).toMatchObject({ message: words, retryAfterMs: 0 })
      receiver.behaviour = answer(status, { 'retry-after': '7' })
      expect(await failureOf(deliver())).toMatchObject({ message: words, retryAfterMs: 7_000 })
    },
  )

  test.each([
    ['120', 120_000],
    ['0', 0],
    ['86400', 3_600_000],
    ['99999999999999999999999', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 3_600_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-5', 0],
    ['soon', 0],
    ['', 0],
  ])('waits for Retry-After %s, an hour at most', async (text, ms) => {
    receiver.behaviour = answer(503, { 'retry-after': text })
    const error = await failureOf((await deliveries(hookTo(receiver.port)))())
    expect(error.retryAfterMs).toBe(ms)
  })

  test.each([301, 302, 303, 307, 308])('follows no redirect (%d)', async status => {
    const another = await startReceiver({ secure: false })
    receiver.behaviour = answer(status, { location: `http://127.0.0.1:${another.port}/` })
    const error = await failureOf((await deliveries(hookTo(receiver.port)))())
    expect(error.message).toContain(`answers ${status}`)
    expect(another.connections).toBe(0)
    await another.close()
  })

  test('goes to no channel that the file does not have', async () => {
    const deliver = await deliveries(hookTo(receiver.port))
    for (const name of ['pager', 'toString', '__proto__', ''])
      expect((await failureOf(deliver({}, name))).message).toContain('has none of this name')
  })

  test('says which channels it goes to: others once they are applied', async () => {
    const store = openSqlite({ file: ':memory:' })
    const settings = { rememberMs: 0, secret: () => undefined, alertsToLoopback: false }
    const { appliedChannels } = openChannels({ store, ...settings })
    expect(await appliedChannels()).toBe('')
    await store.create(channelsAt, fieldsOfChannels(hookTo(1)))
    const first = await appliedChannels()
    expect(await appliedChannels()).toBe(first)
    await store.update(channelsAt, { set: fieldsOfChannels(hookTo(1)) })
    expect(await appliedChannels()).not.toBe(first)
    await store.close()
  })

  test('is tried again where the store does not answer', async () => {
    const store = openSqlite({ file: ':memory:' })
    store.get = () => Promise.reject(new StoreError('unavailable', 'away'))
    const settings = { rememberMs: 1, secret: () => undefined, alertsToLoopback: false }
    const { deliver } = openChannels({ store, ...settings })
    const error = await failureOf(deliver('hook', message, new AbortController().signal))
    expect(error).toBeInstanceOf(DeliveryError)
    expect(error.retryAfterMs).toBe(0)
  })
})

describe('a receiver that', () => {
  const bad: Record<string, Behaviour> = {
    'says nothing': () => {},
    'closes the connection': ({ socket }) => socket!.destroy(),
    'closes within its headers': ({ socket }) => socket!.end('HTTP/1.1 200 OK\r\nX-'),
    'speaks no HTTP': ({ socket }) => socket!.end('220 mail.example ESMTP\r\n'),
    'drips its headers': async ({ socket }) => {
      socket!.write('HTTP/1.1 200 OK\r\nX: ')
      while (!socket!.destroyed) {
        socket!.write('x')
        await wait(5)
      }
    },
    'has early hints without end': async response => {
      while (!response.destroyed && response.socket) {
        response.writeEarlyHints({ link: '</a>; rel=preload' })
        await wait(5)
      }
    },
    'has headers of a megabyte': ({ socket }) =>
      socket!.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1e6)}\r\n\r\n`),
    'switches protocols': ({ socket }) =>
      socket!.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    'answers before its answer': ({ socket }) => socket!.end('HTTP/1.1 101 Go on\r\n\r\n'),
    'fails with a body without end': endless(500),
  }

  test.each(Object.entries(bad))('%s is tried again', async (_, behaviour) => {
    receiver.behaviour = behaviour
    const error = await failureOf((await deliveries(hookTo(receiver.port), soon))())
    expect(error).toBeInstanceOf(DeliveryError)
    expect(error.retryAfterMs).toBe(0)
  })

  test('takes the message is not listened to any longer', async () => {
    const closed = Promise.withResolvers<void>()
    receiver.behaviour = (response, request) => {
      response.on('close', () => closed.resolve())
      return endless(200)(response, request)
    }
    await (
      await deliveries(hookTo(receiver.port), { timeoutMs: 3_600_000 })
    )()
    await closed.promise
  })

  test('cannot be connected to is tried again', async () => {
    const { port } = receiver
    await receiver.close()
    const error = await failureOf((await deliveries(hookTo(port)))())
    expect(error).toMatchObject({
      message: 'channel hook: the receiver cannot be reached (ECONNREFUSED)',
      retryAfterMs: 0,
    })
    receiver = await startReceiver()
  })

  test('has no certificate for its name gets nothing', async () => {
    const error = await failureOf((await deliveries(hookTo(receiver.port, '/', 'other.example.test')))())
    expect(error.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(error.retryAfterMs).toBe(0)
    expect(receiver.received).toEqual([])
  })

  test.each([
    [
      'is not found',
      () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
      '(ENOTFOUND)',
    ],
    ['has no address', async () => [], '(ENODATA)'],
    ['is never resolved', () => new Promise<never>(() => {}), 'no answer in time'],
  ])('%s is tried again', async (_, resolve, words) => {
    const error = await failureOf((await deliveries(hookTo(receiver.port), { ...soon, resolve }))())
    expect(error.message).toContain(words)
    expect(error.retryAfterMs).toBe(0)
  })

  test('is given up by the caller gets no more', async () => {
    const controller = new AbortController()
    receiver.behaviour = () => controller.abort()
    const deliver = await deliveries(hookTo(receiver.port))
    expect(await failureOf(deliver({}, 'hook', controller.signal))).toMatchObject({ retryAfterMs: 0 })
    expect(await failureOf(deliver({}, 'hook', controller.signal))).toMatchObject({ retryAfterMs: 0 })
    expect(receiver.received).toHaveLength(1)
  })
})

function endless(status: number): Behaviour {
  return async response => {
    response.writeHead(status)
    while (!response.destroyed) {
      response.write('x'.repeat(100_000))
      await wait(1)
    }
  }
}

describe('the address', () => {
  test('is resolved once for a delivery, and connected to, whatever the name leads to by then', async () => {
    const names: string[] = []
    const answers = ['127.0.0.1', '10.0.0.1']
    const resolve = async (name: string) => [{ address: answers[names.push(name) - 1]!, family: 4 }]
    const deliver = await deliveries(hookTo(receiver.port), { resolve })
    await deliver()
    expect(names).toEqual([host])
    expect((await failureOf(deliver())).message).toContain('private network')
    expect(names).toEqual([host, host])
  })

  test('is asked for once at a time, so that a name that is never resolved takes one thread', async () => {
    let asked = 0
    const resolve = () => {
      asked++
      return new Promise<never>(() => {})
    }
    const deliver = await deliveries(hookTo(receiver.port), { ...soon, resolve })
    const errors = await Promise.all(Array.from({ length: 20 }, () => failureOf(deliver())))
    expect(errors.map(({ retryAfterMs }) => retryAfterMs)).toEqual(Array<number>(20).fill(0))
    expect(asked).toBe(1)
  })

  test('is found where Node tries one address alone', async () => {
    setDefaultAutoSelectFamily(false)
    try {
      await (
        await deliveries(hookTo(receiver.port))
      )()
    } finally {
      setDefaultAutoSelectFamily(true)
    }
    expect(receiver.received).toHaveLength(1)
  })

  test('may be the second one, where the first takes no connection', async () => {
    const resolve = async () => ['127.0.0.2', '127.0.0.1'].map(address => ({ address, family: 4 }))
    await (
      await deliveries(hookTo(receiver.port), { resolve })
    )()
    expect(receiver.received).toHaveLength(1)
  })

  test.each([
    ['private', ['10.0.0.1']],
    ['private beside a public one', ['93.184.215.14', '192.168.0.1']],
    ['of the metadata service', ['169.254.169.254']],
    ['of the metadata service by IPv6', ['fd00:ec2::254']],
    ['this machine beside a public one', ['93.184.215.14', '127.0.0.1']],
    ['this machine as IPv6 has IPv4', ['::ffff:127.0.0.1']],
    ['of a network by NAT64', ['64:ff9b::10.0.0.1']],
    ['link-local, of an interface', ['fe80::1%eth0']],
    ['no address at all', ['hooks.example']],
  ])('is refused where it is %s', async (_, addresses) => {
    const resolve = async () => addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    const error = await failureOf((await deliveries(hookTo(receiver.port), { resolve }))())
    expect(error.message).toContain('not on the internet')
    expect(receiver.connections).toBe(0)
  })

  test('on this machine is refused without the setting, by any name', async () => {
    for (const name of ['127.0.0.1', '[::1]', 'localhost', host]) {
      const channels = hookTo(receiver.port, '/', name)
      const error = await failureOf((await deliveries(channels, { alertsToLoopback: false }))())
      expect(error.message).toContain('ALERTS_TO_LOOPBACK')
    }
    expect(receiver.connections).toBe(0)
  })

  test.each([
    'http://hooks.example.test/',
    'http://93.184.215.14/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'https://user:word@hooks.example.test/',
    'hooks.example.test',
    '',
  ])('is not %s', async url => {
    const resolve = async () => [{ address: '93.184.215.14', family: 4 }]
    const channels = { hook: { kind: 'webhook' as const, url, secret: 'HOOK_SECRET' } }
    const error = await failureOf((await deliveries(channels, { resolve }))())
    expect(error.message).toContain('its address is no')
  })

  test('is no proxy’s that the environment has', async () => {
    const http = await startReceiver({ secure: false })
    let proxied = 0
    const proxy = createServer(socket => socket.destroy(void proxied++))
    await new Promise<void>(listening => proxy.listen(0, '127.0.0.1', listening))
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const program = `
      import { deliveries } from ${JSON.stringify(join(import.meta.dirname, 'testing/delivering.ts'))}
      const url = 'http://receiver.example.test:${http.port}/'
      await (await deliveries({ hook: { kind: 'webhook', url, secret: 'HOOK_SECRET' } }))()`
    const env = {
      PATH: process.env['PATH'],
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: address,
      HTTPS_PROXY: address,
      http_proxy: address,
    }
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env })
    expect([proxied, http.received.length]).toEqual([0, 1])
    proxy.close()
    await http.close()
  })
})

/** What a receiver may send, in pieces: most are no answer, and some are one in the end. */
const pieces = fc.oneof(
  fc.constantFrom(
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 101 X\r\n',
    'HTTP/1.1 103 X\r\n',
    'HTTP/1.1 302 X\r\nLocation: http://169.254.169.254/\r\n',
    'HTTP/1.1 503 X\r\n',
    'HTTP/1.1 999 X\r\n',
    'HTTP/2.0 200\r\n',
    'Content-Length: -1\r\n',
    'Content-Length: 5, 6\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: upgrade\r\nUpgrade: h2c\r\n',
    'Retry-After: \u0001\r\n',
    '\r\n',
    'x'.repeat(20_000),
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const end = fc.constantFrom('end', 'destroy', 'resetAndDestroy', 'resume')

test('whatever a receiver sends, a delivery is one or fails in its words, and a connection does not last', async () => {
  const sockets = new Set<Socket>()
  let script: [string[], 'end' | 'destroy' | 'resetAndDestroy' | 'resume', boolean] = [[], 'end', false]
  const server = createServer(socket => {
    const [parts, ending, atOnce] = script
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    const act = () => {
      for (const part of parts) socket.write(part)
      socket[ending]()
      socket.resume()
    }
    if (atOnce) act()
    else socket.once('data', act)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`
  const channels = { hook: { kind: 'webhook' as const, url, secret: 'HOOK_SECRET' } }
  const deliver = await deliveries(channels, { timeoutMs: 50 })
  await fc.assert(
    fc.asyncProperty(fc.tuple(fc.array(pieces, { maxLength: 6 }), end, fc.boolean()), async given => {
      script = given
      const error = await deliver().catch((error: unknown) => error)
      if (error !== undefined) expect(error).toBeInstanceOf(DeliveryError)
    }),
    { numRuns: 40 },
  )
  while (sockets.size > 0) await wait(10)
  server.close()
})

test('no error has a secret, an address that is one, or a word of the receiver', async () => {
  const canary = 'canary-of-an-address'
  const addresses = [
    'https://',
    '',
    'https://%',
    'ftp://127.0.0.1/',
    'http://10.0.0.1/',
    `https://${host}:1/`,
    `https://a:b@${host}/`,
    'https://hooks.example:99999/',
  ]
  const errors: DeliveryError[] = []
  receiver.behaviour = (response, { headers }) =>
    response.writeHead(400, canary).end(JSON.stringify([canary, headers['webhook-signature']]))
  for (const url of [...addresses, `https://${host}:${receiver.port}/`]) {
    const values: Record<string, string> = {
      ...environment,
      SLACK: `${url}${canary}`,
      SHORT: `whsec_${canary}`,
    }
    const settings = { secret: (name: string) => values[name] }
    const deliver = await deliveries(
      {
        ...hookTo(receiver.port),
        slack: { kind: 'slack', secret: 'SLACK' },
        short: { kind: 'webhook', url: `https://${host}/`, secret: 'SHORT' },
        pager: { kind: 'events-v2', secret: 'ROUTING_KEY', url: `https://${host}:${receiver.port}/` },
      },
      settings,
    )
    for (const name of ['hook', 'slack', 'short', 'pager']) errors.push(await failureOf(deliver({}, name)))
  }
  const words = errors.map(error => inspect(error, { depth: null, showHidden: true })).join('\n')
  for (const secret of [canary, ...Object.values(environment)]) expect(words).not.toContain(secret)
  expect(errors.every(error => error instanceof DeliveryError)).toBe(true)
})

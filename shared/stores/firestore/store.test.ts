/** Firestore's client with a connection that is lost, silent or refused. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store.ts'
import { freshCollection } from '../testing/adapters.ts'
import { openFirestore } from './store.ts'
import { describeEmulator } from '../testing/describe-stores.ts'
import { useEmulator } from '../../../infra/google/firestore-emulator.ts'
import { type Proxy, startProxy } from '../testing/proxy.ts'

const unavailable = { name: 'StoreError', reason: 'unavailable' }
const hasty = { get: 1_000, query: 1_000, write: 1_000, close: 1_000 }
const patient = { get: 60_000, query: 60_000, write: 60_000, close: 1_000 }

describeEmulator('the Firestore adapter', () => {
  let emulator: Awaited<ReturnType<typeof useEmulator>>
  let proxy: Proxy
  let direct: Store
  let store: Store
  let at: { collection: string; id: string }

  beforeEach(async () => {
    emulator = await useEmulator()
    proxy = await startProxy(emulator.address)
    direct = openFirestore({ project: 'test-faults', database: '(default)', timeouts: patient })
    at = { collection: freshCollection(), id: 'one' }
    await direct.get(at)
    process.env['FIRESTORE_EMULATOR_HOST'] = proxy.address
    await reopen(patient)
  })

  async function reopen(timeouts: typeof hasty): Promise<void> {
    await store?.close()
    store = openFirestore({ project: 'test-faults', database: '(default)', timeouts })
    await healing()
  }

  afterEach(async () => {
    await Promise.all([store.close(), direct.close()])
    await proxy.refuse()
  })

  /** A read, a query and a write fail: without timeouts gRPC waits for a silent connection for ever. */
  const failing = () => Promise.all(calls.map(call => expect(call()).rejects.toMatchObject(unavailable)))

  /** Until a read succeeds. */
  async function healing(): Promise<void> {
    while (!(await store.get(at).catch(() => null))) await sleep(10)
  }

  const calls = [
    () => store.get(at),
    () => store.query({ collection: at.collection, limit: 1 }),
    () => store.replace(at, { a: 1 }),
  ]

  test('fails at its timeouts while no server listens, and works again after its return', async () => {
    await reopen(hasty)
    await proxy.refuse()
    await failing()
    await proxy.restore()
    await healing()
  })

  test('the same with a server that stands still', async () => {
    await reopen(hasty)
    proxy.standStill()
    await failing()
    proxy.goOn()
    await healing()
  })

  test('the same with a connection that went dead in silence', async () => {
    await reopen(hasty)
    proxy.losePackets('nothing')
    await failing()
    await healing()
  })

  test('goes on without an error when a connection breaks between calls', async () => {
    for (const call of calls) {
      proxy.breakConnections()
      await sleep(20)
      await call()
    }
  })

  test('does not write later what it has given up', async () => {
    await reopen(hasty)
    await proxy.refuse()
    await expect(store.create(at, { a: 1 })).rejects.toMatchObject(unavailable)
    await proxy.restore()
    await healing()
    await sleep(500)
    expect((await direct.get(at)).document).toBeNull()
  })

  test('has rules that let no client in, with or without a token of its own', async () => {
    const url = `http://${emulator.address}/v1/projects/test-faults/databases/(default)/documents/answers/a`
    const token = [{ alg: 'none' }, { sub: 'somebody', aud: 'test-faults' }]
      .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    for (const headers of [{}, { authorization: `Bearer ${token}.` }])
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? '{"fields":{}}' : null
        expect((await fetch(url, { method, headers, body })).status).toBe(403)
      }
  })

  describe('knows its own write when the acknowledgement is lost,', () => {
    const writes: [string, () => Promise<{ version: string } | undefined>][] = [
      ['create', () => store.create(at, { a: 2 })],
      ['replace', () => store.replace(at, { a: 2 })],
      ['batch', async () => (await store.batch([{ type: 'create', at, fields: { a: 2 } }]))[0]],
      [
        'update under a version',
        async () => {
          const { version } = await direct.create(at, { a: 1 })
          return store.update(at, { set: { a: 2 } }, version)
        },
      ],
    ]
    test.each(writes)('%s', async (_, write) => {
      proxy.losePackets('requests')
      const writing = write()
      while ((await direct.get(at)).document?.fields['a'] !== 2) await sleep(5)
      proxy.breakConnections()
      const { document } = await direct.get(at)
      expect((await writing)?.version).toBe(document?.version)
    })
  })
})

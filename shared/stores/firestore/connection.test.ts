/** What Firestore's client does by itself: a test that fails names an option of `connection.ts` to delete. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { Firestore } from '@google-cloud/firestore'
import { useEmulator } from '../../../infra/google/firestore-emulator.ts'
import { describeEmulator } from '../testing/describe-stores.ts'
import { startProxy } from '../testing/proxy.ts'
import { cancelling, grpcOptions } from './connection.ts'

/**
 * Calls that go out for a read that Firestore refuses, two at most, from a process that ends then: the client cannot be
 * stopped while it repeats a call.
 */
async function callsOfRefusedRead(options: string): Promise<number> {
  const program = `import { Firestore } from '@google-cloud/firestore'
    import { grpcOptions } from './shared/stores/firestore/connection.ts'
    const count = outgoing => (console.log('call'), outgoing)
    const options = { projectId: 'test-grpc', ...${options}, 'grpc.callInvocationTransformer': count }
    new Firestore(options).collection('__reserved__').get().catch(() => process.exit())`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env }, // Jest's own, with the emulator's address
  })
  let calls = 0
  for await (const _ of createInterface(child.stdout)) if (++calls === 2) child.kill('SIGKILL')
  return calls
}

describeEmulator('Firestore’s client', () => {
  test('repeats a read that was refused by itself, and not with the options', async () => {
    expect(await Promise.all(['{}', 'grpcOptions'].map(callsOfRefusedRead))).toEqual([2, 1])
  })

  test('goes on with a write when the caller has given up; if it no longer does, the transformer can go', async () => {
    const { address } = await useEmulator()
    const proxy = await startProxy(address)
    const direct = new Firestore({ projectId: 'test-grpc' })
    process.env['FIRESTORE_EMULATOR_HOST'] = proxy.address
    const firestore = new Firestore({ projectId: 'test-grpc' })
    const at = `given-up/${crypto.randomUUID()}`
    await Promise.all([firestore.doc(at).get(), direct.doc(at).get()])
    await proxy.refuse()
    const write = firestore.doc(at).create({ a: 1 })
    await sleep(500)
    await proxy.restore()
    await write
    expect((await direct.doc(at).get()).exists).toBe(true)
    await Promise.all([firestore.terminate(), direct.terminate()])
    await proxy.refuse()
  })

  test('has the document of a query before the call ends, which is not cancelled then', async () => {
    await useEmulator()
    let cancelled = 0
    const transformer = 'grpc.callInvocationTransformer'
    const counting = (outgoing: Parameters<(typeof grpcOptions)[typeof transformer]>[0]) => {
      const cancel = outgoing.call.cancel.bind(outgoing.call)
      outgoing.call.cancel = () => (cancelled++, cancel())
      return grpcOptions[transformer](outgoing)
    }
    const firestore = new Firestore({ projectId: 'test-grpc', ...grpcOptions, [transformer]: counting })
    await firestore.collection('queried').doc('one').set({})
    const found = await cancelling(() => firestore.collection('queried').limit(1).get())
    await firestore.terminate()
    expect([found.size, cancelled]).toEqual([1, 0])
  })
})

test('gRPC waits up to two minutes before it connects again; if it waits less, our bound can go', () => {
  const file = resolve('node_modules/@grpc/grpc-js/build/src/backoff-timeout.js') // a package of the client's own
  const { BackoffTimeout } = createRequire(import.meta.url)(file) as {
    BackoffTimeout: new (act: () => void, options: object) => { maxDelay: number }
  }
  expect(new BackoffTimeout(() => {}, {}).maxDelay).toBe(120_000)
})

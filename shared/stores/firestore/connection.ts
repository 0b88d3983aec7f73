/**
 * Google's client with timeouts. By itself it repeats a failed call in silence, a commit for up to ten minutes, and keeps
 * a dead connection.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Firestore, Settings } from '@google-cloud/firestore'
import { StoreError } from '../store.ts'
import { withTimeout } from '../calls.ts'

export type Sdk = typeof import('@google-cloud/firestore')

export interface Connection {
  /**
   * Does some work with the client. All its calls and their repetitions end after `ms` milliseconds: no write happens
   * later, so that a caller who reads back sees the final state.
   * @throws what the client throws, or StoreError `unavailable` after that time
   */
  call<T>(ms: number, work: (firestore: Firestore, sdk: Sdk) => Promise<T>): Promise<T>
  /** Waits for work under way, at most `ms` milliseconds. */
  close(ms: number): Promise<void>
}

/** Loads the SDK; nothing is sent before the first call. */
export async function connect(settings: Settings): Promise<Connection> {
  const sdk = await import('@google-cloud/firestore')
  let client = createClient(sdk, settings)

  /** After a timeout the server may be slow or the connection dead, so the next call gets a new client. */
  function replace(silent: Client): void {
    if (client !== silent) return
    client = createClient(sdk, settings)
    silent.end().catch(() => {}) // its calls have failed already
  }

  return {
    async call(ms, work) {
      const used = client
      try {
        return await cancelling(() => withTimeout(ms, used.run(work(used.firestore, sdk))))
      } catch (error) {
        if (error instanceof StoreError && error.reason === 'unavailable') replace(used)
        throw error
      }
    },
    close: ms => withTimeout(ms, client.end()).catch(() => {}),
  }
}

interface Client {
  firestore: Firestore
  /** Keeps the client until the work is done. */
  run<T>(work: Promise<T>): Promise<T>
  end(): Promise<void>
}

function createClient({ Firestore }: Sdk, settings: Settings): Client {
  const firestore = new Firestore({ ...settings, ...grpcOptions })
  const underWay = new Set<Promise<unknown>>()
  return {
    firestore,
    run(work) {
      const settled: Promise<unknown> = work.catch(() => {}).finally(() => underWay.delete(settled))
      underWay.add(settled)
      return work
    },
    /** A client that ends while it repeats a call throws where no caller can catch it, so all calls end first. */
    async end() {
      await Promise.all(underWay)
      await firestore.terminate()
    },
  }
}

// Settings of gRPC beneath the client, and cancelling of its calls, which the client itself does not offer. See
// infra/docs/surgery.md, "Firestore's client: gRPC options".

/** Aborted when the caller has its answer. */
const over = new AsyncLocalStorage<AbortSignal>()

/**
 * Does some work. Calls and repetitions that are still under way when it fails are cancelled. Not when it succeeds: then a query
 * has its last document and waits for its status alone, and to cancel it makes an error, which costs the client 2 ms or more.
 */
export async function cancelling<T>(work: () => Promise<T>): Promise<T> {
  const controller = new AbortController()
  try {
    return await over.run(controller.signal, work)
  } catch (error) {
    controller.abort()
    throw error
  }
}

/** gRPC passes this on before it sends a call, also for each repetition. */
interface Outgoing {
  /** The request, the same object in each repetition. */
  argument?: { writes?: unknown[] }
  call: { cancel(): void }
}

/** By request: a repetition may begin in the context of another call, which opened the connection. */
const signals = new WeakMap<object, AbortSignal>()

/**
 * No part of the client repeats a cancelled call. But the client may be waiting to repeat a failed one, and gRPC sends a
 * call that is cancelled as it begins; so the writes of a commit are removed too.
 */
function cancelWhenOver<T extends Outgoing>(outgoing: T): T {
  const { argument = {}, call } = outgoing
  const signal = signals.get(argument) ?? over.getStore()
  if (!signal) return outgoing
  signals.set(argument, signal)
  const cancel = () => {
    call.cancel()
    argument.writes?.splice(0)
  }
  if (signal.aborted) process.nextTick(cancel)
  else signal.addEventListener('abort', cancel, { once: true })
  return outgoing
}

/**
 * Reads are repeated at once where the connection was lost, and in no other case. By default they are repeated after any
 * error, also for a refused query, and first after two seconds.
 */
const reading = { retry_codes_name: 'connection_lost' }

export const grpcOptions = {
  /** With the default, a client may not reach a store for two minutes after it has recovered. */
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.callInvocationTransformer': cancelWhenOver,
  gaxServerStreamingRetries: true,
  clientConfig: {
    interfaces: {
      'google.firestore.v1.Firestore': {
        retry_codes: { connection_lost: ['UNAVAILABLE', 'INTERNAL'] },
        methods: { BatchGetDocuments: reading, RunQuery: reading },
      },
    },
  },
}

/**
 * Google's client with timeouts. By itself it repeats a failed call in silence, a commit for up to ten minutes, and keeps
 * a dead connection.
 */
import type { Firestore, Settings } from '@google-cloud/firestore'
import { withTimeout } from '../timeout.ts'
import { StoreError } from '../store.ts'
import { cancelling, grpcOptions } from './grpc.ts'

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

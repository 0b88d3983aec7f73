/** The Store port on Google's Firestore, or on its emulator at the address in FIRESTORE_EMULATOR_HOST. */
import type { Firestore } from '@google-cloud/firestore'
import { StoreError, type Store, type Write, type Writing } from '../store.ts'
import { connect, type Connection, type Sdk } from './connection.ts'
import { find, read, readError, write, writeError } from './documents.ts'
import { checkMask, checkReference, checkSearch, checkWrites } from '../limits.ts'
import { singleWrites } from '../calls.ts'

interface FirestoreOptions {
  /** `null`: the project of the credentials. */
  project: string | null
  database: string
  /** The longest that a call may take, in milliseconds. The cache has shorter ones of its own (`../calls.ts`). */
  timeouts?: typeof defaultTimeouts
}

const defaultTimeouts = { get: 2_000, query: 5_000, write: 3_000, close: 2_000 }

/**
 * Loads the client with the first call.
 * Throws the port's StoreErrors; `unavailable` = not reached, no answer in time, credentials refused, or closed.
 */
export function openFirestore({ project, database, timeouts = defaultTimeouts }: FirestoreOptions): Store {
  const settings = { databaseId: database, ...(project === null ? {} : { projectId: project }) }
  let connecting: Promise<Connection> | undefined
  let closed = false

  async function call<T>(ms: number, work: (firestore: Firestore, sdk: Sdk) => Promise<T>): Promise<T> {
    if (closed) throw new StoreError('unavailable', 'the store is closed')
    connecting ??= connect(settings)
    return (await connecting).call(ms, work)
  }

  async function batch(writes: Write[]): Promise<Writing[]> {
    checkWrites(writes)
    if (writes.length === 0) return []
    return call(timeouts.write, (firestore, sdk) => write(firestore, sdk, writes)).catch(rethrow(writeError))
  }

  return {
    async get(at, fields) {
      checkReference(at)
      checkMask(fields ?? [])
      return call(timeouts.get, firestore => read(firestore, at, fields)).catch(rethrow(readError))
    },
    async query(search) {
      checkSearch(search)
      return call(timeouts.query, firestore => find(firestore, search)).catch(rethrow(readError))
    },
    ...singleWrites(batch),
    batch,
    async close() {
      if (closed) return
      closed = true
      const connection = await connecting
      await connection?.close(timeouts.close)
    },
  }
}

function rethrow(storeError: (error: unknown) => unknown): (error: unknown) => never {
  return error => {
    throw storeError(error)
  }
}

/** The Store port on SQLite: one file, shared by any number of processes on one machine. */
import { StoreError, type Store, type Write, type Writing } from '../store.ts'
import { checkMask, checkReference, checkSearch, checkWrites } from '../limits.ts'
import { singleWrites } from '../single-writes.ts'
import { connect, type Connection } from './connection.ts'
import { find, read } from './read.ts'
import { write } from './write.ts'

export interface SqliteOptions {
  /** Path of the database, created where it is missing (its folder is not); `:memory:` for one without a file. */
  file: string
  /** The machine's clock, milliseconds since 1970 UTC. */
  now?: () => number
  /** How long a call waits for other processes before it fails with `unavailable`, in milliseconds. It blocks this one. */
  busyMs?: number
}

/**
 * Opens the file with the first call; after a failure the next call tries again.
 * Throws the port's StoreErrors; `unavailable` = locked for too long, unreadable, unwritable or closed.
 */
export function openSqlite({ file, now = Date.now, busyMs = 5_000 }: SqliteOptions): Store {
  let connecting: Promise<Connection> | undefined
  let closed = false

  async function call<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      if (closed) throw new StoreError('unavailable', 'the store is closed')
      connecting ??= connect(file, now, busyMs)
      return work(await connecting.catch(forget))
    } catch (error) {
      throw storeError(error)
    }
  }

  function forget(error: unknown): never {
    connecting = undefined
    throw error
  }

  async function batch(writes: Write[]): Promise<Writing[]> {
    checkWrites(writes)
    return call(connection => connection.transaction('immediate', () => write(connection, writes)))
  }

  async function view<T>(look: (connection: Connection) => T): Promise<[T, number]> {
    return call(connection => connection.transaction('deferred', () => [look(connection), connection.time()]))
  }

  return {
    async get(at, fields) {
      checkReference(at)
      checkMask(fields ?? [])
      const [document, readAt] = await view(connection => read(connection, at, fields))
      return { document, readAt }
    },
    ...singleWrites(batch),
    async query(search) {
      checkSearch(search)
      const [documents, readAt] = await view(connection => find(connection, search))
      return { documents, readAt }
    },
    batch,
    async close() {
      if (closed) return
      closed = true
      const connection = await connecting?.catch(() => undefined)
      connection?.close()
    },
  }
}

/** An error of SQLite (busy, full, corrupt, closed, ...) is a failure of the store; any other is a bug and stays as it is. */
function storeError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('code' in error)) return error
  if (error.code !== 'ERR_SQLITE_ERROR' && error.code !== 'ERR_INVALID_STATE') return error
  return new StoreError('unavailable', 'SQLite: unavailable', { cause: error })
}

/** The Store port on SQLite: one file, shared by any number of processes on one machine. */
import { existsSync } from 'node:fs'
import type { Log } from '../../log.ts'
import { StoreError, type Store, type Write, type Writing } from '../store.ts'
import { checkMask, checkReference, checkSearch, checkWrites } from '../limits.ts'
import { singleWrites } from '../single-writes.ts'
import { connect, type Connection, whileBusy } from './connection.ts'
import { find, read } from './read.ts'
import { write } from './write.ts'

export interface SqliteOptions {
  /** Path of the database, created where it is missing (its folder is not); `:memory:` for one without a file. */
  file: string
  /** The machine's clock, milliseconds since 1970 UTC. */
  now?: () => number
  /** How long a call waits for other processes before it fails with `unavailable`, in milliseconds. */
  busyMs?: number
  log?: Log
}

/**
 * Opens the file with the first call; after a failure the next call tries again. Where the file is replaced meanwhile, the
 * new one is opened. Where it is deleted, calls fail until there is one again: an empty store would refuse every key.
 * Throws the port's StoreErrors; `unavailable` = locked for too long, unreadable, unwritable or closed.
 */
export function openSqlite({ file, now = Date.now, busyMs = 5_000, log = () => {} }: SqliteOptions): Store {
  let connecting: Promise<Connection> | undefined
  let lost = false
  let closed = false

  async function call<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      const connection = await current()
      return await whileBusy(busyMs, () => work(connection))
    } catch (error) {
      throw storeError(error)
    }
  }

  /** A connection to the file that has the name now. */
  async function current(): Promise<Connection> {
    if (closed) throw new StoreError('unavailable', 'the store is closed')
    if (lost && !existsSync(file))
      throw new StoreError('unavailable', 'the file is gone', { cause: { code: 'ENOENT' } })
    const opened = (connecting ??= connect(file, now, busyMs))
    const connection = await opened.catch(forget)
    if (connection.isCurrent()) return connection
    if (connecting === opened) {
      connecting = undefined
      lost = true
      if (existsSync(file)) log('WARNING', 'the store file was replaced')
      else log('ERROR', 'the store file is gone')
      connection.close()
    }
    return current()
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

/** The Store port on SQLite: one file, shared by any number of processes on one machine. */
import { existsSync } from 'node:fs'
import type { Log } from '../../log.ts'
import { StoreError, type Store, type Write, type Writing } from '../store.ts'
import { checkMask, checkReference, checkSearch, checkWrites } from '../limits.ts'
import { singleWrites } from '../calls.ts'
import { connect, type Connection, whileBusy } from './connection.ts'
import { find, read, write } from './documents.ts'

interface SqliteOptions {
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
  const current = new CurrentFile(file, log, () => connect(file, now, busyMs))

  async function call<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      const connection = await current.connection()
      return await whileBusy(busyMs, () => work(connection))
    } catch (error) {
      throw storeError(error, file)
    }
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
    close: () => current.close(),
  }
}

/** The connection to the file that has the name now. */
class CurrentFile {
  private readonly file: string
  private readonly log: Log
  private readonly connect: () => Promise<Connection>
  private opening: Promise<Connection> | undefined
  private lost = false
  private closed = false

  constructor(file: string, log: Log, connect: () => Promise<Connection>) {
    this.file = file
    this.log = log
    this.connect = connect
  }

  /** @throws StoreError `unavailable` where the file was deleted, or after `close`; and what SQLite throws */
  async connection(): Promise<Connection> {
    if (this.closed) throw new StoreError('unavailable', 'the store is closed')
    if (this.lost && !existsSync(this.file))
      throw new StoreError('unavailable', 'the file is gone', { cause: { code: 'ENOENT' } })
    const opened = (this.opening ??= this.connect())
    const connection = await opened.catch((error: unknown) => {
      this.opening = undefined
      throw error
    })
    if (connection.isCurrent()) return connection
    if (this.opening === opened) {
      this.opening = undefined
      this.lost = true
      if (existsSync(this.file)) this.log('WARNING', 'the store file was replaced')
      else this.log('ERROR', 'the store file is gone')
      connection.close()
    }
    return this.connection()
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    const connection = await this.opening?.catch(() => undefined)
    connection?.close()
  }
}

/** An error of SQLite (busy, full, corrupt, closed, ...) is a failure of the store; any other is a bug. */
function storeError(error: unknown, file: string): unknown {
  if (typeof error !== 'object' || error === null || !('code' in error)) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== 'ERR_SQLITE_ERROR' && code !== 'ERR_INVALID_STATE') return error
  return new StoreError('unavailable', `${file} cannot be used: ${message}`, { cause: error })
}

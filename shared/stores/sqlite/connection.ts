/** A SQLite file as a database of documents: its tables, its transactions, its clock. */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { formats, isReadable } from '../format.ts'
import { StoreError } from '../store.ts'

export type Row = Record<string, SQLOutputValue>

export interface Connection {
  /** Rows of a statement, which stays prepared: values are never part of its text. */
  rows(sql: string, ...values: SQLInputValue[]): Row[]
  /** All or nothing, over one snapshot of the file. `immediate` = no other process writes meanwhile. */
  transaction<T>(mode: 'deferred' | 'immediate', work: () => T): T
  /** Inside a transaction: the store's time, milliseconds since 1970 UTC, not before any write that it sees. */
  time(): number
  /** Whether the file under this name is still the one that was opened. */
  isCurrent(): boolean
  close(): void
}

/**
 * Every top-level field is a row of its own: values keep their type, bytes stay bytes, filters compare like with like,
 * and a field that is not read, or not changed, costs nothing. The file counts versions, so that none is used twice, not
 * even after its document was removed. `value` is last, so that SQLite reads the other columns without it.
 */
const schema = `
  create table if not exists documents (
    key integer primary key,
    collection text not null,
    id text not null,
    version integer not null,
    written_at real not null,
    unique (collection, id)
  ) strict;
  create table if not exists fields (
    document integer not null references documents on delete cascade,
    name text not null,
    kind integer not null,
    bytes integer not null,
    value any,
    primary key (document, name)
  ) strict;
  create index if not exists expiring on fields (value) where name = 'expireAt';
  create table if not exists state (versions integer not null, latest real not null) strict;
  insert into state select 0, 0 where not exists (select 1 from state);
`

/** SQLite waits for other processes with the whole process blocked: so long for each try, and the rest between tries. */
const blockedMs = 5

/**
 * Opens the file, or creates it; any number of processes may do so at once.
 * @param now the machine's clock, milliseconds since 1970 UTC
 * @param busyMs how long to wait for other processes, with other work going on
 * @throws what SQLite throws
 */
export async function connect(file: string, now: () => number, busyMs: number): Promise<Connection> {
  const { DatabaseSync } = await import('node:sqlite')
  return whileBusy(busyMs, () => {
    makePrivate(file)
    const database = new DatabaseSync(file, { timeout: blockedMs })
    try {
      prepareFile(database)
      return connection(database, file, now)
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/**
 * Makes the file, and what SQLite keeps beside it, readable by its owner alone: it holds answers in clear. SQLite gives
 * new files beside it the same mode. Where that is not ours to do, SQLite says what is wrong, or nothing is.
 */
function makePrivate(file: string): void {
  if (file === ':memory:') return
  try {
    closeSync(openSync(file, 'a', 0o600))
    for (const end of ['', '-wal', '-shm'])
      if (statSync(file + end, { throwIfNoEntry: false })) chmodSync(file + end, 0o600)
  } catch {}
}

/** Repeats what SQLite refuses because another process holds the file, for `busyMs` milliseconds. */
export async function whileBusy<T>(busyMs: number, act: () => T): Promise<T> {
  const until = performance.now() + busyMs
  for (;;) {
    try {
      return act()
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error
    }
    await sleep(5 + Math.random() * 20)
  }
}

/**
 * With WAL, readers and a writer do not wait for each other, and a killed writer leaves no partial write.
 * @throws StoreError `newer_format`
 */
function prepareFile(database: DatabaseSync): void {
  const format = Number(database.prepare('pragma user_version').get()?.['user_version']) || undefined
  if (!isReadable('file', format))
    throw new StoreError('newer_format', `the store's file is of a later version (format ${format})`)
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  const number = format === formats.file ? '' : `pragma user_version = ${formats.file};`
  database.exec(`begin immediate; ${schema}; ${number} commit`)
}

const busy = 5

function isBusy(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'errcode' in error &&
    (Number(error.errcode) & 0xff) === busy
  )
}

function connection(database: DatabaseSync, file: string, now: () => number): Connection {
  const opened = inodeOf(file)
  const isCurrent = () => inodeOf(file) === opened
  const clock = monotonicClock(now)
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>()

  function rows(sql: string, ...values: SQLInputValue[]): Row[] {
    let statement = prepared.get(sql)
    if (!statement) prepared.set(sql, (statement = database.prepare(sql)))
    return statement.all(...values)
  }

  function transaction<T>(mode: 'deferred' | 'immediate', work: () => T): T {
    database.exec(`begin ${mode}`)
    try {
      const result = work()
      database.exec('commit')
      return result
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      throw error
    }
  }

  return {
    rows,
    transaction,
    time: () => clock(Number(rows('select latest from state')[0]?.['latest'])),
    isCurrent,
    close() {
      // SQLite leaves the log of a file that was replaced, and would apply it to the file that took its place.
      if (!isCurrent()) database.exec('pragma wal_checkpoint(truncate)')
      database.close()
    },
  }
}

/** `undefined` where there is no such file, as for a database in memory. */
function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino
}

/**
 * The machine's clock, made monotonic. Where it is behind a time already seen (it was set back, or another process has a
 * clock that is ahead), this process adds the difference from then on: a clock that stood still would keep leases alive.
 * The file holds the time of the latest write, so that no read or write is ever earlier than a previous write; after a
 * clock was set back, a write may be earlier than another process's previous read.
 */
function monotonicClock(now: () => number): (latest: number) => number {
  let seen = 0
  let ahead = 0
  return latest => {
    const machine = now()
    seen = Math.max(seen, latest)
    ahead = Math.max(ahead, seen - machine)
    seen = Math.max(seen, machine + ahead)
    return seen
  }
}

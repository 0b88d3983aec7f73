/** A SQLite file as a database of documents: its tables, its transactions, its one clock. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'

export type Row = Record<string, SQLOutputValue>

export interface Connection {
  /** Rows of a statement, which is kept prepared: values never stand in its text. */
  rows(sql: string, ...values: SQLInputValue[]): Row[]
  /** All or nothing, over one unchanging view of the file. `immediate` = no other process writes meanwhile. */
  transaction<T>(mode: 'deferred' | 'immediate', work: () => T): T
  /** Inside a transaction: the store's time, milliseconds since 1970 UTC, not before any write that the transaction sees. */
  time(): number
  close(): void
}

/**
 * Every top-level field is a row of its own: values keep their type, bytes stay bytes, filters compare like with like,
 * and a field that is not asked for, or not changed, costs nothing. The versions that were given are counted in the
 * file, so that none is given twice, not even after its document was removed. `value` stands last: the rest is read without it.
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

/**
 * Opens the file, or makes it; any number of processes may do so at once.
 * @param now the machine's clock, milliseconds since 1970 UTC
 * @param busyMs how long to wait for other processes
 * @throws what SQLite throws
 */
export async function connect(file: string, now: () => number, busyMs: number): Promise<Connection> {
  const { DatabaseSync } = await import('node:sqlite')
  const until = performance.now() + busyMs
  for (;;) {
    const database = new DatabaseSync(file, { timeout: busyMs })
    try {
      prepareFile(database)
      return connection(database, now)
    } catch (error) {
      database.close()
      if (!isBusy(error) || performance.now() > until) throw error
    }
    // SQLite does not wait by itself where two processes turn a new file to WAL at once.
    await sleep(5 + Math.random() * 20)
  }
}

/** WAL: readers and a writer do not wait for each other, and a writer that is killed leaves nothing behind. */
function prepareFile(database: DatabaseSync): void {
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  database.exec(`begin immediate; ${schema}; commit`)
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

function connection(database: DatabaseSync, now: () => number): Connection {
  const clock = tickingFrom(now)
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
    close: () => database.close(),
  }
}

/**
 * The machine's clock, made to go forwards only. Where it is behind a time already seen (it was set back, or another
 * process has a clock that is ahead), this process adds the difference from then on: time goes on from there instead of
 * standing still, which would keep leases alive. What is shared through the file is the time of the latest write, so
 * nothing is ever read or written before an earlier write; after a clock was set back, a write may look older than
 * another process' earlier read.
 */
function tickingFrom(now: () => number): (latest: number) => number {
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

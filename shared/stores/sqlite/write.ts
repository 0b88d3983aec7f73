/** Writing documents into a SQLite file, inside a transaction. */
import { StoreError, type Fields, type Reference, type Write, type Writing } from '../store.ts'
import { bytesOfField, checkDocumentBytes } from '../limits.ts'
import type { Connection } from './connection.ts'
import { byReference, fieldsOf } from './read.ts'
import { encode } from './values.ts'

/**
 * Writes that `checkWrites` has accepted. All have one time, and each has its own version.
 * @throws StoreError `conflict` or `too_large`: the transaction must be rolled back
 */
export function write(connection: Connection, writes: Write[]): Writing[] {
  const writtenAt = connection.time()
  const writings = writes.map(one => {
    const [row] = connection.rows(
      'update state set versions = versions + 1, latest = ? returning versions',
      writtenAt,
    )
    const version = Number(row?.['versions'])
    apply(connection, one, version, writtenAt)
    return { version: String(version), writtenAt }
  })
  tidy(connection, writes.length, writtenAt)
  return writings
}

function apply(connection: Connection, one: Write, version: number, writtenAt: number): void {
  const { collection, id } = one.at
  const [row] = connection.rows(byReference, collection, id)
  if (!holds(one, row && String(row['version'])))
    throw new StoreError('conflict', `${one.type} ${collection}/${id}`)
  if (one.type === 'remove') {
    connection.rows('delete from documents where collection = ? and id = ?', collection, id)
    return
  }
  const [{ key } = {}] = connection.rows(stamp, collection, id, version, writtenAt)
  if (one.type === 'update') change(connection, one.at, Number(key), one.set, one.unset)
  else if (one.type === 'add') change(connection, one.at, Number(key), sums(connection, Number(key), one))
  else rewrite(connection, Number(key), one.fields)
}

/** The precondition of a write: no document, any document, or one version. */
function holds(one: Write, version: string | undefined): boolean {
  if (one.type === 'add') return true
  if (one.type === 'create') return version === undefined
  if (one.ifVersion !== undefined) return version === one.ifVersion
  return one.type !== 'update' || version !== undefined
}

const stamp = `insert into documents (collection, id, version, written_at) values (?, ?, ?, ?)
  on conflict do update set version = excluded.version, written_at = excluded.written_at returning key`

function rewrite(connection: Connection, key: number, fields: Fields): void {
  connection.rows('delete from fields where document = ?', key)
  for (const [name, value] of Object.entries(fields)) put(connection, key, name, value)
}

function change(connection: Connection, at: Reference, key: number, set: Fields, unset: string[] = []): void {
  for (const name of unset) connection.rows('delete from fields where document = ? and name = ?', key, name)
  for (const [name, value] of Object.entries(set)) put(connection, key, name, value)
  const [row] = connection.rows('select sum(bytes) as bytes from fields where document = ?', key)
  checkDocumentBytes(at, Number(row?.['bytes']))
}

/** The fields of a document after an addition, of those that it changes. */
function sums(
  connection: Connection,
  key: number,
  { amounts, set }: Extract<Write, { type: 'add' }>,
): Fields {
  const before = fieldsOf(connection, key, Object.keys(amounts))
  const added = Object.entries(amounts).map(([name, by]) => {
    const value = before[name]
    return [name, (typeof value === 'number' ? value : 0) + by]
  })
  return { ...set, ...Object.fromEntries(added) }
}

function put(connection: Connection, key: number, name: string, value: Fields[string]): void {
  const { kind, stored } = encode(value)
  const sql = 'insert or replace into fields (document, name, kind, value, bytes) values (?, ?, ?, ?, ?)'
  connection.rows(sql, key, name, kind, stored, bytesOfField(name, value))
}

/**
 * Firestore deletes a document within about a day of its `expireAt`. Two documents for each write keep up with new ones,
 * and no single write pays for many.
 */
const tidying = { afterMs: 86_400_000, documentsPerWrite: 2 }

/** Removes some documents that expired a day ago, and were not written since. */
function tidy(connection: Connection, writes: number, time: number): void {
  const before = time - tidying.afterMs
  connection.rows(expired, encode(new Date(before)).kind, before, before, writes * tidying.documentsPerWrite)
}

const expired = `delete from documents where key in (
  select key from fields join documents on key = document
  where name = 'expireAt' and kind = ? and value < ? and written_at < ? limit ?)`

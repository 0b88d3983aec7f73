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
  const [state] = connection.rows(
    'update state set versions = versions + ?, latest = ? returning versions',
    writes.length,
    writtenAt,
  )
  const before = Number(state?.['versions']) - writes.length
  const isNew = writes.map((one, at) => apply(connection, one, before + at + 1, writtenAt))
  tidy(connection, isNew.filter(Boolean).length, writtenAt)
  return writes.map((_, at) => ({ version: String(before + at + 1), writtenAt }))
}

/** @returns whether there was no such document before */
function apply(connection: Connection, one: Write, version: number, writtenAt: number): boolean {
  const { collection, id } = one.at
  const [row] = connection.rows(byReference, collection, id)
  if (!holds(one, row && String(row['version'])))
    throw new StoreError('conflict', `${one.type} ${collection}/${id}`)
  if (one.type === 'remove') {
    connection.rows('delete from documents where collection = ? and id = ?', collection, id)
    return false
  }
  const [{ key } = {}] = connection.rows(stamp, collection, id, version, writtenAt)
  if (one.type === 'update') change(connection, one.at, Number(key), one.set, one.unset)
  else if (one.type === 'add') change(connection, one.at, Number(key), sums(connection, Number(key), one))
  else {
    if (row) connection.rows('delete from fields where document = ?', Number(key))
    put(connection, Number(key), one.fields)
  }
  return !row
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

function change(connection: Connection, at: Reference, key: number, set: Fields, unset: string[] = []): void {
  if (unset.length > 0) connection.rows(remove, key, JSON.stringify(unset))
  put(connection, key, set)
  const [row] = connection.rows('select sum(bytes) as bytes from fields where document = ?', key)
  checkDocumentBytes(at, Number(row?.['bytes']))
}

const remove = 'delete from fields where document = ? and name in (select value from json_each(?))'

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

/** Many fields in a statement: a statement costs more than a field. SQLite binds 32,766 values to one. */
function put(connection: Connection, key: number, fields: Fields): void {
  const all = Object.entries(fields)
  for (let at = 0; at < all.length; at += fieldsAtOnce) {
    const some = all.slice(at, at + fieldsAtOnce)
    const values = some.flatMap(([name, value]) => {
      const { kind, stored } = encode(value)
      return [key, name, kind, stored, bytesOfField(name, value)]
    })
    connection.rows(insert + some.map(() => '(?, ?, ?, ?, ?)').join(', '), ...values)
  }
}

const insert = 'insert or replace into fields (document, name, kind, value, bytes) values '
const fieldsAtOnce = 64

/**
 * Firestore deletes a document within about a day of its `expireAt`. Two documents for each new one keep up, and no single
 * write pays for many.
 */
const tidying = { afterMs: 86_400_000, documentsPerWrite: 2 }

/** Removes some documents that expired a day ago, and were not written since. */
function tidy(connection: Connection, created: number, time: number): void {
  if (created === 0) return
  const before = time - tidying.afterMs
  connection.rows(expired, encode(new Date(before)).kind, before, before, created * tidying.documentsPerWrite)
}

const expired = `delete from documents where key in (
  select key from fields join documents on key = document
  where name = 'expireAt' and kind = ? and value < ? and written_at < ? limit ?)`

/** Documents in a SQLite file: reading and writing them, and how their values are stored. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { bytesOfField, checkDocumentBytes } from '../limits.ts'
import type { Connection, Row } from './connection.ts'
import {
  type Document,
  type Fields,
  type Filter,
  type Reference,
  type Search,
  StoreError,
  type Write,
  type Writing,
} from '../store.ts'

const byReference = 'select key, id, version, written_at from documents where collection = ? and id = ?'

/** The document, with all of its fields or those of a mask. */
export function read(
  connection: Connection,
  { collection, id }: Reference,
  mask?: string[],
): Document | null {
  const [row] = connection.rows(byReference, collection, id)
  return row ? toDocument(connection, row, mask) : null
}

/** Searches that `checkSearch` has accepted. Equal values are ordered by id, in the same direction, as in Firestore. */
export function find(
  connection: Connection,
  { collection, where = [], orderBy, limit, fields }: Search,
): Document[] {
  const direction = orderBy?.direction === 'desc' ? 'desc' : 'asc'
  const sql = [
    'select key, id, version, written_at from documents',
    orderBy ? 'join fields as sorted on sorted.document = key and sorted.name = ?' : '',
    'where collection = ?',
    ...where.map(filterSql),
    `order by ${orderBy ? `sorted.kind ${direction}, sorted.value ${direction}, ` : ''}id ${direction} limit ?`,
  ]
  const values = [...(orderBy ? [orderBy.field] : []), collection, ...where.flatMap(filterValues), limit]
  return connection.rows(sql.join(' '), ...values).map(row => toDocument(connection, row, fields))
}

const comparisons = { '==': '=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const

function filterSql({ operator }: Filter): string {
  return `and exists (select 1 from fields where fields.document = documents.key
    and fields.name = ? and fields.kind = ? and fields.value ${comparisons[operator]} ?)`
}

function filterValues({ field, value }: Filter): SQLInputValue[] {
  const { kind, stored } = encode(value)
  return [field, kind, stored]
}

/** The mask is bound twice, as Node 22.18 and 24.2 bind no value to `?1`. */
const selectFields = `select name, kind, value from fields
  where document = ? and (? is null or name in (select value from json_each(?)))`

/** All fields of the document with this key in the file, or those of a mask. */
function fieldsOf(connection: Connection, key: number, mask?: string[]): Fields {
  const names = mask ? JSON.stringify(mask) : null
  const rows = connection.rows(selectFields, key, names, names)
  return Object.fromEntries(rows.map(({ name, kind, value }) => [name, decode(kind, value)]))
}

function toDocument(connection: Connection, row: Row, mask?: string[]): Document {
  return {
    id: String(row['id']),
    fields: fieldsOf(connection, Number(row['key']), mask),
    version: String(row['version']),
    writtenAt: Number(row['written_at']),
  }
}

// Writing documents into a SQLite file, inside a transaction.

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

/** Inserts many fields by one statement, which costs more than a field does. SQLite binds at most 32,766 values to one. */
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

// How SQLite holds a field's value: its kind, and the value in a type of SQLite that loses nothing.

type Value = Fields[string]

/** In Firestore's order of types. https://firebase.google.com/docs/firestore/manage-data/data-types */
const kinds = ['null', 'boolean', 'number', 'date', 'string', 'bytes', 'array', 'map'] as const

type Kind = (typeof kinds)[number]

/** Other kinds are stored as they are: SQLite takes every number as a 64-bit float, as in JavaScript. */
const encoders: Partial<Record<Kind, (value: Value) => SQLInputValue>> = {
  boolean: value => Number(value),
  date: value => (value as Date).getTime(),
  array: value => JSON.stringify(value),
  map: value => JSON.stringify(value),
}

const decoders: Partial<Record<Kind, (stored: SQLOutputValue) => Value>> = {
  boolean: stored => stored === 1,
  date: stored => new Date(stored as number),
  array: stored => JSON.parse(stored as string) as Value,
  map: stored => JSON.parse(stored as string) as Value,
}

/** @param value one that `checkWrites` or `checkSearch` has accepted */
function encode(value: Value): { kind: number; stored: SQLInputValue } {
  const kind = kindOf(value)
  return { kind: kinds.indexOf(kind), stored: encoders[kind]?.(value) ?? (value as SQLInputValue) }
}

/** The value that `encode` was given. */
function decode(kind: SQLOutputValue | undefined, stored: SQLOutputValue | undefined): Value {
  const name = kinds[Number(kind)]
  if (name === undefined || stored === undefined) throw new TypeError('not a value of this store')
  const decoder = decoders[name]
  return decoder ? decoder(stored) : (stored as Value)
}

function kindOf(value: Value): Kind {
  if (value === null) return 'null'
  if (value instanceof Date) return 'date'
  if (value instanceof Uint8Array) return 'bytes'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'object' ? 'map' : (typeof value as 'boolean' | 'number' | 'string')
}

/** Reading documents from a SQLite file: one by its id, or many by filters. */
import type { SQLInputValue } from 'node:sqlite'
import type { Document, Fields, Filter, Reference, Search } from '../store.ts'
import type { Connection, Row } from './connection.ts'
import { decode, encode } from './values.ts'

export const byReference =
  'select key, id, version, written_at from documents where collection = ? and id = ?'

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

/** Without `?1`, to which Node 22.18 and 24.2 bind no value. */
const selectFields = `select name, kind, value from fields
  where document = ? and (? is null or name in (select value from json_each(?)))`

/** All fields of the document with this key in the file, or those of a mask. */
export function fieldsOf(connection: Connection, key: number, mask?: string[]): Fields {
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

/**
 * Checks that every store makes before it touches a document: names, values and sizes. The limits are Firestore's, so
 * that a program that works on a laptop also works when deployed.
 * https://cloud.google.com/firestore/quotas, https://cloud.google.com/firestore/docs/storage-size
 */
import { StoreError, type Fields, type Filter, type Reference, type Search, type Write } from './store.ts'

const maxDocumentBytes = 1_048_576
const maxWrites = 500
/** Firestore refuses a commit of 4 MiB, which includes more than its documents. */
const maxBatchBytes = 3_600_000
/** Of one batch of many writes: what goes out at 3 Mbit/s in the 3 s that Firestore's adapter gives a commit. */
const batchBytes = 1_000_000
const maxDocuments = 1_000
const maxDepth = 20
const firstDate = new Date('0001-01-01T00:00:00.000Z')
const lastDate = new Date('9999-12-31T23:59:59.999Z')

const collectionName = /^[A-Za-z][A-Za-z0-9_]{0,99}$/
const documentId = /^[A-Za-z0-9._:-]{1,1000}$/
const fieldName = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/
/** Firestore reserves names such as `__id__`. */
const reserved = /^__.*__$/s
/**
 * A field of every document in Firestore, with another value after each write. Firestore leaves a document's version as
 * it is where a write changes nothing, so each write changes this field; and it identifies a write whose acknowledgement
 * was lost.
 */
export const markField = '_write'
const operators: readonly string[] = ['==', '<', '<=', '>', '>='] satisfies Filter['operator'][]

/** @throws StoreError `invalid` */
export function checkReference({ collection, id }: Reference): void {
  checkCollection(collection)
  if (!documentId.test(id) || reserved.test(id) || id === '.' || id === '..')
    throw invalid(`not a document id: ${JSON.stringify(id)}`)
}

/**
 * One write per document: two in one commit would have one version.
 * @throws StoreError `invalid` or `too_large`
 */
export function checkWrites(writes: Write[]): void {
  if (writes.length > maxWrites) throw tooLarge(`${writes.length} writes, the limit is ${maxWrites}`)
  const bytes = sum(writes.map(checkWrite))
  if (bytes > maxBatchBytes) throw tooLarge(`a batch of ${bytes} bytes, the limit is ${maxBatchBytes}`)
  if (new Set(writes.map(({ at }) => `${at.collection}/${at.id}`)).size < writes.length)
    throw invalid('two writes of one document in a batch')
}

/**
 * The writes in batches of up to 500 and 1 MB, in their order.
 * @throws StoreError `invalid` or `too_large`
 */
export function batchesOf(writes: Write[]): Write[][] {
  const batches: Write[][] = []
  let left = 0
  for (const write of writes) {
    const bytes = checkWrite(write)
    const last = batches.at(-1)
    if (last && last.length < maxWrites && bytes <= left) last.push(write)
    else {
      batches.push([write])
      left = batchBytes
    }
    left -= bytes
  }
  return batches
}

/** @throws StoreError `invalid` */
export function checkMask(fields: string[]): void {
  fields.forEach(checkField)
}

/** @throws StoreError `invalid` */
export function checkSearch({ collection, where = [], orderBy, limit, fields = [] }: Search): void {
  checkCollection(collection)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxDocuments) throw invalid(`not a limit: ${limit}`)
  checkMask([...where.map(filter => filter.field), ...(orderBy ? [orderBy.field] : []), ...fields])
  for (const { operator, value } of where) {
    if (!operators.includes(operator)) throw invalid(`not an operator: ${operator}`)
    if (value === null || (typeof value === 'object' && !(value instanceof Date)))
      throw invalid('a filter takes a string, a number, a boolean or a date')
    bytesOf(value)
  }
}

function checkCollection(name: string): void {
  if (!collectionName.test(name)) throw invalid(`not the name of a collection: ${JSON.stringify(name)}`)
}

function checkField(name: string): void {
  if (!fieldName.test(name) || reserved.test(name) || name === markField)
    throw invalid(`not the name of a field: ${JSON.stringify(name)}`)
}

/** Bytes that a write carries. */
function checkWrite(write: Write): number {
  checkReference(write.at)
  if (write.type === 'remove') return 0
  const fields =
    write.type === 'add' ? fieldsOfAdd(write) : write.type === 'update' ? write.set : write.fields
  if (write.type === 'update') checkUnset(fields, write.unset ?? [])
  const bytes = sum(Object.entries(fields).map(([name, value]) => bytesOfField(name, value)))
  checkDocumentBytes(write.at, bytes)
  return bytes
}

/** The fields that an `add` writes. */
function fieldsOfAdd({ amounts, set = {} }: Extract<Write, { type: 'add' }>): Fields {
  const names = Object.keys(amounts)
  if (names.length === 0) throw invalid('an addition of nothing')
  if (names.some(name => name in set)) throw invalid('a field both set and added to')
  if (Object.values(amounts).some(amount => typeof amount !== 'number')) throw invalid('not a number to add')
  return { ...set, ...amounts }
}

function checkUnset(set: Fields, unset: string[]): void {
  checkMask(unset)
  if (unset.some(name => name in set)) throw invalid('a field both set and unset')
  if (unset.length === 0 && Object.keys(set).length === 0) throw invalid('an update of nothing')
}

/**
 * @param bytes the sum of its fields, by `bytesOfField`
 * @throws StoreError `too_large`
 */
export function checkDocumentBytes({ collection, id }: Reference, bytes: number): void {
  const all = bytes + 32 + 16 + collection.length + 1 + id.length + 1
  if (all > maxDocumentBytes) throw tooLarge(`a document of ${all} bytes, the limit is ${maxDocumentBytes}`)
}

/**
 * Bytes of a field as Firestore counts them.
 * @throws StoreError `invalid`
 */
export function bytesOfField(name: string, value: Fields[string]): number {
  checkField(name)
  return name.length + 1 + (value instanceof Uint8Array ? value.byteLength : bytesOf(value))
}

/** Dates are at the top level only. */
function bytesOf(value: unknown, depth = 0): number {
  if (depth > maxDepth) throw invalid(`a value nested deeper than ${maxDepth}`)
  if (value === null || typeof value === 'boolean') return 1
  if (typeof value === 'number' && Number.isFinite(value)) return 8
  if (typeof value === 'string') return bytesOfText(value)
  if (value instanceof Date && depth === 0 && value >= firstDate && value <= lastDate) return 8
  if (Array.isArray(value)) {
    if (value.some(Array.isArray)) throw invalid('an array directly inside an array')
    return sum(value.map(item => bytesOf(item, depth + 1)))
  }
  if (isMap(value))
    return sum(Object.entries(value).map(([key, item]) => bytesOfKey(key) + bytesOf(item, depth + 1)))
  throw invalid(`a value that no document can hold: ${Object.prototype.toString.call(value)}`)
}

function bytesOfKey(key: string): number {
  if (key === '' || reserved.test(key)) throw invalid(`not a key of a map: ${JSON.stringify(key)}`)
  return bytesOfText(key)
}

/** A lone surrogate has no UTF-8 form and would come back as another character. */
function bytesOfText(text: string): number {
  if (!text.isWellFormed()) throw invalid('a text with half a surrogate pair')
  return Buffer.byteLength(text) + 1
}

function isMap(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function invalid(message: string): StoreError {
  return new StoreError('invalid', message)
}

function tooLarge(message: string): StoreError {
  return new StoreError('too_large', message)
}

/** Reading documents from Firestore: one by its id, or many by filters. */
import type { Firestore, Query } from '@google-cloud/firestore'
import { StoreError, type Document, type Reading, type Reference, type Search } from '../store.ts'
import { markField } from '../limits.ts'
import { millisecondsOf, toDocument } from './values.ts'

/** The document, with all of its fields or those of a mask. `markField` is always in it, as an empty mask would mean all. */
export async function read(firestore: Firestore, at: Reference, mask?: string[]): Promise<Reading> {
  const reference = firestore.collection(at.collection).doc(at.id)
  const [snapshot] = await firestore.getAll(reference, ...(mask ? [{ fieldMask: [...mask, markField] }] : []))
  if (!snapshot) throw new TypeError('a read without its result')
  const data = snapshot.data()
  return {
    document: data && snapshot.updateTime ? toDocument(at.id, data, snapshot.updateTime) : null,
    readAt: millisecondsOf(snapshot.readTime),
  }
}

/**
 * Searches that `checkSearch` has accepted. Firestore orders equal values by id, in the same direction.
 * @throws what the client throws, or StoreError `invalid`
 */
export async function find(
  firestore: Firestore,
  { collection, where = [], orderBy, limit, fields }: Search,
): Promise<{ documents: Document[]; readAt: number }> {
  const isRange = where.some(({ operator }) => operator !== '==')
  let query: Query = firestore.collection(collection)
  for (const { field, operator, value } of where) query = query.where(field, operator, value)
  if (orderBy) query = query.orderBy(orderBy.field, orderBy.direction)
  if (fields) query = query.select(...fields)
  const found = await query.limit(isRange && !orderBy ? maxDocuments : limit).get()
  const documents = found.docs.map(one => toDocument(one.id, one.data(), one.updateTime))
  const readAt = millisecondsOf(found.readTime)
  return { documents: isRange && !orderBy ? byId(documents).slice(0, limit) : documents, readAt }
}

/** Firestore orders a range by the values of its field, so the first ids are known only when all documents are read. */
function byId(documents: Document[]): Document[] {
  if (documents.length === maxDocuments)
    throw new StoreError('invalid', `a range of ${maxDocuments} documents or more needs an order`)
  return documents.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** The most that any search may ask for. */
const maxDocuments = 1_000

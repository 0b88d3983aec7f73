/** Documents in Firestore: reading and writing them, their values, and the client's errors as those of the port. */
import { randomUUID } from 'node:crypto'
import type { DocumentData, Firestore, Query, Timestamp, WriteBatch } from '@google-cloud/firestore'
import type { Sdk } from './connection.ts'
import { markField } from '../limits.ts'
import {
  type Document,
  type Fields,
  type Reading,
  type Reference,
  type Search,
  StoreError,
  type StoreErrorReason,
  type Write,
  type Writing,
} from '../store.ts'

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

// Writing documents into Firestore: one commit, all or nothing. A transaction would take ten times as long.

/**
 * Writes that `checkWrites` has accepted. All have one time, which is the version of each.
 * @throws what the client throws, or StoreError `invalid` for a malformed version
 */
export async function write(firestore: Firestore, sdk: Sdk, writes: Write[]): Promise<Writing[]> {
  const mark = randomUUID()
  const batch = firestore.batch()
  for (const one of writes) add(batch, firestore, sdk, one, mark)
  const writtenAt = await commit(batch).catch(async (error: unknown) => {
    const ours = isConflict(error) && (await findMark(firestore, writes, mark))
    if (!ours) throw error
    return ours
  })
  return writes.map(() => ({ version: versionOf(writtenAt), writtenAt: millisecondsOf(writtenAt) }))
}

function add(batch: WriteBatch, firestore: Firestore, sdk: Sdk, one: Write, mark: string): void {
  const reference = firestore.collection(one.at.collection).doc(one.at.id)
  const ifVersion = 'ifVersion' in one ? one.ifVersion : undefined
  const condition = ifVersion === undefined ? undefined : { lastUpdateTime: updateTimeOf(ifVersion, sdk) }
  switch (one.type) {
    case 'create':
      batch.create(reference, { ...one.fields, [markField]: mark })
      return
    case 'replace':
      // The client's `set` takes no condition, so an update with the condition precedes it in the same commit.
      if (condition) batch.update(reference, { [markField]: mark }, condition)
      batch.set(reference, { ...one.fields, [markField]: mark })
      return
    case 'update': {
      const removals = (one.unset ?? []).map(name => [name, sdk.FieldValue.delete()])
      const change = { ...one.set, ...Object.fromEntries(removals), [markField]: mark }
      batch.update(reference, change, condition ?? { exists: true })
      return
    }
    case 'add': {
      const sums = Object.entries(one.amounts).map(([name, by]) => [name, sdk.FieldValue.increment(by)])
      const change = { ...one.set, ...Object.fromEntries(sums), [markField]: mark }
      // With `merge: true` a map would be merged with the map that is there.
      batch.set(reference, change, { mergeFields: Object.keys(change) })
      return
    }
    case 'remove':
      batch.delete(reference, condition)
  }
}

async function commit(batch: WriteBatch): Promise<Timestamp> {
  const result = (await batch.commit()).at(-1)
  if (!result) throw new TypeError('a commit without its result')
  return result.writeTime
}

/**
 * The client repeats a commit whose acknowledgement was lost, and the repetition fails because of the first one.
 * @returns when the documents were written with this mark; removals leave none
 */
async function findMark(firestore: Firestore, writes: Write[], mark: string): Promise<Timestamp | undefined> {
  const at = writes.find(({ type }) => type !== 'remove')?.at
  if (!at) return undefined
  const reference = firestore.collection(at.collection).doc(at.id)
  const [snapshot] = await firestore.getAll(reference, { fieldMask: [markField] }).catch((error: unknown) => {
    throw readError(error)
  })
  return snapshot?.get(markField) === mark ? snapshot.updateTime : undefined
}

// Firestore's times and values in the port's form.

/** With all digits of Firestore's time: two writes of a document never have the same. */
function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${String(nanoseconds).padStart(9, '0')}`
}

/** @throws StoreError `invalid` for a malformed version */
function updateTimeOf(version: string, { Timestamp }: Sdk): Timestamp {
  const [, seconds, nanoseconds] = /^(\d{1,12})\.(\d{9})$/.exec(version) ?? []
  if (seconds === undefined) throw new StoreError('invalid', `not a version: ${JSON.stringify(version)}`)
  return new Timestamp(Number(seconds), Number(nanoseconds))
}

/** Milliseconds since 1970 UTC, with a fraction. */
function millisecondsOf({ seconds, nanoseconds }: Timestamp): number {
  return seconds * 1000 + nanoseconds / 1_000_000
}

/** A document of Firestore, without the mark of its write. */
function toDocument(id: string, data: DocumentData, updateTime: Timestamp): Document {
  const { [markField]: _, ...values } = data
  const fields = Object.entries(values).map(([name, value]) => [name, toField(value)])
  return {
    id,
    fields: Object.fromEntries(fields) as Fields,
    version: versionOf(updateTime),
    writtenAt: millisecondsOf(updateTime),
  }
}

/** Bytes come as a Buffer, times as Timestamps, anything else as it was written. */
function toField(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return isTimestamp(value) ? value.toDate() : value
}

/** By its method, as no other value has functions; the class itself is loaded with the SDK only. */
function isTimestamp(value: unknown): value is Timestamp {
  return typeof (value as Timestamp | null)?.toDate === 'function'
}

// Firestore's gRPC status codes as errors of the port. https://grpc.io/docs/guides/status-codes/

const invalidArgument = 3
const notFound = 5
const alreadyExists = 6
const failedPrecondition = 9
const aborted = 10
const outOfRange = 11

const conflicts: unknown[] = [notFound, alreadyExists, failedPrecondition, aborted]

/** Whether a commit was refused because a precondition does not hold. */
function isConflict(error: unknown): boolean {
  return conflicts.includes(codeOf(error))
}

/** A read has no precondition: FAILED_PRECONDITION means that an index is missing, which this service has to define. */
export function readError(error: unknown): unknown {
  return storeError(error, {
    [invalidArgument]: 'invalid',
    [outOfRange]: 'invalid',
    [failedPrecondition]: 'invalid',
  })
}

/** Only Firestore sees that an update makes a document too large, and it says so only in the message. */
export function writeError(error: unknown): unknown {
  const tooLarge = /\bsize\b|\bbytes\b|too (big|large)/i.test(String(error))
  return storeError(error, {
    [invalidArgument]: tooLarge ? 'too_large' : 'invalid',
    [outOfRange]: 'invalid',
    [notFound]: 'conflict',
    [alreadyExists]: 'conflict',
    [failedPrecondition]: 'conflict',
    [aborted]: 'conflict',
  })
}

/** Any other failure, such as refused credentials, means that the store is not available; the cause says why. */
function storeError(error: unknown, reasons: { [code: number]: StoreErrorReason }): unknown {
  if (error instanceof StoreError || error instanceof TypeError) return error
  const reason = reasons[codeOf(error) ?? -1] ?? 'unavailable'
  return new StoreError(reason, `Firestore: ${reason}`, { cause: error })
}

function codeOf(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'number' ? code : undefined
}

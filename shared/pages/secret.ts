/** The secret of all cursors, in the store: made by the first process that needs it, replaced by operators. */
import { randomBytes } from 'node:crypto'
import { assertReadable, formats } from '../stores/format.ts'
import { type Document, type Store, StoreError } from '../stores/store.ts'

const at = { collection: 'secrets', id: 'cursors' }

/** 32 bytes each. */
export interface Secret {
  /** Of the cursors that are made now. */
  current: Uint8Array
  /** Also of cursors that are taken. */
  others: Uint8Array[]
}

/** Until then every process has read a new secret: keys and definitions have the same time (`REMEMBER_MS`). */
const settleMs = 30_000

/** Why an operator's command is refused, in words for the operator. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

/**
 * Reads the secret, and makes it where there is none.
 * @returns it as it is now, and for how many milliseconds it is so, by the store's clock
 * @throws StoreError, and ApiError for one of a later version
 */
export async function readSecret(store: Store): Promise<{ value: Secret; validMs: number }> {
  const { document, readAt } = await store.get(at)
  if (!document) {
    await store.create(at, { format: formats.secret, key: newKey() }).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.reason === 'conflict')) throw error
    })
    return readSecret(store)
  }
  const { key, usedFrom, previous, previousUntil } = secretIn(document)
  if (!previous || readAt >= previousUntil) return { value: { current: key, others: [] }, validMs: Infinity }
  return readAt < usedFrom
    ? { value: { current: previous, others: [key] }, validMs: usedFrom - readAt }
    : { value: { current: key, others: [previous] }, validMs: previousUntil - readAt }
}

/**
 * Replaces the secret. Cursors are made with the new one once every process has it, so that none meets one that it does not know.
 * @param overlapMs how long cursors of before are taken; 0 = until then
 * @returns when they are not any more
 * @throws StoreError, and SecretError where the last rotation is not over
 */
export async function rotateSecret(store: Store, overlapMs: number): Promise<Date> {
  const { document, readAt } = await store.get(at)
  const usedFrom = new Date(readAt + settleMs)
  const previousUntil = new Date(readAt + Math.max(overlapMs, settleMs))
  const fields = { format: formats.secret, key: newKey(), usedFrom }
  if (!document) {
    await store.create(at, fields)
    return usedFrom
  }
  const known = secretIn(document)
  const over = overlapMs === 0 ? known.usedFrom : known.previousUntil
  if (over > readAt)
    throw new SecretError(
      `The secret was rotated before, and cursors from before that lead on until ${new Date(known.previousUntil).toISOString()}. ` +
        (known.usedFrom > readAt ? 'Try again in 30 seconds.' : '--at-once ends them.'),
    )
  await store.replace(at, { ...fields, previous: known.key, previousUntil }, document.version)
  return previousUntil
}

function newKey(): Uint8Array {
  return new Uint8Array(randomBytes(32))
}

/** Times in milliseconds since 1970 UTC; 0 = long ago. */
function secretIn({ fields }: Document) {
  assertReadable('secret', fields, 'The secret of cursors')
  const time = (name: string) => (fields[name] instanceof Date ? fields[name].getTime() : 0)
  return {
    key: fields['key'] as Uint8Array,
    usedFrom: time('usedFrom'),
    previous: fields['previous'] as Uint8Array | undefined,
    previousUntil: time('previousUntil'),
  }
}

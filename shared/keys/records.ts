/**
 * Keys in the store: the collection `keys`, by id, with a hash in place of the secret. Operators issue, list, revoke and
 * rotate them.
 */
import { everyDocument } from '../stores/calls.ts'
import { assertReadable, formats } from '../stores/format.ts'
import type { Fields, Reading, Reference, Store } from '../stores/store.ts'
import { makeKey, sha256, writeKey, type KeyText } from '../key-text.ts'

export const rights = [
  'pii:read',
  'cache:bypass',
  'definitions:read',
  'definitions:write',
  'views:write',
] as const

/**
 * `pii:read`: may turn redaction off. `cache:bypass`: may ask for a fresh run. `definitions:read`: may see the SQL of endpoints.
 * `definitions:write`: may have the service write files of `queries/`, on the same machine alone. `views:write`: may save views
 * of endpoints for others.
 */
export type Right = (typeof rights)[number]

/** How much a key may be used; `null` = without a limit. */
export type Limits = {
  /** In each process. */
  callsPerMinute: number | null
  /** Bytes that its runs may read in a UTC day. */
  bytesPerDay: number | null
}

export interface Grant {
  /** Who or what the key is for. */
  name: string
  /** Names of the endpoints it may call, or all of them. */
  endpoints: string[] | '*'
  /** Parameters that are fixed for it, by name. */
  pins: Record<string, string>
  rights: Right[]
  /** Every answer is redacted, also of endpoints that do not redact; not, where it is left out. */
  redacted?: boolean
  /** `null` = it does not expire. */
  expiresAt: Date | null
  /** None, where it is left out. */
  limits?: Limits | null
}

export interface KeyRecord extends Grant {
  /** SHA-256 of the secret, hexadecimal. */
  hash: string
  createdAt: Date
  revokedAt: Date | null
}

type KeyState = 'active' | 'expired' | 'revoked'

/** Where the record of a key is. */
export function keyReference(id: string): Reference {
  return { collection: 'keys', id }
}

const isText = (value: unknown) => typeof value === 'string'
const isDate = (value: unknown) => value instanceof Date && !Number.isNaN(value.getTime())
const isDateOrNull = (value: unknown) => value === null || isDate(value)

/** The field is `expiresAt`, not `expireAt`: Firestore deletes documents by that one, and an expired key has to stay listed. */
const shape: { [field in keyof KeyRecord]-?: (value: unknown) => boolean } = {
  name: value => isText(value) && value !== '',
  endpoints: value => value === '*' || (Array.isArray(value) && value.every(isText)),
  pins: value => isMap(value) && Object.values(value).every(isText),
  rights: value => Array.isArray(value) && value.every(right => rights.includes(right)),
  redacted: value => value === undefined || typeof value === 'boolean',
  expiresAt: isDateOrNull,
  limits: value => value === undefined || value === null || isLimits(value),
  hash: value => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  createdAt: isDate,
  revokedAt: isDateOrNull,
}

const isCountOrNull = (value: unknown) => value === null || (Number.isSafeInteger(value) && Number(value) > 0)

function isLimits(value: unknown): boolean {
  if (!isMap(value)) return false
  const { callsPerMinute, bytesPerDay } = value as Partial<Limits>
  return isCountOrNull(callsPerMinute) && isCountOrNull(bytesPerDay)
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/**
 * `undefined` for a document that is not a key; no request can use such a key.
 * @throws ApiError for one that a later version stored
 */
export function readRecord(fields: Fields): KeyRecord | undefined {
  assertReadable('key', fields, 'An API key')
  const entries = Object.entries(shape).map(([field, accepts]) => ({ field, value: fields[field], accepts }))
  if (!entries.every(({ value, accepts }) => accepts(value))) return undefined
  return Object.fromEntries(entries.map(({ field, value }) => [field, value])) as unknown as KeyRecord
}

/** @param time the store's, milliseconds since 1970 UTC */
export function stateOf({ revokedAt, expiresAt }: KeyRecord, time: number): KeyState {
  if (revokedAt) return 'revoked'
  return expiresAt && expiresAt.getTime() <= time ? 'expired' : 'active'
}

/** Why an operator's command is refused, in words for the operator. Never holds a key. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
}

/**
 * @returns the key, which cannot be shown again, and its id
 * @throws StoreError, or KeyError for a grant that is not valid
 */
export async function issueKey(store: Store, grant: Grant): Promise<{ key: string; id: string }> {
  const made = makeKey()
  const { readAt } = await store.get(keyReference(made.id))
  await store.create(keyReference(made.id), newRecord(made, grant, readAt))
  return { key: writeKey(made), id: made.id }
}

function newRecord({ secret }: KeyText, grant: Grant, time: number): Fields {
  const own = { hash: sha256(secret), createdAt: new Date(time), revokedAt: null }
  const record = readRecord({ ...grant, ...own })
  if (!record) throw new KeyError('A key needs a name, endpoints, pins, rights, an expiry and limits.')
  return fieldsOfKey(record)
}

/** The document of a key; `readRecord` reads it back. */
export function fieldsOfKey(record: KeyRecord): Fields {
  const { redacted = false, limits = null } = record
  return { format: formats.key, ...record, redacted, limits }
}

const newestFirst = { collection: 'keys', orderBy: { field: 'createdAt', direction: 'desc' } } as const

/** All documents of the collection, the newest first; `null` for one that is not a valid record. @throws as `listKeys` does */
export async function* everyKey(
  store: Store,
): AsyncGenerator<{ id: string; version: string; record: KeyRecord | null }> {
  for await (const { id, version, fields } of everyDocument(store, newestFirst))
    yield { id, version, record: readRecord(fields) ?? null }
}

interface ListedKey extends Omit<KeyRecord, 'hash'> {
  id: string
  state: KeyState
}

/**
 * All keys, the newest first; documents that are not keys are left out.
 * @throws StoreError, and ApiError for a key that a later version stored
 */
export async function listKeys(store: Store): Promise<ListedKey[]> {
  const { readAt } = await store.get(keyReference('none')) // for the store's time
  const keys: ListedKey[] = []
  for await (const { id, record } of everyKey(store)) {
    if (!record) continue
    const { hash: _, ...shown } = record
    keys.push({ id, ...shown, state: stateOf(record, readAt) })
  }
  return keys
}

/**
 * A reader of the ids of all keys: all are read with its first call, and with each later one those that came since, with a
 * minute for keys that are written after the time in `createdAt`. One with an older time, as a copied key has, may be missing.
 */
export function keyIds(store: Store): () => Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  let since = new Date(0)
  return async () => {
    const { readAt } = await store.get(keyReference('none'))
    const where = [{ field: 'createdAt', operator: '>=', value: since } as const]
    const later = everyDocument(store, { ...newestFirst, where, fields: ['createdAt'] })
    for await (const { id } of later) ids.add(id)
    since = new Date(readAt - 60_000)
    return ids
  }
}

/**
 * Each process refuses the key from its next read of the store on. A second time changes nothing.
 * @throws StoreError, or KeyError if there is no such key
 */
export async function revokeKey(store: Store, id: string): Promise<void> {
  const { document, readAt } = await readById(store, id)
  if (!document) throw unknownKey()
  if (document.fields['revokedAt'] instanceof Date) return
  await store.update(keyReference(id), { set: { revokedAt: new Date(readAt) } })
}

/** Deletes the document, for a key that was never handed out: it is in no list and no export. @throws StoreError */
export async function removeKey(store: Store, id: string): Promise<void> {
  await store.remove(keyReference(id))
}

/**
 * Issues a key with the same grant, expiry included, in one step with the end of the old one.
 * @param overlapMs how long the old key still works, in milliseconds; not past its own expiry
 * @returns the new key, which cannot be shown again, its id, and the old one's end
 * @throws StoreError, or KeyError if there is no such key, or it is expired or revoked
 */
export async function rotateKey(
  store: Store,
  id: string,
  overlapMs: number,
): Promise<{ key: string; id: string; oldExpiresAt: Date }> {
  const { document, readAt } = await readById(store, id)
  const record = document && readRecord(document.fields)
  if (!record) throw unknownKey()
  const state = stateOf(record, readAt)
  if (state !== 'active') throw new KeyError(`The key is ${state}: issue a new one.`)
  const made = makeKey()
  const oldExpiresAt = new Date(Math.min(readAt + overlapMs, record.expiresAt?.getTime() ?? Infinity))
  await store.batch([
    { type: 'create', at: keyReference(made.id), fields: newRecord(made, record, readAt) },
    { type: 'update', at: keyReference(id), set: { expiresAt: oldExpiresAt }, ifVersion: document.version },
  ])
  return { key: writeKey(made), id: made.id, oldExpiresAt }
}

async function readById(store: Store, id: string): Promise<Reading> {
  if (!/^[0-9A-Za-z]{1,100}$/.test(id)) throw unknownKey()
  return store.get(keyReference(id))
}

/** Does not quote the id that was given, which may be a whole key. */
export function unknownKey(): KeyError {
  return new KeyError(
    'There is no such key. Its id is the part between lqe_ and the next _; lqe key list shows them all.',
  )
}

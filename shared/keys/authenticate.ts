/** API keys: operators issue, list, rotate and revoke them; whoever sends one that holds is a caller. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../errors.ts'
import { StoreError, type Fields, type Reading, type Store } from '../stores/store.ts'
import { callCounter } from './calls.ts'
import { remember, type Remembering } from './memory.ts'
import { keyReference, readRecord, stateOf, type Grant, type KeyState, type Limits } from './records.ts'
import { makeKey, readKey, sha256, writeKey, type KeyText } from './text.ts'

export { type Limits, rights, type Right } from './records.ts'

/** What a request may do, by the key that came with it. */
export interface Caller extends Omit<Grant, 'expiresAt' | 'limits'> {
  keyId: string
  limits: Limits | null
}

/** Why an operator's command cannot be done, in words for the operator. Never holds a key. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
}

/**
 * @returns the key, which cannot be shown again, and its id
 * @throws StoreError, or KeyError for a grant that is none
 */
export async function issueKey(store: Store, grant: Grant): Promise<{ key: string; id: string }> {
  const made = makeKey()
  const { readAt } = await store.get(keyReference(made.id))
  await store.create(keyReference(made.id), newRecord(made, grant, readAt))
  return { key: writeKey(made), id: made.id }
}

function newRecord({ secret }: KeyText, grant: Grant, time: number): Fields {
  const { name, endpoints, pins, rights, expiresAt, limits = null } = grant
  const createdAt = new Date(time)
  const record = {
    name,
    endpoints,
    pins,
    rights,
    expiresAt,
    limits: limits && { ...limits },
    hash: sha256(secret),
    createdAt,
    revokedAt: null,
  }
  if (!readRecord(record))
    throw new KeyError('A key needs a name, endpoints, pins, rights, an expiry and limits.')
  return record
}

export interface ListedKey extends Grant {
  id: string
  createdAt: Date
  revokedAt: Date | null
  state: KeyState
}

/**
 * The newest 1,000 keys, the newest first; documents that are no keys are left out.
 * @throws StoreError
 */
export async function listKeys(store: Store): Promise<ListedKey[]> {
  const orderBy = { field: 'createdAt', direction: 'desc' } as const
  const { documents, readAt } = await store.query({ collection: 'keys', orderBy, limit: 1_000 })
  return documents.flatMap(({ id, fields }) => {
    const record = readRecord(fields)
    if (!record) return []
    const { hash: _, ...shown } = record
    return [{ id, ...shown, state: stateOf(record, readAt) }]
  })
}

/**
 * The key is refused at once by whoever asks the store, and everywhere when their memory of it ends. Twice does no harm.
 * @throws StoreError, or KeyError if there is no such key
 */
export async function revokeKey(store: Store, id: string): Promise<void> {
  const { document, readAt } = await readById(store, id)
  if (!document) throw unknownKey()
  if (document.fields['revokedAt'] instanceof Date) return
  await store.update(keyReference(id), { set: { revokedAt: new Date(readAt) } })
}

/**
 * Issues a key with the same grant, expiry included, in one step with the end of the old one.
 * @param overlapMs how long the old key goes on, in milliseconds; not past its own expiry
 * @returns the new key, which cannot be shown again, its id, and the old one's end
 * @throws StoreError, or KeyError if there is no such key, or not in use
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

function unknownKey(): KeyError {
  return new KeyError(
    'There is no such key. Its id is the part between lqe_ and the next _; list shows them all.',
  )
}

/**
 * Who sends this key, by one read of the store; a text that cannot be a key costs none.
 * @throws ApiError `unauthenticated`, the same for every reason, or `store_unavailable` when the store does not answer
 */
export async function authenticate(store: Store, key: string | undefined): Promise<Caller> {
  return (await verify(store, key)).value
}

/** The caller, and for how many milliseconds the key holds; judged by the store's clock. */
async function verify(store: Store, key: string | undefined): Promise<{ value: Caller; leftMs: number }> {
  const text = readKey(key)
  if (!text) throw unauthenticated()
  const { document, readAt } = await store.get(keyReference(text.id)).catch(unavailable)
  const record = document && readRecord(document.fields)
  if (!record || !sameHash(record.hash, sha256(text.secret)) || stateOf(record, readAt) !== 'active')
    throw unauthenticated()
  const { name, endpoints, pins, rights, expiresAt, limits = null } = record
  const leftMs = expiresAt ? expiresAt.getTime() - readAt : Infinity
  return { value: { keyId: text.id, name, endpoints, pins, rights, limits }, leftMs }
}

function sameHash(stored: string, sent: string): boolean {
  return timingSafeEqual(Buffer.from(stored), Buffer.from(sent))
}

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', 'Send a valid API key, as X-API-KEY or as Authorization: Bearer.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="log-query-endpoints"' },
  })
}

function unavailable(cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause
  const headers = { 'Retry-After': '2' }
  throw new ApiError('store_unavailable', 'API keys cannot be checked at the moment.', { headers, cause })
}

export type Authenticate = (key: string | undefined) => Promise<Caller>

/**
 * `authenticate` with a memory. While the store does not answer, remembered keys go on for their time and others are
 * turned away. A key stops within `rememberMs` of being revoked, and at its expiry. Calls are counted.
 */
export function createAuthenticator(store: Store, remembering: Partial<Remembering> = {}): Authenticate {
  const lookUp = remember(key => verify(store, key), { rememberMs: 30_000, ...remembering })
  const count = callCounter(remembering.clock)
  return async key => {
    if (key === undefined) throw unauthenticated()
    const caller = await lookUp(key)
    count(caller)
    return caller
  }
}

/**
 * The key in a request's headers, from `X-API-KEY` or `Authorization: Bearer`; an empty header counts as none.
 * @throws ApiError `unauthenticated` if two different ones are sent
 */
export function keyFromHeaders(headers: IncomingHttpHeaders): string | undefined {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  const own = String(headers['x-api-key'] ?? '') || undefined
  if (own && bearer && own !== bearer) throw unauthenticated()
  return own ?? bearer
}

/** @param endpoint its name */
export function mayCall({ endpoints }: Caller, endpoint: string): boolean {
  return endpoints === '*' || endpoints.includes(endpoint)
}

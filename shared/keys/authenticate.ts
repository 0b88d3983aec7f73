/** API keys: operators issue, list, rotate and revoke them; whoever sends one that holds is a caller. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../errors.ts'
import { StoreError, type Store } from '../stores/store.ts'
import { LRUCache } from 'lru-cache'
import { callCounter } from './limits.ts'
import { type Grant, keyReference, type Limits, readRecord, stateOf } from './records.ts'
import { readKey, sha256 } from './text.ts'

/** What a request may do, by the key that came with it. */
export interface Caller extends Omit<Grant, 'expiresAt' | 'limits'> {
  keyId: string
  limits: Limits | null
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

export interface Remembering {
  /** How long a key that holds is taken without asking again, in milliseconds: so long a revoked key may go on. */
  rememberMs: number
  /** Milliseconds from any start but 0. */
  clock?: { now(): number }
}

/** Keys remembered of each sort, at most: a few hundred bytes each. */
const max = 10_000

/**
 * A refusal holds for 2 s: a client that keeps sending a revoked key costs a read every 2 s, and a key that was tried
 * too early works 2 s after it was issued. Refusals have a memory of their own: invented keys push out no real ones.
 */
const refusedMs = 2_000

/**
 * The same lookup with a memory, by the SHA-256 of the key. Calls with one key share one lookup.
 * @param lookUp what a key stands for, and for how many milliseconds at most; ApiError `unauthenticated` is remembered,
 *   any other failure is not
 */
export function remember<T extends object>(
  lookUp: (key: string) => Promise<{ value: T; leftMs: number }>,
  { rememberMs, clock = performance }: Remembering,
): (key: string) => Promise<T> {
  const settings = { max, perf: clock, ttlResolution: 0 }
  const holding = new LRUCache<string, T>({ ...settings, ttl: rememberMs })
  const refused = new LRUCache<string, ApiError>({ ...settings, ttl: refusedMs })
  const underWay = new Map<string, Promise<T>>()

  async function ask(key: string, print: string): Promise<T> {
    const start = clock.now()
    try {
      const { value, leftMs } = await lookUp(key)
      const ttl = Math.min(rememberMs, leftMs)
      // To the cache, 0 is for ever.
      if (ttl > 0) holding.set(print, value, { start, ttl })
      return value
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthenticated') refused.set(print, error, { start })
      throw error
    } finally {
      underWay.delete(print)
    }
  }

  return async key => {
    const print = sha256(key)
    const known = holding.get(print)
    if (known) return known
    const refusal = refused.get(print)
    if (refusal) throw refusal
    const asked = underWay.get(print) ?? ask(key, print)
    underWay.set(print, asked)
    return asked
  }
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

/** Who sends a key: the key is read from the headers, compared with the stored hash, and remembered for a while. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { StoreError, type Store } from '../stores/store.ts'
import { callCounter } from './limits.ts'
import { type Grant, keyReference, type Limits, readRecord, stateOf } from './records.ts'
import { readKey, sha256 } from './text.ts'

/** What a request may do, by the key that came with it. */
export interface Caller extends Omit<Grant, 'expiresAt' | 'limits'> {
  keyId: string
  limits: Limits | null
}

export type Authenticate = (key: string | undefined) => Promise<Caller>

/** Keys remembered, and as many refusals: a few hundred bytes each. */
const max = 10_000

/** A client that keeps sending a revoked key costs a read every 2 s; a key tried too early works 2 s after its issue. */
const refusedMs = 2_000

/**
 * `authenticate` with a memory and a count of calls. While the store does not answer, remembered keys are accepted for
 * their time and all others refused.
 * @param rememberMs how long a key is accepted without another read, in milliseconds: a revoked key works for so long
 * @param clock milliseconds from any start but 0
 * @returns as `authenticate`; also throws ApiError `rate_limited`
 */
export function createAuthenticator(
  store: Store,
  { rememberMs = 30_000, clock = performance }: { rememberMs?: number; clock?: { now(): number } } = {},
): Authenticate {
  const settings = { max, perf: clock, ttlResolution: 0 }
  /** Apart from the callers, so that invented keys push out real ones only while they are looked up. */
  const refused = new LRUCache<string, ApiError>({ ...settings, ttl: refusedMs })
  const callers = new LRUCache<string, Caller, SentKey>({
    ...settings,
    ttl: rememberMs,
    ignoreFetchAbort: true,
    async fetchMethod(print, _, { options, context }) {
      const start = clock.now()
      try {
        const { caller, leftMs } = await lookUp(store, context)
        // Counted from before the read. To the cache 0 is for ever, and less than 0 is over.
        options.ttl = start + Math.min(rememberMs, leftMs) - clock.now() || -1
        return caller
      } catch (error) {
        if (error instanceof ApiError && error.code === 'unauthenticated')
          refused.set(print, error, { start })
        throw error
      }
    },
  })
  const count = callCounter(clock)
  return async key => {
    const sent = readSent(key)
    const print = sent.id + sent.hash
    const refusal = refused.get(print)
    if (refusal) throw refusal
    const caller = await callers.forceFetch(print, { context: sent })
    count(caller)
    return caller
  }
}

/**
 * Who sends this key, by one read of the store; a text that cannot be a key costs none.
 * @throws ApiError `unauthenticated`, the same for every reason, or `store_unavailable` when the store does not answer
 */
export async function authenticate(store: Store, key: string | undefined): Promise<Caller> {
  return (await lookUp(store, readSent(key))).caller
}

interface SentKey {
  id: string
  /** SHA-256 of its secret, hexadecimal. */
  hash: string
}

function readSent(key: string | undefined): SentKey {
  const text = readKey(key)
  if (!text) throw unauthenticated()
  return { id: text.id, hash: sha256(text.secret) }
}

/** The caller, and for how many milliseconds the key is valid, by the store's clock. */
async function lookUp(store: Store, sent: SentKey): Promise<{ caller: Caller; leftMs: number }> {
  const { document, readAt } = await store.get(keyReference(sent.id)).catch(unavailable)
  const record = document && readRecord(document.fields)
  if (!record || !sameHash(record.hash, sent.hash) || stateOf(record, readAt) !== 'active')
    throw unauthenticated()
  const { name, endpoints, pins, rights, expiresAt, limits = null } = record
  const leftMs = expiresAt ? expiresAt.getTime() - readAt : Infinity
  return { caller: { keyId: sent.id, name, endpoints, pins, rights, limits }, leftMs }
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

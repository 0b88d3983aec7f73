/** Who sends a key: the key is read from the headers, compared with the stored hash, and remembered for a while. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { rememberRead, rememberReads } from '../stores/remember-reads.ts'
import type { Store } from '../stores/store.ts'
import { type Grant, keyIds, keyReference, type Limits, readRecord, stateOf } from './records.ts'
import { keyPrefix, readKey, sha256 } from '../key-text.ts'

/** What a request may do, by the key that came with it. */
export interface Caller extends Omit<Grant, 'expiresAt' | 'limits'> {
  /** Of a token: its issuer's name, a dot, and a hash of its subject. */
  keyId: string
  limits: Limits | null
  /** Of a token: scopes that it lacks, with the endpoints that they open. */
  lacking?: Record<string, string[]>
  /** Of a token: web pages that may send it; absent = any that may read answers. */
  origins?: string[]
}

export type Authenticate = (key: string | undefined) => Promise<Caller>

/** The most keys remembered, and the most refusals: a few hundred bytes each. */
const max = 10_000

/**
 * How long a refusal is remembered: a revoked key that is sent again and again costs a read every 2 s, and a key that is tried
 * before its issue works 2 s later.
 */
const refusedMs = 2_000

/** Bounds on reads for unknown ids in one process: a burst, and a rate. */
const missesAtOnce = 100
const missesPerSecond = 10

/** Past these bounds all ids are listed once in so long, and only listed ones are read: a key issued since then gets 429. */
const listedMs = 10_000
/** Of the status 429; with a 503, anyone could set off the alert on 5xx by inventing keys. */
const headers = { 'Retry-After': String(listedMs / 1_000) }

/**
 * Who sends a key, by a read of the store that is remembered (`../stores/remember-reads.ts`, also for what holds while the store
 * does not answer). A text that cannot be a key costs no read, and invented ones cost few.
 * @param rememberMs how long a key is accepted without another read, in milliseconds: a revoked key works for so long
 * @param clock milliseconds from any start but 0
 * @returns throws ApiError `unauthenticated`, the same for every reason, `store_unavailable`, or `rate_limited` where it cannot
 * be said yet whether the key is one
 */
export function createAuthenticator(
  store: Store,
  { rememberMs = 0, clock = performance }: { rememberMs?: number; clock?: { now(): number } } = {},
): Authenticate {
  /** Refused ids have a memory of their own, so that invented keys push out real ones only while they are looked up. */
  const refused = new LRUCache<string, ApiError>({
    maxSize: max,
    sizeCalculation: () => 1,
    ttl: refusedMs,
    perf: clock,
    ttlResolution: 0,
  })
  const common = { clock, unavailable: 'API keys cannot be checked at the moment.' }
  const ids = keyIds(store)
  const listed = rememberRead({ ...common, rememberMs: listedMs, read: async () => ({ value: await ids() }) })
  const misses = tokenBucket(clock)
  const known = rememberReads<KnownKey>({
    ...common,
    max,
    rememberMs,
    async read(id) {
      const start = clock.now()
      const mayMiss = misses.take()
      if (!mayMiss && !(await listed()).has(id))
        throw new ApiError('rate_limited', 'Too many unknown API keys are tried at the moment.', { headers })
      const found = await lookUp(store, id)
      if (found && mayMiss) misses.giveBack()
      if (found) return found
      const refusal = unauthenticated()
      refused.set(id, refusal, { start })
      throw refusal
    },
  })
  return async key => {
    const sent = readKey(key)
    if (!sent) throw unauthenticated()
    const refusal = refused.get(sent.id)
    if (refusal) throw refusal
    const { caller, hash } = await known(sent.id)
    if (!sameHash(hash, sha256(sent.secret))) throw unauthenticated()
    return caller
  }
}

interface KnownKey {
  caller: Caller
  /** SHA-256 of its secret, hexadecimal. */
  hash: string
}

function tokenBucket(clock: { now(): number }) {
  let [left, at] = [missesAtOnce, clock.now()]
  return {
    take(): boolean {
      const now = clock.now()
      left = Math.min(missesAtOnce, left + ((now - at) / 1000) * missesPerSecond)
      at = now
      if (left < 1) return false
      left -= 1
      return true
    },
    giveBack: () => void (left += 1),
  }
}

/** The caller, and for how many milliseconds the key is valid, by the store's clock; `null` for a key that is not. */
async function lookUp(store: Store, id: string): Promise<{ value: KnownKey; validMs: number } | null> {
  const { document, readAt } = await store.get(keyReference(id))
  const record = document && readRecord(document.fields)
  if (!record || stateOf(record, readAt) !== 'active') return null
  const { name, endpoints, pins, rights, redacted = false, expiresAt, limits = null, hash } = record
  const validMs = expiresAt ? expiresAt.getTime() - readAt : Infinity
  return { value: { caller: { keyId: id, name, endpoints, pins, rights, redacted, limits }, hash }, validMs }
}

function sameHash(stored: string, sent: string): boolean {
  return timingSafeEqual(Buffer.from(stored), Buffer.from(sent))
}

/** RFC 6750, 3. */
export const realm = 'Bearer realm="log-query-endpoints"'

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', 'Send a valid API key, as X-API-KEY or as Authorization: Bearer.', {
    headers: { 'WWW-Authenticate': realm },
  })
}

/**
 * The key in a request's headers, from `X-API-KEY` or `Authorization: Bearer`; an empty header counts as none. A bearer
 * token of another kind beside `X-API-KEY` is for a proxy on the way, such as Cloud Run's check of the invoker.
 * @throws ApiError `unauthenticated` if two different keys are sent
 */
export function keyFromHeaders(headers: IncomingHttpHeaders): string | undefined {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  const own = String(headers['x-api-key'] ?? '') || undefined
  if (own && bearer?.startsWith(keyPrefix) && own !== bearer) throw unauthenticated()
  return own ?? bearer
}

/** @param endpoint its name */
export function mayCall({ endpoints }: Caller, endpoint: string): boolean {
  return endpoints === '*' || endpoints.includes(endpoint)
}

/** Whether any call can pass: an endpoint without a parameter that the key fixes refuses each, so that the key is not told of it. */
export function canCall(caller: Caller, endpoint: { name: string; parameters: object }): boolean {
  return (
    mayCall(caller, endpoint.name) &&
    Object.keys(caller.pins).every(pin => Object.hasOwn(endpoint.parameters, pin))
  )
}

/** The public keys of an issuer (JWKS, RFC 7517): fetched when they are needed, and again when they may have changed. */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { ApiError } from '../errors.ts'

/** Keys as one answer has them; another text is other keys. */
export interface Keys {
  text: string
  find: ReturnType<typeof createLocalJWKSet>
}

/** Keys are taken for so long without another fetch. */
const rememberMs = 20_000
/** A key that its issuer withdraws is refused after so long, even if the address is slow. */
const promisedMs = 30_000
/** While the address fails, keys are taken for so long as they were. */
const outageMs = 300_000
const retryMs = 5_000
/** The longest wait for a new read while the keys at hand are recent enough. */
const patienceMs = 1_000
/** Between two fetches for the id of a key that is not there. */
const renewMs = 60_000
const fetchMs = 10_000
const mostBytes = 100_000

/** @param read the text of the set; throws where it cannot be had */
export class KeySet {
  private readonly read: () => Promise<string>
  private readonly clock: { now(): number }
  private known: (Keys & { readAt: number }) | null = null
  private reading: { done: Promise<void>; patience: Promise<void> } | null = null
  private failedAt = -Infinity
  private renewedAt = -Infinity

  constructor(read: () => Promise<string>, clock: { now(): number }) {
    this.read = read
    this.clock = clock
  }

  /** The keys, at most 20 s old, unless their address fails. @throws ApiError `issuer_unavailable` */
  async current(): Promise<Keys> {
    const { known } = this
    const age = this.age()
    if (known && age <= rememberMs) return known
    if (this.clock.now() - this.failedAt >= retryMs || this.reading) {
      const { done, patience } = this.readAgain()
      // Within `promisedMs` the keys at hand will do if the read is slow; past it they may hold a key withdrawn long ago.
      const isFailing = known && this.failedAt > known.readAt
      await (isFailing || age <= promisedMs ? patience : done)
    }
    if (this.known && this.age() <= outageMs) return this.known
    throw new ApiError('issuer_unavailable', 'The keys of this token’s issuer cannot be read at the moment.')
  }

  /** Fetches them for the id of a key that they lack, once a minute. @returns `null` where it is too early for that */
  async renewed(): Promise<Keys | null> {
    const now = this.clock.now()
    if (!this.reading && now - this.renewedAt < renewMs) return null
    this.renewedAt = now
    await this.readAgain().done
    return this.known
  }

  private age(): number {
    return this.known ? this.clock.now() - this.known.readAt : Infinity
  }

  /** Concurrent calls share a read; a late result is used by the next call. */
  private readAgain() {
    if (this.reading) return this.reading
    const readAt = this.clock.now()
    const done = this.read()
      .then(text => {
        const find = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
        this.known = { text, find, readAt }
      })
      .catch(() => void (this.failedAt = this.clock.now()))
      .finally(() => (this.reading = null))
    const patience = Promise.race([done, delay(patienceMs, undefined, { ref: false })])
    return (this.reading = { done, patience })
  }
}

/** The answer of an address: within 10 s, no other address, 100 kB. */
export async function fetchKeys(address: string): Promise<string> {
  const signal = AbortSignal.timeout(fetchMs)
  const headers = { Accept: 'application/json' }
  const response = await fetch(address, { redirect: 'error', signal, headers })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`answered ${response.status}`)
  }
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > mostBytes) throw new Error('is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** The public half of that key, in a file of the data folder. */
export async function readLocalKey(file: string): Promise<string> {
  const { d: _, ...key } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
  return JSON.stringify({ keys: [key] })
}

/** Remembers for a while which keys hold, so that a busy key costs no read of the store. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { sha256 } from './text.ts'

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

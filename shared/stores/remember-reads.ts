/** Keys and definitions are read through a memory, which also covers an outage of the store. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { StoreError } from './store.ts'
import { withTimeout } from './calls.ts'

/** While the store does not answer, cached values stay valid for so long: a revocation then takes as long. */
const outageMs = 300_000
/** During an outage the store is asked again after so long. */
const retryMs = 5_000
/** The longest wait for the store where memory has the value; without one the adapter's own limit counts. */
const patienceMs = 1_000

interface MemoryOptions<Value> {
  /** How long a value is used without another read, milliseconds. 0 = each call reads. */
  rememberMs: number
  /** @returns the value, and for how many milliseconds from the read on it is valid at all; throws StoreError */
  read(key: string): Promise<{ value: Value; validMs?: number }>
  /** Detail of the error where the store does not answer and memory does not have the value. */
  unavailable: string
  /** Milliseconds from any start but 0. */
  clock?: { now(): number }
}

interface Remembered<Value> {
  value: Value
  /** Before the read. */
  readAt: number
  validMs: number
}

/**
 * Reads by key; calls for one key share one read.
 * @param max most values cached; the least recently used goes first
 * @returns throws ApiError `store_unavailable`, and what `read` throws beside StoreError `unavailable`
 */
export function rememberReads<Value>({
  max,
  rememberMs,
  read,
  unavailable,
  clock = performance,
}: MemoryOptions<Value> & { max: number }): (key: string) => Promise<Value> {
  /** Set while the store does not answer: it is not asked for what memory has, whatever the key. */
  let away: { error: StoreError; until: number } | null = null
  const memory = new LRUCache<string, Remembered<Value>>({
    maxSize: max, // with `max`, each cold start would fill as many places
    sizeCalculation: () => 1,
    perf: clock,
    ttlResolution: 0,
    ttl: rememberMs,
    // An entry that is pushed out while it is read would fail the request that waits for it.
    ignoreFetchAbort: true,
    async fetchMethod(key, known, { options }) {
      const readAt = clock.now()
      /** To the cache 0 is for ever, and less than 0 is over. */
      const keepUntil = (time: number) => (options.ttl = time - clock.now() || -1)
      try {
        if (known && away && readAt < away.until) throw away.error
        const reading = read(key)
        const { value, validMs = Infinity } = await (known ? withTimeout(patienceMs, reading) : reading)
        away = null
        keepUntil(readAt + Math.min(rememberMs, validMs))
        return { value, readAt, validMs }
      } catch (error) {
        if (!isUnavailable(error)) throw error
        if (error !== away?.error) away = { error, until: clock.now() + retryMs }
        const endsAt = known ? known.readAt + Math.min(outageMs, known.validMs) : 0
        if (!known || clock.now() >= endsAt)
          throw new ApiError('store_unavailable', unavailable, { cause: error })
        keepUntil(Math.min(away.until, endsAt))
        return known
      }
    },
  })
  return async key => (await memory.forceFetch(key)).value
}

/** The same for a single value. */
export function rememberRead<Value>(options: MemoryOptions<Value>): () => Promise<Value> {
  const remembered = rememberReads({ ...options, max: 1 })
  return () => remembered('the value')
}

function isUnavailable(error: unknown): error is StoreError {
  return error instanceof StoreError && error.reason === 'unavailable'
}

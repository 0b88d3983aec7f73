/** What is asked of the cache, and what it serves. */
import type { ApiError } from '../errors.ts'
import type { Answer } from '../answers/answer.ts'
import type { CacheKeyFields } from './key.ts'
import { type LeaseTimes, leaseTimes } from './lease.ts'

export interface CacheTimes extends LeaseTimes {
  /** An answer in memory is served this long without a look at the store. */
  memoryMs: number
  /** How long an answer stays as a stale copy, past its time. */
  staleMs: number
  /** How often one who waits for another process looks. */
  pollMs: number
  /** How long a store that failed is left alone. */
  storeDownMs: number
}

export const cacheTimes: CacheTimes = {
  ...leaseTimes,
  memoryMs: 5000,
  staleMs: 3_600_000,
  pollMs: 250,
  storeDownMs: 1000,
}

export interface CacheRequest {
  keyFields: CacheKeyFields
  /** How long an answer counts as fresh, milliseconds. */
  freshMs: number
  /** The longest that `make` may take. */
  timeoutMs: number
  /** Whether reads are noted for the warmer. */
  noteUse: boolean
  /** A fresh copy is not enough: the engine runs, or has just begun to. */
  bypass: boolean
  /**
   * Runs the engine. `jobKey` is the same for whoever takes the lease from one that died, and for nobody else.
   * `madeAt` (store time) where the answer was made of an older one.
   */
  make(jobKey?: string): Promise<{ answer: Answer; madeAt?: number }>
}

export interface CacheResult {
  answer: Answer
  /** `hit`, a stale `hit`, or what came of asking the engine (`collapsed` = somebody else asked). */
  status: 'hit' | 'stale' | 'miss' | 'revalidated' | 'collapsed'
  /** Whether the answer is on its way to the store. */
  stored: boolean
  /** Store time at which the engine began, milliseconds since 1970 UTC; NaN where the store has never answered. */
  madeAt: number
  ageMs: number
  /** Why the engine gave nothing newer than a stale copy. */
  failure: ApiError | null
}

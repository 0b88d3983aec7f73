/** What the runs for a key have read today, for keys that may read so many bytes a day. Days are UTC, by the store's clock. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { type Reading, type Store, StoreError } from '../stores/store.ts'
import type { Caller } from './authenticate.ts'
import type { Limits } from './records.ts'

const minute = 60_000
/** Keys counted at a time; the one that was quiet for longest is forgotten first. */
const max = 10_000

/** @returns counts a call; throws ApiError `rate_limited` for one too many in the minute that began with the first */
export function callCounter(
  clock: { now(): number } = performance,
): (caller: { keyId: string; limits: Limits | null }) => void {
  const minutes = new LRUCache<string, { calls: number }>({ max, ttl: minute, perf: clock, ttlResolution: 0 })
  return ({ keyId, limits }) => {
    const most = limits?.callsPerMinute ?? null
    if (most === null) return
    const current = minutes.get(keyId) ?? { calls: 0 }
    if (current.calls === 0) minutes.set(keyId, current)
    current.calls++
    if (current.calls <= most) return
    const seconds = Math.max(1, Math.ceil(minutes.getRemainingTTL(keyId) / 1000))
    throw new ApiError('rate_limited', `This API key may be used ${most} times a minute; come back later.`, {
      headers: { 'Retry-After': String(seconds) },
    })
  }
}

/** A key's budget, as one request sees it. */
export interface Budget {
  /** ApiError `budget_exhausted` where nothing is left, else `null`. */
  exhausted(): Promise<ApiError | null>
  /** Notes what a run has read. */
  spend(bytes: number): Promise<void>
}

export interface Spending {
  /** `null` for a caller without such a limit. */
  budgetOf(caller: Caller): Budget | null
}

/** Other processes' runs are seen so much later; one that is under way may pass the limit, as no run knows its cost before. */
const rememberMs = 5_000
const most = { keys: 10_000, attempts: 5 }
const day = 86_400_000

interface Spent {
  bytes: number
  /** Until it counts from nothing again, in milliseconds. */
  leftMs: number
}

export function openSpending(store: Store): Spending {
  const remembered = new LRUCache<string, Spent>({
    max: most.keys,
    ttl: rememberMs,
    fetchMethod: async keyId => spentIn(await store.get(reference(keyId))),
  })

  /** While the store does not answer, the cache lets few runs through for anyone: that is limit enough. */
  async function spentBy(keyId: string): Promise<Spent> {
    return (await remembered.fetch(keyId).catch(ifUnavailable)) ?? { bytes: 0, leftMs: day }
  }

  async function add(keyId: string, bytes: number): Promise<void> {
    for (let attempt = 0; attempt < most.attempts; attempt++)
      try {
        const reading = await store.get(reference(keyId))
        const fields = { day: dayOf(reading), bytes: spentIn(reading).bytes + bytes }
        if (reading.document) await store.replace(reference(keyId), fields, reading.document.version)
        else await store.create(reference(keyId), fields)
        remembered.delete(keyId)
        return
      } catch (error) {
        if (!(error instanceof StoreError && error.reason === 'conflict')) return ifUnavailable(error)
      }
  }

  return {
    budgetOf({ keyId, limits }) {
      const limit = limits?.bytesPerDay ?? null
      if (limit === null) return null
      return {
        async exhausted() {
          const { bytes, leftMs } = await spentBy(keyId)
          return bytes < limit ? null : exhausted(leftMs)
        },
        async spend(bytes) {
          if (bytes > 0) await add(keyId, bytes)
        },
      }
    },
  }
}

const reference = (keyId: string) => ({ collection: 'spending', id: keyId })

function dayOf({ readAt }: Reading): number {
  return Math.floor(readAt / day)
}

function spentIn(reading: Reading): Spent {
  const { day: noted, bytes } = reading.document?.fields ?? {}
  const isToday = noted === dayOf(reading) && typeof bytes === 'number'
  return { bytes: isToday ? bytes : 0, leftMs: day - (reading.readAt % day) }
}

function exhausted(leftMs: number): ApiError {
  return new ApiError(
    'budget_exhausted',
    'The runs for this API key have read what they may in a day (UTC). Answers that are cached can still be had.',
    { headers: { 'Retry-After': String(Math.ceil(leftMs / 1000)) } },
  )
}

function ifUnavailable(error: unknown): undefined {
  if (!(error instanceof StoreError)) throw error
}

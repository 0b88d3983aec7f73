/** How much a key may be used: calls a minute in each process, and bytes a day over all of them. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { type Reading, type Store, StoreError } from '../stores/store.ts'
import type { Limits } from './records.ts'

interface Limited {
  keyId: string
  limits: Limits | null
}

/** Keys counted at a time; the least recently used is forgotten first. */
const max = 10_000
const minuteMs = 60_000

/**
 * Counts calls in this process alone: a count in the store would cost a write for each call, and a hot answer costs
 * none. With several instances a key gets at most so many times its limit.
 * @returns counts a call; throws ApiError `rate_limited` for one too many in the minute that began with the first
 */
export function callCounter(clock: { now(): number } = performance): (caller: Limited) => void {
  const minutes = new LRUCache<string, { calls: number }>({
    max,
    ttl: minuteMs,
    perf: clock,
    ttlResolution: 0,
  })
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

/** The bytes that the runs for a key may read in a day: UTC, by the store's clock. */
export interface ByteLimit {
  /** ApiError `budget_exhausted` where nothing is left, else `null`. */
  exhausted(): Promise<ApiError | null>
  /** Adds what a run has read. */
  spend(bytes: number): Promise<void>
}

/** `null` for a caller without such a limit. */
export type ByteLimits = (caller: Limited) => ByteLimit | null

/** Runs of other processes count so much later. A run's cost is known at its end, so runs under way may pass the limit. */
const rememberMs = 5_000
const maxAttempts = 5
const dayMs = 86_400_000

interface Spent {
  bytes: number
  /** Until the next day begins, in milliseconds. */
  leftMs: number
}

/** Sums up what each key has read today in the collection `spending`, under the key's id. */
export function openByteLimits(store: Store): ByteLimits {
  const remembered = new LRUCache<string, Spent>({
    max,
    ttl: rememberMs,
    // An entry that is deleted while it is read would fail the request that waits for it.
    ignoreFetchAbort: true,
    fetchMethod: async keyId => spentIn(await store.get(reference(keyId))),
  })

  /** While the store does not answer nothing counts as spent: the cache lets few runs through then. */
  async function spentBy(keyId: string): Promise<Spent> {
    return (await remembered.fetch(keyId).catch(ifUnavailable)) ?? { bytes: 0, leftMs: dayMs }
  }

  async function add(keyId: string, bytes: number): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++)
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

  return ({ keyId, limits }) => {
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
  }
}

const reference = (keyId: string) => ({ collection: 'spending', id: keyId })

function dayOf({ readAt }: Reading): number {
  return Math.floor(readAt / dayMs)
}

function spentIn(reading: Reading): Spent {
  const { day, bytes } = reading.document?.fields ?? {}
  const isToday = day === dayOf(reading) && typeof bytes === 'number'
  return { bytes: isToday ? bytes : 0, leftMs: dayMs - (reading.readAt % dayMs) }
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

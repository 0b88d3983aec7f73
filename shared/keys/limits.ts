/** How much a key may be used: calls a minute in each process, and bytes a day over all of them. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { ignoreStoreError, type Reference, type Store, type StoreError, type Write } from '../stores/store.ts'
import { timeouts, withTimeout } from '../stores/calls.ts'
import type { Limits } from './records.ts'

interface Limited {
  keyId: string
  limits: Limits | null
}

/**
 * The most keys counted; the least recently used is forgotten first. By size, as with `max` LRUCache allocates all places at
 * once, in each cold start.
 */
const bounds = { maxSize: 10_000, sizeCalculation: () => 1 }
const minuteMs = 60_000

/** What is left of a limit, and for how many seconds it holds. */
interface Left {
  left: number
  seconds: number
}

export interface CallLimits {
  /**
   * Counts a call.
   * @param who what is limited, for the error
   * @throws ApiError `rate_limited` for one too many in the minute that began with the first
   */
  count(caller: Limited, who?: string): void
  /** `null` for a caller without such a limit. */
  left(caller: Limited): Left | null
}

/**
 * Counts calls in this process alone: a count in the store would cost a write for each call, and a hot answer costs
 * none. With several instances a key gets at most so many times its limit.
 */
export function openCallLimits(clock: { now(): number } = performance): CallLimits {
  const minutes = new LRUCache<string, { calls: number }>({
    ...bounds,
    ttl: minuteMs,
    perf: clock,
    ttlResolution: 0,
  })
  const secondsFor = (keyId: string) => Math.max(1, Math.ceil(minutes.getRemainingTTL(keyId) / 1000))
  return {
    count({ keyId, limits }, who = 'This API key') {
      const most = limits?.callsPerMinute ?? null
      if (most === null) return
      const current = minutes.get(keyId) ?? { calls: 0 }
      if (current.calls === 0) minutes.set(keyId, current)
      current.calls++
      if (current.calls <= most) return
      const headers = { 'Retry-After': String(secondsFor(keyId)) }
      const detail = `${who} may be used ${most} times a minute; come back later.`
      throw new ApiError('rate_limited', detail, { headers })
    },
    left({ keyId, limits }) {
      const most = limits?.callsPerMinute ?? null
      if (most === null) return null
      return { left: Math.max(0, most - (minutes.get(keyId)?.calls ?? 0)), seconds: secondsFor(keyId) }
    },
  }
}

/** The largest Integer of Structured Fields (RFC 9651, 3.3.1). */
const largestInteger = 999_999_999_999_999

/**
 * `RateLimit-Policy` and `RateLimit`, as draft-ietf-httpapi-ratelimit-headers-11 has them (sections 3 and 4). Bytes are
 * those that the engine reads: of the draft's units, `content-bytes` comes nearest.
 * @param left `null` where a limit is not there, or what is left of it not known
 */
export function limitHeaders(
  { limits }: Pick<Limited, 'limits'>,
  left: { calls: Left | null; bytes: Left | null },
): Record<string, string> {
  const { callsPerMinute = null, bytesPerDay = null } = limits ?? {}
  const bounded = (value: number) => Math.min(value, largestInteger)
  const policies = [
    callsPerMinute === null ? [] : `"calls";q=${bounded(callsPerMinute)};w=${minuteMs / 1000}`,
    bytesPerDay === null ? [] : `"bytes";q=${bounded(bytesPerDay)};qu="content-bytes";w=${dayMs / 1000}`,
  ].flat()
  const now = Object.entries(left).flatMap(([name, known]) =>
    known ? `"${name}";r=${bounded(known.left)};t=${known.seconds}` : [],
  )
  return {
    ...(policies.length > 0 ? { 'RateLimit-Policy': policies.join(', ') } : {}),
    ...(now.length > 0 ? { RateLimit: now.join(', ') } : {}),
  }
}

/** The bytes that the runs for a key may read in a day: UTC, by the store's clock. */
export interface ByteLimit {
  /** What is left of this day. */
  today(): Promise<Allowance>
  /** The same by what this process read and spent last; `null` where that is not of this day. It costs no read. */
  known(): Left | null
}

/** What runs for a key may still read on a day; they count on the day on which they were allowed. */
export interface Allowance {
  /** The most bytes that a run may read; 0 = no run may begin. */
  left: number
  /** ApiError `budget_exhausted`. @param estimate the least bytes that a run would read, where it was refused for them */
  refusal(estimate?: number): ApiError
  /** Adds what a run has read: exactly once, unless the store is not available. */
  spend(bytes: number): Promise<void>
}

/** `null` for a caller without such a limit. */
export type ByteLimits = (caller: Limited) => ByteLimit | null

/** Runs of other processes are seen so much later. Runs at the same time are each bounded by the same rest. */
const rememberMs = 5_000
const dayMs = 86_400_000
/** An addition without an acknowledgement is repeated; its document is created once, so it counts once. */
const maxAttempts = 2

interface Spent {
  /** Days since 1970 UTC. */
  day: number
  bytes: number
  /** Until the next day begins, in milliseconds. */
  leftMs: number
}

/** Limits each key by what it has read in a day, over all processes. */
export function openByteLimits(store: Store): ByteLimits {
  const spending = new Spending(store)
  return ({ keyId, limits }) => {
    const limit = limits?.bytesPerDay ?? null
    if (limit === null) return null
    return {
      async today() {
        const { day, bytes, leftMs } = await spending.today(keyId)
        const left = Math.max(0, limit - bytes)
        return {
          left,
          refusal: estimate => refusal({ limit, left, leftMs }, estimate),
          spend: async spent => (spent > 0 ? spending.add(keyId, day, spent) : undefined),
        }
      },
      known() {
        const last = spending.known(keyId)
        return last && { left: Math.max(0, limit - last.bytes), seconds: Math.ceil(last.leftMs / 1000) }
      },
    }
  }
}

/** What each key has read, in the collection `spending`: one document for each day. */
class Spending {
  private readonly store: Store
  private readonly recent: LRUCache<string, Spent>
  /** The last that was read, with what was spent since, and when its day ends. */
  private readonly last = new LRUCache<string, { bytes: number; endsAt: number }>(bounds)

  constructor(store: Store) {
    this.store = store
    this.recent = new LRUCache({
      ...bounds,
      ttl: rememberMs,
      // An entry that is deleted while it is read would fail the request that waits for it.
      ignoreFetchAbort: true,
      fetchMethod: async keyId => {
        const spent = await readSpent(store, keyId)
        this.last.set(keyId, { bytes: spent.bytes, endsAt: performance.now() + spent.leftMs })
        return spent
      },
    })
  }

  /** While the store does not answer nothing counts as spent: the cache lets few runs through then. */
  async today(keyId: string): Promise<Spent> {
    const spent = await this.recent.fetch(keyId).catch(ignoreStoreError)
    return spent ?? { ...dayAt(Date.now()), bytes: 0 }
  }

  /** What this process knows of the day; `null` where it knows nothing. It costs no read. */
  known(keyId: string): Omit<Spent, 'day'> | null {
    const { bytes, endsAt } = this.last.get(keyId) ?? { bytes: 0, endsAt: 0 }
    const leftMs = endsAt - performance.now()
    return leftMs > 0 ? { bytes, leftMs } : null
  }

  async add(keyId: string, day: number, bytes: number): Promise<void> {
    const writes = additionOf(keyId, day, bytes)
    const last = this.last.get(keyId)
    if (last) last.bytes += bytes
    for (let attempt = 0; attempt < maxAttempts; attempt++)
      try {
        await withTimeout(timeouts.lease, this.store.batch(writes))
        break
      } catch (error) {
        ignoreStoreError(error)
        if ((error as StoreError).reason === 'conflict') break // the attempt before has counted
      }
    this.recent.delete(keyId)
  }
}

/** The day is first guessed by the machine's clock; the store's time of the read says whether it was right. */
async function readSpent(store: Store, keyId: string): Promise<Spent> {
  for (let { day } = dayAt(Date.now()); ;) {
    const { document, readAt } = await withTimeout(timeouts.head, store.get(sumAt(keyId, day)))
    const now = dayAt(readAt)
    if (now.day === day) return { ...now, bytes: Number(document?.fields['bytes'] ?? 0) }
    day = now.day
  }
}

/**
 * A document of the run's own is created in the same commit: Firestore's client repeats a commit whose acknowledgement
 * was lost, and would add twice.
 */
function additionOf(keyId: string, day: number, bytes: number): Write[] {
  const expireAt = new Date((day + 2) * dayMs)
  const at = { collection: 'spending', id: `${keyId}.${day}.${randomUUID()}` }
  return [
    { type: 'create', at, fields: { bytes, expireAt } },
    { type: 'add', at: sumAt(keyId, day), amounts: { bytes }, set: { expireAt } },
  ]
}

function sumAt(keyId: string, day: number): Reference {
  return { collection: 'spending', id: `${keyId}.${day}` }
}

function dayAt(time: number): Pick<Spent, 'day' | 'leftMs'> {
  return { day: Math.floor(time / dayMs), leftMs: dayMs - (time % dayMs) }
}

/** With `Retry-After`, unless the run is too large for a whole day. */
function refusal(
  { limit, left, leftMs }: { limit: number; left: number; leftMs: number },
  estimate = 0,
): ApiError {
  const [all, rest, wanted] = [limit, left, estimate].map(bytes => bytes.toLocaleString('en'))
  const today = `the runs for this API key may read ${rest} bytes more of the ${all} of a day (UTC).`
  const asked =
    estimate > 0 ? `The query would read up to ${wanted} bytes, and ${today}` : `T${today.slice(1)}`
  const headers = estimate > limit ? {} : { 'Retry-After': String(Math.ceil(leftMs / 1000)) }
  return new ApiError('budget_exhausted', `${asked} Answers that are cached can still be had.`, { headers })
}

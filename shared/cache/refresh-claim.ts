/**
 * For the warmer: the right to refresh one known answer. For a run of its own it is the lease that readers take, so that a
 * reader and a warmer never run the engine for the same key at the same time. Many answers of one run have the warmer's
 * lease in common: each is stored in one write, unless a reader has taken the lease of the key or stored an answer.
 */
import { randomUUID } from 'node:crypto'
import type { Answer } from '../answers/answer.ts'
import type { ApiError } from '../errors.ts'
import { type Fields, ignoreStoreError, type Store } from '../stores/store.ts'
import { timeouts, withTimeout } from '../stores/calls.ts'
import {
  belongsTo,
  cacheKey,
  type CacheKeyFields,
  type Failure,
  failureFields,
  type Head,
  headAt,
  headOf,
  lightFields,
  nextFailure,
} from './head.ts'
import { conditionalWrite, type Lease, takeLease } from './lease.ts'
import { publish } from './payload.ts'
import { cacheTimes, type LeaseTimes } from './durations.ts'

export interface Claim {
  keyFields: CacheKeyFields
  /** Stores the answer and releases the lease. `false` = too large, or another process has taken the lease. */
  store(answer: Answer): Promise<boolean>
  /** Records the failure, as a reader's would be, and releases the lease. */
  fail(error: ApiError): Promise<void>
  /** Releases the lease and changes nothing else. */
  release(): Promise<void>
}

/** Why an answer is left as it is. */
export type Refusal = 'gone' | 'fresh' | 'leased' | 'failing'

interface Wanted {
  keyFields: CacheKeyFields
  /** How long an answer counts as fresh for readers, milliseconds. */
  freshMs: number
  /** Only an answer of at least this age is refreshed, milliseconds. */
  olderThanMs: number
  /** Whether one that failed is tried again without a rest, as in a call by hand. */
  retry?: boolean | undefined
}

/** @throws StoreError `unavailable` */
export async function claim(
  store: Store,
  wanted: Wanted,
  times: LeaseTimes = cacheTimes,
): Promise<Claim | Refusal> {
  const { keyFields, olderThanMs, retry } = wanted
  const key = cacheKey(keyFields)
  const { document, readAt } = await withTimeout(timeouts.head, store.get(headAt(key), lightFields))
  const head = document && headOf(document)
  if (!head || !belongsTo(head, keyFields)) return 'gone'
  const refusal = refusalOf(head, { now: readAt, olderThanMs, retry })
  if (refusal) return refusal
  const lease = await takeLease(store, headAt(key), head.version, {}, times)
  return lease ? makeClaim(store, { ...wanted, key, head, lease }) : 'leased'
}

/**
 * Without a lease of its own.
 * @param head as it was found
 * @param startedAt store time at which the engine begins
 */
export function claimTogether(
  store: Store,
  { freshMs, head, startedAt }: { freshMs: number; head: Head; startedAt: number },
): Claim {
  const { keyFields } = head
  const key = cacheKey(keyFields)
  const lease = leaseless(store, { key, head, startedAt })
  return makeClaim(store, { keyFields, freshMs, olderThanMs: 0, key, head, lease })
}

/** Writes as the holder of a lease would, as long as no other process has taken one or stored an answer since. */
function leaseless(
  store: Store,
  { key, head, startedAt }: { key: string; head: Head; startedAt: number },
): Lease {
  const at = headAt(key)
  const ended = randomUUID()
  const isOurs = (fields: Fields) => fields['ended'] === ended
  return {
    takenAt: startedAt,
    async finish(set, unset) {
      if (Object.keys(set).length + unset.length === 0) return true // there is no lease to release
      for (let { version } = head; ;) {
        const update = () => store.update(at, { set: { ...set, ended }, unset }, version)
        if (await conditionalWrite(store, at, update, isOurs)) return true
        const { document, readAt } = await withTimeout(timeouts.head, store.get(at, lightFields))
        const now = document && headOf(document)
        const isTaken = !now || now.leasedUntil > readAt
        if (isTaken || now.stored?.generation !== head.stored?.generation) return false
        version = now.version // a use was recorded meanwhile
      }
    },
    abandon() {},
  }
}

/** Why this head's answer is not to be refreshed now; `null` where it is. @param now store time */
export function refusalOf(
  head: Head,
  { now, olderThanMs, retry = false }: Pick<Wanted, 'olderThanMs' | 'retry'> & { now: number },
): Refusal | null {
  if (!head.stored) return 'gone'
  if (head.leasedUntil > now) return 'leased'
  if (!retry && head.failure && now - head.failure.at < restMs(head.failure, olderThanMs)) return 'failing'
  return now - head.stored.madeAt < olderThanMs ? 'fresh' : null
}

const maxRestMs = 3_600_000

/**
 * How long the warmer leaves a failed answer alone. Readers come back after seconds; for the warmer, for which no caller
 * waits, it is one interval, then two, then four. A caller's own mistake (count 0) fails an hour later too.
 */
function restMs({ count, ms }: Failure, intervalMs: number): number {
  const rest = count === 0 ? maxRestMs : intervalMs * 2 ** (count - 1)
  return Math.max(ms, Math.min(rest, maxRestMs))
}

function makeClaim(
  store: Store,
  { keyFields, freshMs, key, head, lease }: Wanted & { key: string; head: Head; lease: Lease },
): Claim {
  // The engine begins after it.
  const madeAt = lease.takenAt
  return {
    keyFields,
    async store(answer) {
      const expireAt = new Date(madeAt + freshMs + cacheTimes.staleMs)
      return (await publish(store, { key, lease, before: head, answer, madeAt, expireAt })) !== null
    },
    async fail(error) {
      const failure = nextFailure(head.failure, error, { now: madeAt, backOffMs: cacheTimes.backOffMs })
      await release(lease, { failure: failureFields(failure) })
    },
    release: () => release(lease),
  }
}

/** A lease that cannot be released expires. */
async function release(lease: Lease, set: Fields = {}): Promise<void> {
  await lease.finish(set, []).catch(ignoreStoreError)
}

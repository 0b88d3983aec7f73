/**
 * For the warmer: the right to make one known answer anew. It is the lease that readers take, so that a reader and a
 * warmer never run the engine for the same question at the same time, and whoever lost the lease stores nothing.
 */
import { withTimeout } from '../stores/timeout.ts'
import type { ApiError } from '../errors.ts'
import type { Answer } from '../answers/answer.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { cacheTimes } from './ask.ts'
import { deadlines } from './deadline.ts'
import { afterFailure } from './failures.ts'
import { answers, type Failure, failureFields, type Head, headAt, headOf, lightFields } from './head.ts'
import { cacheKey, type CacheKeyFields } from './key.ts'
import { type Lease, takeLease } from './lease.ts'
import { publish } from './publish.ts'

export interface Claim {
  keyFields: CacheKeyFields
  /** Stores the answer and gives the lease back. `false` = too large, or the lease was lost to another. */
  store(answer: Answer): Promise<boolean>
  /** Has the failure remembered, as a reader's would be, and gives the lease back. */
  fail(error: ApiError): Promise<void>
  /** Gives the lease back, with nothing done. */
  release(): Promise<void>
}

/** Why an answer is left as it is. */
export type Refusal = 'gone' | 'fresh' | 'leased' | 'failing'

export interface Wanted {
  keyFields: CacheKeyFields
  /** How long an answer counts as fresh for readers. */
  freshMs: number
  /** Only an answer of at least this age is made anew. */
  olderThanMs: number
}

/** @throws StoreError `unavailable` */
export async function claim(store: Store, wanted: Wanted): Promise<Claim | Refusal> {
  const { keyFields, olderThanMs } = wanted
  const key = cacheKey(keyFields)
  const { document, readAt } = await withTimeout(deadlines.head, store.get(headAt(key), lightFields))
  const head = document && headOf(document)
  if (!head || !answers(head, keyFields)) return 'gone'
  const refusal = refusalOf(head, { now: readAt, olderThanMs })
  if (refusal) return refusal
  const lease = await takeLease(store, headAt(key), head.version, {}, cacheTimes)
  return lease ? claimed(store, { ...wanted, key, head, lease }) : 'leased'
}

/** Why this head's answer is not to be made anew now; `null` where it is. @param now store time */
export function refusalOf(
  head: Head,
  { now, olderThanMs }: { now: number; olderThanMs: number },
): Refusal | null {
  if (!head.stored) return 'gone'
  if (head.leasedUntil > now) return 'leased'
  if (head.failure && now - head.failure.at < restMs(head.failure, olderThanMs)) return 'failing'
  return now - head.stored.madeAt < olderThanMs ? 'fresh' : null
}

/** Readers come back after seconds; the warmer after one interval, then two, then four; nobody is waiting for it. */
const longestRestMs = 3_600_000

/** A caller's own mistake has no count: it will be one an hour later too. */
function restMs({ count, ms }: Failure, intervalMs: number): number {
  const rest = count === 0 ? longestRestMs : intervalMs * 2 ** (count - 1)
  return Math.max(ms, Math.min(rest, longestRestMs))
}

function claimed(
  store: Store,
  { keyFields, freshMs, key, head, lease }: Wanted & { key: string; head: Head; lease: Lease },
): Claim {
  const madeAt = lease.takenAt
  const expireAt = new Date(madeAt + freshMs + cacheTimes.staleMs)
  return {
    keyFields,
    async store(answer) {
      try {
        return (await publish(store, { key, lease, before: head, answer, madeAt, expireAt })) !== null
      } finally {
        lease.abandon()
      }
    },
    async fail(error) {
      const failure = afterFailure(head.failure, error, madeAt)
      await settled(lease.finish({ failure: failureFields(failure) }, []))
    },
    async release() {
      await settled(lease.finish({}, []))
    },
  }
}

/** A lease that cannot be given back runs out by itself. */
async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error
  })
}

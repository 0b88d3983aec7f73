import { leasedUntil, takeLease } from '../cache/lease.ts'
import { timeouts, withTimeout } from '../stores/calls.ts'
import { type Fields, ignoreStoreError, type Store } from '../stores/store.ts'

export const warmingCollection = 'warming'

/** The store may delete the turn of an endpoint that is no longer called for. */
const keepMs = 7 * 86_400_000

/**
 * One call at a time for each id, over all processes. A call that dies loses its turn after a while.
 * @param act gets the store's time and the fields that the last turn left; what it returns is left for the next
 * @returns whether it was free
 * @throws StoreError, and what `act` throws
 */
export async function takeTurn(
  store: Store,
  id: string,
  act: (now: number, left: Fields) => Promise<Fields>,
): Promise<boolean> {
  const at = { collection: warmingCollection, id }
  const { document, readAt } = await withTimeout(timeouts.head, store.get(at))
  if (document && leasedUntil(document) > readAt) return false
  const expireAt = new Date(readAt + keepMs)
  const lease = await takeLease(store, at, document?.version ?? null, { expireAt })
  if (!lease) return false
  let left: Fields = {}
  try {
    left = await act(lease.takenAt, document?.fields ?? {})
  } finally {
    await lease.finish(left, []).catch(ignoreStoreError) // the lease expires
  }
  return true
}

type Spent = 'out_of_time' | 'out_of_bytes'

/** Time or bytes are used up: a run was not begun, not finished, or refused by its estimate. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget'
  readonly reason: Spent

  constructor(reason: Spent) {
    super(reason)
    this.reason = reason
  }
}

/** The most that one call of the warmer may cost: time, and bytes read by the engine. */
export class Budget {
  /** Aborts when the time is up, so that runs under way end too. */
  readonly signal: AbortSignal
  private readonly maxBytes: number
  private readBytes = 0

  constructor({ ms, bytes }: { ms: number; bytes: number }) {
    this.signal = AbortSignal.timeout(ms)
    this.maxBytes = bytes
  }

  /** The most that a run may read; runs at the same time have the same. */
  get leftBytes(): number {
    return Math.max(0, this.maxBytes - this.readBytes)
  }

  /** Adds what a run has read. */
  spend(bytes: number | null): void {
    this.readBytes += bytes ?? 0
  }

  /** Why no further run may begin; `null` while something is left. */
  get spent(): Spent | null {
    if (this.signal.aborted) return 'out_of_time'
    return this.readBytes >= this.maxBytes ? 'out_of_bytes' : null
  }
}

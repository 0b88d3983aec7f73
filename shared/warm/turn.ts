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

import { takeLease } from '../cache/lease.ts'
import { timeouts, withTimeout } from '../stores/timeout.ts'
import { type Document, type Store, StoreError } from '../stores/store.ts'

export const warmingCollection = 'warming'

/**
 * One call at a time for each endpoint, over all processes: overlapping calls would share out the parameter sets among
 * them and each pay for a scan. Two that do overlap are still kept apart, set by set, by the cache's own leases.
 * @param act gets the store's time
 * @returns `null` where another call has the turn
 * @throws StoreError, and what `act` throws
 */
export async function inTurn<T>(
  store: Store,
  endpointId: string,
  act: (now: number) => Promise<T>,
): Promise<T | null> {
  const at = { collection: warmingCollection, id: endpointId }
  const { document, readAt } = await withTimeout(timeouts.head, store.get(at))
  if (document && takenUntil(document) > readAt) return null
  const lease = await takeLease(store, at, document?.version ?? null, {})
  if (!lease) return null
  try {
    return await act(lease.takenAt)
  } finally {
    await lease.finish({}, []).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error // else the turn runs out by itself
    })
  }
}

function takenUntil({ fields, writtenAt }: Document): number {
  const lease = fields['lease'] as { ms: number } | undefined
  return lease ? writtenAt + lease.ms : 0
}

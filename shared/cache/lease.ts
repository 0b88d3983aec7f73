/**
 * The lease of a key: the right to run the engine for it, among all processes. It stands in the head document and is
 * taken by compare-and-set on the head's version; the version of that write is the fencing token that renewing,
 * publishing and failing need, so a holder that slept past its time writes nothing.
 *
 * Know your own write: after a conflict or a lost acknowledgement the head is read back, and one's own nonce in
 * it means that the write did happen.
 */
import { randomUUID } from 'node:crypto'
import { withTimeout } from '../stores/timeout.ts'
import { StoreError, type Fields, type Reference, type Store, type Writing } from '../stores/store.ts'
import { deadlines } from './deadline.ts'

export interface LeaseTimes {
  /** A lease that is not renewed for this long may be taken by another. */
  leaseMs: number
  renewMs: number
}

export const leaseTimes: LeaseTimes = { leaseMs: 6000, renewMs: 2000 }

export interface Lease {
  /** Store time at which it was taken. */
  takenAt: number
  /**
   * Writes the head's fields and gives the lease back, in one step.
   * @returns whether it was written; `false` = the lease was lost to another, who has gone on
   * @throws StoreError `unavailable`, `too_large`
   */
  finish(set: Fields, unset: string[]): Promise<boolean>
  /** Stops renewing; the lease runs out by itself. */
  abandon(): void
}

/**
 * Takes the lease if the head is still as it was read.
 * @param ifVersion the head's version, or `null` if there was no head
 * @param fields what else the head gets: all of it for a new one
 * @returns `null` where another was faster
 * @throws StoreError `unavailable`
 */
export async function takeLease(
  store: Store,
  at: Reference,
  ifVersion: string | null,
  fields: Fields,
  times: LeaseTimes = leaseTimes,
): Promise<Lease | null> {
  const nonce = randomUUID()
  const lease = { nonce, ms: times.leaseMs }
  const write =
    ifVersion === null
      ? () => store.create(at, { ...fields, lease })
      : () => store.update(at, { set: { ...fields, lease } }, ifVersion)
  const taken = await conditionalWrite(store, at, write, document => nonceIn(document) === nonce)
  return taken && hold(store, at, taken, lease, times)
}

function hold(
  store: Store,
  at: Reference,
  taken: Writing,
  lease: { nonce: string; ms: number },
  times: LeaseTimes,
): Lease {
  let version: string | null = taken.version
  let writing: Promise<unknown> = Promise.resolve()
  const isOurs = (document: Fields) => nonceIn(document) === lease.nonce

  /** One write at a time, each under the version that the one before it made. */
  function next(set: Fields, unset: string[], recognise: (fields: Fields) => boolean): Promise<boolean> {
    const result = writing.then(async () => {
      if (version === null) return false
      const expected = version
      const written = await conditionalWrite(
        store,
        at,
        () => store.update(at, { set, unset }, expected),
        recognise,
      )
      version = written?.version ?? null
      return written !== null
    })
    writing = result.catch(() => {})
    return result
  }

  const heartbeat = setInterval(() => {
    next({ lease }, [], isOurs).catch(() => {}) // a missed renewal is made up by the next one, or the lease is lost
  }, times.renewMs)
  heartbeat.unref()

  return {
    takenAt: taken.writtenAt,
    async finish(set, unset) {
      clearInterval(heartbeat)
      return next({ ...set, ended: lease.nonce }, [...unset, 'lease'], ({ ended }) => ended === lease.nonce)
    },
    abandon: () => clearInterval(heartbeat),
  }
}

function nonceIn(fields: Fields): string | undefined {
  return (fields['lease'] as { nonce?: string } | undefined)?.nonce
}

/**
 * Writes; where it is not clear whether that succeeded, reads back and looks.
 * @returns `null` where it was not written
 * @throws StoreError where even reading back fails
 */
async function conditionalWrite(
  store: Store,
  at: Reference,
  write: () => Promise<Writing>,
  recognise: (fields: Fields) => boolean,
): Promise<Writing | null> {
  try {
    return await withTimeout(deadlines.lease, write())
  } catch (error) {
    if (!(error instanceof StoreError) || (error.reason !== 'conflict' && error.reason !== 'unavailable'))
      throw error
    const { document } = await withTimeout(deadlines.head, store.get(at, ['lease', 'ended']))
    if (document && recognise(document.fields))
      return { version: document.version, writtenAt: document.writtenAt }
    if (error.reason === 'unavailable') throw error
    return null
  }
}

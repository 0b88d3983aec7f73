/**
 * The lease of a key: the right, among all processes, to run the engine for it. A document holds it, and it is taken by
 * compare-and-set on the document's version. The version of that write is the fencing token that every later write of
 * the holder needs, so a holder that was paused past its lease writes nothing. shared/cache/README.md, "Leases".
 */
import { randomUUID } from 'node:crypto'
import {
  type Document,
  StoreError,
  type Fields,
  type Reference,
  type Store,
  type Writing,
} from '../stores/store.ts'
import { timeouts, withTimeout } from '../stores/calls.ts'
import { cacheTimes, type LeaseTimes } from './durations.ts'

export interface Lease {
  /** Store time at which it was taken. */
  takenAt: number
  /**
   * Writes fields of the document and releases the lease, in one write.
   * @returns whether it was written; `false` = another process has taken the lease
   * @throws StoreError `unavailable`, `too_large`
   */
  finish(set: Fields, unset: string[]): Promise<boolean>
  /** Stops renewing, so that the lease expires. */
  abandon(): void
}

/**
 * Takes the lease if the document is still as it was read.
 * @param ifVersion the version that was read, or `null` if there was no document
 * @param fields further fields to set: all of them for a new document
 * @returns `null` where another process was faster
 * @throws StoreError `unavailable`
 */
export async function takeLease(
  store: Store,
  at: Reference,
  ifVersion: string | null,
  fields: Fields,
  times: LeaseTimes = cacheTimes,
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
  let lastWrite: Promise<unknown> = Promise.resolve()
  const isOurs = (document: Fields) => nonceIn(document) === lease.nonce

  /** One write at a time, each under the version of the write before it. */
  function write(set: Fields, unset: string[], recognise: (fields: Fields) => boolean): Promise<boolean> {
    const result = lastWrite.then(async () => {
      if (version === null) return false
      const expected = version
      const update = () => store.update(at, { set, unset }, expected)
      const written = await conditionalWrite(store, at, update, recognise)
      version = written?.version ?? null
      return written !== null
    })
    lastWrite = result.catch(() => {})
    return result
  }

  const heartbeat = setInterval(() => {
    write({ lease }, [], isOurs).catch(() => {}) // the next renewal makes up for it, or the lease is lost
  }, times.renewMs)
  heartbeat.unref()

  return {
    takenAt: taken.writtenAt,
    async finish(set, unset) {
      clearInterval(heartbeat)
      return write({ ...set, ended: lease.nonce }, [...unset, 'lease'], ({ ended }) => ended === lease.nonce)
    },
    abandon: () => clearInterval(heartbeat),
  }
}

function nonceIn(fields: Fields): string | undefined {
  return (fields['lease'] as { nonce?: string } | undefined)?.nonce
}

/** Store time at which the lease in a document ends, milliseconds since 1970 UTC; 0 = there is none. */
export function leasedUntil({ fields, writtenAt }: Document): number {
  const lease = fields['lease'] as { ms: number } | undefined
  return lease ? writtenAt + lease.ms : 0
}

/**
 * Writes under a precondition. After a conflict or a lost acknowledgement the document is read back: where `recognise`
 * finds this write in it, the write has happened. Firestore's client repeats a commit whose acknowledgement was lost, so
 * a conflict alone does not say whose write came first.
 * @returns `null` where nothing was written
 * @throws StoreError where reading back fails too
 */
export async function conditionalWrite(
  store: Store,
  at: Reference,
  write: () => Promise<Writing>,
  recognise: (fields: Fields) => boolean,
): Promise<Writing | null> {
  try {
    return await withTimeout(timeouts.lease, write())
  } catch (error) {
    if (!(error instanceof StoreError) || (error.reason !== 'conflict' && error.reason !== 'unavailable'))
      throw error
    const { document } = await withTimeout(timeouts.head, store.get(at, ['lease', 'ended']))
    if (document && recognise(document.fields))
      return { version: document.version, writtenAt: document.writtenAt }
    if (error.reason === 'unavailable') throw error
    return null
  }
}

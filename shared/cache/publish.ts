import { randomUUID } from 'node:crypto'
import type { Answer } from '../answers/answer.ts'
import type { Store } from '../stores/store.ts'
import type { Head, Stored } from './head.ts'
import type { Lease } from './lease.ts'
import { fits, removeChunks, sha256, writePayload } from './payload.ts'

/**
 * Stores an answer under a lease and gives the lease back: payload first, then the head that names it, in one write
 * that only the holder can make.
 * @returns the generation, or `null` where it was not stored: too large, or the lease was lost
 * @throws StoreError; the lease then runs out by itself
 */
export async function publish(
  store: Store,
  { key, lease, before, answer, madeAt, expireAt }: Publication,
): Promise<string | null> {
  const gzip = await answer.bytes('gzip')
  if (!fits(gzip)) {
    await lease.finish({}, [])
    return null
  }
  const generation = randomUUID()
  const { chunks, inline } = await writePayload(store, { key, generation, expireAt }, gzip)
  const { summary, rawBytes, tag: etag } = answer
  const sizes = { chunks, bytes: gzip.length, rawBytes }
  const stored: Stored = { generation, ...sizes, sha256: sha256(gzip), etag, madeAt, ...summary }
  const previous = before?.stored
    ? { generation: before.stored.generation, chunks: before.stored.chunks }
    : null
  const set = { stored: { ...stored }, ...inline, previous, expireAt }
  const written = await lease.finish(set, chunks > 0 ? ['failure', 'inline'] : ['failure'])
  if (!written) await removeChunks(store, { key, generation }, chunks)
  else if (before?.previous) await removeChunks(store, { key, ...before.previous }, before.previous.chunks)
  return written ? generation : null
}

export interface Publication {
  key: string
  lease: Lease
  /** The head as it was when the lease was taken. */
  before: Head | null
  answer: Answer
  /** Store time at which the engine began. */
  madeAt: number
  /** When the store may delete it; readers do not depend on it. */
  expireAt: Date
}

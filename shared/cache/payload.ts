/**
 * The bytes of a cached answer: inline in the head where they fit, else in chunks that are written once and never
 * changed. shared/cache/README.md, "Documents".
 */
import { hash, randomUUID } from 'node:crypto'
import type { Answer } from '../answers/answer.ts'
import { formats } from '../stores/format.ts'
import { type Fields, ignoreStoreError, type Reference, type Store, type Write } from '../stores/store.ts'
import { timeouts, withTimeout } from '../stores/calls.ts'
import { chunksCollection, type Head, type Stored } from './head.ts'
import type { Lease } from './lease.ts'

/** A Firestore document holds 1 MiB; this leaves room for the rest of the head. */
const maxInlineBytes = 900_000
/** Three chunks in a commit stay under 3.6 MB: the emulator refuses 4 MiB, and the SDK retries that in silence. */
const chunksInCommit = 3
/** A larger answer is served and not stored. */
const maxPayloadBytes = 16_000_000

interface Publication {
  key: string
  lease: Lease
  /** The head as it was when the lease was taken. */
  before: Head | null
  answer: Answer
  /** Store time at which the engine began. */
  madeAt: number
  /** The store may delete it from then on; readers do not depend on it. */
  expireAt: Date
}

/** The chunks of one generation of an answer. */
interface Chunks {
  key: string
  generation: string
  chunks: number
}

/**
 * Stores an answer under a lease and releases the lease: the payload first, then the head that names it, in one write
 * that only the holder of the lease can make.
 * @returns the generation, or `null` where it was not stored: too large, or the lease was lost
 * @throws StoreError; the lease then expires
 */
export async function publish(
  store: Store,
  { key, lease, before, answer, madeAt, expireAt }: Publication,
): Promise<string | null> {
  try {
    const gzip = await answer.bytes('gzip')
    if (gzip.length > maxPayloadBytes) {
      await lease.finish({}, [])
      return null
    }
    const generation = randomUUID()
    const chunks = gzip.length <= maxInlineBytes ? 0 : Math.ceil(gzip.length / maxInlineBytes)
    const written = { key, generation, chunks }
    await writeChunks(store, written, gzip, expireAt)
    const { page, ...summary } = answer.summary
    const stored = {
      format: formats.answer,
      generation,
      chunks,
      bytes: gzip.length,
      rawBytes: answer.rawBytes,
      sha256: hash('sha256', gzip),
      etag: answer.tag,
      madeAt,
      ...summary,
      ...(page ? { page: { ...page } } : {}),
    }
    const set: Fields = { stored, previous: previousOf(before), expireAt }
    if (chunks === 0) set['inline'] = gzip
    const isPublished = await lease.finish(set, chunks > 0 ? ['failure', 'inline'] : ['failure'])
    if (!isPublished) await removeChunks(store, written)
    else if (before?.previous) await removeChunks(store, { key, ...before.previous })
    return isPublished ? generation : null
  } finally {
    lease.abandon()
  }
}

function previousOf(before: Head | null): Head['previous'] {
  return before?.stored ? { generation: before.stored.generation, chunks: before.stored.chunks } : null
}

async function writeChunks(store: Store, written: Chunks, gzip: Buffer, expireAt: Date): Promise<void> {
  const writes = referencesOf(written).map((at, i): Write => {
    const bytes = gzip.subarray(i * maxInlineBytes, (i + 1) * maxInlineBytes)
    return { type: 'replace', at, fields: { bytes, expireAt } }
  })
  const commits = Array.from({ length: Math.ceil(writes.length / chunksInCommit) }, (_, i) =>
    store.batch(writes.slice(i * chunksInCommit, (i + 1) * chunksInCommit)),
  )
  await withTimeout(timeouts.publish * commits.length, Promise.all(commits))
}

/** Removes a generation that no reader uses any more; the store's expiry removes what this leaves. */
async function removeChunks(store: Store, chunks: Chunks): Promise<void> {
  const writes = referencesOf(chunks).map((at): Write => ({ type: 'remove', at }))
  if (writes.length === 0) return
  await withTimeout(timeouts.publish, store.batch(writes)).catch(ignoreStoreError)
}

/**
 * Reads and verifies a stored payload.
 * @returns `null` where it is damaged or gone, as when a newer generation has just replaced it
 * @throws StoreError `unavailable`
 */
export async function readPayload(
  store: Store,
  key: string,
  stored: Stored,
  inline: Buffer | null,
): Promise<Buffer | null> {
  const bytes = stored.chunks === 0 ? inline : await readChunks(store, key, stored)
  return bytes?.length === stored.bytes && hash('sha256', bytes) === stored.sha256 ? bytes : null
}

async function readChunks(store: Store, key: string, stored: Stored): Promise<Buffer | null> {
  const ms = timeouts.chunks + (stored.bytes / 1_000_000) * timeouts.chunksPerMegabyte
  const reads = referencesOf({ ...stored, key }).map(at => store.get(at))
  const parts = (await withTimeout(ms, Promise.all(reads))).map(({ document }) => document?.fields['bytes'])
  return parts.every(part => part instanceof Uint8Array) ? Buffer.concat(parts) : null
}

function referencesOf({ key, generation, chunks }: Chunks): Reference[] {
  return Array.from({ length: chunks }, (_, i) => ({
    collection: chunksCollection,
    id: `${key}.${generation}.${i}`,
  }))
}

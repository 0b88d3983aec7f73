/** The bytes of a cached answer: in the head where they fit, else in chunks that are written once and never changed. */
import { createHash } from 'node:crypto'
import { withTimeout } from '../stores/timeout.ts'
import { StoreError, type Fields, type Reference, type Store, type Write } from '../stores/store.ts'
import { deadlines } from './deadline.ts'
import { chunksCollection, type Stored } from './head.ts'

/** A Firestore document holds 1 MiB; this leaves room for the rest of the head. */
const maxInlineBytes = 900_000
/** Three chunks in a commit stay under 3.6 MB: the emulator refuses 4 MiB, and the SDK retries that in silence. */
const chunksInCommit = 3
/** Beyond this an answer is served and not stored. */
const maxPayloadBytes = 16_000_000

export function fits(gzip: Buffer): boolean {
  return gzip.length <= maxPayloadBytes
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Writes what must be there before the head names it.
 * @returns how many chunks, and the head's `inline` field where there are none
 */
export async function writePayload(
  store: Store,
  place: { key: string; generation: string; expireAt: Date },
  gzip: Buffer,
): Promise<{ chunks: number; inline: Fields }> {
  if (gzip.length <= maxInlineBytes) return { chunks: 0, inline: { inline: gzip } }
  const count = Math.ceil(gzip.length / maxInlineBytes)
  const writes = Array.from({ length: count }, (_, i): Write => {
    const bytes = gzip.subarray(i * maxInlineBytes, (i + 1) * maxInlineBytes)
    return { type: 'replace', at: chunkAt(place, i), fields: { bytes, expireAt: place.expireAt } }
  })
  for (let i = 0; i < writes.length; i += chunksInCommit)
    await withTimeout(deadlines.publish, store.batch(writes.slice(i, i + chunksInCommit)))
  return { chunks: count, inline: {} }
}

/**
 * Reads and verifies a stored payload.
 * @returns `null` where it is torn or gone, which is so when a newer generation has taken its place meanwhile
 * @throws StoreError `unavailable`
 */
export async function readPayload(
  store: Store,
  key: string,
  stored: Stored,
  inline: Buffer | null,
): Promise<Buffer | null> {
  const bytes = stored.chunks === 0 ? inline : await readChunks(store, key, stored)
  return bytes !== null && bytes.length === stored.bytes && sha256(bytes) === stored.sha256 ? bytes : null
}

async function readChunks(
  store: Store,
  key: string,
  { generation, chunks, bytes }: Stored,
): Promise<Buffer | null> {
  const ms = deadlines.chunks + (bytes / 1_000_000) * deadlines.chunksPerMegabyte
  const readings = await withTimeout(
    ms,
    Promise.all(Array.from({ length: chunks }, (_, i) => store.get(chunkAt({ key, generation }, i)))),
  )
  const parts = readings.map(({ document }) => document?.fields['bytes'])
  return parts.every(part => part instanceof Uint8Array) ? Buffer.concat(parts) : null
}

/** Tidies away a generation that no reader can be at any more. What it misses, the store's expiry takes. */
export async function removeChunks(
  store: Store,
  place: { key: string; generation: string },
  chunks: number,
): Promise<void> {
  const writes = Array.from({ length: chunks }, (_, i): Write => ({ type: 'remove', at: chunkAt(place, i) }))
  if (writes.length === 0) return
  await withTimeout(deadlines.publish, store.batch(writes)).catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error
  })
}

function chunkAt({ key, generation }: { key: string; generation: string }, i: number): Reference {
  return { collection: chunksCollection, id: `${key}.${generation}.${i}` }
}

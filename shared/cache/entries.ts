/** Entries of the answer cache: in the memory of this process, and in the store. Ages follow the store's clock. */
import { LRUCache } from 'lru-cache'
import { Answer } from '../answers/answer.ts'
import type { BytesInFlight } from '../answers/in-flight.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { timeouts, withTimeout } from '../stores/calls.ts'
import { belongsTo, type CacheKeyFields, type Head, headAt, headOf, lightFields } from './head.ts'
import { readPayload } from './payload.ts'

export interface CacheEntry {
  answer: Answer
  /** Store time at which the engine began. */
  madeAt: number
  /** `null` for an answer that is not stored. */
  generation: string | null
  /** Monotonic time of the last look at the store. */
  checkedAt: number
}

/** All answers in the memory of one process together. */
const maxBytes = 64 * 1024 * 1024

/** Resident memory of one entry of 100,000, without its bytes: key, tag, summary, answer, buffers, entry. */
const bytesAround = 3000
const bytesOfColumn = 50

/** Answers of one process in memory, and those of all processes in the store. */
export class CacheEntries {
  readonly clock = new StoreClock()
  private readonly store: Store
  private readonly inFlight: BytesInFlight
  private readonly memory = new LRUCache<string, CacheEntry>({
    maxSize: maxBytes,
    sizeCalculation: memoryOf,
  })

  constructor(store: Store, inFlight: BytesInFlight) {
    this.store = store
    this.inFlight = inFlight
  }

  /** The entry in memory, fresh or not. */
  inMemory(key: string): CacheEntry | undefined {
    return this.memory.get(key)
  }

  /**
   * Reads the head from the store, by default without its payload where memory has an answer.
   * @throws StoreError `unavailable`, or `invalid` for a head of other key fields
   */
  async readHead(key: string, keyFields: CacheKeyFields, light = this.memory.has(key)): Promise<Head | null> {
    const { document, readAt } = await withTimeout(
      timeouts.head,
      light ? this.store.get(headAt(key), lightFields) : this.store.get(headAt(key)),
    )
    this.clock.observe(readAt)
    const head = document && headOf(document)
    if (document && !head) await this.discard(key, document.version)
    if (head && !belongsTo(head, keyFields)) throw new StoreError('invalid', 'a head of other key fields')
    return head
  }

  /** Removes a document that is no head, unless another process was faster: no lease could ever be taken in it. */
  private async discard(key: string, version: string): Promise<void> {
    await withTimeout(timeouts.lease, this.store.remove(headAt(key), version)).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.reason === 'conflict')) throw error
    })
  }

  /**
   * The answer that a head names, from memory where that has it.
   * @returns `null` where the payload is damaged, or is being replaced at this moment
   * @throws StoreError `unavailable`, ApiError `overloaded`
   */
  async load(key: string, head: Head): Promise<CacheEntry | null> {
    const stored = head.stored!
    const known = this.memory.get(key)
    if (known?.generation === stored.generation) {
      known.checkedAt = performance.now()
      return known
    }
    const whole = head.inline || stored.chunks > 0 ? head : await this.readHead(key, head.keyFields, false)
    if (whole?.stored?.generation !== stored.generation) return null
    // Of chunks, both they and the whole are in memory for a moment.
    const bytes = await this.inFlight.during(stored.chunks > 0 ? 2 * stored.bytes : 0, () =>
      readPayload(this.store, key, stored, whole.inline),
    )
    if (!bytes) return null
    const { rows, truncated, redacted, columns, times, page, etag, rawBytes, madeAt, generation } = stored
    const summary = {
      rows,
      truncated,
      redacted,
      columns,
      ...(times ? { times } : {}),
      ...(page ? { page } : {}),
    }
    const answer = Answer.fromGzip(summary, etag, rawBytes, bytes)
    return this.remember(key, { answer, madeAt, generation })
  }

  /** Puts an answer into memory. */
  remember(key: string, made: Omit<CacheEntry, 'checkedAt'>): CacheEntry {
    const entry = { ...made, checkedAt: performance.now() }
    this.memory.set(key, entry)
    entry.answer.onGrown = () => {
      if (this.memory.peek(key) !== entry) return
      this.memory.delete(key)
      this.memory.set(key, entry)
    }
    return entry
  }

  /** Milliseconds since a store time, never negative; 0 where the store has never answered. */
  ageOf(storeTime: number): number {
    return Math.max(0, this.clock.now() - storeTime) || 0
  }
}

/** Bytes that an entry takes in memory: its encodings, and the objects and texts around them. */
function memoryOf({ answer }: CacheEntry): number {
  return answer.heldBytes + bytesAround + answer.summary.columns.length * bytesOfColumn
}

/** An observation behind the clock by less is a slow answer of the store; by more, its clock was set back. */
const clockToleranceMs = 5000

/**
 * The store's clock; between two answers of the store it advances with this process's monotonic clock. It alone judges
 * leases and ages, so that machines whose clocks differ by hours agree.
 */
class StoreClock {
  /** Store time at monotonic zero, by the latest observation: store times never run backwards. */
  private base = Number.NaN

  /** Takes a time that the store has just given, in milliseconds since 1970 UTC. */
  observe(storeTime: number): void {
    const base = storeTime - performance.now()
    if (Number.isNaN(this.base) || base > this.base || this.base - base > clockToleranceMs) this.base = base
  }

  /** Milliseconds since 1970 UTC by the store's clock; NaN before the first observation. */
  now(): number {
    return performance.now() + this.base
  }
}

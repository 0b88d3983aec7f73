/** Answers that are there already: in this process's memory, and in the store. */
import { withTimeout } from '../stores/timeout.ts'
import { Answer } from '../answers/answer.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { StoreClock } from './clock.ts'
import { deadlines } from './deadline.ts'
import { answers, type Head, headAt, headOf, lightFields } from './head.ts'
import type { CacheKeyFields } from './key.ts'
import { createMemory, type Remembered } from './memory.ts'
import { readPayload } from './payload.ts'

export class Kept {
  readonly clock = new StoreClock()
  private readonly store: Store
  private readonly memory = createMemory()

  constructor(store: Store) {
    this.store = store
  }

  /** What memory holds, fresh or not. */
  inMemory(key: string): Remembered | undefined {
    return this.memory.get(key)
  }

  /**
   * Reads the head from the store; without its payload where that is not needed.
   * @throws StoreError `unavailable`, or `invalid` for a head of another question
   */
  async look(key: string, keyFields: CacheKeyFields, light = this.memory.has(key)): Promise<Head | null> {
    const { document, readAt } = await withTimeout(
      deadlines.head,
      light ? this.store.get(headAt(key), lightFields) : this.store.get(headAt(key)),
    )
    this.clock.observe(readAt)
    const head = document && headOf(document)
    if (head && !answers(head, keyFields)) throw new StoreError('invalid', 'a head of another question')
    return head
  }

  /**
   * The answer that a head names, from memory where that has it.
   * @returns `null` where the payload is being replaced this very moment
   * @throws StoreError `unavailable`
   */
  async load(key: string, head: Head): Promise<Remembered | null> {
    const stored = head.stored!
    const known = this.memory.get(key)
    if (known?.generation === stored.generation) {
      known.checkedAt = performance.now()
      return known
    }
    const whole = (head.inline ?? stored.chunks > 0) ? head : await this.look(key, head.keyFields, false)
    if (whole?.stored?.generation !== stored.generation) return null
    const bytes = await readPayload(this.store, key, stored, whole.inline)
    if (!bytes) return null
    const { rows, truncated, redacted, columns, etag, rawBytes, madeAt, generation } = stored
    const answer = Answer.fromGzip({ rows, truncated, redacted, columns }, etag, rawBytes, bytes)
    return this.remember(key, { answer, madeAt, generation })
  }

  remember(key: string, made: Omit<Remembered, 'checkedAt'>): Remembered {
    const remembered = { ...made, checkedAt: performance.now() }
    this.memory.set(key, remembered)
    return remembered
  }

  /** Milliseconds since a store time, never negative; 0 where the store has never answered. */
  ageOf(storeTime: number): number {
    return Math.max(0, this.clock.now() - storeTime) || 0
  }
}

/** What one process remembers of the cache: finished bytes only, bounded. */
import { LRUCache } from 'lru-cache'
import type { Answer } from '../answers/answer.ts'

export interface Remembered {
  answer: Answer
  /** Store time at which the engine began. */
  madeAt: number
  /** `null` for an answer that could not be stored. */
  generation: string | null
  /** Monotonic time of the last look at the store. */
  checkedAt: number
}

/** All answers of one process together; design, section 6. */
const maxBytes = 64 * 1024 * 1024

export type Memory = LRUCache<string, Remembered>

export function createMemory(): Memory {
  return new LRUCache<string, Remembered>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }) => answer.weight,
  })
}

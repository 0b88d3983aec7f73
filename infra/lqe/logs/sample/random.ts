import { uuidOf } from '../entries.ts'

/**
 * A generator of pseudo-random numbers (mulberry32), by which the same seed makes the same logs on every machine:
 * `Math.random` cannot be seeded. Not for secrets.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    return this.#bits() / 4_294_967_296
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** A whole number, far more often a small one than a large one, as times and sizes are. */
  longTail(least: number, most: number): number {
    return Math.floor(least * (most / least) ** (this.next() * this.next()))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  /** One of a list, far more often one of the first, as users, pages and clients are. */
  favourite<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * this.next() * list.length)]!
  }

  /** A key of a table of weights. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) if ((left -= weight) < 0) return key
    return entries.at(-1)![0]
  }

  hex(digits: number): string {
    let text = ''
    while (text.length < digits) text += this.#bits().toString(16).padStart(8, '0')
    return text.slice(0, digits)
  }

  /** A UUID of version 4. */
  uuid(): string {
    return uuidOf(this.hex(32), 4, this.integer(0, 3))
  }

  #bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

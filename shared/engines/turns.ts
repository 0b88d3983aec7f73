import type { Deadline } from './deadline.ts'

interface Waiting {
  owner: string
  begin: () => void
}

/**
 * Lets so many act at a time, and of one owner one fewer, so that however much one asks for, the next one finds a place.
 * A place that becomes free goes to the owner who has the fewest; among equals, to the one who has waited longest.
 */
export class Turns {
  private readonly atOnce: number
  private readonly perOwner: number
  private readonly waiting = new Set<Waiting>()
  private readonly acting = new Map<string, number>()
  private taken = 0

  constructor(atOnce: number) {
    this.atOnce = atOnce
    this.perOwner = Math.max(atOnce - 1, 1)
  }

  /** The result of `act`. Throws what it throws, and at the deadline, if `act` has not begun by then, its error. */
  async with<T>(owner: string, deadline: Deadline, act: () => Promise<T>): Promise<T> {
    await this.acquire(owner, deadline)
    try {
      return await act()
    } finally {
      this.count(owner, -1)
      this.next()
    }
  }

  private async acquire(owner: string, deadline: Deadline): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const one = { owner, begin: resolve }
    this.waiting.add(one)
    this.next()
    const forget = deadline.onEnd(error => {
      // A turn that was given already is released by `with`.
      if (this.waiting.delete(one)) reject(error)
    })
    await promise.finally(forget)
  }

  /** Gives the free place, if there is one, to the next who may have it. */
  private next(): void {
    if (this.taken >= this.atOnce) return
    let next: Waiting | null = null
    for (const one of this.waiting)
      if (this.places(one.owner) < (next ? this.places(next.owner) : this.perOwner)) next = one
    if (!next) return
    this.waiting.delete(next)
    this.count(next.owner, 1)
    next.begin()
  }

  private places(owner: string): number {
    return this.acting.get(owner) ?? 0
  }

  private count(owner: string, change: 1 | -1): void {
    const places = this.places(owner) + change
    this.taken += change
    if (places > 0) this.acting.set(owner, places)
    else this.acting.delete(owner)
  }
}

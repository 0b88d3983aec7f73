import type { Deadline } from './deadline.ts'

/** Lets so many act at a time; the others wait, and the one that has waited longest is next. */
export class Turns {
  private readonly atOnce: number
  private readonly waiting = new Set<() => void>()
  private acting = 0

  constructor(atOnce: number) {
    this.atOnce = atOnce
  }

  /** The result of `act`. Throws what it throws, and at the deadline, if `act` has not begun by then, its error. */
  async with<T>(deadline: Deadline, act: () => Promise<T>): Promise<T> {
    await this.acquire(deadline)
    try {
      return await act()
    } finally {
      this.release()
    }
  }

  private async acquire(deadline: Deadline): Promise<void> {
    if (this.acting < this.atOnce) {
      this.acting++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.waiting.add(resolve)
    const forget = deadline.onEnd(error => {
      // A turn that was given already is released by `with`.
      if (this.waiting.delete(resolve)) reject(error)
    })
    await promise.finally(forget)
  }

  /** Passes the turn on. */
  private release(): void {
    const [next] = this.waiting
    if (!next) this.acting--
    else {
      this.waiting.delete(next)
      next()
    }
  }
}

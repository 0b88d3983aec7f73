import { LRUCache } from 'lru-cache'
import type { Deadline } from './deadline.ts'
import { EngineError } from './engine.ts'

/** An act that comes begins within so many milliseconds, where others can give way. */
const beginsWithinMs = 1000
/** How long an act runs before it gives way for the first time, in milliseconds: the shorter, the more owners wait. */
const moment = { shortest: 50, longest: 500 }
/** With each stop its moment grows by this factor, so that it comes to its end; a third of its work is lost. */
const growth = 4
/** Owners whose last beginning is remembered. */
const mostOwners = 1000

interface Turn {
  owner: string
  cameAt: number
  /** When it began to act, this time. */
  begunAt: number
  /** How often it was stopped. */
  stops: number
  /** Whether it acts until its own end. */
  lasts: boolean
  stopping: AbortController
  begin: () => void
}

/**
 * Lets `atOnce` acts run at a time, and of one owner one fewer. A free place goes to the owner with the fewest places, then to
 * the one who began longest ago, then to the act that waits longest.
 *
 * Repeatable acts give way, so that a short one waits for moments of the others and never for their whole length. All places
 * but one, and of one owner again one fewer, are for acts that last until their own end: the first that began. An act in
 * another place is stopped after its moment where an owner with fewer places waits. It begins again when there is room, with a
 * longer moment, after acts that were stopped less often and owners with fewer stopped acts, and gives way to these at once.
 *
 * At the deadline of an act that never got a place its error is `overloaded`.
 */
export class Scheduler {
  private readonly atOnce: number
  private readonly perOwner: number
  private readonly repeatable: boolean
  private readonly waiting = new Set<Turn>()
  /** In the order in which they began. */
  private readonly acting = new Set<Turn>()
  /** How many acts that wait were stopped, by owner. */
  private readonly stopped = new Map<string, number>()
  private readonly begunAt = new LRUCache<string, number>({ max: mostOwners })
  private timer: NodeJS.Timeout | undefined

  /** @param repeatable whether an act can be stopped by its deadline and begin again: it reads, and nothing else */
  constructor(atOnce: number, { repeatable = false }: { repeatable?: boolean } = {}) {
    this.atOnce = atOnce
    this.perOwner = Math.max(atOnce - 1, 1)
    this.repeatable = repeatable
  }

  /**
   * The result of `act`, which gets the deadline of its turn and may be called again when that has come. Throws what it
   * throws, and at the deadline, if `act` does not act then, its error or `overloaded`.
   */
  async with<T>(owner: string, deadline: Deadline, act: (turn: Deadline) => Promise<T>): Promise<T> {
    const turn: Turn = {
      owner,
      cameAt: performance.now(),
      begunAt: 0,
      stops: 0,
      lasts: false,
      stopping: new AbortController(),
      begin: () => {},
    }
    for (;;) {
      await this.acquire(turn, deadline)
      const { signal } = turn.stopping
      try {
        return await act(this.repeatable ? deadline.orAt(signal) : deadline)
      } catch (error) {
        deadline.check()
        if (!signal.aborted) throw error
        turn.stops++
      } finally {
        this.acting.delete(turn)
        this.next()
      }
    }
  }

  private async acquire(turn: Turn, deadline: Deadline): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    turn.begin = resolve
    this.waiting.add(turn)
    this.countStopped()
    this.next()
    const forget = deadline.onEnd(() => {
      // A turn that was given already is released by `with`.
      if (!this.waiting.delete(turn)) return
      this.countStopped()
      if (turn.begunAt === 0)
        deadline.late ??= new EngineError('overloaded', 'Other queries have taken all places')
      reject(deadline.error)
    })
    await promise.finally(forget)
  }

  /** Gives the free places away; where there are none, one act gives way. */
  private next(): void {
    while (this.acting.size < this.atOnce) {
      const turn = [...this.waiting]
        .filter(turn => this.places(turn.owner) < this.perOwner)
        .toSorted((a, b) => this.compare(a, b))[0]
      if (!turn) break
      this.begin(turn)
    }
    if (this.repeatable) this.giveWay()
  }

  private begin(turn: Turn): void {
    this.waiting.delete(turn)
    this.countStopped()
    this.acting.add(turn)
    turn.begunAt = performance.now()
    turn.lasts = false
    turn.stopping = new AbortController()
    this.begunAt.set(turn.owner, turn.begunAt)
    turn.begin()
  }

  private giveWay(): void {
    clearTimeout(this.timer)
    for (const turn of this.acting) turn.lasts ||= this.mayLast(turn)
    const passing = [...this.acting].filter(({ lasts }) => !lasts)
    // The last one of the owner with the most places.
    const turn = passing.toSorted(
      (a, b) => this.places(b.owner) - this.places(a.owner) || b.begunAt - a.begunAt,
    )[0]
    const wait = turn ? this.momentOf(turn) : Infinity
    if (wait <= 0) turn!.stopping.abort()
    else if (wait < Infinity) this.timer = setTimeout(() => this.next(), wait)
  }

  private mayLast(turn: Turn): boolean {
    const { owner } = turn
    const lasting = [...this.acting].filter(({ lasts }) => lasts)
    const own = lasting.filter(turn => turn.owner === owner)
    return lasting.length < this.atOnce - 1 && own.length < Math.max(this.atOnce - 2, 1)
  }

  /** Milliseconds until this act gives way; infinite where none waits for its place. */
  private momentOf(turn: Turn): number {
    const { owner, stops, begunAt } = turn
    const [places, level] = [this.places(owner), this.level(turn)]
    const coming = [...this.waiting].filter(
      turn => this.level(turn) <= level && this.places(turn.owner) < places,
    )
    if (coming.length === 0) return Infinity
    if (stops > 0 && coming.some(turn => this.level(turn) < level)) return 0
    const since = Math.min(...coming.map(turn => Math.max(turn.cameAt, this.lastOf(turn))))
    const now = performance.now()
    const share = (beginsWithinMs - (now - since)) / new Set(coming.map(turn => turn.owner)).size
    const first = Math.min(Math.max(share, moment.shortest), moment.longest)
    return begunAt + first * growth ** stops - now
  }

  /** Long acts come after short ones, and so do those of an owner who sends many. */
  private level({ owner, stops }: Turn): number {
    return Math.max(stops, this.stopped.get(owner) ?? 0)
  }

  private countStopped(): void {
    this.stopped.clear()
    for (const { owner, stops } of this.waiting)
      if (stops > 0) this.stopped.set(owner, (this.stopped.get(owner) ?? 0) + 1)
  }

  private compare(a: Turn, b: Turn): number {
    return (
      this.level(a) - this.level(b) ||
      this.places(a.owner) - this.places(b.owner) ||
      this.lastOf(a) - this.lastOf(b) ||
      a.cameAt - b.cameAt
    )
  }

  private places(owner: string): number {
    return [...this.acting].filter(turn => turn.owner === owner).length
  }

  /** When its owner began last. */
  private lastOf({ owner }: Turn): number {
    return this.begunAt.get(owner) ?? 0
  }
}

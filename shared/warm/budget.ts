type Spent = 'out_of_time' | 'out_of_bytes'

/** Time or bytes are used up: a run was not begun, not finished, or refused by its estimate. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget'
  readonly reason: Spent

  constructor(reason: Spent) {
    super(reason)
    this.reason = reason
  }
}

/** The most that one call of the warmer may cost: time, and bytes read by the engine. */
export class Budget {
  /** Aborts when the time is up, so that runs under way end too. */
  readonly signal: AbortSignal
  private readonly maxBytes: number
  private readBytes = 0

  constructor({ ms, bytes }: { ms: number; bytes: number }) {
    this.signal = AbortSignal.timeout(ms)
    this.maxBytes = bytes
  }

  /** The most that a run may read; runs at the same time have the same. */
  get leftBytes(): number {
    return Math.max(0, this.maxBytes - this.readBytes)
  }

  /** Adds what a run has read. */
  spend(bytes: number | null): void {
    this.readBytes += bytes ?? 0
  }

  /** Why no further run may begin; `null` while something is left. */
  get spent(): Spent | null {
    if (this.signal.aborted) return 'out_of_time'
    return this.readBytes >= this.maxBytes ? 'out_of_bytes' : null
  }
}

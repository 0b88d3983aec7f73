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

  /** Adds what a run has read. Its cost is known at its end, so runs under way may pass the limit. */
  spend(bytes: number | null): void {
    this.readBytes += bytes ?? 0
  }

  /** Why no further run may begin; `null` while something is left. */
  get spent(): 'out_of_time' | 'out_of_bytes' | null {
    if (this.signal.aborted) return 'out_of_time'
    return this.readBytes >= this.maxBytes ? 'out_of_bytes' : null
  }
}

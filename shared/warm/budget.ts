/** What one call of the warmer may cost: time, and bytes read by the engine. */
export class Budget {
  /** Aborts when the time is up, so that runs under way end too. */
  readonly signal: AbortSignal
  private readonly maxBytes: number
  private readonly timer: NodeJS.Timeout
  private readBytes = 0

  constructor({ ms, bytes }: { ms: number; bytes: number }) {
    const controller = new AbortController()
    this.signal = controller.signal
    this.maxBytes = bytes
    this.timer = setTimeout(() => controller.abort(), ms)
  }

  /** Counts what a run has read. What is under way is not known yet, so the last runs may go a little over. */
  spend(bytes: number | null): void {
    this.readBytes += bytes ?? 0
  }

  /** Why nothing more may be begun; `null` while there is something left. */
  get spent(): 'out_of_time' | 'out_of_bytes' | null {
    if (this.signal.aborted) return 'out_of_time'
    return this.readBytes >= this.maxBytes ? 'out_of_bytes' : null
  }

  end(): void {
    clearTimeout(this.timer)
  }
}

import { EngineError } from '../engine.ts'

/** Ends a run at its time limit or by its AbortSignal, whatever the run waits for. */
export class Deadline {
  private readonly endsAt: number
  private readonly signal: AbortSignal | undefined
  private readonly timer: NodeJS.Timeout
  private readonly onAbort: () => void
  private readonly over: Promise<never>

  constructor({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }) {
    const { promise, reject } = Promise.withResolvers<never>()
    this.over = promise
    this.over.catch(() => {}) // it may be over while nobody waits
    this.endsAt = performance.now() + timeoutMs
    this.timer = setTimeout(
      () => reject(new EngineError('timeout', 'The query took too long')),
      Math.max(timeoutMs, 0),
    )
    this.signal = signal
    this.onAbort = () => reject(new EngineError('cancelled', 'The query was cancelled'))
    signal?.addEventListener('abort', this.onAbort)
    if (signal?.aborted) this.onAbort()
  }

  get leftMs(): number {
    return Math.max(Math.ceil(this.endsAt - performance.now()), 1)
  }

  /** What `act` gives, or EngineError `timeout` or `cancelled` once the run is over; then it does not begin. */
  async within<T>(act: () => Promise<T>): Promise<T> {
    await Promise.race([this.over, Promise.resolve()])
    return Promise.race([this.over, act()])
  }

  async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    try {
      await this.within(() => new Promise(resolve => void (timer = setTimeout(resolve, ms))))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the watch. */
  end(): void {
    clearTimeout(this.timer)
    this.signal?.removeEventListener('abort', this.onAbort)
  }
}

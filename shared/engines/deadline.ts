import { setTimeout as pause } from 'node:timers/promises'
import { EngineError, type RunLimits } from './engine.ts'

/** Node fires a timer that is set for longer at once. */
const longestTimer = 2 ** 31 - 1

/** The end of one run: its time limit or its caller's signal, whichever comes first. */
export class Deadline {
  private readonly endsAt: number
  private readonly timeout: AbortSignal
  private readonly signal: AbortSignal
  /** Takes the place of `timeout` where the run had to wait for others. */
  late: EngineError | null = null

  constructor({ timeoutMs, signal }: Pick<RunLimits, 'timeoutMs' | 'signal'>) {
    this.endsAt = performance.now() + timeoutMs
    this.timeout = AbortSignal.timeout(Math.min(Math.max(Math.ceil(timeoutMs), 0), longestTimer))
    this.signal = AbortSignal.any(signal ? [signal, this.timeout] : [this.timeout])
  }

  /** Whole milliseconds that are left, at least 1. */
  get leftMs(): number {
    return Math.max(Math.ceil(this.endsAt - performance.now()), 1)
  }

  /** `timeout` (or `late`) or `cancelled` once the run has to end, `null` before. */
  get error(): EngineError | null {
    if (!this.signal.aborted) return null
    if (this.signal.reason !== this.timeout.reason)
      return new EngineError('cancelled', 'The query was cancelled')
    return this.late ?? new EngineError('timeout', 'The query took too long')
  }

  /** Throws `error` once there is one. */
  check(): void {
    if (this.error) throw this.error
  }

  /** The result of `act`, which does not start after the end. Throws `error` at the end, whatever `act` waits for. */
  async race<T>(act: () => Promise<T>): Promise<T> {
    this.check()
    const { promise, reject } = Promise.withResolvers<never>()
    const forget = this.onEnd(reject)
    try {
      return await Promise.race([promise, act()])
    } finally {
      forget()
    }
  }

  /** Waits for `ms` milliseconds. Throws `error` at the end. */
  async sleep(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.signal }).catch(() => {})
    this.check()
  }

  /** This deadline, or the abort of `signal` where that comes first; it then says `cancelled`. */
  orAt(signal: AbortSignal): Deadline {
    return new Deadline({ timeoutMs: this.leftMs, signal: AbortSignal.any([this.signal, signal]) })
  }

  /** Calls `act` at the end, or now if that has come. Returns a function that removes `act`. */
  onEnd(act: (error: EngineError) => void): () => void {
    const listener = () => act(this.error!)
    if (this.signal.aborted) listener()
    else this.signal.addEventListener('abort', listener, { once: true })
    return () => this.signal.removeEventListener('abort', listener)
  }
}

/** When a run has to end. */
import { EngineError, type QueryEngine, type RunLimits } from './engine.ts'

/** Node fires a timer that is set for longer at once. */
const longestTimer = 2 ** 31 - 1

/** The end of one run: its time limit or a signal of its caller's, whichever comes first. */
export class Deadline {
  private readonly endsAt: number
  private readonly timeout: AbortSignal
  /** Its callers' and `timeout`. `AbortSignal.any` of them would cost more, and a signal that lasts would remember each run. */
  private readonly ends: AbortSignal[]
  /** That of them which came first. */
  private end: AbortSignal | undefined
  /** Takes the place of `timeout` where the run had to wait for others. */
  late: EngineError | null = null

  constructor({ timeoutMs, signal }: Pick<RunLimits, 'timeoutMs' | 'signal'>, within?: Deadline) {
    this.endsAt = within?.endsAt ?? performance.now() + timeoutMs
    const wait = () => AbortSignal.timeout(Math.min(Math.max(Math.ceil(timeoutMs), 0), longestTimer))
    this.timeout = within?.timeout ?? wait()
    this.ends = [...(signal ? [signal] : []), ...(within?.ends ?? [this.timeout])]
  }

  /** Whole milliseconds that are left, at least 1. */
  get leftMs(): number {
    return Math.max(Math.ceil(this.endsAt - performance.now()), 1)
  }

  /** `timeout` (or `late`) or `cancelled` once the run has to end, `null` before. */
  get error(): EngineError | null {
    this.end ??= this.ends.find(({ aborted }) => aborted)
    if (!this.end) return null
    if (this.end !== this.timeout) return new EngineError('cancelled', 'The query was cancelled')
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
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    const forget = this.onEnd(() => resolve())
    await promise
    clearTimeout(timer)
    forget()
    this.check()
  }

  /** This deadline, or the abort of `signal` where that comes first; it then says `cancelled`. */
  orAt(signal: AbortSignal): Deadline {
    return new Deadline({ timeoutMs: this.leftMs, signal }, this)
  }

  /** Calls `act` at the end, or now if that has come. Returns a function that removes `act`. */
  onEnd(act: (error: EngineError) => void): () => void {
    const forget = () => {
      for (const end of this.ends) end.removeEventListener('abort', listener)
    }
    const listener = () => {
      forget()
      act(this.error!)
    }
    if (this.error) act(this.error)
    else for (const end of this.ends) end.addEventListener('abort', listener)
    return forget
  }
}

/** The same engine, all of whose runs end when the process is about to. */
export function untilStopped(engine: QueryEngine, stopping: AbortSignal): QueryEngine {
  return {
    run: (statement, { signal, ...limits }) =>
      engine.run(statement, { ...limits, signal: signal ? AbortSignal.any([signal, stopping]) : stopping }),
    describe: (...asked) => engine.describe(...asked),
    rollups: engine.rollups,
    close: () => engine.close(),
  }
}

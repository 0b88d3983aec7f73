import { EngineError, type RunLimits } from '../engine.ts'

/** How often a stop is repeated: DuckDB forgets an interruption that comes just before a statement starts. */
const insistMs = 20

/** Node fires a timer at once that is set for longer. */
const longestTimer = 2 ** 31 - 1

/** Watches over one run: its time limit and its AbortSignal. */
export class Deadline {
  private readonly signal: AbortSignal | undefined
  private readonly timer: NodeJS.Timeout
  private readonly onAbort: () => void
  private insisting: NodeJS.Timeout | null = null
  private interrupt: (() => void) | null = null
  private failure: EngineError | null = null

  constructor(limits: Pick<RunLimits, 'timeoutMs' | 'signal'>) {
    this.signal = limits.signal
    this.onAbort = () => this.stop(new EngineError('cancelled', 'The query was cancelled'))
    this.timer = setTimeout(
      () => this.stop(new EngineError('timeout', 'The query took too long')),
      Math.min(limits.timeoutMs, longestTimer),
    )
    this.signal?.addEventListener('abort', this.onAbort)
    if (this.signal?.aborted) this.onAbort()
  }

  /** Whether the run has to end, or had to. */
  get stopped(): boolean {
    return this.failure !== null
  }

  /** Throws EngineError `timeout` or `cancelled` once the run has to end. */
  check(): void {
    if (this.failure) throw this.failure
  }

  /** From here on a stop calls `interrupt`, until the run ends. */
  guard(interrupt: () => void): void {
    this.interrupt = interrupt
    if (this.failure) this.insist()
  }

  /** Ends the watch. Nothing is interrupted after this. */
  end(): void {
    clearTimeout(this.timer)
    if (this.insisting) clearInterval(this.insisting)
    this.interrupt = null
    this.signal?.removeEventListener('abort', this.onAbort)
  }

  private stop(failure: EngineError): void {
    if (this.failure) return
    this.failure = failure
    this.insist()
  }

  private insist(): void {
    if (!this.interrupt) return
    this.interrupt()
    this.insisting ??= setInterval(() => this.interrupt?.(), insistMs)
  }
}

/** One kind of question, and what came back of the last one, kept with it. */
import { batch, type Signal, signal } from '@preact/signals'
import { ServiceError } from './service.ts'

export interface Answered<T> {
  asked: string
  /** `null` where there is none, of which `problem` says why. */
  data: T | null
  problem: string
}

export class Resource<T> {
  readonly answer = signal<Answered<T> | null>(null)
  readonly isRunning = signal(false)
  readonly #run = takeLatest()

  /** A new question ends the one before, whose answer stays until there is another. */
  read(asked: string, job: (signal: AbortSignal) => Promise<T>): void {
    this.isRunning.value = true
    const show = (data: T | null, problem: string) => (this.answer.value = { asked, data, problem })
    const failed = (error: unknown) => {
      const isStopped = error instanceof DOMException
      if (!isStopped && !(error instanceof ServiceError)) throw error
      show(null, isStopped ? 'stopped.' : error.problem.detail)
    }
    void this.#run(async signal => void show(await job(signal), ''), failed).then(() =>
      settle(this.#run, this.isRunning, false),
    )
  }

  /** Whether there is an answer, and it is of another question. */
  isOld(asked: string): boolean {
    const answer = this.answer.value
    return answer !== null && (this.isRunning.value || answer.asked !== asked)
  }

  stop(): void {
    this.#run.stop()
  }

  /** Takes away what came back, and what is on its way. */
  clear(): void {
    this.stop()
    batch(() => {
      this.answer.value = null
      this.isRunning.value = false
    })
  }
}

/** One thing asked at a time: a new question ends the one before. */
export function takeLatest() {
  let running: AbortController | null = null
  const run = async (job: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void) => {
    running?.abort()
    const own = new AbortController()
    running = own
    try {
      await job(own.signal)
    } catch (error) {
      if (running === own || !own.signal.aborted) failed(error)
    } finally {
      if (running === own) running = null
    }
  }
  return Object.assign(run, { stop: () => running?.abort(), isRunning: () => running !== null })
}

/** Nothing is on its way any more, unless it was asked again meanwhile. */
export function settle<T>(run: { isRunning(): boolean }, on: Signal<T>, idle: T): void {
  if (!run.isRunning()) on.value = idle
}

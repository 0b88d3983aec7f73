/** One kind of question, and what came back of the last one, kept with it. */
import { batch, signal } from '@preact/signals'
import { ServiceError } from './service.ts'

export interface Answered<T> {
  asked: string
  /** `null` where there is none, of which `problem` says why. */
  data: T | null
  problem: Failure | null
}

export class Resource<T> {
  readonly answer = signal<Answered<T> | null>(null)
  readonly isRunning = signal(false)
  readonly #run = takeLatest(() => (this.isRunning.value = false))

  /**
   * A new question ends the one before, whose answer stays until there is another.
   * @param isQuiet where that answer holds until then
   */
  read(asked: string, job: (signal: AbortSignal) => Promise<T>, isQuiet = false): void {
    this.isRunning.value = !isQuiet
    const show = (data: T | null, problem: Failure | null) => (this.answer.value = { asked, data, problem })
    void this.#run(
      async signal => void show(await job(signal), null),
      error => show(null, error),
    )
  }

  /** Whether there is an answer, and it is of another question. */
  isOld(asked: string): boolean {
    const answer = this.answer.value
    return answer !== null && (this.isRunning.value || answer.asked !== asked)
  }

  /** Whether anything is on its way, quiet or not. */
  isBusy(): boolean {
    return this.#run.isRunning()
  }

  stop(): void {
    this.#run.stop()
  }

  /** Takes away what came back, and what is on its way. */
  clear(): void {
    batch(() => {
      this.#run.drop()
      this.answer.value = null
    })
  }
}

/** What ended a call: the service's problem, or a person or a later question. */
export type Failure = ServiceError | 'stopped'

/** As a sentence's end. */
export function problemText(problem: Failure): string {
  return problem === 'stopped' ? 'stopped.' : problem.problem.detail
}

/** One thing asked at a time: a new question ends the one before. @param idle called when nothing is on its way any more */
export function takeLatest(idle = () => {}) {
  let running: AbortController | null = null
  const run = async (job: (signal: AbortSignal) => Promise<void>, failed: (error: Failure) => void) => {
    running?.abort()
    const own = new AbortController()
    running = own
    try {
      await job(own.signal)
    } catch (error) {
      if (running !== own && own.signal.aborted) return
      const isStopped = error instanceof DOMException
      if (!isStopped && !(error instanceof ServiceError)) throw error
      failed(isStopped ? 'stopped' : error)
    } finally {
      if (running === own) {
        running = null
        idle()
      }
    }
  }
  /** Gives it up without a word of it. */
  const drop = () => {
    running?.abort()
    running = null
    idle()
  }
  return Object.assign(run, { stop: () => running?.abort(), drop, isRunning: () => running !== null })
}

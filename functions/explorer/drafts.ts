/** Files of `queries/` that the service drafts of what is chosen in a window, and what becomes of them. */
import { signal, type Signal } from '@preact/signals'
import type { DraftAnswer } from '../query/draft.ts'
import { ServiceError } from './service.ts'

/** @template Asked what is chosen and written, as far as files depend on it: a new value for each change */
export interface Made<Asked> {
  first: Asked
  /** @throws ServiceError */
  draft(asked: Asked, write: boolean): Promise<DraftAnswer>
  /** Whether what was written is in force. */
  isThere(asked: Asked): Promise<boolean>
  /** Goes on to what was made. */
  open(asked: Asked): void
}

export class Drafts<Asked extends { name: string }> {
  readonly asked: Signal<Asked>
  /** The last draft; while another is on its way it is of other fields. */
  readonly answer = signal<DraftAnswer | null>(null)
  /** Why there are no files of what is asked; empty where there are, or may be. */
  readonly problem = signal('')
  /** Whether one is asked if the files are to be written. */
  readonly isAsking = signal(false)
  /** Names of the files that were downloaded, as long as they are those of what is asked. */
  readonly downloaded = signal<string[]>([])
  /** What is said of writing; the fields are at rest then. */
  readonly written = signal('')
  readonly #made: Made<Asked>
  /** Of what is asked now; `null` = there are none. */
  #last: Promise<DraftAnswer | null>
  #isClosed = false

  constructor(made: Made<Asked>) {
    this.#made = made
    this.asked = signal(made.first)
    this.#last = this.#ask(false)
  }

  readonly change = (patch: Partial<Asked>): void => {
    this.asked.value = { ...this.asked.value, ...patch }
    this.isAsking.value = false
    this.downloaded.value = []
    this.#last = this.#ask(false)
  }

  /**
   * Gives the files of what is asked now. A press that ends a field comes while they are being drafted, and waits for them.
   * @param save called with each
   */
  async download(save: (file: DraftAnswer['files'][number]) => void): Promise<void> {
    const answer = await this.#last
    if (!answer) return
    for (const file of answer.files) save(file)
    this.downloaded.value = answer.files.map(({ name }) => name)
  }

  /** Asks whether the files of what is asked now are to be written. */
  async askToWrite(): Promise<void> {
    const last = this.#last
    const answer = await last
    this.isAsking.value = answer !== null && last === this.#last
  }

  /** @param lookMs between the looks whether what was written is in force */
  async write(lookMs = 200): Promise<void> {
    const own = this.asked.value
    this.isAsking.value = false
    this.written.value = 'Writing …'
    const answer = await this.#ask(true)
    this.written.value = answer ? `Written. Waiting until ${own.name.trim()} is in force …` : ''
    if (!answer) return
    const isInForce = await until(() => this.#made.isThere(own), lookMs)
    if (this.#isClosed) return // one went on with something else
    if (isInForce) this.#made.open(own)
    else this.written.value = 'Written, but not in force: see what npm start says.'
  }

  readonly close = (): void => void (this.#isClosed = true)

  async #ask(write: boolean): Promise<DraftAnswer | null> {
    const own = this.asked.value
    const { answer, problem } = await this.#made.draft(own, write).then(
      answer => ({ answer, problem: '' }),
      (error: unknown) => {
        if (!(error instanceof ServiceError)) throw error
        return { answer: null, problem: error.problem.detail }
      },
    )
    if (this.asked.value === own) {
      this.answer.value = answer ?? this.answer.value
      this.problem.value = problem
    }
    return answer
  }
}

const mostLooks = 50

/** `npm start` applies files as they are saved. */
async function until(isThere: () => Promise<boolean>, lookMs: number): Promise<boolean> {
  for (let looks = 0; looks < mostLooks; looks++) {
    await new Promise(resolve => setTimeout(resolve, lookMs))
    if (await isThere().catch(() => false)) return true
  }
  return false
}

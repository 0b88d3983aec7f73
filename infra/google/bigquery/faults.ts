/** What can go wrong on the way, set by a test. */
export type Step = 'insert' | 'get' | 'results' | 'cancel'

export type Harm =
  /** The connection is cut without an answer. */
  | 'reset'
  /** The connection stays open and nothing comes. */
  | 'silence'
  /** `jobComplete: false` at once. */
  | 'incomplete'
  /** BigQuery's error body. */
  | { reason: string; message?: string; status?: number }
  /** Any answer. */
  | { status: number; text: string; type?: string }
  /** The job ends with this error, as soon as it begins. */
  | { jobReason: string }
  | { delayMs: number }

export interface Fault {
  step: Step
  harm: Harm
  /** How many calls it meets; 1 if absent. */
  times?: number
  /** The call is carried out first: only its answer is lost. */
  after?: boolean
}

export class Faults {
  private waiting: Required<Fault>[] = []

  /** The next calls of this kind go wrong. Faults of a kind come in the order in which they were added. */
  add({ step, harm, times = 1, after = false }: Fault): void {
    this.waiting.push({ step, harm, times, after })
  }

  next(step: Step): Required<Fault> | null {
    const fault = this.waiting.find(waiting => waiting.step === step)
    if (fault && --fault.times <= 0) this.waiting.splice(this.waiting.indexOf(fault), 1)
    return fault ?? null
  }

  clear(): void {
    this.waiting = []
  }
}

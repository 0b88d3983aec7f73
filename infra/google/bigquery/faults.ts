/** Faults that a test has the server make: by REST method, lost connections, errors and delays. */

/** jobs.insert, jobs.get, jobs.getQueryResults, jobs.cancel, tables.get. */
export type ApiMethod = 'insert' | 'get' | 'results' | 'cancel' | 'table'

type FaultEffect =
  /** The connection breaks without a response. */
  | 'reset'
  /** The connection stays open without a response. */
  | 'silence'
  /** `jobComplete: false` at once. */
  | 'incomplete'
  /** An error in BigQuery's form. */
  | { reason: string; message?: string; status?: number }
  /** Any response. */
  | { status: number; text: string; type?: string }
  /** The job fails with this error as soon as it begins. */
  | { jobReason: string }
  | { delayMs: number }

export interface Fault {
  method: ApiMethod
  effect: FaultEffect
  /** Calls that it meets; 1 by default. */
  times?: number
  /** The call is carried out first: only its response is lost. */
  after?: boolean
}

/** `next` takes the fault that a call meets, `null` for none, and counts it down. */
export class Faults {
  private waiting: Required<Fault>[] = []

  /** For the next calls of the method. Faults of one method come in the order in which they are added. */
  add({ method, effect, times = 1, after = false }: Fault): void {
    this.waiting.push({ method, effect, times, after })
  }

  next(method: ApiMethod): Required<Fault> | null {
    const fault = this.waiting.find(waiting => waiting.method === method)
    if (fault && --fault.times <= 0) this.waiting.splice(this.waiting.indexOf(fault), 1)
    return fault ?? null
  }

  clear(): void {
    this.waiting = []
  }
}

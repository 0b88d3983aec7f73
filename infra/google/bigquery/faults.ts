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

/** For the next calls of a method, in the order in which they are added. */
export class Faults {
  private waiting: Fault[] = []

  add(fault: Fault): void {
    this.waiting.push({ ...fault })
  }

  /** The fault that a call meets, counted down. */
  next(method: ApiMethod): Fault | undefined {
    const fault = this.waiting.find(one => one.method === method)
    if (fault && (fault.times = (fault.times ?? 1) - 1) <= 0)
      this.waiting.splice(this.waiting.indexOf(fault), 1)
    return fault
  }

  clear(): void {
    this.waiting = []
  }
}

/** The report of one call of the warmer: counts and codes; never a parameter's value. */
import { ApiError } from '../errors.ts'
import { describeError, type Log } from '../log.ts'

export interface EndpointReport {
  endpoint: string
  /** Answers that were run again and stored. */
  refreshed: number
  /** Answers that were left as they were, by reason. */
  skipped: Record<string, number>
  /** Answers that could not be refreshed, by code. */
  failed: Record<string, number>
  /** Runs of the engine. */
  runs: number
  /** Bytes read, where the engine says. */
  bytes: number | null
  ms: number
  /** Why the endpoint could not be warmed; `null` where it was. */
  error: string | null
}

export interface WarmReport {
  refreshed: number
  skipped: number
  failed: number
  runs: number
  bytes: number | null
  ms: number
  endpoints: EndpointReport[]
}

/** Counts for one endpoint. Each kind of failure is logged once, with where it was thrown. */
export class Tally {
  private readonly log: Log
  private readonly started = performance.now()
  private readonly report: EndpointReport
  private readonly noted = new Set<string>()

  constructor(endpoint: string, log: Log) {
    this.log = log
    const counts = { refreshed: 0, skipped: {}, failed: {}, runs: 0 }
    this.report = { endpoint, ...counts, bytes: null, ms: 0, error: null }
  }

  refreshed(): void {
    this.report.refreshed++
  }

  skipped(reason: string): void {
    this.report.skipped[reason] = (this.report.skipped[reason] ?? 0) + 1
  }

  failed(error: unknown): void {
    const code = this.note(error, 'an answer could not be refreshed')
    this.report.failed[code] = (this.report.failed[code] ?? 0) + 1
  }

  ran(bytes: number | null): void {
    this.report.runs++
    if (bytes !== null) this.report.bytes = (this.report.bytes ?? 0) + bytes
  }

  /** Its sets are tried one by one then. */
  batchFailed(error: unknown): void {
    this.note(error, 'the batch failed')
  }

  /** Its sets are refreshed by the endpoint's own query then, as many as that may. */
  rollupFailed(error: unknown): void {
    this.note(error, 'a roll-up could not be read')
  }

  gaveUp(error: unknown): void {
    this.report.error = this.note(error, 'an endpoint could not be warmed')
  }

  end(): EndpointReport {
    return { ...this.report, ms: Math.round(performance.now() - this.started) }
  }

  private note(error: unknown, message: string): string {
    const code = error instanceof ApiError ? error.code : error instanceof Error ? error.name : typeof error
    if (!this.noted.has(message + code))
      this.log('WARNING', message, { endpoint: this.report.endpoint, ...describeError(error) })
    this.noted.add(message + code)
    return code
  }
}

/** The report of a call, from those of its endpoints. */
export function totalOf(endpoints: EndpointReport[]): WarmReport {
  const sum = (count: (report: EndpointReport) => number) =>
    endpoints.reduce((total, report) => total + count(report), 0)
  const all = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
  const hasBytes = endpoints.some(({ bytes }) => bytes !== null)
  return {
    refreshed: sum(({ refreshed }) => refreshed),
    skipped: sum(({ skipped }) => all(skipped)),
    failed: sum(({ failed }) => all(failed)),
    runs: sum(({ runs }) => runs),
    bytes: hasBytes ? sum(({ bytes }) => bytes ?? 0) : null,
    ms: sum(({ ms }) => ms),
    endpoints,
  }
}

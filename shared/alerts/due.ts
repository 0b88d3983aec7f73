/** When the alerts of an endpoint are evaluated. */
import type { Alert, Endpoint } from '../endpoints/definition.ts'
import { dueAfterMs } from '../warm/due.ts'
import { isWarmed } from '../warm/warm.ts'

const leastMs = 60_000
/** What a channel has not taken is tried again, though the alert may have longer intervals. */
const mostBetweenCallsMs = 300_000

/** Milliseconds between evaluations, by default as long as an answer is cached: in between it cannot change. */
export function intervalMs({ warm, cacheSeconds }: Endpoint, { everyMs }: Alert): number {
  return everyMs ?? Math.max(leastMs, (warm?.seconds ?? cacheSeconds) * 1000)
}

/** How old an answer may be that is evaluated, milliseconds. */
export function maxAgeMs(endpoint: Endpoint, alert: Alert): number {
  return dueAfterMs(intervalMs(endpoint, alert) / 1000)
}

/** How much earlier than its interval an evaluation may come, milliseconds. */
export function marginMs(endpoint: Endpoint, alert: Alert): number {
  return intervalMs(endpoint, alert) - maxAgeMs(endpoint, alert)
}

/** How often the warm function has something to do for an endpoint, its alerts included, seconds; `null` = never. */
export function calledSeconds(endpoint: Endpoint): number | null {
  const warmed = isWarmed(endpoint) ? endpoint.warm!.seconds * 1000 : Infinity
  const intervals = (endpoint.alerts ?? []).map(alert =>
    Math.min(mostBetweenCallsMs, intervalMs(endpoint, alert)),
  )
  const ms = Math.min(warmed, ...intervals)
  return ms === Infinity ? null : ms / 1000
}

/** What the last turn left of an alert. */
export interface LastTurn {
  /** The store's time at which it was evaluated. */
  at: number
  /** Whether a channel has not taken all. */
  isUnsent: boolean
}

/** Whether it is evaluated at this time of the store. */
export function isDue(endpoint: Endpoint, alert: Alert, last: LastTurn | undefined, now: number): boolean {
  return last === undefined || now - last.at >= maxAgeMs(endpoint, alert)
}

/** Values of an answer that are times, for the page and for spreadsheets. */
import type { Value } from '../../shared/engines/engine.ts'

const micros = { from: Date.UTC(2000) * 1000, to: Date.UTC(2100) * 1000 }

/** TIMESTAMP comes as microseconds since 1970. No count of log entries is as large as those. */
function isMicros(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= micros.from && value < micros.to
}

/** DATE, DATETIME and times in JSON come as text. */
function isTimeText(value: Value | undefined): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?$/.test(value)
}

/** Milliseconds since 1970 UTC, or `null` where the value is no time. */
export function millisOf(value: Value | undefined): number | null {
  if (isMicros(value)) return value / 1000
  if (!isTimeText(value)) return null
  const millis = Date.parse(/T.*[^Z]$/.test(value) ? `${value}Z` : value)
  return Number.isNaN(millis) ? null : millis
}

/** `2026-11-14 12:00:03.671250`, without a fraction where that is zero; `null` where the value is no time of day. */
export function timeText(value: Value): string | null {
  if (typeof value === 'string' && value.length === 10) return null
  const millis = millisOf(value)
  if (millis === null) return null
  const rest = isMicros(value) ? value % 1000 : 0
  const text = new Date(Math.floor(millis)).toISOString().replace('T', ' ').slice(0, -1)
  return rest > 0 ? `${text}${String(rest).padStart(3, '0')}` : text.replace(/\.000$/, '')
}

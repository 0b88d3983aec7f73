/** Values as people read them. */
import type { Row, Value } from '../../shared/engines/engine.ts'

const micros = { from: Date.UTC(2000) * 1000, to: Date.UTC(2100) * 1000 }

/** TIMESTAMP comes as microseconds since 1970. No count of log entries is as large as those. */
export function isMicros(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= micros.from && value < micros.to
}

/** DATE, DATETIME and times in JSON come as text. */
export function isTimeText(value: Value | undefined): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?$/.test(value)
}

/** Milliseconds since 1970 UTC, or `null` where the value is no time. */
export function millisOf(value: Value | undefined): number | null {
  if (isMicros(value)) return value / 1000
  if (!isTimeText(value)) return null
  const millis = Date.parse(/T.*[^Z]$/.test(value) ? `${value}Z` : value)
  return Number.isNaN(millis) ? null : millis
}

/** `2026-11-14 12:00:03.671`, without what is all zeros. */
export function timeText(value: Value): string | null {
  if (typeof value === 'string' && value.length === 10) return null
  const millis = millisOf(value)
  if (millis === null) return null
  return new Date(millis)
    .toISOString()
    .replace('T', ' ')
    .replace(/Z$/, '')
    .replace(/\.000$/, '')
}

/** A list of one object is how GoogleSQL writes an object in a log entry, and reads better as one. */
export function unwrapped(value: Value): Value {
  return Array.isArray(value) && value.length === 1 && isObject(value[0]) ? value[0] : value
}

export function isObject(value: Value | undefined): value is { [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isNested(value: Value | undefined): value is Value[] | { [name: string]: Value } {
  return typeof value === 'object' && value !== null
}

/** A value without parts. */
export type Scalar = string | number | boolean | null

/** What a nested value holds, in a few words. */
export function gist(value: Value): string {
  const inner = unwrapped(value)
  if (Array.isArray(inner)) return inner.length === 0 ? '[]' : `${inner.length} values`
  return isNested(inner) ? `{ ${Object.keys(inner).join(', ')} }` : String(inner)
}

export function columnsOf(rows: Row[]): string[] {
  return Object.keys(rows[0] ?? {})
}

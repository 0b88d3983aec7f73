import { isoTimestamp } from '../../../shared/endpoints/timestamps.ts'

/** Microseconds since 1970 of the first and last moment that BigQuery knows: the years 1 to 9999. */
const first = -62_135_596_800_000_000n
const last = 253_402_300_799_999_999n

/**
 * Reads the time of a log entry: ISO 8601 (UTC where it has no zone), the way BigQuery exports it
 * (`2026-01-31 12:00:00.5 UTC`), or whole microseconds since 1970 as a number or as digits.
 * @returns `2026-01-31T12:00:00.500000Z`, so that earlier times are smaller texts; `null` where it is no such time
 */
export function entryTimestamp(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? fromMicros(BigInt(value)) : null
  if (typeof value === 'bigint') return fromMicros(value)
  if (typeof value !== 'string') return null
  if (/^-?\d{1,18}$/.test(value)) return fromMicros(BigInt(value))
  return isoTimestamp(value.replace(' UTC', 'Z').replace(' ', 'T'))
}

/** @returns the canonical text of a time in microseconds since 1970; `null` outside the years 1 to 9999 */
export function fromMicros(micros: bigint): string | null {
  if (micros < first || micros > last) return null
  const rest = ((micros % 1000n) + 1000n) % 1000n
  const millis = new Date(Number((micros - rest) / 1000n)).toISOString()
  return `${millis.slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/** Microseconds since 1970 of a canonical text. */
export function toMicros(timestamp: string): bigint {
  return BigInt(Date.parse(`${timestamp.slice(0, 23)}Z`)) * 1000n + BigInt(timestamp.slice(23, 26))
}

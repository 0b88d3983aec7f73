/** Times as parameters and as bounds of a load: ISO 8601, microseconds as answers have them, and relative to now. */
const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/**
 * Reads an ISO 8601 time in the extended form: a date, or date and time with optional seconds, fraction and zone; also with a
 * space for the T (RFC 3339, 5.6), as the page and spreadsheets show times.
 * Without a zone it is UTC; digits past the microsecond are dropped, as BigQuery keeps none. Or a timestamp as answers
 * have it, whole microseconds since 1970: 16 digits, from 2001 to 2286.
 * @returns the canonical form `2026-01-31T12:00:00.000000Z`, so equal times are equal texts; `null` where the text
 *   is no such time or the year is not 1 to 9999
 */
export function isoTimestamp(text: string): string | null {
  if (/^[1-9]\d{15}$/.test(text)) return fromMicros(BigInt(text))
  const match = isoPattern.exec(text)
  if (!match) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const local = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  const offset = zoneMinutes(zone)
  if (Number.isNaN(local.getTime()) || local.getUTCDate() !== Number(day) || offset === null) return null
  const utc = new Date(local.getTime() - offset * 60_000)
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return null
  return `${utc.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

/** Minutes east of UTC; `null` beyond the widest zone, +-18:00. */
function zoneMinutes(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || '0')
  if (hours * 60 + minutes > 18 * 60 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/** Microseconds since 1970 of the first and last moment of BigQuery's TIMESTAMP: the years 1 to 9999. */
const firstMicros = -62_135_596_800_000_000n
export const lastMicros = 253_402_300_799_999_999n

/** @returns the canonical form of a time in microseconds since 1970; `null` outside the years 1 to 9999 */
export function fromMicros(micros: bigint): string | null {
  if (micros < firstMicros || micros > lastMicros) return null
  const rest = ((micros % 1000n) + 1000n) % 1000n
  const millis = new Date(Number((micros - rest) / 1000n)).toISOString()
  return `${millis.slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/** @returns microseconds since 1970 of a time in the canonical form */
export function toMicros(canonical: string): bigint {
  return BigInt(Date.parse(`${canonical.slice(0, 19)}Z`)) * 1000n + BigInt(canonical.slice(20, 26))
}

const relativePattern = /^(?:now|(?:now)?-(\d{1,6})([smhdw]))$/

/** Whether a text is a time relative to now, such as `-15m`. */
export function isRelative(text: string): boolean {
  return relativePattern.test(text)
}

/** In seconds. */
const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/**
 * Reads a time relative to now: `now`, `-15m`, `now-1h`; the units are s, m, h, d and w.
 * @returns the canonical form; `null` where the text is no such time, or the time is before the year 1
 */
export function relativeTime(text: string, now: Date): string | null {
  const match = relativePattern.exec(text)
  if (!match) return null
  const [, count = '0', unit = 's'] = match
  return fromMicros(BigInt(now.getTime() - Number(count) * units[unit]! * 1000) * 1000n)
}

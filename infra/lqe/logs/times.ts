/** The times of log entries, in the forms that programs write. */
import { fromMicros, isoTimestamp, lastMicros } from '../../../shared/endpoints/timestamps.ts'

/** Digits after the decimal point of a second in units since 1970, and the size from which on a number is in the unit. */
const units = [
  { digits: 0, from: 0n },
  { digits: 3, from: 100_000_000_000n },
  { digits: 6, from: 100_000_000_000_000n },
  { digits: 9, from: lastMicros + 1n },
]

const clock = String.raw`(?<time>\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)`
const zone = String.raw`(?<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)`

/** Forms beside ISO 8601, each with an example. */
const forms = [
  // 2026-01-31 12:00:00.5 UTC (BigQuery's export), 2026/01/31 12:00:00 (nginx's error log, Go), 2026-01-31 12:00:00 +0100 CET (Ruby, Go)
  String.raw`(?<year>\d{4})[-/](?<month>\d\d)[-/](?<day>\d\d)[T ]${clock}(?: ?${zone}(?: [A-Z]{2,5})?)?`,
  // 20260131T120000Z (ISO 8601, the basic form)
  String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)T(?<time>\d{4}(?:\d\d(?:[.,]\d{1,9})?)?)${zone}?`,
  // 31/Jan/2026:12:00:00 +0000 (access logs)
  String.raw`(?<day>\d\d)/(?<name>[A-Z]{3})/(?<year>\d{4}):${clock} ${zone}`,
  // Sat, 31 Jan 2026 12:00:00 GMT (RFC 5322, HTTP)
  String.raw`(?:[A-Z]{3}, )?(?<day>\d\d) (?<name>[A-Z]{3}) (?<year>\d{4}) ${clock} ${zone}`,
  // Sat Jan 31 12:00:00.123456 2026 (asctime, Apache's error log)
  String.raw`[A-Z]{3} (?<name>[A-Z]{3}) (?<day>[ \d]\d) ${clock} (?<year>\d{4})`,
].map(form => new RegExp(`^${form}$`, 'i'))

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * Reads the time of a log entry: ISO 8601 or one of `forms` (UTC where it has no zone), or a time since 1970 as a number or
 * as digits, in the unit that its size tells: seconds (with a fraction or not) up to the year 5138, milliseconds and
 * microseconds from March 1973 on, nanoseconds from 1978 on.
 * @returns `2026-01-31T12:00:00.500000Z`, so that earlier times are smaller texts; `null` for anything else
 */
export function entryTimestamp(value: unknown): string | null {
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'string') return null
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,19})(?:\.(\d+))?$/.exec(String(value)) ?? []
  if (whole !== undefined) return fromMicros(BigInt(`${sign}${microsOf(whole, fraction)}`))
  return typeof value === 'string' ? (isoTimestamp(value) ?? inAnyForm(value)) : null
}

/** Digits of the microseconds, by the unit; digits past them are dropped. */
function microsOf(whole: string, fraction: string): string {
  const { digits } = units.findLast(({ from }) => BigInt(whole) >= from)!
  const point = whole.length - digits
  const all = whole + fraction
  return all.padEnd(point + 6, '0').slice(0, Math.max(point + 6, 0)) || '0'
}

function inAnyForm(text: string): string | null {
  for (const form of forms) {
    const { year, month, name, day = '', time = '', zone: written = 'Z' } = form.exec(text)?.groups ?? {}
    if (year === undefined) continue
    const number = month ?? String(months.indexOf(name!.toLowerCase()) + 1).padStart(2, '0')
    const colons = time.includes(':') ? time : time.replaceAll(/\d\d(?=\d\d)/g, '$&:')
    const offset = /^(utc|gmt)$/i.test(written) ? 'Z' : written
    return isoTimestamp(`${year}-${number}-${day.trim().padStart(2, '0')}T${colons}${offset}`)
  }
  return null
}

/** ISO 8601 times as parameters and as bounds of a load. */
const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/**
 * Reads an ISO 8601 time in the extended form: a date, or date and time with optional seconds, fraction and zone.
 * Without a zone it is UTC; digits past the microsecond are dropped, as BigQuery keeps none.
 * @returns the canonical form `2026-01-31T12:00:00.000000Z`, so equal times are equal texts; `null` where the text
 *   is no such time or the year is not 1 to 9999
 */
export function isoTimestamp(text: string): string | null {
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

/** Times as people write them, in microseconds since 1970 UTC, and the buckets of a histogram. */

/** From and to as written: `now-1h`, an ISO 8601 time, or empty for no bound. */
export interface Written {
  from: string
  to: string
}

/** Microseconds since 1970, both inclusive; `null` = no bound. */
export interface Range {
  from: number | null
  to: number | null
}

export type Zone = 'UTC' | 'local'

/** In microseconds. */
const units: Record<string, number> = { s: 1e6, m: 6e7, h: 3.6e9, d: 8.64e10, w: 6.048e11 }

/**
 * Reads `now`, `now-15m`, `-15m` or a time as it is shown (`2026-11-14 12:00:03.671250`), which without a zone of its own
 * is in `zone`. @returns `null` for no bound, `undefined` where the text is no time
 */
export function momentOf(written: string, now: number, zone: Zone = 'UTC'): number | null | undefined {
  const text = written.trim()
  if (text === '') return null
  const relative = /^(?:now|(?:now)?-(\d{1,6})([smhdw]))$/.exec(text)
  if (relative) return now - Number(relative[1] ?? 0) * units[relative[2] ?? 's']!
  const absolute =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(
      text,
    )
  if (!absolute) return undefined
  const [, day, time = '00:00', second = '00', fraction = '', own] = absolute
  const offset = own ? own.toUpperCase().replace('UTC', 'Z') : zone === 'UTC' ? 'Z' : ''
  const millis = Date.parse(`${day}T${time}:${second}${offset}`)
  return Number.isNaN(millis) ? undefined : millis * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

/** @returns the range, or the name of the bound that is no time */
export function rangeOf({ from, to }: Written, now: number): Range | keyof Written {
  const range = { from: momentOf(from, now), to: momentOf(to, now) }
  if (range.from === undefined) return 'from'
  if (range.to === undefined) return 'to'
  return { from: range.from, to: range.to }
}

/** `2026-11-14T12:00:03.671250Z` */
export function iso(micros: number): string {
  const second = Math.floor(micros / 1e6)
  const text = new Date(second * 1000).toISOString().slice(0, 19)
  return `${text}.${String(micros - second * 1e6).padStart(6, '0')}Z`
}

/** `2026-11-14 12:00:03.671250`: as it can be written as a bound, with nothing cut. */
export function shown(micros: number, zone: Zone): string {
  const offset = zone === 'UTC' ? 0 : new Date(micros / 1000).getTimezoneOffset() * 6e7
  return iso(micros - offset)
    .replace('T', ' ')
    .slice(0, -1)
}

/** A time as it is shown without a zone becomes ISO 8601 in UTC; what is relative or empty stays as it is. */
export function inAddress(written: string, zone: Zone): string {
  const moment = momentOf(written, 0, zone)
  const absolute = /^\d/.test(written.trim()) && typeof moment === 'number'
  return absolute ? iso(moment) : written.trim()
}

/** In seconds: widths that divide a minute, an hour, a day, or are whole days and weeks. */
const widths = [
  0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
  86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000,
]

/** @returns the width of a bucket in microseconds, so that there are at most `most` and one */
export function bucketWidth(from: number, to: number, most: number): number {
  const width = widths.find(seconds => (to - from) / (seconds * 1e6) <= most) ?? widths.at(-1)!
  return Math.round(width * 1e6)
}

/** The beginnings of all buckets of a range, also of those without entries. */
export function buckets(from: number, to: number, width: number): number[] {
  const first = Math.floor(from / width) * width
  return Array.from({ length: Math.floor(to / width) - first / width + 1 }, (_, i) => first + i * width)
}

/** `5 minutes`: a width in words. */
export function widthText(width: number): string {
  const seconds = width / 1e6
  const [size, unit] = (
    [
      [86_400, 'day'],
      [3600, 'hour'],
      [60, 'minute'],
      [1, 'second'],
      [0.001, 'millisecond'],
    ] as const
  ).find(([length]) => seconds >= length)!
  const count = Math.round(seconds / size)
  return count === 1 ? unit : `${count} ${unit}s`
}

/** Times as people write them, in microseconds since 1970 UTC, and the buckets of a histogram. */

import type { Value } from '../../../shared/engines/engine.ts'
import { brief, iso, millisOf, timeText } from '../../query/times.ts'

/** From and to as written: `now-1h`, an ISO 8601 time, or empty for no bound. */
export interface Written {
  from: string
  to: string
}

/** Microseconds since 1970: the first one within, and the one behind the last; `null` = no bound. */
export interface Range {
  from: number | null
  to: number | null
}

export type Zone = 'UTC' | 'local'

/** `UTC`, or that of this device: `Europe/Berlin`. */
export function zoneName(zone: Zone): string {
  return zone === 'UTC' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** A time of an answer as it is shown in the zone, and whether it is a moment, as DATETIME is none; `null` where it is no time. */
export function timeIn(value: Value, zone: Zone): { text: string; isMoment: boolean } | null {
  const isMoment = typeof value === 'number' || (typeof value === 'string' && value.endsWith('Z'))
  const millis = millisOf(value)
  const micros = typeof value === 'number' ? value : (millis ?? 0) * 1000
  const text = timeText(isMoment && zone === 'local' && millis !== null ? micros - offsetAt(micros) : value)
  return text === null ? null : { text, isMoment }
}

/** By how many microseconds UTC is ahead of this device's zone then. */
function offsetAt(micros: number): number {
  return new Date(micros / 1000).getTimezoneOffset() * 6e7
}

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
  const noon = new Date(`${day}T12:00Z`) // of a day that is not in its month, `Date` makes one of the next
  if (Number.isNaN(noon.valueOf()) || !noon.toISOString().startsWith(day!)) return undefined
  const offset = own ? own.toUpperCase().replace('UTC', 'Z') : zone === 'UTC' ? 'Z' : ''
  const millis = Date.parse(`${day}T${time}:${second}${offset}`)
  return Number.isNaN(millis) ? undefined : millis * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

/**
 * The end is exclusive. But one with all six digits of a fraction is the time of an entry, as the rows show it, and keeps it.
 * @returns the range, or which bound is wrong, and why
 */
export function rangeOf(
  { from, to }: Written,
  now: number,
): Range | { wrong: keyof Written; detail: string } {
  const [first, last] = [momentOf(from, now), momentOf(to, now)]
  const detail = 'Write a time as 2026-11-14 12:00:03.5 or now-15m.'
  if (first === undefined) return { wrong: 'from', detail }
  if (last === undefined) return { wrong: 'to', detail }
  const end = last !== null && digitsOf(to) === 6 ? last + 1 : last
  if (first !== null && end !== null && end <= first)
    return { wrong: 'to', detail: 'The end is not after the beginning.' }
  return { from: first, to: end }
}

/** The texts that `rangeOf` reads as this range, as short as they are exact. */
export function writtenOf({ from, to }: Range): Written {
  const end = to === null ? '' : to % 1000 === 0 ? brief(to) : iso(to - 1)
  return { from: from === null ? '' : brief(from), to: end }
}

/** `2026-11-14 12:00:03.671250`: as it can be written as a bound, with nothing cut. */
export function shown(micros: number, zone: Zone, digits = 6): string {
  return iso(micros - (zone === 'UTC' ? 0 : offsetAt(micros)), digits)
    .replace('T', ' ')
    .slice(0, -1)
}

/** A time as it is shown without a zone becomes ISO 8601 in UTC; what is relative or empty stays as it is. */
export function inAddress(written: string, zone: Zone): string {
  const moment = absoluteOf(written, zone)
  return moment === null ? written.trim() : iso(moment, digitsOf(written))
}

/** The other way about: one in UTC becomes a time as it is shown in the zone. */
export function inBar(written: string, zone: Zone): string {
  const moment = absoluteOf(written, 'UTC')
  return moment === null ? written : shown(moment, zone, digitsOf(written))
}

function absoluteOf(written: string, zone: Zone): number | null {
  return /^\s*\d/.test(written) ? (momentOf(written, 0, zone) ?? null) : null
}

/** How many of the six digits of a fraction are written. */
function digitsOf(written: string): number {
  return Math.min(6, /[.,](\d+)/.exec(written)?.[1]?.length ?? 0)
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

/** The beginnings of all buckets of a range, also of those without entries. @param to exclusive */
export function buckets(from: number, to: number, width: number): number[] {
  const first = Math.floor(from / width) * width
  return Array.from({ length: Math.max(1, Math.ceil((to - first) / width)) }, (_, i) => first + i * width)
}

/** What one has to know of a bucket that is not there as a whole; empty where it is. */
export function missingOf(start: number, end: number, range: Range, now: number): string {
  if (start <= now && now < end) return 'not finished'
  const isCut = (range.from ?? start) > start || (range.to ?? end) < end
  return isCut ? 'in part' : ''
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

/** Times as people write them, in microseconds since 1970 UTC, and the buckets of a histogram. */

import type { Value } from '../../../shared/engines/engine.ts'
import { brief, iso, millisOf, timeText } from '../../../shared/answers/times.ts'
import { momentAt, offsetAt, type Zone } from './zone.ts'

/** From and to as written: `now-1h`, `now-1d/d`, an ISO 8601 time, or empty for no bound. */
export interface Written {
  from: string
  to: string
}

/** Microseconds since 1970: the first one within, and the one behind the last; `null` = no bound. */
export interface Range {
  from: number | null
  to: number | null
}

/** Ranges that the menu has, by their beginnings, which differ. */
export const ranges: readonly (Written & { text: string })[] = [
  { from: 'now-15m', to: 'now', text: 'Last 15 min' },
  { from: 'now-1h', to: 'now', text: 'Last hour' },
  { from: 'now-6h', to: 'now', text: 'Last 6 hours' },
  { from: 'now-1d', to: 'now', text: 'Last 24 hours' },
  { from: 'now-7d', to: 'now', text: 'Last 7 days' },
  { from: 'now-30d', to: 'now', text: 'Last 30 days' },
  { from: 'now/d', to: 'now', text: 'Today' },
  { from: 'now-1d/d', to: 'now-1d/d', text: 'Yesterday' },
  { from: 'now/w', to: 'now', text: 'This week' },
  { from: 'now-1w/w', to: 'now-1w/w', text: 'Last week' },
  { from: '', to: '', text: 'All time' },
]

/** Tells ranges apart. */
export function nameOfRange({ from, to }: Written): string {
  return `${from} ${to}`
}

export function isListed({ from, to }: Written): boolean {
  return ranges.some(listed => listed.from === from && listed.to === to)
}

/** A time of an answer as it is shown in the zone, and whether it is a moment, as DATETIME is none; `null` where it is no time. */
export function timeIn(value: Value, zone: Zone): { text: string; isMoment: boolean } | null {
  const isMoment = typeof value === 'number' || (typeof value === 'string' && value.endsWith('Z'))
  const millis = millisOf(value)
  const micros = typeof value === 'number' ? value : (millis ?? 0) * 1000
  const text = timeText(
    isMoment && zone !== 'UTC' && millis !== null ? micros + offsetAt(micros, zone) : value,
  )
  return text === null ? null : { text, isMoment }
}

/**
 * Reads `now`, `now-15m`, `-15m`, `now-1d/d`, `yesterday`, or a time as it is shown (`2026-11-14 12:00:03.671250`), which
 * without a zone of its own is in `zone`, as days and weeks are. @param isEnd whether a rounded one is the end of its unit
 * @returns `null` for no bound, `undefined` where the text is no time
 */
export function momentOf(
  written: string,
  now: number,
  zone: Zone = 'UTC',
  isEnd = false,
): number | null | undefined {
  const text = written.trim()
  if (text === '') return null
  return isAbsolute(text) ? absoluteOf(text, zone) : relativeOf(text, now, zone, isEnd)
}

function isAbsolute(text: string): boolean {
  return /^\s*\d/.test(text)
}

function absoluteOf(text: string, zone: Zone): number | undefined {
  const parts =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(
      text,
    )
  if (!parts) return undefined
  const [, day, time = '00:00', second = '00', fraction = '', own] = parts
  const noon = new Date(`${day}T12:00Z`) // of a day that is not in its month, `Date` makes one of the next
  if (Number.isNaN(noon.valueOf()) || !noon.toISOString().startsWith(day!)) return undefined
  const millis = Date.parse(`${day}T${time}:${second}${own?.toUpperCase().replace('UTC', 'Z') ?? 'Z'}`)
  if (Number.isNaN(millis)) return undefined
  const micros = millis * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
  return own ? micros : momentAt(micros, zone)
}

const words = new Map([
  ['today', 'now/d'],
  ['yesterday', 'now-1d/d'],
  ['this week', 'now/w'],
  ['last week', 'now-1w/w'],
])

/** Words as Grafana writes them; other texts as they are. */
function inNotation(text: string): string {
  return words.get(text.toLowerCase()) ?? text
}

/** In microseconds. */
const units: Record<string, number> = { s: 1e6, m: 6e7, h: 3.6e9, d: 8.64e10, w: 6.048e11 }

const notation = /^(?:now|(?=-))((?:[+-]\d{1,6}[smhdwMy]|\/[smhdwMy])*)$/

/** A step from now: by a length of time, by days of the zone's calendar, or to the bounds of a unit. */
export interface Step {
  kind: 'exact' | 'calendar' | 'round'
  unit: string
  count: number
}

/**
 * Grafana's notation: steps from now, by a length of time or to the bounds of a unit, `now-1d/d`. A day is 24 hours; with a
 * rounding it is one of the zone's calendar, which has 23 or 25 where the clocks change. Weeks begin on Monday.
 * @returns `null` for a text that is not relative to now
 */
export function stepsOf(written: string): Step[] | null {
  const steps = notation.exec(inNotation(written.trim()))?.[1]
  if (steps === undefined) return null
  const isExact = (unit: string) => /[smh]/.test(unit) || (/[dw]/.test(unit) && !steps.includes('/'))
  return [...steps.matchAll(/([+\-/])(\d*)(\w)/g)].map(([, sign, count, unit = '']) => ({
    kind: sign === '/' ? 'round' : isExact(unit) ? 'exact' : 'calendar',
    unit,
    count: sign === '/' ? 0 : Number(`${sign}${count}`),
  }))
}

function relativeOf(text: string, now: number, zone: Zone, isEnd: boolean): number | undefined {
  const by: Record<Step['kind'], (at: number, step: Step) => number> = {
    exact: (at, { unit, count }) => at + count * units[unit]!,
    calendar: (at, { unit, count }) => momentAt(movedBy(count, unit, at + offsetAt(at, zone)), zone),
    round: (at, { unit }) => roundedTo(unit, at, zone, isEnd),
  }
  return stepsOf(text)?.reduce((at, step) => by[step.kind](at, step), now)
}

function roundedTo(unit: string, at: number, zone: Zone, isEnd: boolean): number {
  const wall = at + offsetAt(at, zone)
  const first = beginningOf(unit, wall)
  const bound = isEnd ? movedBy(1, unit, first) : first
  return (units[unit] ?? Infinity) < units['d']! ? at + bound - wall : momentAt(bound, zone)
}

/** Of the second, the day, the year that the time on a clock is in. */
function beginningOf(unit: string, wall: number): number {
  const date = new Date(wall / 1000)
  if (unit === 'y') return Date.UTC(date.getUTCFullYear(), 0) * 1000
  if (unit === 'M') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) * 1000
  const first = unit === 'w' ? -3 * units['d']! : 0 // 1970 began on a Thursday
  return Math.floor((wall - first) / units[unit]!) * units[unit]! + first
}

/** A time on a clock, so many units later; the 31st becomes the last day of a shorter month. */
function movedBy(count: number, unit: string, wall: number): number {
  if (unit in units) return wall + count * units[unit]!
  const month = beginningOf('M', wall) / 1000
  const next = new Date(month)
  next.setUTCMonth(next.getUTCMonth() + count * (unit === 'y' ? 12 : 1))
  const last = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  const day = Math.min(new Date(wall / 1000).getUTCDate(), last)
  return next.valueOf() * 1000 + (day - 1) * units['d']! + (wall - beginningOf('d', wall))
}

/** Whether it begins or ends with a day, a week, ... of the zone, so that another zone asks for other rows. */
export function isOfZone({ from, to }: Written): boolean {
  return [from, to].some(bound => !isAbsolute(bound) && inNotation(bound.trim()).includes('/'))
}

/** What a bound may be, for those who wrote another one. */
export const boundHelp =
  'Write a time as 2026-11-14 12:00:03.5, now-15m, today or yesterday, or now-1d/d for the whole day before.'

/**
 * The end is exclusive. But one with all six digits of a fraction is the time of an entry, as the rows show it, and keeps it.
 * @param zone of days and weeks; a time without one is in UTC
 * @returns the range, or which bound is wrong, and why
 */
export function rangeOf(
  { from, to, zone = 'UTC' }: Written & { zone?: Zone },
  now: number,
): Range | { wrong: keyof Written; detail: string } {
  const bound = (text: string, isEnd: boolean) => momentOf(text, now, isAbsolute(text) ? 'UTC' : zone, isEnd)
  const [first, last] = [bound(from, false), bound(to, true)]
  if (first === undefined) return { wrong: 'from', detail: boundHelp }
  if (last === undefined) return { wrong: 'to', detail: boundHelp }
  const end = last !== null && digitsOf(to) === 6 ? last + 1 : last
  if (first !== null && end !== null && end <= first)
    return { wrong: 'to', detail: 'The end is not after the beginning.' }
  return { from: first, to: end }
}

/**
 * The range before this one, or behind it: as long, or the day, week, ... beside it.
 * @returns `null` where there is none: of all time, and behind now
 */
export function rangeBeside({ from, to }: Written, range: Range, by: 1 | -1, now: number): Written | null {
  const [, count = '0', own, unit] = /^now(?:-(\d+)(\w))?\/(\w)$/.exec(from) ?? []
  if (unit && (own ?? unit) === unit && (to === from || to === 'now')) {
    const next = Number(count) - by
    const bound = `now-${next}${unit}/${unit}`
    return next > 0 ? { from: bound, to: bound } : next === 0 ? { from: `now/${unit}`, to: 'now' } : null
  }
  if (range.from === null || range.to === null || (by > 0 && range.to >= now)) return null
  const length = by * (range.to - range.from)
  return writtenOf({ from: range.from + length, to: range.to + length })
}

/** The texts that `rangeOf` reads as this range, as short as they are exact. */
export function writtenOf({ from, to }: Range): Written {
  const end = to === null ? '' : to % 1000 === 0 ? brief(to) : iso(to - 1)
  return { from: from === null ? '' : brief(from), to: end }
}

/** `2026-11-14 12:00:03.671250`: as it can be written as a bound, with nothing cut. */
export function shown(micros: number, zone: Zone, digits = 6): string {
  return iso(micros + offsetAt(micros, zone), digits)
    .replace('T', ' ')
    .slice(0, -1)
}

/** A time as it is shown without a zone becomes ISO 8601 in UTC, a word Grafana's notation; others stay as they are. */
export function inAddress(written: string, zone: Zone): string {
  const moment = isAbsolute(written) ? momentOf(written, 0, zone) : undefined
  return moment === undefined || moment === null ? inNotation(written.trim()) : iso(moment, digitsOf(written))
}

/** The other way about: one in UTC becomes a time as it is shown in the zone. */
export function inBar(written: string, zone: Zone): string {
  const moment = isAbsolute(written) ? momentOf(written, 0) : undefined
  return moment === undefined || moment === null ? written : shown(moment, zone, digitsOf(written))
}

/** `11-22 04:33 to 04:45`: a range of one's own, as a menu has room for it. */
export function briefly(from: string, to: string): string {
  const [first, last] = [from, to].map(time =>
    time.replace(/^\d{4}-|\.\d+$/g, '').replace(/(:\d\d):00$/, '$1'),
  )
  const sameDay = /^\d/.test(from) && from.slice(0, 11) === to.slice(0, 11)
  return `${first || '…'} to ${(sameDay ? last?.slice(6) : last) || '…'}`
}

/** A bound as the service reads it, which knows no days of a zone; an end that is now is none. */
export function inService(written: string, zone: Zone, now: number, isEnd = false): string {
  if (isEnd && written === 'now') return ''
  const isDay = isOfZone({ from: written, to: '' })
  return isDay ? brief(momentOf(written, now, zone, isEnd) ?? now) : inAddress(written, 'UTC')
}

/** How many of the six digits of a fraction are written. */
function digitsOf(written: string): number {
  return Math.min(6, /[.,](\d+)/.exec(written)?.[1]?.length ?? 0)
}

/** In seconds: widths that divide a minute, an hour, a day, or are whole days and weeks. */
export const widths = [
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

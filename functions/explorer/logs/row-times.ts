/** How a list shows its times: with what differs in them. */
import { type Range, shown } from './range.ts'
import type { Zone } from './zone.ts'

export interface TimeFormat {
  /** Whether the day is not the same for all. */
  hasDay: boolean
  /** Of the fraction of a second. */
  digits: 0 | 3 | 6
}

/**
 * Without the day where the range is within one of the zone, and with the digits that tell each time from the next.
 * @param times of the rows, in microseconds @param now the end of a range that has none
 */
export function timeFormatOf(times: number[], { from, to }: Range, zone: Zone, now: number): TimeFormat {
  const dayOf = (micros: number) => shown(micros, zone).slice(0, 10)
  const hasDay = from === null || dayOf(from) !== dayOf(Math.min(to ?? now, now) - 1)
  const sorted = [...new Set(times)].toSorted((a, b) => a - b)
  const differ = (size: number) =>
    sorted.every((time, i) => i === 0 || Math.floor(time / size) !== Math.floor(sorted[i - 1]! / size))
  return { hasDay, digits: differ(1e6) ? 0 : differ(1e3) ? 3 : 6 }
}

/** `12:00:03.671` */
export function timeText(micros: number, zone: Zone, { hasDay, digits }: TimeFormat): string {
  const text = shown(micros, zone, digits)
  return hasDay ? text : text.slice('2026-11-14 '.length)
}

/** How many characters that are; no fewer than the heading needs. */
export function timeLength({ hasDay, digits }: TimeFormat): number {
  return Math.max('Time (UTC) ↓'.length, (hasDay ? 11 : 0) + 8 + (digits && digits + 1))
}

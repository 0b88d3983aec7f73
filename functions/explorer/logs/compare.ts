/** What is compared: with the period before, and with all. */
import { amount } from '../series.ts'
import type { Range } from './range.ts'

/** What is compared with, and how it reads behind a difference. */
export const comparisons = [
  ['before', 'the period before'],
  ['day', 'the day before'],
  ['week', 'the week before'],
] as const

/** What comes first of what is compared, by `rank` of the state. */
export const rankings = [
  ['', 'the most first'],
  ['rise', 'what rose most first'],
] as const

/** `undefined` where nothing is compared. */
export function comparisonText(comparison: Comparison | ''): string | undefined {
  return comparisons.find(([name]) => name === comparison)?.[1]
}

export type Comparison = (typeof comparisons)[number][0]

/** Microseconds since 1970, the end exclusive. */
interface Period {
  from: number
  to: number
}

export interface Periods {
  range: Period
  before: Period
}

/** @param now the end of a range without one @returns `null` where the range has no beginning */
export function periodsOf({ from, to }: Range, comparison: Comparison, now: number): Periods | null {
  if (from === null) return null
  const range = { from, to: to ?? now }
  const shift = { before: range.to - from, day: 8.64e10, week: 6.048e11 }[comparison]
  return { range, before: { from: from - shift, to: range.to - shift } }
}

/** Both, and what is between them. */
export function wholeOf({ range, before }: Periods): Period {
  return { from: before.from, to: range.to }
}

/** `+41 %`, `-3 %`, `12 times`, `new` where there was nothing before; empty where nothing can be said; of shares `+4.1 points`. */
export function differenceText(now: number, before: number | null, unit = ''): string {
  if (unit === '%' && before !== null) return `${now > before ? '+' : ''}${(now - before).toFixed(1)} points`
  if (before === null || (before === 0 && now === 0)) return ''
  if (before === 0) return 'new'
  const percent = Math.round((100 * (now - before)) / Math.abs(before))
  if (percent >= 1000) return `${Math.round(now / before)} times`
  return `${percent > 0 ? '+' : ''}${percent} %`
}

interface Compared {
  entries: number
  /** What `entries` was in the period before; absent = not known. */
  before?: number | null | undefined
}

/**
 * By how much they rose, the most first, and those of which that is not known last. Of a list that has the largest alone no
 * other can have risen by more than its smallest, so what rose most is in it.
 */
export function byRise<T extends Compared>(list: T[]): T[] {
  return list.toSorted((a, b) => riseOf(b) - riseOf(a))
}

function riseOf({ entries, before = null }: Compared): number {
  return before === null ? -Number.MAX_VALUE : entries - before
}

/** `+83 (+41 %)`: a difference, behind the number by which they are ranked. */
export function riseText(now: number, before: number | null, unit = ''): string {
  const difference = differenceText(now, before, unit)
  if (before === null || unit === '%' || difference === '') return difference
  return `${now > before ? '+' : ''}${amount(now - before, unit)} (${difference})`
}

/** `4.1 %`, of little `<0.1 %`. */
export function shareText(part: number, all: number): string {
  const percent = all === 0 ? 0 : (100 * part) / all
  if (part > 0 && percent < 0.1) return '<0.1 %'
  return `${percent.toFixed(percent < 99.95 ? 1 : 0)} %`
}

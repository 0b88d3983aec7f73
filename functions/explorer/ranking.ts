/** Rows as bars, where they can be: one or two columns that name each row, the others numbers. */
import { millisOf } from '../../shared/answers/times.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { isNumeric, numberOf } from './series.ts'
import { columnsOf, gist } from './value.ts'

/** The largest first, by one of the measures. */
export interface Ranking {
  /** Columns of numbers. */
  measures: string[]
  bars: { name: string; values: Record<string, number | null> }[]
}

/**
 * Two columns of numbers are names and a measure, as of statuses and their counts.
 * @returns `null` where a value is a time, a list or an object, names come twice, or there is a single row
 */
export function rankingOf(rows: Row[]): Ranking | null {
  const columns = columnsOf(rows)
  const isFlat = rows.every(row => columns.every(name => typeof (row[name] ?? '') !== 'object'))
  const isTimed = columns.some(name => rows.some(row => millisOf(row[name]) !== null))
  if (rows.length < 2 || !isFlat || isTimed) return null
  const numeric = columns.filter(name => rows.every(row => isNumeric(row[name])))
  const names =
    numeric.length === 2 && columns.length === 2
      ? columns.slice(0, 1)
      : columns.filter(name => !numeric.includes(name))
  const measures = numeric.filter(name => !names.includes(name))
  const bars = rows.map(row => ({
    name: names.map(name => gist(row[name] ?? '(none)')).join(' · '),
    values: Object.fromEntries(measures.map(measure => [measure, numberOf(row[measure])])),
  }))
  const isTold =
    names.length > 0 && names.length <= 2 && new Set(bars.map(({ name }) => name)).size === bars.length
  return isTold && measures.length > 0 ? { measures, bars } : null
}

/** As many of the largest, as one can take in. */
export function topOf({ bars }: Ranking, measure: string, most: number) {
  const valued = bars.map(({ name, values }) => ({ name, value: values[measure] ?? 0 }))
  return valued.toSorted((a, b) => b.value - a.value).slice(0, most)
}

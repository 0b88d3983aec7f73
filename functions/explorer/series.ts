/**
 * Rows as lines of a chart, where they can be: the first column a time, the others numbers; or as bars: one or two columns that name
 * each row, the others numbers.
 */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { millisOf } from '../../shared/answers/times.ts'
import { columnsOf, gist } from './value.ts'

export interface Series {
  /** Seconds since 1970 UTC, ascending, with the gaps between them marked by a time that has no values. */
  times: number[]
  lines: { name: string; values: (number | null)[] }[]
  /** Lines that were left out, the smallest ones. */
  hidden: number
  /** Width of the buckets in seconds; `null` where the times have none in common. */
  step: number | null
}

const most = 8 // as many colours as can be distinguished

/**
 * @param starts of all buckets that were counted, in microseconds: one without a row has zeros
 * @returns `null` where the rows are no series in time
 */
export function series(rows: Row[], starts: number[] = []): Series | null {
  const [timeColumn, ...others] = columnsOf(rows)
  if (timeColumn === undefined || others.length === 0) return null
  const points = rows.map(row => ({ at: millisOf(row[timeColumn]), row }))
  if (points.some(({ at }) => at === null)) return null
  const dated = points.map(({ at, row }) => ({ at: at! / 1000, row })).toSorted((a, b) => a.at - b.at)
  const times = [...new Set(dated.map(({ at }) => at))]
  const lines = times.length === dated.length ? sideBySide(dated, others) : byCategory(dated, times, others)
  if (!lines || lines.length === 0) return null
  const largest = lines.length > most ? lines.toSorted((a, b) => total(b) - total(a)).slice(0, most) : lines
  const found = { times, lines: largest, hidden: lines.length - largest.length, step: null }
  return withGaps(starts.length > 0 ? withZeros(found, starts) : found)
}

function withZeros({ times, lines, ...series }: Series, starts: number[]): Series {
  const all = [...new Set([...times, ...starts.map(start => start / 1e6)])].toSorted((a, b) => a - b)
  const at = new Map(times.map((time, i) => [time, i]))
  const filled = lines.map(({ name, values }) => ({
    name,
    values: all.map(time => values[at.get(time)!] ?? 0),
  }))
  return { ...series, times: all, lines: filled }
}

type Line = Series['lines'][number]
type Dated = { at: number; row: Row }[]

/** One row for each time: a line for each column. */
function sideBySide(dated: Dated, names: string[]): Line[] | null {
  const lines = names.map(name => ({ name, values: dated.map(({ row }) => numberOf(row[name])) }))
  const numeric = dated.every(({ row }) => names.every(name => isNumeric(row[name])))
  return numeric ? lines : null
}

/** Rows of time, kind, number: a line for each kind. */
function byCategory(dated: Dated, times: number[], [kind, measure, ...more]: string[]): Line[] | null {
  if (kind === undefined || measure === undefined || more.length > 0) return null
  const placeOf = new Map(times.map((at, i) => [at, i]))
  const lines = new Map<string, (number | null)[]>()
  for (const { at, row } of dated) {
    const [name, value] = [row[kind] ?? null, row[measure]]
    if (typeof name === 'object' && name !== null) return null
    const values = lines.get(String(name)) ?? Array.from(times, () => null)
    const place = placeOf.get(at)!
    if (!isNumeric(value) || values[place] !== null) return null
    values[place] = numberOf(value)
    lines.set(String(name), values)
  }
  return [...lines].map(([name, values]) => ({ name, values }))
}

/**
 * Buckets without entries have no row. A time without values in their place breaks the line: no line goes across what was
 * not there, also where there are few buckets and none beside another.
 */
function withGaps({ times, lines, hidden }: Series): Series {
  const steps = times.slice(1).map((time, i) => time - times[i]!)
  if (steps.length === 0) return { times, lines, hidden, step: null }
  const step = steps.every(Number.isInteger) ? steps.reduce(common) : null
  const least = step ?? Math.min(...steps)
  const gaps = new Set(steps.flatMap((other, i) => (other > least * 1.5 ? [i] : [])))
  const spread = <T>(values: T[], between: (value: T) => T) =>
    values.flatMap((value, i) => (gaps.has(i) ? [value, between(value)] : [value]))
  return {
    times: spread(times, time => time + least),
    lines: lines.map(({ name, values }) => ({ name, values: spread<number | null>(values, () => null) })),
    hidden,
    step,
  }
}

/** The greatest common divisor: the widest bucket in which all steps are whole. */
function common(a: number, b: number): number {
  return b === 0 ? a : common(b, a % b)
}

/** What a column counts in, as far as its name says so, so that times and requests get axes of their own. */
export function unitOf(name: string): '%' | 'ms' | 'bytes' | 'time' | '' {
  if (/percent|pct/i.test(name)) return '%'
  // The origin's time is in milliseconds, as the column of edge logs has it.
  if (/(^|_)(ms|millis\w*)(_|$)|^origin_time$/i.test(name)) return 'ms'
  if (/latency|duration|_time$|(^|_)p\d\d$/i.test(name)) return 'time'
  return /bytes/i.test(name) ? 'bytes' : ''
}

/** What a name says of its line: of `server_errors`, `5xx`, `fatal`, or of `client_errors`, `status_404`, `warning`. */
export function severityOfName(name: string): Severity {
  if (!/^[\w -]+$/.test(name)) return 'other' // a path or a text, which may hold any word
  const words = name.replaceAll(/[ _-]+/g, ' ')
  const status = /^(?:.*\b(?:status|http|code) )?([45])(?:xx|\d\d)$/i.exec(words)?.[1]
  if (status === '4' || /\b(warn(ing)?s?|client errors?)\b/i.test(words)) return 'warning'
  const error = /\b(err(or)?s?|fail(ed|ures?)?|fatal|panic|crit(ical)?|alert|emerg(ency)?|exceptions?)\b/i
  return status === '5' || error.test(words) ? 'error' : 'other'
}

type Severity = keyof typeof colourOrder

/** Numbers of colours in the order in which they are taken: none of errors and warnings is the green of success. */
const colourOrder = { error: [6, 2, 7, 4, 1], warning: [2, 7, 4, 6, 1], other: [1, 2, 3, 4, 5, 6, 7, 8] }

/** For each line the number of its colour, errors first. @param taken by other things */
export function coloursOf(names: string[], taken: number[] = []): number[] {
  const isNumber = (name: string) => /^\d+$/.test(name)
  const areStatuses = names.filter(isNumber).every(name => /^[1-5]\d\d$/.test(name))
  const kinds = names.map(name => (isNumber(name) && !areStatuses ? 'other' : severityOfName(name)))
  const used = new Set(taken)
  const colours: number[] = []
  for (const wanted of Object.keys(colourOrder))
    for (const [i, kind] of kinds.entries()) {
      if (kind !== wanted) continue
      colours[i] = colourOrder[kind].find(colour => !used.has(colour)) ?? 8
      used.add(colours[i])
    }
  return colours
}

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** `1,197 ms`; a time whose unit its name does not say stands without one. */
export function amount(value: number, unit = ''): string {
  return `${numbers.format(value)}${unit === '' || unit === 'time' ? '' : ` ${unit}`}`
}

/** `/storage/v…ng.png`: a name as a legend has room for it, with both its ends, as paths differ at theirs. */
export function shortened(name: string, most = 20): string {
  if (name.length <= most) return name
  return `${name.slice(0, Math.floor(most / 2) - 1)}…${name.slice(-Math.floor(most / 2))}`
}

/** `null` is, where others are. */
function isNumeric(value: Value | undefined): boolean {
  return value === null || numberOf(value) !== null
}

/** Of a number, or of a decimal, which comes as text; `null` where it is none. */
function numberOf(value: Value | undefined): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null
}

function total({ values }: Line): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
}

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

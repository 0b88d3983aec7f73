/** What the histogram, its legend and the values of a field show of a state: asked, and put into all buckets of the range. */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { coloursOf } from '../series.ts'
import { type Answer, costOf, ServiceError } from '../service.ts'
import { periodsOf } from './compare.ts'
import { isAmount, titleOf, unitOfMeasure } from './measure.ts'
import { buckets, bucketWidth, missingOf, type Range, widthText } from './range.ts'
import { fieldAt, measureOf, nameOf, severityName, type Shape } from './shape.ts'
import { beforeSql, extentSql, histogramSql, namesSql, statisticsSql, topSql } from './sql.ts'
import { type Filter, filterText, type Scalar, severities, type State } from './state.ts'

/** A value of the field that is looked at. */
export interface Top {
  value: Scalar
  /** Whether it stands for values that are not shown. */
  isRedacted: boolean
  /** Whether it is the name of a field inside JSON. */
  isName?: boolean
  /** How many, or what is measured of them. */
  entries: number
  /** How many are measured. */
  counted?: number
  /** When it was there, in microseconds since 1970. */
  first?: number
  last?: number
  /** What `entries` was in the period before. */
  before?: number | undefined
}

/** Of the numbers of a field. */
export interface Statistics {
  counted: number
  least: number
  most: number
  average: number
  /** From 0 to 100. */
  percentiles: number[]
}

export interface Bars {
  /** Microseconds since 1970 of the beginnings of all buckets. */
  starts: number[]
  width: number
  /** From the bottom up. */
  layers: Layer[]
  isMeasured: boolean
  /** What was asked, and the present: the buckets at its ends may be there in part. */
  range: Range
  now: number
  title: string
  /** Of the values. */
  unit: string
}

/**
 * Bars or a line: where a value is not a number of rows but measured, of so many as `counted` says, and a gap (`null`) where
 * there was nothing to measure.
 */
export interface Layer extends Pick<Kind, 'name' | 'colour' | 'only' | 'top'> {
  values: (number | null)[]
  counted?: (number | null)[]
  /** Its rows, or what is measured of them, in the period before. */
  before?: number | undefined
}

/** What stands for the value of entries without the field. */
export const none = '(none)'

/** What redaction puts in place of a value, or into it. */
export const redactedText = /REDACTED/

/** As many values of a field are read. */
export const mostValues = 100

/** `1 row` */
export function rowsText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`
}

interface Asking {
  state: State
  shape: Shape
  range: Range
  /** Microseconds since 1970. */
  now: number
  maxRows: number
  /** @param within what bounds the endpoint's own parameters, by default the range */
  run(sql: string, within?: Range): Promise<Answer>
}

/** What the period before had. */
export interface Before {
  /** Rows. */
  total: number
  /** In each bucket, at its place in the present period; `null` = nothing to measure. */
  values: (number | null)[]
  /** Of a severity, or of a value of the field. `undefined` = not known. */
  of(value: Value): number | undefined
}

export interface Chart {
  bars: Bars | null
  /** Of the state's field; `null` where it has none. */
  top: Top[] | null
  /** Of that field, where its numbers are amounts; or why there are none. */
  statistics: Statistics | string | null
  /** Rows of the range. */
  total: number
  /** `null` = nothing is compared. */
  before: Before | null
  /** What is said beside the legend: of rows that have nothing to measure or are not split, and what the answers cost. */
  without: string
  cost: string
  /** The question, as the chart answers it. */
  state: State
  /** How the bars are asked for; `null` where there are none. */
  split: { width: number; values: Scalar[] } | null
}

const colours = 5
/** Of a range without bounds, in microseconds. */
const leastSpan = 6e7

/** `bars` is `null` where a range that is open has no entries. @throws what `run` does */
export async function chartOf(all: Asking): Promise<Chart> {
  const answers: Answer[] = []
  const run: Asking['run'] = async (sql, within) => {
    const answer = await all.run(sql, within)
    answers.push(answer)
    return answer
  }
  const { shape, range } = all
  const field = fieldAt(shape, all.state.by)
  // Objects in a JSON column are not split by: their fields are. Other values of one are, as their text.
  const inside =
    field?.type === 'JSON' ? await run(namesSql(all.state, shape, range, field, mostValues)) : null
  const names = inside && inside.rows.length > 0 ? topOf(inside).map(top => ({ ...top, isName: true })) : null
  const state = names ? { ...all.state, by: '', measure: 'rows' } : all.state
  const [span, top, statistics] = await Promise.all([
    spanOf({ ...all, state, run }),
    names ?? (field && run(topSql(state, shape, range, field, mostValues)).then(topOf)),
    field && isAmount(field)
      ? run(statisticsSql(state, shape, range, field)).then(statisticsOf, problemOf)
      : null,
  ])
  const empty = { bars: null, top: field ? [] : null, total: 0, before: null, without: '', split: null }
  const drawn = span ? await drawnOf({ ...all, state, run }, span, top) : empty
  const without = names && field && `not by ${nameOf(field)}, which holds objects: choose a field in them`
  return { ...drawn, statistics, ...(without && { without }), cost: costOf(...answers), state }
}

interface Span {
  from: number
  to: number
}

async function drawnOf(
  asking: Asking,
  span: Span,
  top: Top[] | null,
): Promise<Omit<Chart, 'statistics' | 'cost' | 'state'>> {
  const { state, shape, range, now, maxRows, run } = asking
  // A redacted value is in no row of the table, and the name of a field is no value.
  const clear = (top ?? []).filter(({ isRedacted, isName }) => !isRedacted && !isName)
  const values = clear.flatMap(({ value }) => value ?? []).slice(0, colours)
  // A bucket has a row for each layer, and the answer may not be cut.
  const width = bucketWidth(span.from, span.to, Math.max(1, Math.min(80, Math.floor(maxRows / 7) - 2)))
  const starts = buckets(span.from, span.to, width)
  const [{ rows }, before] = await Promise.all([
    run(histogramSql(state, shape, range, { width, values })),
    readBefore(asking, starts, width),
  ])
  const measured = measureOf(state.measure, shape)
  const unit = unitOfMeasure(state.measure, shape)
  const found = top ? withAbsent(top, rows) : null
  const kinds = kindsOf(state, shape, values, found ?? [])
  const layers = layersOf(rows, starts, kinds, { isMeasured: measured !== null, before })
  const listed = measured ? top : found
  const title = `${titleOf(state, shape)} per ${widthText(width)}`
  return {
    bars: { starts, width, layers, isMeasured: measured !== null, range, now, title, unit },
    top:
      before && listed
        ? listed.map(each => ({ ...each, before: each.isRedacted ? undefined : before.of(each.value) }))
        : listed,
    total: rows.reduce((sum, { entries, all_rows = entries }) => sum + Number(all_rows), 0),
    before,
    without: measured && measured.kind !== 'share' ? withoutText(rows, nameOf(measured.field)) : '',
    split: { width, values },
  }
}

/** One statement more, where something is compared. */
async function readBefore(
  { state, shape, range, now, maxRows, run }: Asking,
  starts: number[],
  width: number,
): Promise<Before | null> {
  const periods = state.compare ? periodsOf(range, state.compare, now) : null
  if (!periods) return null
  const limit = maxRows - starts.length - 1
  const { rows } = await run(beforeSql(state, shape, periods, { width, limit }), periods.before)
  const isOfField = fieldAt(shape, state.by) !== null
  const isMeasured = measureOf(state.measure, shape) !== null
  const inTime = rows.filter(row => row['bucket'] !== null)
  const split = isOfField ? rows.filter(row => row['bucket'] === null) : inTime
  const column = Object.keys(rows[0] ?? {})[1] ?? ''
  const byValue = new Map<Value, number>()
  for (const row of split) {
    const value = row[column] ?? null
    byValue.set(value, (byValue.get(value) ?? 0) + Number(row['entries']))
  }
  const sums = starts.map(start =>
    inTime.filter(row => Number(row['bucket']) === start).map(row => row['entries']),
  )
  return {
    total: inTime.reduce((sum, { entries, all_rows = entries }) => sum + Number(all_rows), 0),
    values: sums.map(all =>
      isMeasured
        ? all[0] === undefined || all[0] === null
          ? null
          : Number(all[0])
        : all.reduce<number>((sum, one) => sum + Number(one), 0),
    ),
    of: value => byValue.get(value) ?? (isMeasured || split.length >= limit ? undefined : 0),
  }
}

/** The range, or where it has no bound what there is in it. */
async function spanOf({ state, shape, range, run }: Asking): Promise<Span | null> {
  if (range.from !== null && range.to !== null) return { from: range.from, to: range.to }
  const { rows } = await run(extentSql(state, shape, range))
  const [first, last] = [rows[0]?.['first'] ?? null, rows[0]?.['last'] ?? null]
  if (first === null || last === null) return null
  // Around a single entry there is something to see, too.
  const margin = Number(last) - Number(first) < leastSpan ? leastSpan / 2 : 0
  return { from: range.from ?? Number(first) - margin, to: range.to ?? Number(last) + 1 + margin }
}

function topOf({ rows, redacted }: Answer): Top[] {
  return rows.flatMap(row => {
    const { entries, counted, first, last } = row
    if (entries === null) return [] // no row of it has a number to measure
    const value = Object.values(row)[0] as Scalar
    const isRedacted = redacted && redactedText.test(String(value))
    const seen = first === undefined ? {} : { first: Number(first), last: Number(last) }
    const of = counted === undefined ? {} : { counted: Number(counted) }
    return { value, isRedacted, entries: Number(entries), ...of, ...seen }
  })
}

/** The sandbox refuses some to redacted callers. */
function problemOf(error: unknown): string {
  if (!(error instanceof ServiceError)) throw error
  return `No statistics: ${error.problem.detail}`
}

function statisticsOf({ rows: [row] }: Answer): Statistics | null {
  if (!row || Number(row['counted']) === 0) return null
  const number = (name: string) => Number(row[name])
  const percentiles = (row['percentiles'] as Value[]).map(Number)
  return {
    counted: number('counted'),
    least: number('least'),
    most: number('most'),
    average: number('average'),
    percentiles,
  }
}

/** Entries without the field, where they are too few for the first values, come last. */
function withAbsent(top: Top[], buckets: Row[]): Top[] {
  const absent = buckets.filter(row => row['absent'] === true)
  if (absent.length === 0 || top.some(({ value }) => value === null)) return top
  const entries = absent.reduce((sum, { entries }) => sum + Number(entries), 0)
  return [...top, { value: null, isRedacted: false, entries }]
}

/** What bars are split by: a kind of rows, with its name and colour. */
interface Kind {
  name: string
  colour: string
  /** In an answer's second column; `undefined` = all rows. */
  value?: Value
  /** Whether its rows are without the field. */
  absent?: boolean
  /** Of the whole range. */
  top?: Top | undefined
  /** What shows it alone; `undefined` = nothing does. */
  only?: { severity: State['severity'] } | { filters: Filter[] }
}

/** @param values those of `top` that have a colour of their own */
function kindsOf(state: State, shape: Shape, values: Scalar[], top: Top[]): Kind[] {
  if (fieldAt(shape, state.by)) {
    const hues = coloursOf(values.map(String), [7])
    const filter = (operator: '=' | '!=', value: Scalar): Filter => ({ path: state.by, operator, value })
    const kind = (value: Scalar, name: string) => ({
      name,
      value,
      top: top.find(other => other.value === value),
      only: { filters: [filter('=', value)] },
    })
    return [
      ...values.map((value, i) => ({ ...kind(value, String(value)), colour: String(hues[i]) })),
      { ...othersOf(), colour: 'other', value: null },
      { ...kind(null, none), colour: '7', absent: true },
    ]

    /** By its name, where it is one. */
    function othersOf(): Pick<Kind, 'name' | 'only'> {
      const others = top.filter(({ value }) => value !== null && !values.includes(value))
      const [first] = others
      const named = top.some(({ value }) => value === null) ? [...values, null] : values
      if (first && others.every(({ isRedacted }) => isRedacted)) return { name: 'redacted' }
      if (first && others.length === 1 && top.length < mostValues)
        return kind(first.value, String(first.value))
      return { name: 'others', only: { filters: named.map(value => filter('!=', value)) } }
    }
  }
  if (state.measure !== 'rows') return [{ name: titleOf(state, shape), colour: '1' }]
  if (!shape.severity) return [{ name: 'rows', colour: 'info' }]
  return severities.map(severity => ({
    name: severityName(severity, shape),
    colour: severity,
    value: severity,
    only: { severity: [severity] },
  }))
}

/** A bucket without a row counted nothing, and had nothing to measure. */
function layersOf(
  rows: Row[],
  starts: number[],
  kinds: Kind[],
  { isMeasured, before }: { isMeasured: boolean; before: Before | null },
): Layer[] {
  const column = Object.keys(rows[0] ?? {})[1] ?? ''
  const layers = kinds.map(({ value, absent = false, ...own }) => {
    // Others have no value of their own.
    const kind =
      value === undefined || (value === null && !absent) ? own : { ...own, before: before?.of(value) }
    const isOwn = (row: Row) => row[column] === value && (row['absent'] ?? false) === absent
    const counted = rows.filter(row => value === undefined || isOwn(row))
    const values = inBuckets(counted, starts, 'entries')
    if (isMeasured) return { ...kind, values, counted: inBuckets(counted, starts, 'counted') }
    return { ...kind, values: values.map(count => count ?? 0) }
  })
  return layers.filter(({ values }) => values.some(value => (isMeasured ? value !== null : value! > 0)))
}

function inBuckets(rows: Row[], starts: number[], column: string): (number | null)[] {
  const at = new Map(rows.map(row => [Number(row['bucket']), row[column]]))
  return starts.map(start => {
    const value = at.get(start) ?? null
    return value === null ? null : Number(value)
  })
}

/** `3 rows without origin_time` */
function withoutText(rows: Row[], name: string): string {
  const lacking = rows.reduce((sum, row) => sum + Number(row['all_rows']) - Number(row['counted']), 0)
  return lacking > 0 ? `${rowsText(lacking)} without ${name}` : ''
}

/** Whether a bucket that is drawn is there in part. */
export function isCut({ starts, width, layers, isMeasured, range, now }: Bars): boolean {
  const isDrawn = (i: number) => isMeasured || layers.some(({ values }) => values[i]! > 0)
  return starts.some((start, i) => isDrawn(i) && missingOf(start, start + width, range, now) !== '')
}

/** Whether rows of a kind are shown alone, and what a press changes: to them, or back to all. */
export function pressOf(only: NonNullable<Kind['only']>, { severity, filters }: State) {
  if ('severity' in only) {
    const alone = severity.join() === only.severity.join()
    return { alone, patch: { severity: alone ? [] : only.severity } }
  }
  const texts = only.filters.map(filterText)
  const others = filters.filter(filter => !texts.includes(filterText(filter)))
  // Filters for other values of the same field are alternatives to it.
  const isFor = (path: string) => only.filters.some(filter => filter.operator === '=' && filter.path === path)
  const left = others.filter(({ path, operator }) => operator !== '=' || !isFor(path))
  const alone = filters.length - others.length === texts.length && left.length === others.length
  return { alone, patch: { filters: alone ? left : [...left, ...only.filters] } }
}

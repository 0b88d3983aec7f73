/** What the histogram shows of a state, and the values of its field: asked, and put into all buckets of the range. */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { button, el } from '../dom.ts'
import { amount, coloursOf, shortened, unitOf } from '../series.ts'
import { type Answer, costOf } from '../service.ts'
import { severityName } from './bar.ts'
import { mostValues, none, redactedText, rowsText, type Top } from './fields.ts'
import { barColour, type Bars } from './histogram.ts'
import { titleOf } from './measure.ts'
import { buckets, bucketWidth, missingOf, type Range, widthText } from './range.ts'
import { fieldAt, measureOf, nameOf, type Shape } from './shape.ts'
import { extentSql, histogramSql, namesSql, topSql } from './sql.ts'
import { type Filter, filterText, type Scalar, severities, type State } from './state.ts'

interface Asking {
  state: State
  shape: Shape
  range: Range
  /** Microseconds since 1970. */
  now: number
  maxRows: number
  run(sql: string): Promise<Answer>
}

interface Chart {
  bars: Bars | null
  /** Of the state's field; `null` where it has none. */
  top: Top[] | null
  /** Rows of the range. */
  total: number
  legend(change: (patch: Partial<State>) => void): HTMLElement[]
}

const colours = 5
/** Of a range without bounds, in microseconds. */
const leastSpan = 6e7

/** `bars` is `null` where a range that is open has no entries. @throws what `run` does */
export async function chartOf(all: Asking): Promise<Chart> {
  const answers: Answer[] = []
  const run = async (sql: string) => {
    const answer = await all.run(sql)
    answers.push(answer)
    return answer
  }
  const { shape, now, maxRows, range } = all
  const field = fieldAt(shape, all.state.by)
  // Objects in a JSON column are not split by: their fields are. Other values of one are, as their text.
  const inside =
    field?.type === 'JSON' ? await run(namesSql(all.state, shape, range, field, mostValues)) : null
  const names = inside && inside.rows.length > 0 ? topOf(inside).map(top => ({ ...top, isName: true })) : null
  const state = names ? { ...all.state, by: '', measure: 'rows' } : all.state
  const [span, top] = await Promise.all([
    spanOf({ ...all, state, run }),
    names ?? (field && run(topSql(state, shape, range, field, mostValues)).then(topOf)),
  ])
  if (!span) return { bars: null, top: field ? [] : null, total: 0, legend: () => [] }
  // A redacted value is in no row of the table.
  const clear = (top ?? []).filter(({ isRedacted }) => !isRedacted)
  const values = (names ? [] : clear).flatMap(({ value }) => value ?? []).slice(0, colours)
  // A bucket has a row for each layer, and the answer may not be cut.
  const width = bucketWidth(span.from, span.to, Math.max(1, Math.min(80, Math.floor(maxRows / 7) - 2)))
  const { rows } = await run(histogramSql(state, shape, range, { width, values }))
  const starts = buckets(span.from, span.to, width)
  const measured = measureOf(state.measure, shape)
  const unit = measured ? unitOf(nameOf(measured.field)) : ''
  const found = top ? withAbsent(top, rows) : null
  const layers = layersOf(rows, starts, kindsOf(state, shape, values, found ?? []), measured !== null)
  const title = `${titleOf(state, shape)} per ${widthText(width)}`
  return {
    bars: { starts, width, layers, isMeasured: measured !== null, range, now, zone: state.zone, title, unit },
    top: measured ? (top ?? null) : found,
    total: rows.reduce((sum, { entries, all_rows = entries }) => sum + Number(all_rows), 0),
    legend: change => {
      const isDrawn = (i: number) => measured !== null || layers.some(({ values }) => values[i]! > 0)
      const isCut = starts.some(
        (start, i) => isDrawn(i) && missingOf(start, start + width, range, now) !== '',
      )
      return legendOf(layers, {
        width: widthText(width),
        without: measured
          ? withoutText(rows, nameOf(measured.field))
          : names && field
            ? `not by ${nameOf(field)}, which holds objects: choose a field in them`
            : '',
        cost: costOf(...answers),
        isCut,
        unit,
        state,
        change,
      })
    },
  }
}

/** The range, or where it has no bound what there is in it. */
async function spanOf({ state, shape, range, run }: Asking): Promise<{ from: number; to: number } | null> {
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
    const [value, entries, counted] = Object.values(row) as [Scalar, Value, number | undefined]
    if (entries === null) return [] // no row of it has a number to measure
    const isRedacted = redacted && redactedText.test(String(value))
    return { value, isRedacted, entries: Number(entries), ...(counted === undefined ? {} : { counted }) }
  })
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

type Layer = Bars['layers'][number] & Pick<Kind, 'only' | 'top'>

/** A bucket without a row counted nothing, and had nothing to measure. */
function layersOf(rows: Row[], starts: number[], kinds: Kind[], isMeasured: boolean): Layer[] {
  const column = Object.keys(rows[0] ?? {})[1] ?? ''
  const layers = kinds.map(({ value, absent = false, ...kind }) => {
    const isOwn = (row: Row) => row[column] === value && (row['absent'] ?? false) === absent
    const own = rows.filter(row => value === undefined || isOwn(row))
    const values = inBuckets(own, starts, 'entries')
    if (isMeasured) return { ...kind, values, counted: inBuckets(own, starts, 'counted') }
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

interface Legend {
  /** Of a bucket, in words. */
  width: string
  /** How many rows have nothing to measure, or why they are not split; empty where there is nothing to say. */
  without: string
  cost: string
  /** Whether a bucket that is drawn is there in part. */
  isCut: boolean
  /** Of what is measured. */
  unit: string
  state: State
  change(patch: Partial<State>): void
}

/** Names, colours, and counts or what is measured; each is pressed to see it alone. */
function legendOf(
  layers: Layer[],
  { width, without, cost, isCut, unit, state, change }: Legend,
): HTMLElement[] {
  const entries = layers.map(({ name, colour, values, only, top, counted }) => {
    if (counted && state.by === '') return null // the menus say it
    const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0)
    const number = counted ? top && amount(top.entries, unit) : sum.toLocaleString('en')
    const swatch = el('i', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = barColour(colour)
    const parts = [swatch, el('span', {}, shortened(name)), number && ` ${number}`]
    if (!only) return el('span', { class: 'key', title: name }, ...parts)
    const { alone, patch } = pressOf(only, state)
    return button(parts, () => change(patch), {
      class: 'key quiet',
      'aria-pressed': String(alone),
      title: `${name}: ${alone ? 'show all' : 'show only these'}`,
    })
  })
  const part = [el('i', { class: 'swatch part', 'aria-hidden': 'true' }), el('span', {}, 'in part')]
  const title = 'Shaded: the range has a part of that time, or it is not over'
  return [
    el('span', { class: 'hint', title: cost }, `per ${width}`),
    // First of all, as what does not fit is beyond the edge.
    ...(without ? [el('span', { class: 'hint' }, without)] : []),
    ...entries.filter(entry => entry !== null),
    ...(isCut ? [el('span', { class: 'key hint', title }, ...part)] : []),
  ]
}

/** Whether rows of a kind are shown alone, and what a press changes: to them, or back to all. */
function pressOf(only: NonNullable<Kind['only']>, { severity, filters }: State) {
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

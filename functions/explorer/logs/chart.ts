/** What the histogram shows of a state, and the values of its field: asked, and put into all buckets of the range. */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { button, el } from '../dom.ts'
import { unitOf } from '../series.ts'
import { type Answer, costOf } from '../service.ts'
import { severityName } from './bar.ts'
import { measureText, none, type Top } from './fields.ts'
import { barColour, type Bars } from './histogram.ts'
import { buckets, bucketWidth, type Range, widthText } from './range.ts'
import { type Field, fieldAt, measureOf, nameOf, type Shape } from './shape.ts'
import { extentSql, histogramSql, namesSql, topSql } from './sql.ts'
import { type Scalar, severities, type Severity, type State } from './state.ts'

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
  /** @param choose called with the severities to keep */
  legend(choose: (severities: Severity[]) => void): HTMLElement[]
}

const mostValues = 10
const mostNames = 40
const colours = 5

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
  // A whole JSON column is not split by: its values are the fields inside it.
  const state = field?.type === 'JSON' ? { ...all.state, by: '', measure: 'rows' } : all.state
  const asking = { ...all, state, run }
  const [span, top] = await Promise.all([
    spanOf(asking),
    field && run(valuesSql(state, shape, range, field)).then(topOf),
  ])
  if (!span) return { bars: null, top: field ? [] : null, total: 0, legend: () => [] }
  const values = (top ?? []).flatMap(({ value }) => value ?? []).slice(0, colours)
  // A bucket has a row for each layer, and the answer may not be cut.
  const width = bucketWidth(span.from, span.to, Math.max(1, Math.min(80, Math.floor(maxRows / 7) - 2)))
  const { rows } = await run(histogramSql(state, shape, range, { width, values }))
  const starts = buckets(span.from, span.to, width)
  const measured = measureOf(state.measure, shape)
  const layers = measured
    ? [measuredLayer(rows, starts)]
    : layersOf(rows, starts, kindsOf(state, shape, values))
  const text = measureText(state.measure, shape)
  const unit = measured ? unitOf(nameOf(measured.field)) : ''
  const title = `${text.charAt(0).toUpperCase()}${text.slice(1)} per ${widthText(width)}`
  return {
    bars: { starts, width, layers, now, zone: state.zone, title, unit },
    top: top && withAbsent(top, rows),
    total: rows.reduce((sum, { entries, counted = entries }) => sum + Number(counted), 0),
    legend: choose => legendOf(layers, { title, cost: costOf(...answers), state, choose }),
  }
}

function valuesSql(state: State, shape: Shape, range: Range, field: Field): string {
  return field.type === 'JSON'
    ? namesSql(state, shape, range, field, mostNames)
    : topSql(state, shape, range, field, mostValues)
}

/** The range, or where it has no bound what there is in it. */
async function spanOf({ state, shape, range, run }: Asking): Promise<{ from: number; to: number } | null> {
  if (range.from !== null && range.to !== null) return { from: range.from, to: range.to }
  const { rows } = await run(extentSql(state, shape, range))
  const [first, last] = [rows[0]?.['first'] ?? null, rows[0]?.['last'] ?? null]
  if (first === null || last === null) return null
  return { from: range.from ?? Number(first), to: range.to ?? Number(last) + 1 }
}

function topOf({ rows }: Answer): Top[] {
  return rows.map(row => {
    const [value, entries, counted] = Object.values(row) as [Scalar, Value, number | undefined]
    return { value, entries: Number(entries), ...(counted === undefined ? {} : { counted }) }
  })
}

/** Entries without the field, where they are too few for the first values, come last. */
function withAbsent(top: Top[], buckets: Row[]): Top[] {
  const absent = buckets.filter(row => row['absent'] === true)
  if (absent.length === 0 || top.some(({ value }) => value === null)) return top
  return [...top, { value: null, entries: absent.reduce((sum, { entries }) => sum + Number(entries), 0) }]
}

/** What bars are split by: a kind of rows, with its name and colour. */
interface Kind {
  name: string
  colour: string
  /** In an answer's second column; `undefined` = all rows. */
  value?: Value
  /** Whether its rows are without the field. */
  absent?: boolean
  severity?: Severity
}

function kindsOf({ by }: State, shape: Shape, values: Scalar[]): Kind[] {
  if (fieldAt(shape, by)) {
    const kinds = values.map((value, i) => ({ name: String(value), colour: String(i + 1), value }))
    return [
      ...kinds,
      { name: 'others', colour: 'other', value: null },
      { name: none, colour: '7', value: null, absent: true },
    ]
  }
  if (!shape.severity) return [{ name: 'rows', colour: 'info' }]
  return severities.map(severity => ({
    name: severityName(severity, shape),
    colour: severity,
    value: severity,
    severity,
  }))
}

type Layer = Bars['layers'][number] & { severity?: Severity }

/** A bucket without a row counted nothing. */
function layersOf(rows: Row[], starts: number[], kinds: Kind[]): Layer[] {
  const column = Object.keys(rows[0] ?? {})[1] ?? ''
  const layers = kinds.map(({ value, absent = false, ...kind }) => {
    const isOwn = (row: Row) => row[column] === value && (row['absent'] ?? false) === absent
    const own = rows.filter(row => value === undefined || isOwn(row))
    return { ...kind, values: inBuckets(own, starts, 'entries').map(count => count ?? 0) }
  })
  return layers.filter(({ values }) => values.some(count => count > 0))
}

/** A bucket without a row had nothing to average. */
function measuredLayer(rows: Row[], starts: number[]): Layer {
  const [values, counted] = [inBuckets(rows, starts, 'entries'), inBuckets(rows, starts, 'counted')]
  return { name: '', colour: '1', values, counted }
}

function inBuckets(rows: Row[], starts: number[], column: string): (number | null)[] {
  const at = new Map(rows.map(row => [Number(row['bucket']), row[column]]))
  return starts.map(start => {
    const value = at.get(start) ?? null
    return value === null ? null : Number(value)
  })
}

interface Legend {
  title: string
  cost: string
  state: State
  choose(severities: Severity[]): void
}

/** Names, colours and counts; a severity is pressed to see it alone. */
function legendOf(layers: Layer[], { title, cost, state, choose }: Legend): HTMLElement[] {
  const entries = layers.map(({ name, colour, values, severity, counted }) => {
    if (counted) return null // the title says it
    const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0)
    const swatch = el('i', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = barColour(colour)
    const parts = [swatch, el('span', {}, name), ` ${sum.toLocaleString('en')}`]
    if (!severity) return el('span', { class: 'key', title: name }, ...parts)
    const alone = state.severity.length === 1 && state.severity[0] === severity
    return button(parts, () => choose(alone ? [] : [severity]), {
      class: 'key quiet',
      'aria-pressed': String(alone),
      title: alone ? 'Show all' : 'Show only these',
    })
  })
  return [el('span', { class: 'hint', title: cost }, title), ...entries.filter(entry => entry !== null)]
}

/** What the histogram shows of a state, and the values of its field: asked, and put into all buckets of the range. */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { button, el } from '../dom.ts'
import { unitOf } from '../series.ts'
import { type Answer, costOf } from '../service.ts'
import { severityName } from './bar.ts'
import { none, type Top } from './fields.ts'
import { barColour, type Bars } from './histogram.ts'
import { titleOf } from './measure.ts'
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
  legend(acts: LegendActs): HTMLElement[]
}

interface LegendActs {
  /** Called with the severities to keep. */
  choose(severities: Severity[]): void
  /** Whether a layer is drawn, by its name. */
  isOn(name: string): boolean
  /** @returns whether it is drawn now */
  toggle(name: string): boolean
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
  const unit = measured ? unitOf(nameOf(measured.field)) : ''
  const layers = layersOf(rows, starts, kindsOf(state, shape, values), measured !== null)
  const title = `${titleOf(state, shape)} per ${widthText(width)}`
  return {
    bars: { starts, width, layers, isMeasured: measured !== null, range, now, zone: state.zone, title, unit },
    top: top && (measured ? top : withAbsent(top, rows)),
    total: rows.reduce((sum, { entries, counted = entries }) => sum + Number(counted), 0),
    legend: acts => legendOf(layers, { width: widthText(width), cost: costOf(...answers), state, acts }),
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
  return rows.flatMap(row => {
    const [value, entries, counted] = Object.values(row) as [Scalar, Value, number | undefined]
    if (entries === null) return [] // no row of it has a number to measure
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

function kindsOf(state: State, shape: Shape, values: Scalar[]): Kind[] {
  if (fieldAt(shape, state.by)) {
    const kinds = values.map((value, i) => ({ name: String(value), colour: String(i + 1), value }))
    return [
      ...kinds,
      { name: 'others', colour: 'other', value: null },
      { name: none, colour: '7', value: null, absent: true },
    ]
  }
  if (state.measure !== 'rows') return [{ name: titleOf(state, shape), colour: '1' }]
  if (!shape.severity) return [{ name: 'rows', colour: 'info' }]
  return severities.map(severity => ({
    name: severityName(severity, shape),
    colour: severity,
    value: severity,
    severity,
  }))
}

type Layer = Bars['layers'][number] & { severity?: Severity }

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

interface Legend {
  /** Of a bucket, in words. */
  width: string
  cost: string
  state: State
  acts: LegendActs
}

/** Names, colours and counts; a severity is pressed to see it alone, anything else to hide it. */
function legendOf(layers: Layer[], { width, cost, state, acts }: Legend): HTMLElement[] {
  const entries = layers.map(({ name, colour, values, severity, counted }) => {
    if (counted && state.by === '') return null // the menus say it
    const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0)
    const swatch = el('i', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = barColour(colour)
    const parts = [swatch, el('span', {}, name), counted ? null : ` ${sum.toLocaleString('en')}`]
    if (severity) {
      const alone = state.severity.length === 1 && state.severity[0] === severity
      return button(parts, () => acts.choose(alone ? [] : [severity]), {
        class: 'key quiet',
        'aria-pressed': String(alone),
        title: alone ? 'Show all' : 'Show only these',
      })
    }
    const press = () => (made.ariaPressed = String(acts.toggle(name)))
    const pressed = String(acts.isOn(name))
    const made = button(parts, press, {
      class: 'key quiet layer',
      'aria-pressed': pressed,
      title: `${name}: show or hide`,
    })
    return made
  })
  return [
    el('span', { class: 'hint', title: cost }, `per ${width}`),
    ...entries.filter(entry => entry !== null),
  ]
}

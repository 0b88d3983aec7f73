/** What the histogram shows of a state, and the values of its field: asked, and put into all buckets of the range. */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { el } from '../dom.ts'
import { type Answer, costOf } from '../service.ts'
import { severityName } from './bar.ts'
import { measureText, type Top } from './fields.ts'
import type { Bars } from './histogram.ts'
import { buckets, bucketWidth, type Range, widthText } from './range.ts'
import { type Field, fieldAt, type Shape } from './shape.ts'
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
  const values = (top ?? []).slice(0, colours).map(({ value }) => value)
  // A bucket has a row for each layer, and the answer may not be cut.
  const width = bucketWidth(span.from, span.to, Math.max(1, Math.min(80, Math.floor(maxRows / 7) - 2)))
  const { rows } = await run(histogramSql(state, shape, range, { width, values }))
  const starts = buckets(span.from, span.to, width)
  const counts = state.measure === 'rows'
  const layers = layersOf(rows, {
    starts,
    width,
    state,
    shape,
    values: values.filter(value => value !== null),
  })
  const total = rows.reduce((sum, row) => sum + Number(row[counts ? 'entries' : 'counted'] ?? 0), 0)
  const title = `${counts ? 'Rows' : measureText(state.measure, shape)} by ${widthText(width)}`
  return {
    bars: { starts, width, layers, now, zone: state.zone, title },
    top,
    total,
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
  return { from: range.from ?? Number(first), to: range.to ?? Number(last) }
}

function topOf({ rows }: Answer): Top[] {
  return rows.map(row => {
    const [value, entries] = Object.values(row) as [Scalar, Value]
    return { value, entries: Number(entries) }
  })
}

interface Layering {
  starts: number[]
  width: number
  state: State
  shape: Shape
  values: Scalar[]
}

type Layer = Bars['layers'][number] & { severity?: Severity }

/** A bucket without a row counted nothing, but had nothing to average. */
function layersOf(rows: Row[], { starts, width, state, shape, values }: Layering): Layer[] {
  const measured = state.measure !== 'rows'
  const field = fieldAt(shape, state.by)
  const kinds: { name: string; colour: string; is(kind: Value): boolean; severity?: Severity }[] =
    measured || (!field && !shape.severity)
      ? [{ name: measureText(state.measure, shape), colour: measured ? '1' : 'info', is: () => true }]
      : field
        ? [
            ...values.map((value, i) => ({
              name: String(value),
              colour: String(i + 1),
              is: (kind: Value) => kind === value,
            })),
            { name: 'others', colour: 'other', is: (kind: Value) => kind === null },
          ]
        : severities.map(severity => ({
            name: severityName(severity, shape),
            colour: severity,
            severity,
            is: (kind: Value) => kind === severity,
          }))
  const column = field ? Object.keys(rows[0] ?? {})[1] : 'severity'
  const layers = kinds.map(({ is, ...kind }) => {
    const own = rows.filter(row => is(row[column ?? ''] ?? null))
    const at = new Map(own.map(row => [Number(row['bucket']), Number(row['entries'])]))
    return { ...kind, values: starts.map(start => at.get(start) ?? (measured ? null : 0)), width }
  })
  return layers.filter(({ values: all }) => measured || all.some(value => (value ?? 0) > 0))
}

interface Legend {
  title: string
  cost: string
  state: State
  choose(severities: Severity[]): void
}

/** Names, colours and counts; a severity is pressed to see it alone. */
function legendOf(layers: Layer[], { title, cost, state, choose }: Legend): HTMLElement[] {
  const entries = layers.map(({ name, colour, values, severity }) => {
    const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0)
    const swatch = el('i', { class: `swatch bar-${colour}`, 'aria-hidden': 'true' })
    const text = state.measure === 'rows' ? `${name} ${sum.toLocaleString('en')}` : name
    if (!severity) return el('span', { class: 'key', title: text }, swatch, el('span', {}, text))
    const alone = state.severity.length === 1 && state.severity[0] === severity
    const press = () => choose(alone ? [] : [severity])
    return el(
      'button',
      {
        type: 'button',
        class: 'key quiet',
        'aria-pressed': String(alone),
        title: alone ? 'Show all' : 'Show only these',
        onclick: press,
      },
      swatch,
      text,
    )
  })
  return [el('span', { class: 'hint', title: cost }, title), ...entries]
}

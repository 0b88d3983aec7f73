/** Rows as a chart: a series as lines, with what one has to know before one believes them; the top of names and numbers as bars. */
import { type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { timeText } from '../../shared/answers/times.ts'
import { type Course, missingAt } from './axes.ts'
import { Button, Menu } from './controls.tsx'
import { type Range, widthText } from './logs/range.ts'
import { Plot, barColour } from './plot.tsx'
import {
  type Ranking,
  type Series,
  amount,
  coloursOf,
  severityOfName,
  shortened,
  topOf,
  unitOf,
} from './series.ts'
import { now } from './service.ts'

interface Props {
  series: Series
  /** Of its axis, where it has bounds; else that of the times. */
  range: Range
}

export function Chart({ series, range }: Props) {
  const at = useSignal(-1)
  const hidden = useSignal<readonly string[]>([])
  /** The first and the last point that are shown. */
  const zoom = useSignal<[number, number] | null>(null)
  const course = useMemo(() => courseOf(series, range), [series, range])
  const zoomed = useMemo(() => zoomedIn(course, zoom.value), [course, zoom.value])
  const layers = zoomed.layers.filter(({ name }) => !hidden.value.includes(name))
  const shown = useMemo(() => ({ ...zoomed, layers }), [zoomed, hidden.value])
  const names = course.layers.map(({ name }) => name).join(', ')
  const choose = (first: number, last: number) => {
    if (first < last) zoom.value = [first, last].map(i => i + (zoom.value?.[0] ?? 0)) as [number, number]
  }
  return (
    <div class="chart">
      <Legend course={zoomed} at={at} hidden={hidden} />
      <Plot
        class="board"
        course={shown}
        size={{ height: innerWidth < 600 || innerHeight < 850 ? 200 : 280, isFull: true }}
        zone="UTC"
        label={`${names} over time. Arrow keys read the values; the table has them all.`}
        at={at}
        choose={choose}
      />
      <p class="unseen" role="status">
        {at.value >= 0 && wordsOf(zoomed, at.value)}
      </p>
      {zoom.value && <Button press={() => (zoom.value = null)}>Whole time</Button>}
      {hintsOf(series, course).map(text => (
        <p class="hint" key={text}>
          {text}
        </p>
      ))}
    </div>
  )
}

/** In the range, where it is that of these times, and not of another time that the rows have. */
function courseOf({ times, lines, step }: Series, range: Range): Course {
  const colours = coloursOf(lines.map(({ name }) => name))
  const starts = times.map(time => time * 1e6)
  const width = step === null ? null : step * 1e6
  const isOf =
    (range.from ?? -Infinity) <= starts.at(-1)! + (width ?? 0) && starts[0]! <= (range.to ?? Infinity)
  const layers = lines.map(({ name, values }, i) => ({
    name,
    values,
    unit: unitOf(name),
    colour: String(colours[i]),
  }))
  return {
    starts,
    width,
    layers,
    isStacked: false,
    range: isOf ? range : { from: null, to: null },
    now: now(),
  }
}

function zoomedIn(course: Course, zoom: [number, number] | null): Course {
  if (!zoom) return course
  const [first, last] = zoom
  const starts = course.starts.slice(first, last + 1)
  const layers = course.layers.map(layer => ({ ...layer, values: layer.values.slice(first, last + 1) }))
  return { ...course, starts, layers, range: { from: null, to: null } }
}

/** Two points are no course of anything: each stands for its bucket, and no line goes from one to the other. */
function hintsOf({ times, lines, hidden }: Series, course: Course): string[] {
  const [first, last] = [missingAt(course, 0), missingAt(course, times.length - 1)]
  const width = course.width === null ? '' : ` by ${widthText(course.width)}`
  const texts = [
    hidden > 0 && `The ${lines.length} largest of ${lines.length + hidden} lines; the table has all.`,
    times.length < 3 && `Buckets${width}; no line goes through so few.`,
    first === 'in part' && 'The first bucket, shaded, is there in part: the range begins in it.',
    last === 'in part' && 'The last bucket, shaded, is there in part: the range ends in it.',
    last === 'not finished' && 'The last bucket, shaded, is not finished.',
  ]
  return texts.filter(text => text !== false)
}

interface LegendProps {
  course: Course
  at: Signal<number>
  /** Names of the lines that are not drawn. */
  hidden: Signal<readonly string[]>
}

/** Names and colours of the lines, each a button that hides its line, with the values under the cursor. */
function Legend({ course, at, hidden }: LegendProps) {
  const index = at.value
  const toggle = (name: string) => {
    const others = hidden.value.filter(other => other !== name)
    hidden.value = others.length < hidden.value.length ? others : [...others, name]
  }
  return (
    <div class="legend">
      {course.layers.map(({ name, colour, values }) => (
        <Button key={name} aria-pressed={!hidden.value.includes(name)} press={() => toggle(name)}>
          <i class={`swatch shape-${colour}`} aria-hidden="true" style={{ background: barColour(colour) }} />
          {name}
          <b>{index >= 0 && valueText(values[index])}</b>
        </Button>
      ))}
      <span class="moment">
        {index < 0 ? 'Times are UTC. Point at the chart for values' : momentText(course, index)}
      </span>
    </div>
  )
}

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 3 })

function valueText(value: number | null | undefined): string {
  return typeof value === 'number' ? numbers.format(value) : '–'
}

function momentText({ starts }: Course, index: number): string {
  const start = starts[index] ?? 0
  return `${timeText(start) ?? new Date(start / 1000).toISOString()} UTC`
}

function wordsOf(course: Course, index: number): string {
  const values = course.layers.map(({ name, values }) => `${name} ${valueText(values[index])}`)
  return `${momentText(course, index)}: ${values.join(', ')}`
}

/** As many as one can take in. */
const most = 20

export function Ranked({ ranking }: { ranking: Ranking }) {
  const { measures, bars } = ranking
  const measure = useSignal(measures[0]!)
  const top = topOf(ranking, measure.value, most)
  const largest = Math.max(...top.map(({ value }) => Math.abs(value)))
  return (
    <div class="chart">
      <div class="measure">
        {bars.length > most ? `The ${most} largest of ${bars.length} by` : 'By'}
        <Menu
          label="Bars by"
          choices={measures.map(name => [name, name])}
          chosen={measure.value}
          act={name => (measure.value = name)}
        />
      </div>
      <ol class="ranked" aria-label={`${measure.value} by name`}>
        {top.map(({ name, value }) => (
          <li key={name}>
            <span title={name}>{shortened(name, 100)}</span>
            <i
              style={{
                width: `${largest === 0 ? 0 : (Math.abs(value) / largest) * 100}%`,
                background: barColour(severityOfName(name).replace('other', '1')),
              }}
            />
            <b>{amount(value, unitOf(measure.value))}</b>
          </li>
        ))}
      </ol>
    </div>
  )
}

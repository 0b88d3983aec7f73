/**
 * Entries over time: numbers as stacked bars, what is measured as lines, narrowed by a brush. The legend names its kinds, each of
 * which is pressed to see it alone.
 */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { type Course, missingAt } from '../axes.ts'
import { Button } from '../controls.tsx'
import { barColour, Plot } from '../plot.tsx'
import { problemText } from '../resource.ts'
import { amount, shortened } from '../series.ts'
import { type Bars, type Before, type Chart, isCut, type Layer, pressOf, rowsText } from './bars.ts'
import { comparisonText, differenceText, shareText } from './compare.ts'
import { shown, widthText } from './range.ts'
import type { Store } from './store.ts'
import { type Zone, zoneName } from './zone.ts'

/** The same for bars and lines, so that what is below stays where it is. */
const size = { height: innerWidth > 800 ? 80 : 60, isFull: false }

interface Props {
  store: Store
  /** Called with the beginning and the end of what was chosen, in microseconds. */
  narrow(from: number, to: number): void
  hidden: boolean
}

export function Histogram({ store, narrow, hidden }: Props) {
  const { bars = null, before = null } = store.chart.answer.value?.data ?? {}
  const { zone } = store.state.value
  const problem = store.chart.answer.value?.problem
  const at = useSignal(-1)
  const course = useMemo(() => bars && courseOf(bars, before), [bars, before])
  return (
    <Plot
      class={`histogram${store.isChartOld.value ? ' old' : ''}`}
      hidden={hidden}
      course={course}
      size={size}
      zone={zone}
      label={bars ? `${bars.title}. Arrow keys read the bars, Enter narrows to one.` : undefined}
      at={at}
      choose={(first, last) => bars && narrow(bars.starts[first]!, bars.starts[last]! + bars.width)}
      said={(index, place) => (
        <p class="bars-said" role="status" style={place}>
          {bars && course
            ? index >= 0 && wordsOf(bars, course, index, zone)
            : problem && `No chart: ${problemText(problem)}`}
        </p>
      )}
    />
  )
}

function courseOf(bars: Bars, before: Before | null): Course {
  const { layers, unit, isMeasured } = bars
  // Of several lines measured together none is that of all.
  const hasGhost = before !== null && (!isMeasured || layers.length === 1)
  return {
    ...bars,
    layers: layers.map(layer => ({ ...layer, unit })),
    isStacked: !isMeasured,
    ...(hasGhost ? { ghost: { values: before.values, unit } } : {}),
  }
}

function wordsOf(bars: Bars, course: Course, index: number, zone: Zone): string {
  const { starts, width, layers, unit, isMeasured } = bars
  const start = starts[index]!
  const counts = layers.flatMap(({ name, values, counted }) => {
    const value = values[index] ?? null
    if (!counted) return value ? `${amount(value)} ${name}` : []
    const of = layers.length > 1 ? `${name} ` : ''
    return value === null ? [] : `${of}${amount(value, unit)} of ${rowsText(counted[index] ?? 0)}`
  })
  const missing = missingAt(course, index)
  const earlier = course.ghost?.values[index] ?? null
  const ghost = earlier === null ? '' : `; before ${amount(earlier, unit)}`
  const time = shown(start, zone).slice(0, width < 1e6 ? 26 : 19)
  return `${time} ${zoneName(zone)}, ${widthText(width)}${missing && ` (${missing})`}: ${counts.join(', ') || (isMeasured ? 'no value' : 'none')}${ghost}`
}

/** Names, colours, and counts or what is measured. */
export function Legend({ store }: { store: Store }) {
  const chart = store.chart.answer.value?.data
  const lacking = store.uncharted.value
  return (
    <div
      class={`bars-legend${store.isChartOld.value ? ' old' : ''}`}
      onWheel={({ currentTarget, deltaY }) => void (currentTarget.scrollLeft += deltaY)}>
      {chart?.bars && lacking > 0 && <span class="hint">not in the chart: {rowsText(lacking)}</span>}
      {chart?.bars && <Keys bars={chart.bars} chart={chart} store={store} />}
    </div>
  )
}

function Keys({ bars, chart, store }: { bars: Bars; chart: Chart; store: Store }) {
  const { without, cost, state } = chart
  // Of all rows alone the menus say it.
  const layers = bars.layers.filter(({ counted }) => !counted || state.by !== '')
  return (
    <>
      <span class="hint" title={cost}>
        per {widthText(bars.width)}
      </span>
      <Difference chart={chart} />
      {without && <span class="hint">{without}</span>}
      {layers.map(layer => (
        <Key key={layer.name} layer={layer} unit={bars.unit} chart={chart} store={store} />
      ))}
      {isCut(bars) && (
        <span class="key hint" title="Shaded: the range has a part of that time, or it is not over">
          <i class="swatch part" aria-hidden="true" />
          <span>in part</span>
        </span>
      )}
    </>
  )
}

/** Of all rows: `+41 %`, as the menu says on what; beside another measure it says that it is of rows. */
function Difference({ chart: { state, total, before } }: { chart: Chart }) {
  const period = comparisonText(state.compare)
  if (!period) return null
  if (!before) return <span class="change">nothing to compare with: the range has no beginning</span>
  return (
    <b class="change" title={`${rowsText(total)}, ${rowsText(before.total)} in ${period}`}>
      {state.measure === 'rows' ? '' : 'rows '}
      {differenceText(total, before.total) || 'none before'}
    </b>
  )
}

function Key({ layer, unit, chart, store }: { layer: Layer; unit: string; chart: Chart; store: Store }) {
  const { name, colour, values, only, top, counted, before } = layer
  const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0)
  const shown = counted ? top?.entries : sum
  const number = shown === undefined ? '' : amount(shown, unit)
  const change = shown === undefined || before === undefined ? '' : differenceText(shown, before, unit)
  const pressed = only && pressOf(only, chart.state)
  const does = pressed && `: ${pressed.alone ? 'show all' : 'show only these'}`
  return (
    <Button
      class={`key${only ? ' quiet' : ''}`}
      aria-pressed={pressed?.alone}
      title={`${name}${does ?? ''}`}
      press={only ? () => store.press(only) : null}>
      <i class={`swatch shape-${colour}`} aria-hidden="true" style={{ background: barColour(colour) }} />
      <span>{shortened(name)}</span>
      {number && ` ${number}`}
      {!counted && <small class="change"> {shareText(sum, chart.total)}</small>}
      {change && <small class="change"> {change}</small>}
    </Button>
  )
}

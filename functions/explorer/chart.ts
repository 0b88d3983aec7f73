/** A series as a line chart: a legend that shows values and hides lines, and arrow keys to read the values without a mouse. */
import UPlot from 'uplot'
import { button, el } from './dom.ts'
import { coloursOf, type Series, unitOf } from './series.ts'
import { missingOf, type Range, widthText } from './logs/range.ts'
import { now } from './service.ts'
import { timeText } from '../query/times.ts'

const height = () => (innerWidth < 600 || innerHeight < 850 ? 240 : 320)

/** @param range of its axis, where it has bounds; else that of the times */
export function chart(series: Series, range: Range): HTMLElement {
  const asked = isOf(series, range) ? range : { from: null, to: null }
  const place = el('div', { class: 'plot' })
  const spoken = el('p', { class: 'unseen', role: 'status' })
  const keys = legend(series.lines, (i, on) => plot?.setSeries(i + 1, { show: on }))
  let plot: UPlot | null = null

  function draw(width: number): void {
    plot?.destroy()
    const data: UPlot.AlignedData = [series.times, ...series.lines.map(({ values }) => values)]
    plot = new UPlot(options(series, { keys, width, asked }), data, place)
  }

  function step(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined || !plot) return
    event.preventDefault()
    const index = nextWithValues(series, plot.cursor.idx ?? null, by)
    plot.setCursor({ left: plot.valToPos(series.times[index]!, 'x'), top: 10 })
    spoken.textContent = keys.text()
  }

  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry!.contentRect.width)
    if (width === 0) return
    if (plot && plot.height === height()) plot.setSize({ width, height: height() })
    else draw(width)
  }).observe(place)
  const redraw = () => plot && draw(plot.width)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  document.addEventListener('theme', redraw)
  const names = series.lines.map(({ name }) => name).join(', ')
  const focusable = {
    class: 'board',
    role: 'group',
    tabindex: 0,
    'aria-roledescription': 'chart',
    'aria-label': `${names} over time. Arrow keys read the values; the table has them all.`,
    onkeydown: (event: Event) => step(event as KeyboardEvent),
  }
  return el(
    'div',
    { class: 'chart' },
    keys.element,
    el('div', focusable, place),
    spoken,
    ...hints(series, asked),
  )
}

const isBare = (times: number[]) => times.length < 3

/** Whether the range is that of these times, and not of another time that the rows have. */
function isOf({ times, step }: Series, { from, to }: Range): boolean {
  return (from ?? -Infinity) <= (times.at(-1)! + (step ?? 0)) * 1e6 && times[0]! * 1e6 <= (to ?? Infinity)
}

/** What is missing of the bucket that begins at this time; empty where nothing is, or the width is not known. */
function missingAt(time: number, { step }: Series, asked: Range): string {
  return step === null ? '' : missingOf(time * 1e6, (time + step) * 1e6, asked, now())
}

/**
 * What one has to know before one believes the lines. Two points are no course of anything: each stands for its bucket, and
 * no line goes from one to the other.
 */
function hints(series: Series, asked: Range): HTMLElement[] {
  const { times, lines, hidden, step } = series
  const [first, last] = [times[0]!, times.at(-1)!].map(time => missingAt(time, series, asked))
  const width = step === null ? '' : ` by ${widthText(step * 1e6)}`
  const texts = [
    hidden > 0 && `The ${lines.length} largest of ${lines.length + hidden} lines; the table has all.`,
    isBare(times) && `Buckets${width}; no line goes through so few.`,
    first === 'in part' && 'The first bucket, hatched, is there in part: the range begins in it.',
    last === 'in part' && 'The last bucket, hatched, is there in part: the range ends in it.',
    last === 'not finished' && 'The last bucket, hatched, is not finished.',
  ]
  return texts.filter(text => text !== false).map(text => el('p', { class: 'hint' }, text))
}

/** The index of the next time that has values, from either end where the cursor is nowhere. */
function nextWithValues({ times, lines }: Series, from: number | null, step: number): number {
  const last = times.length - 1
  let index = from === null ? (step > 0 ? 0 : last) : Math.max(0, Math.min(last, from + step))
  while (index > 0 && index < last && lines.every(({ values }) => values[index] === null)) index += step
  return index
}

/** Names and colours of the lines, each a button that hides its line, with the values under the cursor. */
function legend(lines: Series['lines'], toggled: (line: number, on: boolean) => void) {
  const moment = el('span', { class: 'moment' })
  const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 3 })
  const colours = coloursOf(lines.map(({ name }) => name))
  const entries = lines.map(({ name }, i) => {
    const value = el('b', {})
    const press = () => {
      const on = made.ariaPressed !== 'true'
      made.ariaPressed = String(on)
      toggled(i, on)
    }
    const swatch = el('i', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = `var(--line-${colours[i]})`
    const made = button([swatch, name, value], press, { 'aria-pressed': 'true' })
    return { button: made, value, name }
  })
  return {
    element: el('div', { class: 'legend' }, ...entries.map(({ button }) => button), moment),
    isOn: (line: number) => entries[line]!.button.ariaPressed === 'true',
    /** @param at the time under the cursor; `null` = there is none */
    show(at: string | null, values: (number | null)[]) {
      moment.textContent = at ?? 'Times are UTC. Point at the chart for values'
      for (const [i, { value }] of entries.entries()) {
        const number = values[i] ?? null
        value.textContent = number === null ? (at === null ? '' : '–') : numbers.format(number)
      }
    },
    /** The values that it shows, as a sentence. */
    text: () =>
      `${moment.textContent}: ${entries.map(({ name, value }) => `${name} ${value.textContent}`).join(', ')}`,
  }
}

function options(
  series: Series,
  { keys, width, asked }: { keys: ReturnType<typeof legend>; width: number; asked: Range },
): UPlot.Options {
  const { times, lines, step } = series
  const colours = coloursOf(lines.map(({ name }) => name))
  const point = (at: number | null = null) => {
    const values = lines.map(line => (at === null ? null : (line.values[at] ?? null)))
    keys.show(at === null ? null : momentOf(times[at]!), values)
  }
  return {
    width,
    height: height(),
    tzDate: seconds => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, move: snapped, drag: { x: true, y: false }, points: { size: 9 } },
    hooks: {
      setCursor: [({ cursor }) => point(cursor.idx)],
      drawClear: times
        .filter(time => missingAt(time, series, asked) !== '')
        .map(time => plot => hatch(plot, time, time + step!)),
    },
    axes: axes(lines),
    scales: {
      x: { range: widened(series, asked) },
      ...Object.fromEntries(unitsOf(lines).map(unit => [scaleOf(unit), { range: fromZero }])),
    },
    series: [{}, ...lines.map(({ name }, i) => line(name, colours[i]!, keys.isOn(i), isBare(times)))],
  }
}

function line(label: string, number: number, show: boolean, bare: boolean): UPlot.Series {
  const stroke = colour(`--line-${number}`)
  return {
    label,
    show,
    stroke,
    scale: scaleOf(unitOf(label)),
    width: 2,
    ...(bare ? { paths: () => null } : {}),
    points: { size: bare ? 10 : 6, fill: stroke, filter: alone },
    spanGaps: false,
  }
}

/** Where there are too many points to mark each, those without a neighbour are marked: no line goes through them. */
function alone(plot: UPlot, series: number, all: boolean): number[] | null {
  if (all) return null
  const values = Array.from<number | null | undefined>(plot.data[series]!)
  return values.flatMap((value, i) => {
    const neighbour = values[i - 1] ?? values[i + 1] ?? null
    return typeof value === 'number' && neighbour === null ? [i] : []
  })
}

function unitsOf(lines: Series['lines']): string[] {
  return [...new Set(lines.map(({ name }) => unitOf(name)))]
}

/** A time whose unit its name does not say stands without one. */
const labelled = (unit: string) => unit !== '' && unit !== 'time'

const scaleOf = (unit: string) => `y${unit}`

function hatch(plot: UPlot, start: number, end: number): void {
  const { left, top, width, height } = plot.bbox
  const [from, to] = [start, end].map(time =>
    Math.max(left, Math.min(plot.valToPos(time, 'x', true), left + width)),
  ) as [number, number]
  plot.ctx.save()
  plot.ctx.strokeStyle = colour('--rule')
  plot.ctx.beginPath()
  plot.ctx.rect(from, top, to - from, height)
  plot.ctx.clip()
  plot.ctx.beginPath()
  for (let x = from - height; x < to; x += 12) {
    plot.ctx.moveTo(x, top + height)
    plot.ctx.lineTo(x + height, top)
  }
  plot.ctx.stroke()
  plot.ctx.restore()
}

/** Counts have no half ticks. */
const whole = [1, 2, 5]
  .flatMap(digit => Array.from({ length: 15 }, (_, power) => digit * 10 ** power))
  .toSorted((a, b) => a - b)

/** Of the time, and for each unit one: the first on the left, others on the right. */
function axes(lines: Series['lines']): UPlot.Axis[] {
  const common = {
    font: '12px system-ui, sans-serif',
    stroke: colour('--muted'),
    grid: { stroke: colour('--rule'), width: 1 },
    ticks: { show: false },
  }
  const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })
  return [
    { ...common, grid: { show: false }, size: 42, space: 100, values: timeLabels },
    ...unitsOf(lines).map((unit, i) => {
      const own = lines.filter(({ name }) => unitOf(name) === unit)
      const counts = own.every(({ values }) =>
        values.every(value => value === null || Number.isInteger(value)),
      )
      return {
        ...common,
        scale: scaleOf(unit),
        side: i === 0 ? 3 : 1,
        grid: i === 0 ? common.grid : { show: false },
        size: labelled(unit) ? 68 : 52,
        ...(counts ? { incrs: whole } : {}),
        values: (_: UPlot, splits: number[]) =>
          splits.map(value => `${short.format(value)}${labelled(unit) ? ` ${unit}` : ''}`),
      }
    }),
  ]
}

/** The line under the cursor stands on a point, not between two. */
function snapped(plot: UPlot, left: number, top: number): [number, number] {
  if (left < 0) return [left, top]
  return [plot.valToPos(plot.data[0][plot.posToIdx(left)]!, 'x'), top]
}

/** The time of day, with the day where it is another than that of the label before; only days, where the steps are as long. */
function timeLabels(_: UPlot, seconds: number[], __: number, ___: number, step: number): string[] {
  const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const names = seconds.map(second => days.format(second * 1000))
  return seconds.map((second, i) => {
    if (step >= 86_400) return names[i]!
    const time = new Date(second * 1000).toISOString().slice(11, step < 60 ? 19 : 16)
    return names[i] === names[i - 1] ? time : `${time}\n${names[i]}`
  })
}

/** A canvas takes no `var()` and no `light-dark()`, so an element resolves them. */
function colour(variable: string): string {
  const probe = el('i')
  probe.style.color = `var(${variable})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Counts stand on zero, with a little air above. */
function fromZero(_: UPlot, low: number | null, high: number | null): [number, number] {
  const [bottom, top] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)]
  const air = (top - bottom || 1) * 0.08
  return [bottom < 0 ? bottom - air : 0, top + (top > 0 || bottom === 0 ? air : 0)]
}

/**
 * The axis of the time: all of the range that was asked, and the last bucket's whole width where it is there in part. Where
 * nothing was asked, that of the series; around a single time an hour, as uPlot would show years.
 */
function widened(series: Series, asked: Range) {
  const { times, step } = series
  const [first, last] = [times[0]!, times.at(-1)!]
  const end = missingAt(last, series, asked) === '' ? last : last + step!
  const around = first === last ? 1800 : 0
  const low = asked.from === null ? first - around : Math.min(first, asked.from / 1e6)
  const high = asked.to === null ? Math.max(end, last + around) : Math.max(end, asked.to / 1e6)
  return (_: UPlot, from: number | null, to: number | null): [number, number] => {
    if (from === null || to === null) return [0, 1]
    const isAll = first === last || (from === first && to === last)
    return isAll ? [low, high] : [from, to === last ? end : to]
  }
}

function momentOf(seconds: number): string {
  return `${timeText(seconds * 1_000_000) ?? new Date(seconds * 1000).toISOString()} UTC`
}

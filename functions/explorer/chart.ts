/** A series as a line chart: a legend that shows values and hides lines, and arrows for who has no mouse. */
import UPlot from 'uplot'
import { el } from './dom.ts'
import { legend } from './legend.ts'
import type { Series } from './series.ts'
import { timeText } from './value.ts'

const height = () => (innerWidth < 600 ? 240 : 320)

export function chart({ times, lines, hidden }: Series): HTMLElement {
  const place = el('div', { class: 'plot' })
  const board = el(
    'div',
    {
      class: 'board',
      role: 'group',
      tabindex: 0,
      'aria-roledescription': 'chart',
      'aria-label': `${lines.map(({ name }) => name).join(', ')} over time. Arrow keys read the values; the table has them all.`,
    },
    place,
  )
  const keys = legend(lines, (i, on) => plot?.setSeries(i + 1, { show: on }))
  const spoken = el('p', { class: 'unseen', role: 'status' })
  const frame = el(
    'div',
    { class: 'chart' },
    keys.element,
    board,
    spoken,
    hidden > 0 &&
      el(
        'p',
        { class: 'hint' },
        `The ${lines.length} largest of ${lines.length + hidden} lines; the table has all.`,
      ),
  )
  let plot: UPlot | null = null

  function point(index: number | null | undefined): void {
    keys.say(
      index === null || index === undefined ? null : momentOf(times[index]!),
      lines.map(({ values }) => (index === null || index === undefined ? null : (values[index] ?? null))),
    )
  }

  function draw(width: number): void {
    plot?.destroy()
    plot = new UPlot(
      {
        width,
        height: height(),
        tzDate: seconds => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        legend: { show: false },
        cursor: { y: false, move: snapped, drag: { x: true, y: false }, points: { size: 9 } },
        hooks: { setCursor: [({ cursor }) => point(cursor.idx)] },
        axes: axes(),
        scales: {
          y: { range: (_, low, high) => around(low, high) },
          x: { range: (_, low, high) => widened(low, high) },
        },
        series: [{}, ...lines.map(({ name }, i) => line(name, i, keys.isOn(i)))],
      },
      [times, ...lines.map(({ values }) => values)],
      place,
    )
  }

  board.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined || !plot) return
    event.preventDefault()
    const index = next(plot.cursor.idx ?? null, step)
    plot.setCursor({ left: plot.valToPos(times[index]!, 'x'), top: 10 })
    spoken.textContent = keys.text()
  })

  /** The next time that has values. */
  function next(from: number | null, step: number): number {
    const last = times.length - 1
    let index = from === null ? (step > 0 ? 0 : last) : Math.max(0, Math.min(last, from + step))
    while (index > 0 && index < last && lines.every(({ values }) => values[index] === null)) index += step
    return index
  }

  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry!.contentRect.width)
    if (width === 0) return
    if (plot && plot.height === height()) plot.setSize({ width, height: height() })
    else draw(width)
  }).observe(place)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot && draw(plot.width))
  return frame
}

function line(label: string, i: number, show: boolean): UPlot.Series {
  const stroke = colour(`--line-${i + 1}`)
  return { label, show, stroke, width: 2, points: { size: 6, fill: stroke, filter: alone }, spanGaps: false }
}

/** Where there are too many points to mark each, those without a neighbour are: no line goes through them. */
function alone(plot: UPlot, series: number, all: boolean): number[] | null {
  if (all) return null
  const values = Array.from<number | null | undefined>(plot.data[series]!)
  return values.flatMap((value, i) => {
    const neighbour = values[i - 1] ?? values[i + 1] ?? null
    return typeof value === 'number' && neighbour === null ? [i] : []
  })
}

function axes(): UPlot.Axis[] {
  const font = '12px system-ui, sans-serif'
  const common = {
    font,
    stroke: colour('--muted'),
    grid: { stroke: colour('--rule'), width: 1 },
    ticks: { show: false },
  }
  const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })
  return [
    { ...common, grid: { show: false }, size: 42, space: 100, values: moments },
    { ...common, size: 52, values: (_, splits) => splits.map(value => short.format(value)) },
  ]
}

/** The line under the cursor stands on a point, not between two. */
function snapped(plot: UPlot, left: number, top: number): [number, number] {
  if (left < 0) return [left, top]
  return [plot.valToPos(plot.data[0][plot.posToIdx(left)]!, 'x'), top]
}

/** The time of day, with the day where it begins; only days, where the steps are as long. */
function moments(_: UPlot, seconds: number[], __: number, ___: number, step: number): string[] {
  return seconds.map((second, i) => {
    const text = new Date(second * 1000).toISOString()
    const day = new Date(second * 1000).toLocaleDateString('en-GB', {
      day: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    })
    if (step >= 86_400) return day
    const time = text.slice(11, step < 60 ? 19 : 16)
    return i === 0 || time === '00:00' ? `${time}\n${day}` : time
  })
}

function colour(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim()
}

/** Counts stand on zero; a little air above. */
function around(low: number | null, high: number | null): [number, number] {
  const [bottom, top] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)]
  const air = (top - bottom || 1) * 0.08
  return [bottom < 0 ? bottom - air : 0, top + (top > 0 || bottom === 0 ? air : 0)]
}

/** A single moment gets an hour around it. */
function widened(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1]
  return low === high ? [low - 1800, high + 1800] : [low, high]
}

function momentOf(seconds: number): string {
  return `${timeText(seconds * 1_000_000) ?? new Date(seconds * 1000).toISOString()} UTC`
}

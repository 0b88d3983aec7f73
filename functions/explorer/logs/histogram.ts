/**
 * Entries over time: numbers as stacked bars, what is measured as lines. Brushed or pressed to narrow the range, read by
 * pointer or arrow keys.
 */
import { el, show } from '../dom.ts'
import { amount } from '../series.ts'
import { rowsText } from './fields.ts'
import { missingOf, type Range, shown, widthText, type Zone, zoneName } from './range.ts'

export interface Bars {
  /** Microseconds since 1970 of the beginnings of all buckets. */
  starts: number[]
  width: number
  /**
   * Bars from the bottom up, or lines: where a value is not a number of rows but measured, of so many as `counted` says, and a
   * gap (`null`) where there was nothing to measure.
   */
  layers: { name: string; colour: string; values: (number | null)[]; counted?: (number | null)[] }[]
  isMeasured: boolean
  /** What was asked, and the present: the buckets at its ends may be there in part. */
  range: Range
  now: number
  zone: Zone
  title: string
  /** Of the values. */
  unit: string
}

/** Of the plot; the same for bars and lines, so that what is below stays where it is. */
const height = innerWidth > 800 ? 80 : 60
const foot = 16
/** On the right, for the largest number and its unit. */
const gutterOf = (bars: Bars | null) => (bars?.unit ? 60 : 36)

/** Of a severity, or of a number. */
export function barColour(colour: string): string {
  return `var(--bar-${colour}, var(--line-${colour}))`
}

/** @param narrow called with the beginning and the end of what was chosen, in microseconds */
export function histogram(narrow: (from: number, to: number) => void) {
  const plot = drawing('svg', { class: 'bars', height: height + foot, 'aria-hidden': 'true' })
  const said = el('p', { class: 'bars-said', role: 'status' })
  const element = el('div', {
    class: 'histogram',
    role: 'group',
    tabindex: 0,
    'aria-roledescription': 'chart',
  })
  element.append(plot, said)
  let bars: Bars | null = null
  let [active, pressed] = [-1, null as number | null]

  const width = () => Math.max(1, plot.clientWidth - gutterOf(bars))
  const step = () => width() / (bars?.starts.length ?? 1)
  const indexAt = (event: PointerEvent) => {
    const x = event.clientX - plot.getBoundingClientRect().left
    return Math.max(0, Math.min((bars?.starts.length ?? 1) - 1, Math.floor(x / step())))
  }
  const brush = drawing('rect', { class: 'brush', y: 0, width: 0, height })
  const select = (a: number, b: number) => {
    brush.setAttribute('x', String(Math.min(a, b) * step()))
    brush.setAttribute('width', String((Math.abs(a - b) + 1) * step()))
  }
  const point = (index: number) => {
    active = index
    if (!bars) return
    said.textContent = wordsOf(bars, index)
    // Beside the bar, on the side that has more room.
    const isLeft = index < bars.starts.length / 2
    said.style.left = isLeft ? `${(index + 1) * step() + 4}px` : ''
    said.style.right = isLeft ? '' : `${plot.clientWidth - index * step() + 4}px`
    select(pressed ?? index, index)
  }
  const take = (a: number, b: number) => {
    if (!bars) return
    narrow(bars.starts[Math.min(a, b)]!, bars.starts[Math.max(a, b)]! + bars.width)
  }
  plot.addEventListener('pointerdown', event => {
    pressed = indexAt(event)
    plot.setPointerCapture(event.pointerId)
    event.preventDefault()
  })
  plot.addEventListener('pointermove', event => point(indexAt(event)))
  plot.addEventListener('pointerup', event => {
    if (pressed !== null) take(pressed, indexAt(event))
    pressed = null
  })
  plot.addEventListener('pointerleave', () => {
    if (pressed !== null || !bars) return
    said.textContent = ''
    brush.setAttribute('width', '0')
  })
  element.addEventListener('keydown', event => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!bars || (by === undefined && (event.key !== 'Enter' || active < 0))) return
    event.preventDefault()
    if (by === undefined) take(active, active)
    else
      point(
        Math.max(
          0,
          Math.min(bars.starts.length - 1, active < 0 && by < 0 ? bars.starts.length - 1 : active + by),
        ),
      )
  })
  const draw = () => {
    if (!bars) return show(plot)
    element.setAttribute('aria-label', `${bars.title}. Arrow keys read the bars, Enter narrows to one.`)
    show(plot, ...drawn(bars, width()), brush)
    brush.setAttribute('width', '0')
  }
  new ResizeObserver(draw).observe(element)
  return {
    element,
    redraw(zone: Zone) {
      bars &&= { ...bars, zone }
      draw()
    },
    /** @param instead what is said where there are none */
    set(next: Bars | null, instead = '') {
      bars = next
      active = -1
      said.textContent = instead
      said.removeAttribute('style')
      draw()
    },
  }
}

function drawn(bars: Bars, width: number): SVGElement[] {
  const { starts, width: bucket, layers, zone, unit, isMeasured } = bars
  const step = width / starts.length
  const sums = starts.map((_, i) => layers.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const most = Math.max(1e-9, ...(isMeasured ? layers.flatMap(({ values }) => values.map(Number)) : sums))
  const y = (value: number) => height - (value / most) * (height - 4)
  const parts: SVGElement[] = [
    drawing('line', { class: 'base', x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5 }),
    ...(isMeasured ? lines(bars, step, y) : stacked(bars, step, y)),
  ]
  const labels = Math.max(2, Math.floor(width / 180))
  let before = ''
  for (let i = 0; i < labels; i++) {
    const at = Math.floor((i * starts.length) / labels)
    const text = drawing('text', { x: at * step, y: height + 13 })
    const time = shown(starts[at]!, zone)
    text.textContent = labelOf(time, bucket, before)
    before = time
    parts.push(text)
  }
  const onRight = (said: string, y: number) => {
    const text = drawing('text', { x: width + gutterOf(bars) - 2, y, class: 'most' })
    text.textContent = said
    parts.push(text)
  }
  const marked = most <= 1e-8 ? [] : isMeasured ? [most, most / 2] : [most]
  for (const value of marked) onRight(amount(value, unit), Math.max(11, y(value) + 4))
  onRight(zoneName(zone), height + 13)
  return parts
}

function stacked(bars: Bars, step: number, y: (value: number) => number): SVGElement[] {
  return bars.starts.flatMap((start, i) => {
    let top = height
    return bars.layers.flatMap(({ colour, values }) => {
      const value = values[i] ?? 0
      if (value <= 0) return []
      const tall = Math.max(1, height - y(value))
      top -= tall
      const part = missingIn(bars, start) ? ' part' : ''
      const place = { x: i * step + 0.5, y: top, width: Math.max(1, step - 1), height: tall }
      const rect = drawing('rect', { class: `bar-${colour}${part}`, ...place })
      rect.style.setProperty('--bar', barColour(colour))
      return rect
    })
  })
}

/** A line goes from a bucket to the next one only; a value without a neighbour is a point. */
function lines(bars: Bars, step: number, y: (value: number) => number): SVGElement[] {
  const { starts, layers } = bars
  const parts = starts.flatMap((start, i) =>
    missingIn(bars, start)
      ? drawing('rect', { class: 'part-behind', x: i * step, y: 0, width: step, height })
      : [],
  )
  const drawnLines = layers.flatMap(({ colour, values }) => {
    const at = (i: number) => `${((i + 0.5) * step).toFixed(1)},${y(values[i]!).toFixed(1)}`
    const isGap = (i: number) => (values[i] ?? null) === null
    const path = values.map((_, i) => (isGap(i) ? '' : `${isGap(i - 1) ? 'M' : 'L'}${at(i)}`)).join('')
    const line = drawing('path', { class: 'line', d: path })
    const points = values.flatMap((value, i) =>
      value !== null && isGap(i - 1) && isGap(i + 1)
        ? drawing('circle', { cx: (i + 0.5) * step, cy: y(value), r: 2.5 })
        : [],
    )
    for (const each of [line, ...points]) each.style.setProperty('--bar', barColour(colour))
    return [line, ...points]
  })
  return [...parts, ...drawnLines]
}

function missingIn({ width, range, now }: Bars, start: number): string {
  return missingOf(start, start + width, range, now)
}

/** The time of day, with the day where it is another than that of the label before. */
function labelOf(time: string, bucket: number, before: string): string {
  if (bucket >= 8.64e10) return time.slice(0, 10)
  const ofDay = time.slice(11, bucket < 6e7 ? 19 : 16)
  return time.slice(0, 10) === before.slice(0, 10) ? ofDay : `${time.slice(5, 10)} ${ofDay}`
}

function wordsOf(bars: Bars, index: number): string {
  const { starts, width, layers, zone, unit, isMeasured } = bars
  const start = starts[index]!
  const counts = layers.flatMap(({ name, values, counted }) => {
    const value = values[index] ?? null
    if (!counted) return value ? `${amount(value)} ${name}` : []
    const of = layers.length > 1 ? `${name} ` : ''
    return value === null ? [] : `${of}${amount(value, unit)} of ${rowsText(counted[index] ?? 0)}`
  })
  const missing = missingIn(bars, start)
  const time = shown(start, zone).slice(0, width < 1e6 ? 26 : 19)
  return `${time} ${zoneName(zone)}, ${widthText(width)}${missing && ` (${missing})`}: ${counts.join(', ') || (isMeasured ? 'no value' : 'none')}`
}

function drawing<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Record<string, string | number>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, String(value))
  return element
}

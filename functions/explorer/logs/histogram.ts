/** Entries over time as stacked bars: brushed or pressed to narrow the range, read by pointer or arrow keys. */
import { el, show } from '../dom.ts'
import { amount } from '../series.ts'
import { rowsText } from './fields.ts'
import { shown, widthText, type Zone } from './range.ts'

export interface Bars {
  /** Microseconds since 1970 of the beginnings of all buckets. */
  starts: number[]
  width: number
  /**
   * From the bottom up; a value of `null` is a gap, as there was nothing to measure. `counted`: of how many rows a value is,
   * where it is not their number.
   */
  layers: { name: string; colour: string; values: (number | null)[]; counted?: (number | null)[] }[]
  /** The present: the bucket that has it is not finished. */
  now: number
  zone: Zone
  title: string
  /** Of the values. */
  unit: string
}

const [height, foot] = [54, 16]
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
  const brush = drawing('rect', { class: 'brush', y: 0, height, width: 0 })
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
    if (pressed !== null) return
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
    set(next: Bars | null) {
      bars = next
      active = -1
      said.textContent = ''
      draw()
    },
  }
}

function drawn(bars: Bars, width: number): SVGElement[] {
  const { starts, width: bucket, layers, now, zone, unit } = bars
  const step = width / starts.length
  const totals = starts.map((_, i) => layers.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const most = Math.max(1e-9, ...totals)
  const parts: SVGElement[] = [
    drawing('line', { class: 'base', x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5 }),
  ]
  for (const [i, start] of starts.entries()) {
    let top = height
    for (const { colour, values } of layers) {
      const value = values[i] ?? 0
      if (value <= 0) continue
      const tall = Math.max(1, (value / most) * (height - 4))
      top -= tall
      const open = now >= start && now < start + bucket
      const place = { x: i * step + 0.5, y: top, width: Math.max(1, step - 1), height: tall }
      const rect = drawing('rect', { class: `bar-${colour}${open ? ' unfinished' : ''}`, ...place })
      rect.style.setProperty('--bar', barColour(colour))
      parts.push(rect)
    }
  }
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
  const top = drawing('text', { x: width + gutterOf(bars) - 2, y: 11, class: 'most' })
  top.textContent = amount(most, unit)
  parts.push(...(most > 1e-8 ? [top] : []))
  return parts
}

/** The time of day, with the day where it is another than that of the label before. */
function labelOf(time: string, bucket: number, before: string): string {
  if (bucket >= 8.64e10) return time.slice(0, 10)
  const ofDay = time.slice(11, bucket < 6e7 ? 19 : 16)
  return time.slice(0, 10) === before.slice(0, 10) ? ofDay : `${time.slice(5, 10)} ${ofDay}`
}

function wordsOf({ starts, width, layers, now, zone, unit }: Bars, index: number): string {
  const start = starts[index]!
  const counts = layers.flatMap(({ name, values, counted }) => {
    const value = values[index] ?? null
    if (counted) return value === null ? [] : `${amount(value, unit)} of ${rowsText(counted[index] ?? 0)}`
    return value ? `${amount(value)} ${name}` : []
  })
  const open = now >= start && now < start + width ? ' (not finished)' : ''
  const time = shown(start, zone).slice(0, width < 1e6 ? 26 : 19)
  return `${time}, ${widthText(width)}${open}: ${counts.join(', ') || 'none'}`
}

function drawing<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Record<string, string | number>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, String(value))
  return element
}

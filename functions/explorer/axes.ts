/** Where times and values stand in a chart, in pixels, and which of them its axes name. */
import { buckets, missingOf, type Range, shown, widths } from './logs/range.ts'
import { momentAt, offsetAt, type Zone, zoneName } from './logs/zone.ts'

/** What a chart shows: values over time. */
export interface Course {
  /** Microseconds since 1970 of the points, or of the beginnings of their buckets; ascending, at least one. */
  starts: number[]
  /** Of a bucket, in microseconds; `null` where the points are of none. */
  width: number | null
  layers: Layer[]
  /** Beside them, as the period before had it. */
  ghost?: Pick<Layer, 'values' | 'unit'>
  /** Whether the values of a bucket stand on one another; else each layer is a line. */
  isStacked: boolean
  /** What was asked, and the present: the buckets at its ends may be there in part. */
  range: Range
  now: number
}

export interface Layer {
  name: string
  /** Number of a line's colour, or a severity. */
  colour: string
  /** Each has an axis of its own. */
  unit: string
  /** `null` where there is none: no line goes across. */
  values: (number | null)[]
}

export interface Size {
  width: number
  height: number
  /** With an axis on the left; else two values are named on the right. */
  isFull: boolean
}

export interface Geometry {
  /** Of the ground on which the values stand. */
  left: number
  width: number
  height: number
  units: string[]
  x(micros: number): number
  y(value: number, unit: string): number
  /** The bounds of a point's bucket; both the same where it has none. */
  span(index: number): [from: number, to: number]
  /** The point that is at a place of the whole chart. */
  indexAt(x: number): number
  /** Values that the axis of a unit names. */
  ticks(unit: string): number[]
}

/** A time whose unit its name does not say stands without one. */
export const isNamed = (unit: string) => unit !== '' && unit !== 'time'

/** Pixels of an axis. */
export function gutterOf(unit: string, isFull: boolean): number {
  if (isFull) return isNamed(unit) ? 68 : 52
  return isNamed(unit) ? 60 : 36
}

export function geometryOf(course: Course, size: Size): Geometry {
  const { starts, layers } = course
  const { isFull, height } = size
  const units = [...new Set(layers.map(({ unit }) => unit))]
  const gutters = units.map(unit => gutterOf(unit, isFull))
  const left = isFull ? (gutters[0] ?? 0) : 0
  const width = Math.max(1, size.width - gutters.reduce((sum, gutter) => sum + gutter, 0))
  const [from, to] = extentOf(course)
  const x = (micros: number) => left + ((micros - from) / (to - from)) * width
  const span = (index: number): [number, number] => [
    x(starts[index]!),
    x(starts[index]! + (course.width ?? 0)),
  ]
  const middles = starts.map((_, i) => (span(i)[0] + span(i)[1]) / 2)
  const scales = new Map(units.map(unit => [unit, scaleOf(course, unit, isFull)]))
  return {
    left,
    width,
    height,
    units,
    x,
    span,
    y(value, unit) {
      const { low, high } = scales.get(unit)!
      return height - ((value - low) / (high - low)) * height
    },
    indexAt(place) {
      const nearest = Math.min(...middles.map(middle => Math.abs(middle - place)))
      return middles.findIndex(middle => Math.abs(middle - place) === nearest)
    },
    ticks: unit => scales.get(unit)!.ticks,
  }
}

/** All of the range that was asked, and all buckets; around a single time an hour, where it has no width. */
function extentOf({ starts, width, range }: Course): [from: number, to: number] {
  const [first, last] = [starts[0]!, starts.at(-1)! + (width ?? 0)]
  const from = Math.min(first, range.from ?? first)
  const to = Math.max(last, range.to ?? last)
  return from === to ? [from - 1.8e9, to + 1.8e9] : [from, to]
}

/** Counts stand on zero, with a little air above, and have no half ticks. */
function scaleOf({ layers, starts, isStacked, ghost }: Course, unit: string, isFull: boolean) {
  const own = layers.filter(layer => layer.unit === unit)
  const beside = ghost?.unit === unit ? ghost.values : []
  const all = [...own.map(({ values }) => values), beside].flat().filter(value => value !== null)
  const sums = isStacked
    ? starts.map((_, i) => own.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
    : []
  const [low, most] = [Math.min(0, ...all), Math.max(0, ...all, ...sums)]
  const high = most === low ? low + 1 : most + (most - low) * (isFull ? 0.08 : 0.05)
  const isWhole = all.every(Number.isInteger)
  return { low, high, ticks: isFull ? ticksOf(low, high, isWhole) : twoTicksOf(most, isWhole) }
}

/** Two round numbers up to the largest, the higher one first; that one alone where there are no two whole ones. */
function twoTicksOf(most: number, isWhole: boolean): number[] {
  if (most <= 0) return []
  const power = 10 ** Math.floor(Math.log10(most / 2))
  const step = power * [5, 4, 3, 2, 1].find(factor => factor * power <= most / 2)!
  return isWhole && step < 1 ? [most] : [2 * step, step]
}

/** Up to six round numbers from one to the other. @param isWhole leaves out fractions */
export function ticksOf(low: number, high: number, isWhole: boolean): number[] {
  const least = (high - low) / 5
  const power = 10 ** Math.floor(Math.log10(least))
  const round = [1, 2, 5, 10].find(factor => factor * power >= least)! * power
  const step = isWhole ? Math.max(1, round) : round
  const first = Math.ceil(low / step)
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step)
}

/** A time that the axis names. */
export interface Mark {
  x: number
  text: string
}

const day = 8.64e10
/** What is between marks, in microseconds; of four days, too, where few have room. */
const steps = [...widths.map(seconds => seconds * 1e6), 4 * day].toSorted((a, b) => a - b)

/** As wide as a text of the axes may be, in pixels: SVG measures none before it is drawn. */
export function textWidth(text: string): number {
  return text.length * 6.2
}

/** Where texts have to end, and how much of one is behind its mark: all of it, or half. */
interface Room {
  end: number
  share: number
}

/** Round times of the zone: of a day the time of day, with the day where it is another than that of the mark before. */
export function timesOf(
  course: Course,
  { x, width }: Geometry,
  zone: Zone,
  { end, share }: Room = { end: Infinity, share: 0 },
): Mark[] {
  const [from, to] = extentOf(course)
  const room = (step: number) => (step < day ? 100 : 60)
  const round = steps.find(step => (to - from) / step <= Math.max(3, width / room(step)))
  const step = Math.max(round ?? steps.at(-1)!, course.width ?? 0)
  const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: zoneName(zone) })
  const own = course.width ?? 0
  // Of the only bucket that it names, or of its day, it stands in the middle.
  const middle = step === own || own >= day ? own / 2 : 0
  // Buckets begin on round times of UTC, also those that have no point.
  const times = roundTimes(from, to - middle, step, step === own ? 'UTC' : zone)
  const names = times.map(time => days.format((time + middle) / 1000))
  const marks = times.map((time, i) => {
    const ofDay = shown(time, zone).slice(11, step < 6e7 ? 19 : 16)
    const text = step >= day ? names[i]! : names[i] === names[i - 1] ? ofDay : `${ofDay} ${names[i]}`
    return { x: x(time + middle), text }
  })
  return marks.filter(mark => mark.x + textWidth(mark.text) * share <= end)
}

/** As clocks of the zone show them. */
function roundTimes(from: number, to: number, step: number, zone: Zone): number[] {
  const [first, last] = [from + offsetAt(from, zone), to + offsetAt(to, zone)]
  return buckets(first, last + step, step)
    .map(wall => momentAt(wall, zone))
    .filter(time => time >= from && time <= to)
}

/** What is missing of a point's bucket; empty where nothing is. */
export function missingAt({ starts, width, range, now }: Course, index: number): string {
  const start = starts[index]!
  return width === null ? '' : missingOf(start, start + width, range, now)
}

/** The next point that has values, from either end where none is pointed at (-1). */
export function nextWithValues({ starts, layers }: Course, from: number, step: number): number {
  const last = starts.length - 1
  let index = from < 0 ? (step > 0 ? 0 : last) : Math.max(0, Math.min(last, from + step))
  while (index > 0 && index < last && layers.every(({ values }) => (values[index] ?? null) === null))
    index += step
  return index
}

/** A chart over time as it is drawn, in SVG: stacked bars, or lines; read by pointer or arrow keys, and brushed to narrow. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import {
  type Course,
  type Geometry,
  geometryOf,
  gutterOf,
  isNamed,
  type Layer,
  missingAt,
  nextWithValues,
  textWidth,
  type Size,
  timesOf,
} from './axes.ts'
import { type Zone, zoneName } from './logs/zone.ts'

/** Below the ground, for the times. */
const foot = 16

interface Props {
  /** `null` = there is none yet. */
  course: Course | null
  size: Omit<Size, 'width'>
  zone: Zone
  /** What screen readers call it. */
  label: string | undefined
  /** The point that is pointed at; -1 = none. */
  at: Signal<number>
  /** Called with the first and the last point of what was brushed, or pressed. */
  choose(first: number, last: number): void
  class?: string
  hidden?: boolean
  /** What is said of the point, beside it. */
  said?(index: number, place: string): ComponentChildren
}

export function Plot({ course, size, zone, label, at, choose, said, ...rest }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const width = useWidth(place)
  const pressed = useSignal<number | null>(null)
  useEffect(() => void (at.value = -1), [course])
  const index = course && at.value < course.starts.length ? at.value : -1
  const geometry = course && width.value > 0 ? geometryOf(course, { ...size, width: width.value }) : null
  const take = (a: number, b: number) => choose(Math.min(a, b), Math.max(a, b))
  const key = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (
      !course ||
      event.ctrlKey ||
      event.metaKey ||
      (by === undefined && (event.key !== 'Enter' || index < 0))
    )
      return
    event.preventDefault()
    if (by === undefined) take(index, index)
    else at.value = nextWithValues(course, index, by)
  }
  const indexOf = ({ clientX, currentTarget }: TargetedPointerEvent<SVGSVGElement>) =>
    geometry?.indexAt(clientX - currentTarget.getBoundingClientRect().left) ?? -1
  const press = (event: TargetedPointerEvent<SVGSVGElement>) => {
    pressed.value = indexOf(event)
    event.currentTarget.setPointerCapture(event.pointerId)
    event.preventDefault()
  }
  const release = (event: TargetedPointerEvent<SVGSVGElement>) => {
    if (pressed.value !== null && course) take(pressed.value, indexOf(event))
    pressed.value = null
  }
  return (
    <div
      {...rest}
      ref={place}
      role="group"
      tabIndex={0}
      aria-roledescription="chart"
      aria-label={label}
      onKeyDown={key}>
      <svg
        class="bars"
        height={size.height + foot}
        aria-hidden="true"
        onPointerDown={press}
        onPointerMove={event => (at.value = indexOf(event))}
        onPointerUp={release}
        onPointerLeave={() => pressed.value === null && (at.value = -1)}>
        {course && geometry && <Axes course={course} geometry={geometry} isFull={size.isFull} zone={zone} />}
        {course && geometry && <Values course={course} geometry={geometry} />}
        {course?.ghost && geometry && <path class="before" d={pathOf(course.ghost, geometry)} />}
        {geometry && index >= 0 && <Brush geometry={geometry} from={pressed.value ?? index} to={index} />}
      </svg>
      {said?.(index, geometry && index >= 0 ? besideOf(geometry, index, width.value) : '')}
    </div>
  )
}

/** In whole pixels; 0 while it is hidden. */
function useWidth(place: { current: HTMLElement | null }): Signal<number> {
  const width = useSignal(0)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => (width.value = Math.floor(entry!.contentRect.width)))
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return width
}

/** The side of a point that has more room, as a style. */
function besideOf({ span }: Geometry, index: number, width: number): string {
  const [from, to] = span(index)
  return from < width / 2 ? `left: ${to + 4}px` : `right: ${width - from + 4}px`
}

function Brush({ geometry, from, to }: { geometry: Geometry; from: number; to: number }) {
  const [left] = geometry.span(Math.min(from, to))
  const [, right] = geometry.span(Math.max(from, to))
  return <rect class="brush" y={0} height={geometry.height} x={left - 0.5} width={right - left + 1} />
}

interface Drawn {
  course: Course
  geometry: Geometry
}

const numbers = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** The times below, and for each unit its values: in full the first on the left, others on the right. */
function Axes({ course, geometry, isFull, zone }: Drawn & { isFull: boolean; zone: Zone }) {
  const { left, width, height, units } = geometry
  const end = left + width
  const beside = (i: number) => end + units.slice(1, i).reduce((sum, unit) => sum + gutterOf(unit, isFull), 6)
  const corner = end + gutterOf(units[0] ?? '', isFull) - 2
  const times = isFull
    ? timesOf(course, geometry, zone, { end: beside(units.length), share: 0.5 })
    : timesOf(course, geometry, zone, { end: corner - textWidth(shortName(zone)) - 6, share: 1 })
  const places = units.map((unit, i) =>
    !isFull ? { x: corner, class: 'most' } : i === 0 ? { x: left - 6, class: 'most' } : { x: beside(i) },
  )
  return (
    <>
      <rect class="ground" x={left} y={0} width={width} height={height} />
      <line class="base" x1={left} x2={end} y1={height + 0.5} y2={height + 0.5} />
      {times.map(({ x, text }) => (
        <text key={text} x={x} y={height + 13} class={isFull ? 'middle' : undefined}>
          {text}
        </text>
      ))}
      {units.flatMap((unit, i) =>
        geometry.ticks(unit).map(value => {
          const y = geometry.y(value, unit)
          const text = `${(isFull ? numbers : whole).format(value)}${isNamed(unit) ? ` ${unit}` : ''}`
          return (
            <>
              {i === 0 && <line class="base" x1={left} x2={end} y1={y} y2={y} />}
              <text {...places[i]} y={Math.max(11, y + 4)}>
                {text}
              </text>
            </>
          )
        }),
      )}
      {!isFull && (
        <text x={corner} class="most" y={height + 13}>
          {shortName(zone)}
        </text>
      )}
    </>
  )
}

/** As there is room: `Europe/Berlin`, but of `America/Argentina/Buenos_Aires` the last name. */
function shortName(zone: Zone): string {
  const name = zoneName(zone)
  return name.length <= 16 ? name : name.replace(/^.*\//, '').replaceAll('_', ' ')
}

function Values({ course, geometry }: Drawn) {
  if (course.isStacked) return <Stacks course={course} geometry={geometry} />
  return (
    <>
      {course.starts.map((start, i) => {
        const [from, to] = geometry.span(i)
        return (
          missingAt(course, i) !== '' && (
            <rect key={start} class="part-behind" x={from} y={0} width={to - from} height={geometry.height} />
          )
        )
      })}
      {course.layers.map(layer => (
        <Line key={layer.name} layer={layer} geometry={geometry} />
      ))}
    </>
  )
}

function Stacks({ course, geometry }: Drawn) {
  const { span, y, height } = geometry
  return (
    <>
      {course.starts.map((_, i) => {
        let top = height
        const [from, to] = span(i)
        const part = missingAt(course, i) ? ' part' : ''
        return course.layers.map(({ colour, unit, values }) => {
          const value = values[i] ?? 0
          if (value <= 0) return null
          const tall = Math.max(1, height - y(value, unit))
          top -= tall
          const size = { x: from + 0.5, y: top, width: Math.max(1, to - from - 1), height: tall }
          return <rect class={`bar-${colour}${part}`} style={{ '--bar': barColour(colour) }} {...size} />
        })
      })}
    </>
  )
}

/** From a point to the next one only: not across what is not there. */
function pathOf({ values, unit }: Pick<Layer, 'values' | 'unit'>, geometry: Geometry): string {
  const isGap = (i: number) => (values[i] ?? null) === null
  const command = (i: number) =>
    `${isGap(i - 1) ? 'M' : 'L'}${middleOf(geometry, i)},${geometry.y(values[i]!, unit)}`
  return values.map((_, i) => (isGap(i) ? '' : command(i))).join('')
}

function middleOf({ span }: Geometry, index: number): number {
  return (span(index)[0] + span(index)[1]) / 2
}

/** Where there are few points, each is marked, and one without a neighbour always. */
function Line({ layer, geometry }: { layer: Layer; geometry: Geometry }) {
  const { values, unit, colour } = layer
  const isGap = (i: number) => (values[i] ?? null) === null
  const isBare = values.length < 3
  const isSparse = geometry.width / values.length > 14
  const style = { '--bar': barColour(colour) }
  return (
    <>
      {!isBare && <path class="line" d={pathOf(layer, geometry)} style={style} />}
      {values.map((value, i) => {
        const isMarked = value !== null && (isSparse || (isGap(i - 1) && isGap(i + 1)))
        const place = isMarked && { cx: middleOf(geometry, i), cy: geometry.y(value, unit) }
        return place && <circle key={i} {...place} r={isBare ? 5 : 2.5} style={style} />
      })}
    </>
  )
}

/** Of a severity, or of a number. */
export function barColour(colour: string): string {
  return `var(--bar-${colour}, var(--line-${colour}))`
}

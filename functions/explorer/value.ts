/** Values as people read them: as text, in a cell, and a whole row field by field. */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { el } from './dom.ts'

type Nested = Value[] | { [name: string]: Value }
type Scalar = string | number | boolean | null

const micros = { from: Date.UTC(2000) * 1000, to: Date.UTC(2100) * 1000 }

/** TIMESTAMP comes as microseconds since 1970. No count of log entries is as large as those. */
function isMicros(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= micros.from && value < micros.to
}

/** DATE, DATETIME and times in JSON come as text. */
function isTimeText(value: Value | undefined): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?$/.test(value)
}

/** Milliseconds since 1970 UTC, or `null` where the value is no time. */
export function millisOf(value: Value | undefined): number | null {
  if (isMicros(value)) return value / 1000
  if (!isTimeText(value)) return null
  const millis = Date.parse(/T.*[^Z]$/.test(value) ? `${value}Z` : value)
  return Number.isNaN(millis) ? null : millis
}

/** `2026-11-14 12:00:03.671250`, without a fraction where that is zero; `null` where the value is no time of day. */
export function timeText(value: Value): string | null {
  if (typeof value === 'string' && value.length === 10) return null
  const millis = millisOf(value)
  if (millis === null) return null
  const rest = isMicros(value) ? value % 1000 : 0
  const text = new Date(Math.floor(millis)).toISOString().replace('T', ' ').slice(0, -1)
  return rest > 0 ? `${text}${String(rest).padStart(3, '0')}` : text.replace(/\.000$/, '')
}

/** GoogleSQL writes an object in a log entry as a list of one, which reads better as the object. */
export function unwrapped(value: Value): Value {
  return Array.isArray(value) && value.length === 1 && isObject(value[0]) ? value[0] : value
}

function isObject(value: Value | undefined): value is { [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isNested(value: Value | undefined): value is Nested {
  return typeof value === 'object' && value !== null
}

/** The names in a nested value, or the number of its elements. */
export function gist(value: Value): string {
  const inner = unwrapped(value)
  if (Array.isArray(inner)) return inner.length === 0 ? '[]' : `${inner.length} values`
  return isNested(inner) ? `{ ${Object.keys(inner).join(', ')} }` : String(inner)
}

/** A time is readable, and shows the value that was sent on hover. */
export function leaf(value: Scalar): HTMLElement {
  if (value === null) return el('span', { class: 'null' }, 'null')
  const time = timeText(value)
  if (time !== null) return el('time', { title: String(value) }, time)
  return el('span', { class: typeof value === 'string' ? 'text' : typeof value }, String(value))
}

/** One row in full: every field, nested ones folding out, long text uncut. */
export function fieldsOf(row: Row): HTMLElement {
  const entries = Object.entries(row).map(([name, value]) => entry(name, value, true))
  return el('div', { class: 'fields-of-row' }, ...entries)
}

/** The first level is open; deeper ones would bury the rest. */
function entry(name: string, value: Value, open: boolean): HTMLElement {
  const inner = unwrapped(value)
  if (!isNested(inner)) return line(name, leaf(inner))
  if (Array.isArray(inner) && inner.length === 0) return line(name, el('span', {}, '[]'))
  const label = el('span', { class: 'name' }, name)
  const summary = el('summary', {}, label, ' ', el('span', { class: 'gist' }, gist(inner)))
  const fold = el('details', { open }, summary)
  const fill = () => {
    if (fold.open && fold.children.length === 1) fold.append(...childrenOf(inner))
  }
  fold.addEventListener('toggle', fill)
  fill()
  return fold
}

function line(name: string, value: HTMLElement): HTMLElement {
  return el('div', { class: 'entry' }, el('span', { class: 'name' }, name), ' ', value)
}

/** The elements of a list are named by their place, from 1. */
function childrenOf(value: Nested): HTMLElement[] {
  const list = Array.isArray(value)
  return Object.entries(value).map(([name, child]) =>
    entry(list ? `${Number(name) + 1}` : name, child, false),
  )
}

/** Names of the columns, which every row has. */
export function columnsOf(rows: Row[]): string[] {
  return Object.keys(rows[0] ?? {})
}

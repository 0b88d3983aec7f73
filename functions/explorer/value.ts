/** Values as people read them: as text, in a cell, and a whole row field by field. */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { timeText } from '../query/times.ts'
import { el } from './dom.ts'

type Nested = Value[] | { [name: string]: Value }
type Scalar = string | number | boolean | null

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

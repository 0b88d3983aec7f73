/** Values as people read them: as text, in a cell, and a whole row field by field. */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { el } from './dom.ts'
import { timeIn, type Zone, zoneName } from './logs/range.ts'

type Nested = Value[] | { [name: string]: Value }
type Scalar = string | number | boolean | null

/** GoogleSQL writes an object in a log entry as a list of one, which reads better as the object. */
function unwrapped(value: Value): Value {
  return Array.isArray(value) && value.length === 1 && isObject(value[0]) ? value[0] : value
}

function isObject(value: Value | undefined): value is { [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists and objects, which are shown folded; `null` is neither. */
export function isNested(value: Value | undefined): value is Nested {
  return typeof value === 'object' && value !== null
}

/** The names in a nested value, or the number of its elements. */
export function gist(value: Value): string {
  const inner = unwrapped(value)
  if (Array.isArray(inner)) return inner.length === 0 ? '[]' : `${inner.length} values`
  return isNested(inner) ? `{ ${Object.keys(inner).join(', ')} }` : String(inner)
}

/** A time is readable, and shows the value that was sent on hover. @param zone is named beside it; none by default */
export function leaf(value: Scalar, zone?: Zone): HTMLElement {
  if (value === null) return el('span', { class: 'null' }, 'null')
  const time = timeIn(value, zone ?? 'UTC')
  const named = zone && time?.isMoment && el('span', { class: 'zone' }, ` ${zoneName(zone)}`)
  if (time) return el('time', { title: String(value) }, time.text, named)
  return el('span', { class: typeof value === 'string' ? 'text' : typeof value }, String(value))
}

/** A value at its path. Lists of JSON have places in the path, those of a column have none. */
interface Node {
  name: string
  value: Value
  path: string
  isJson: boolean
}

interface Tree {
  /** How many levels are open; deeper ones would bury the rest. */
  depth: number
  /** Of the times. */
  zone: Zone
  /** Whether a column is JSON. */
  isJson?(path: string): boolean
  /** What stands beside a value. */
  acts?(path: string, value: Scalar): HTMLElement
}

/** One row in full: every field, nested ones folding out, long text uncut. */
export function tree(row: Row, options: Tree): HTMLElement[] {
  return childrenOf({ name: '', value: row, path: '', isJson: false }).map(child => nodeOf(child, options, 0))
}

function nodeOf({ value, ...given }: Node, options: Tree, level: number): HTMLElement {
  const { name, path } = given
  const isJson = given.isJson || (options.isJson?.(path) ?? false)
  const inner = isJson ? value : unwrapped(value)
  const label = el('span', { class: 'name', title: path }, name)
  if (!isNested(inner) || Object.keys(inner).length === 0) {
    const text = isNested(inner) ? el('span', { class: 'null' }, '[]') : leaf(inner, options.zone)
    const acts = isNested(inner) ? null : options.acts?.(path, inner)
    return el('div', { class: 'leaf' }, label, el('span', { class: 'value' }, text), acts)
  }
  const summary = el('summary', {}, label, el('span', { class: 'gist' }, gist(inner)))
  const fold = el('details', { open: level < options.depth }, summary)
  const fill = () => {
    if (!fold.open || fold.children.length > 1) return
    const children = childrenOf({ name, value: inner, path, isJson })
    fold.append(...children.map(child => nodeOf(child, options, level + 1)))
  }
  fold.addEventListener('toggle', fill)
  fill()
  return fold
}

/** The elements of a list are named by their place, from 1. A name with a dot has no path. */
function childrenOf({ value, path, isJson }: Node): Node[] {
  if (Array.isArray(value))
    return value.map((child, i) => ({
      name: String(i + 1),
      value: child,
      path: isJson ? `${path}[${i}]` : path,
      isJson,
    }))
  return Object.entries(value as object).map(([name, child]: [string, Value]) => {
    const own = path === '' ? name : `${path}.${name}`
    return { name, value: child, path: name.includes('.') ? '' : own, isJson }
  })
}

/** Names of the columns, which every row has. */
export function columnsOf(rows: Row[]): string[] {
  return Object.keys(rows[0] ?? {})
}

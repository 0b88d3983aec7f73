/** One row in full: every field, nested ones folding out, long text as it is. */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { el } from './dom.ts'
import { gist, isNested, type Scalar, timeText, unwrapped } from './value.ts'

export function detail(row: Row): HTMLElement {
  return el(
    'div',
    { class: 'fields-of-row' },
    ...Object.entries(row).map(([name, value]) => entry(name, value, true)),
  )
}

/** The first level is open; deeper ones would bury the rest. */
function entry(name: string, value: Value, open: boolean): HTMLElement {
  const inner = unwrapped(value)
  if (!isNested(inner)) return line(name, leaf(inner))
  if (Array.isArray(inner) && inner.length === 0) return line(name, el('span', {}, '[]'))
  const summary = el(
    'summary',
    {},
    el('span', { class: 'name' }, name),
    ' ',
    el('span', { class: 'gist' }, gist(inner)),
  )
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

function childrenOf(value: Value[] | { [name: string]: Value }): HTMLElement[] {
  const list = Array.isArray(value) // whose entries are told apart by their place
  return Object.entries(value).map(([name, child]) =>
    entry(list ? `${Number(name) + 1}` : name, child, false),
  )
}

/** A time is readable, and says on hover what was sent. */
export function leaf(value: Scalar): HTMLElement {
  if (value === null) return el('span', { class: 'null' }, 'null')
  const time = timeText(value)
  if (time !== null) return el('time', { title: String(value) }, time)
  return el('span', { class: typeof value === 'string' ? 'text' : typeof value }, String(value))
}

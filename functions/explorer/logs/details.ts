/** One entry, all of it, as a tree beside the rows. */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { copyButton } from '../copy.ts'
import { el } from '../dom.ts'
import { isNested, leaf, unwrapped } from '../value.ts'
import { fieldAt, type Shape } from './shape.ts'
import type { Filter, Scalar } from './state.ts'

export interface Acts {
  filter(filter: Filter): void
  column(path: string): void
  around(): void
  close(): void
  step(by: number): void
}

export function details(entry: Row, shape: Shape, acts: Acts): HTMLElement {
  const close = el(
    'button',
    { type: 'button', onclick: acts.close, 'aria-label': 'Close the entry' },
    'Close',
  )
  const button = (name: string, act: () => void) => el('button', { type: 'button', onclick: act }, name)
  return el(
    'section',
    { class: 'entry-details', 'aria-label': 'Entry', tabindex: -1 },
    el(
      'div',
      { class: 'entry-acts' },
      close,
      button('Newer', () => acts.step(-1)),
      button('Older', () => acts.step(1)),
      button('Entries around', acts.around),
      copyButton('Copy link', () => location.href),
      copyButton('Copy JSON', () => JSON.stringify(entry, null, 2)),
    ),
    el(
      'div',
      { class: 'tree', tabindex: 0, role: 'region', 'aria-label': 'Fields of the entry' },
      ...children(entry, [], shape, acts),
    ),
  )
}

function children(value: Value, path: string[], shape: Shape, acts: Acts): HTMLElement[] {
  const list = Array.isArray(value)
  return Object.entries(value as object).map(([name, child]: [string, Value]) =>
    node(list ? String(Number(name) + 1) : name, child, list ? path : [...path, name], shape, acts),
  )
}

function node(name: string, value: Value, path: string[], shape: Shape, acts: Acts): HTMLElement {
  const inner = unwrapped(value)
  if (isNested(inner) && Object.keys(inner).length > 0) {
    const summary = el('summary', {}, el('span', { class: 'name' }, name))
    return el('details', { open: true }, summary, ...children(inner, path, shape, acts))
  }
  const text = isNested(inner) ? el('span', { class: 'null' }, '[]') : leaf(inner)
  return el(
    'div',
    { class: 'leaf' },
    el('span', { class: 'name' }, name),
    el('span', { class: 'value' }, text),
    isNested(inner) ? null : actsOf(path.join('.'), inner, shape, acts),
  )
}

function actsOf(path: string, value: Scalar, shape: Shape, acts: Acts): HTMLElement {
  const known = fieldAt(shape, path) !== null
  const act = (name: string, label: string, press: () => void) =>
    el(
      'button',
      { type: 'button', title: `${label} ${path}`, 'aria-label': `${label} ${path}`, onclick: press },
      name,
    )
  return el(
    'span',
    { class: 'leaf-acts' },
    known && act('=', 'Filter for', () => acts.filter({ path, operator: '=', value })),
    known && act('≠', 'Filter out', () => acts.filter({ path, operator: '!=', value })),
    known && act('column', 'Column of', () => acts.column(path)),
    copyButton('copy', () => String(value), `Copy ${path}`),
  )
}

/**
 * Rows as a table that stays quick with thousands: only the rows in sight are in the page, between two spacers. A row
 * is one line high, and opens into all its fields.
 */
import type { Row } from '../../shared/engines/engine.ts'
import { type Column, columns } from './columns.ts'
import { detail } from './detail.ts'
import { el } from './dom.ts'

const rowHeight = 34 // as in table.css
const beyond = 12 // rows kept ready above and below

interface Shown {
  line: HTMLTableRowElement
  button: HTMLButtonElement
  more: HTMLTableRowElement | null
}

export function table(rows: Row[], label: string): HTMLElement {
  const layout = columns(rows)
  const span = layout.length + 1
  const [above, below] = [spacer(span), spacer(span)]
  const body = el('tbody', {}, above.row, below.row)
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, el('span', { class: 'unseen' }, 'Open')),
    ...layout.map(({ heading }) => heading),
  )
  const widths = el('colgroup', {}, el('col', { class: 'fold' }), ...layout.map(column))
  const element = el(
    'table',
    { 'aria-rowcount': rows.length + 1, 'aria-label': label },
    widths,
    el('thead', {}, head),
    body,
  )
  element.style.width = `calc(${layout.reduce((sum, { width }) => sum + width, 0)}ch + 2.4rem)`
  const frame = el('div', { class: 'table', role: 'region', 'aria-label': label, tabindex: 0 }, element)

  const shown = new Map<number, Shown>()
  /** Heights of the rows that are open. */
  const open = new Map<number, number>()
  let active = 0

  const topOf = (index: number) => {
    let top = index * rowHeight
    for (const [other, height] of open) if (other < index) top += height
    return top
  }

  function draw(): void {
    const from = Math.max(0, rowAt(frame.scrollTop) - beyond)
    const to = Math.min(rows.length, rowAt(frame.scrollTop + frame.clientHeight) + beyond)
    for (const [index, { line, more }] of shown)
      if (index < from || index >= to) {
        line.remove()
        more?.remove()
        shown.delete(index)
      }
    let next = above.row.nextElementSibling
    for (let index = from; index < to; index++) {
      const known = shown.get(index)
      if (known) next = (known.more ?? known.line).nextElementSibling
      else body.insertBefore(make(index).line, next)
    }
    above.height(topOf(from))
    below.height(topOf(rows.length) - topOf(to))
    for (const index of open.keys()) if (shown.has(index)) unfold(index)
  }

  function rowAt(y: number): number {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (topOf(middle) <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  function make(index: number): Shown {
    const button = el('button', {
      type: 'button',
      tabindex: index === active ? 0 : -1,
      'aria-expanded': String(open.has(index)),
      'aria-label': `Row ${index + 1}, all fields`,
    })
    const cells = layout.map(({ cell }) => cell(rows[index]!))
    const line = el('tr', { 'aria-rowindex': index + 2, class: 'line' }, el('td', {}, button), ...cells)
    line.addEventListener('click', () => {
      if (String(getSelection()) === '') toggle(index)
    })
    const made = { line, button, more: null }
    shown.set(index, made)
    return made
  }

  function toggle(index: number): void {
    if (open.has(index)) fold(index)
    else unfold(index)
    draw()
  }

  function fold(index: number): void {
    const row = shown.get(index)
    open.delete(index)
    row?.more?.remove()
    if (!row) return
    row.more = null
    row.button.setAttribute('aria-expanded', 'false')
  }

  function unfold(index: number): void {
    const row = shown.get(index)!
    if (row.more) return
    const inner = el('div', { class: 'detail' }, detail(rows[index]!))
    row.more = el('tr', { class: 'more' }, el('td', { colspan: span }, inner))
    row.line.after(row.more)
    row.button.setAttribute('aria-expanded', 'true')
    if (!open.has(index)) open.set(index, inner.offsetHeight)
    sizes.observe(inner)
  }

  const sizes = new ResizeObserver(entries => {
    for (const { target } of entries) {
      const index = [...shown].find(([, { more }]) => more?.contains(target))?.[0]
      if (index === undefined) sizes.unobserve(target)
      else open.set(index, (target as HTMLElement).offsetHeight)
    }
    draw()
  })

  /** One stop for Tab; from there, arrows go from row to row. */
  function move(to: number): void {
    active = Math.max(0, Math.min(rows.length - 1, to))
    const top = topOf(active)
    if (top < frame.scrollTop) frame.scrollTop = top
    else if (top + 3 * rowHeight > frame.scrollTop + frame.clientHeight)
      frame.scrollTop = top + 3 * rowHeight - frame.clientHeight
    draw()
    for (const [index, { button }] of shown) button.tabIndex = index === active ? 0 : -1
    shown.get(active)?.button.focus({ preventScroll: true })
  }

  body.addEventListener('keydown', event => {
    if (!(event.target instanceof HTMLButtonElement)) return
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(to)
  })
  body.addEventListener('focusin', ({ target }) => {
    const index = [...shown].find(([, { button }]) => button === target)?.[0]
    if (index !== undefined) active = index
  })
  frame.addEventListener('scroll', draw, { passive: true })
  new ResizeObserver(([entry]) => {
    frame.style.setProperty('--frame', `${entry!.contentRect.width}px`)
    draw()
  }).observe(frame)
  return frame
}

function column({ width }: Column): HTMLElement {
  const col = el('col')
  col.style.width = `${width}ch`
  return col
}

function spacer(span: number) {
  const cell = el('td', { colspan: span })
  return {
    row: el('tr', { class: 'spacer', 'aria-hidden': 'true' }, cell),
    height: (pixels: number) => {
      cell.style.height = `${pixels}px`
    },
  }
}

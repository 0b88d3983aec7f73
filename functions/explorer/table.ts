/**
 * Rows as a table that stays quick with thousands: only the rows in sight are in the page, between two spacers. A row
 * is one line high, and opens into all its fields.
 */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { el } from './dom.ts'
import { timeText } from '../query/times.ts'
import { columnsOf, fieldsOf, gist, isNested, leaf } from './value.ts'

const rowHeight = 34 // as in table.css
const beyond = 12 // rows kept ready above and below

export function table(rows: Row[], label: string): HTMLElement {
  return new Table(rows, label).frame
}

/** A row that is in the page. */
interface Shown {
  line: HTMLTableRowElement
  button: HTMLButtonElement
  /** All fields, where the row is open. */
  more: HTMLTableRowElement | null
}

class Table {
  /** The element that scrolls. */
  readonly frame: HTMLElement
  private readonly rows: Row[]
  private readonly columns: Column[]
  private readonly body: HTMLElement
  private readonly above: HTMLTableRowElement
  private readonly below: HTMLTableRowElement
  private readonly shown = new Map<number, Shown>()
  /** Heights of the open rows' fields, in pixels. */
  private readonly open = new Map<number, number>()
  private readonly sizes = new ResizeObserver(entries => this.resized(entries))
  /** The row that Tab stops at. */
  private active = 0

  constructor(rows: Row[], label: string) {
    this.rows = rows
    this.columns = columns(rows)
    this.above = spacer(this.columns.length + 1)
    this.below = spacer(this.columns.length + 1)
    this.body = el('tbody', {}, this.above, this.below)
    const grid = gridOf(this.columns, this.body, label, rows.length)
    this.frame = el('div', { class: 'table', role: 'region', 'aria-label': label, tabindex: 0 }, grid)
    this.listen()
  }

  private listen(): void {
    this.body.addEventListener('keydown', event => this.step(event))
    this.body.addEventListener('focusin', ({ target }) => {
      this.active = this.indexOf(({ button }) => button === target) ?? this.active
    })
    this.frame.addEventListener('scroll', () => this.draw(), { passive: true })
    new ResizeObserver(([entry]) => {
      this.frame.style.setProperty('--frame', `${entry!.contentRect.width}px`)
      this.draw()
    }).observe(this.frame)
  }

  /** Puts the rows in sight into the page, and takes the others out. */
  private draw(): void {
    const from = Math.max(0, this.rowAt(this.frame.scrollTop) - beyond)
    const to = Math.min(this.rows.length, this.rowAt(this.frame.scrollTop + this.frame.clientHeight) + beyond)
    this.removeOutside(from, to)
    let next = this.above.nextElementSibling
    for (let index = from; index < to; index++) {
      const known = this.shown.get(index)
      if (known) next = (known.more ?? known.line).nextElementSibling
      else this.body.insertBefore(this.add(index).line, next)
    }
    setHeight(this.above, this.topOf(from))
    setHeight(this.below, this.topOf(this.rows.length) - this.topOf(to))
    for (const index of this.open.keys()) if (this.shown.has(index)) this.unfold(index)
  }

  private removeOutside(from: number, to: number): void {
    for (const [index, { line, more }] of this.shown) {
      if (index >= from && index < to) continue
      line.remove()
      more?.remove()
      this.shown.delete(index)
    }
  }

  private add(index: number): Shown {
    const button = el('button', {
      type: 'button',
      tabindex: index === this.active ? 0 : -1,
      'aria-expanded': String(this.open.has(index)),
      'aria-label': `Row ${index + 1}, all fields`,
    })
    const cells = this.columns.map(({ cell }) => cell(this.rows[index]!))
    const line = el('tr', { 'aria-rowindex': index + 2, class: 'line' }, el('td', {}, button), ...cells)
    line.addEventListener('click', () => {
      if (String(getSelection()) === '') this.toggle(index)
    })
    const shown = { line, button, more: null }
    this.shown.set(index, shown)
    return shown
  }

  private toggle(index: number): void {
    if (this.open.has(index)) this.fold(index)
    else this.unfold(index)
    this.draw()
  }

  private fold(index: number): void {
    const row = this.shown.get(index)!
    this.open.delete(index)
    row.more?.remove()
    row.more = null
    row.button.ariaExpanded = 'false'
  }

  private unfold(index: number): void {
    const row = this.shown.get(index)!
    if (row.more) return
    const inner = el('div', { class: 'detail' }, fieldsOf(this.rows[index]!))
    row.more = el('tr', { class: 'more' }, el('td', { colspan: this.columns.length + 1 }, inner))
    row.line.after(row.more)
    row.button.ariaExpanded = 'true'
    if (!this.open.has(index)) this.open.set(index, inner.offsetHeight)
    this.sizes.observe(inner)
  }

  /** Fields that fold out change the height of their row. */
  private resized(entries: ResizeObserverEntry[]): void {
    for (const { target } of entries) {
      const index = this.indexOf(({ more }) => more?.contains(target) ?? false)
      if (index === undefined) this.sizes.unobserve(target)
      else this.open.set(index, (target as HTMLElement).offsetHeight)
    }
    this.draw()
  }

  /** One stop for Tab; from there, arrows go from row to row. */
  private step(event: KeyboardEvent): void {
    if (!(event.target instanceof HTMLButtonElement)) return
    const last = this.rows.length - 1
    const { active } = this
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: last }[event.key]
    if (to === undefined) return
    event.preventDefault()
    this.active = Math.max(0, Math.min(last, to))
    this.scrollTo(this.topOf(this.active))
    this.draw()
    for (const [index, { button }] of this.shown) button.tabIndex = index === this.active ? 0 : -1
    this.shown.get(this.active)?.button.focus({ preventScroll: true })
  }

  private scrollTo(top: number): void {
    const { scrollTop, clientHeight } = this.frame
    this.frame.scrollTop = Math.min(top, Math.max(scrollTop, top + 3 * rowHeight - clientHeight))
  }

  private indexOf(matches: (row: Shown) => boolean): number | undefined {
    return [...this.shown].find(([, row]) => matches(row))?.[0]
  }

  /** In pixels from the first row. */
  private topOf(index: number): number {
    let top = index * rowHeight
    for (const [other, height] of this.open) if (other < index) top += height
    return top
  }

  /** The last row whose top is not below `y`. */
  private rowAt(y: number): number {
    let [low, high] = [0, this.rows.length]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.topOf(middle) <= y) low = middle
      else high = middle - 1
    }
    return low
  }
}

function gridOf(shape: Column[], body: HTMLElement, label: string, rows: number): HTMLElement {
  const open = el('th', { scope: 'col' }, el('span', { class: 'unseen' }, 'Open'))
  const cols = shape.map(({ width }) => sized(el('col'), `${width}ch`))
  const grid = el(
    'table',
    { 'aria-rowcount': rows + 1, 'aria-label': label },
    el('colgroup', {}, el('col', { class: 'fold' }), ...cols),
    el('thead', {}, el('tr', {}, open, ...shape.map(({ heading }) => heading))),
    body,
  )
  return sized(grid, `calc(${shape.reduce((sum, { width }) => sum + width, 0)}ch + 2.4rem)`)
}

function sized(element: HTMLElement, width: string): HTMLElement {
  element.style.width = width
  return element
}

/** Stands for the rows that are out of sight. */
function spacer(span: number): HTMLTableRowElement {
  return el('tr', { class: 'spacer', 'aria-hidden': 'true' }, el('td', { colspan: span }))
}

function setHeight({ cells }: HTMLTableRowElement, pixels: number): void {
  cells[0]!.style.height = `${pixels}px`
}

interface Column {
  heading: HTMLElement
  /** In characters. */
  width: number
  cell(row: Row): HTMLElement
}

/** Widths come from the first rows and then hold, so that the table does not move while it scrolls. */
function columns(rows: Row[]): Column[] {
  const sample = rows.slice(0, 100)
  return columnsOf(rows).map(name => {
    const values = sample.map(row => row[name] ?? null)
    const filled = values.filter(value => value !== null)
    const all = (test: (value: Value) => boolean) => filled.length > 0 && filled.every(test)
    const time = all(value => timeText(value) !== null)
    const number = !time && all(value => typeof value === 'number')
    const longest = Math.max(name.length + (time ? 4 : 0), ...values.map(value => shortText(value).length))
    const zone = time && el('span', { class: 'zone' }, ' UTC')
    return {
      heading: el('th', { scope: 'col', class: number && 'number', title: name }, name, zone),
      width: Math.min(56, Math.max(6, longest)) + 3,
      cell: row => cell(row[name] ?? null, number),
    }
  })
}

function cell(value: Value, number: boolean): HTMLElement {
  const td = el('td', { class: number && 'number' })
  if (isNested(value)) td.append(el('span', { class: 'gist' }, gist(value)))
  else td.append(typeof value === 'string' && timeText(value) === null ? value.slice(0, 300) : leaf(value))
  return td
}

function shortText(value: Value): string {
  return isNested(value) ? gist(value) : (timeText(value) ?? String(value)).slice(0, 60)
}

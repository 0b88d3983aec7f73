/**
 * Rows as a table that stays quick with thousands: a block of rows is filled as it comes near, and the browser leaves out of
 * its work those out of sight. A row is one line high, and opens into all its fields.
 */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { el } from './dom.ts'
import { isTimeColumn, timeText } from '../query/times.ts'
import { columnsOf, gist, isNested, leaf, tree } from './value.ts'

const rowHeight = 34 // as in table.css
const blockOf = 25

/** The columns are those of the first row. @param label what screen readers call the table */
export function table(rows: Row[], label: string): HTMLElement {
  const shape = columns(rows)
  const heads = el(
    'div',
    { class: 'head', role: 'row' },
    el('span', { role: 'columnheader' }, unseen('Open')),
  )
  heads.append(...shape.map(({ heading }) => heading))
  const blocks = Array.from({ length: Math.ceil(rows.length / blockOf) }, () =>
    el('div', { class: 'block', role: 'rowgroup' }),
  )
  const grid = el(
    'div',
    { role: 'table', 'aria-rowcount': rows.length + 1, 'aria-label': label },
    el('div', { class: 'heads', role: 'rowgroup' }, heads),
    ...blocks,
  )
  const widths = shape.map(({ width }) => width)
  grid.style.width = `calc(${widths.reduce((sum, width) => sum + width, 0)}ch + 2.4rem)`
  const tracks = shape.map(({ width, grows }) => (grows ? `minmax(0, ${width}fr)` : `${width}ch`))
  grid.style.setProperty('--columns', `2.4rem ${tracks.join(' ')}`)
  const frame = el('div', { class: 'table', role: 'region', 'aria-label': label, tabindex: 0 }, grid)
  /** Of the rows that are in the page. */
  const buttons = new Map<number, HTMLElement>()
  /** The row that Tab stops at; from there, arrows go from row to row. */
  let active = 0

  const near = new IntersectionObserver(
    seen => {
      for (const { isIntersecting, target } of seen)
        if (isIntersecting) fill(blocks.indexOf(target as HTMLDivElement))
    },
    { root: frame, rootMargin: '600px' },
  )
  for (const [i, block] of blocks.entries()) {
    block.style.height = `${rowHeight * Math.min(blockOf, rows.length - i * blockOf)}px`
    near.observe(block)
  }
  if (rows.length > 0) fill(0) // with the table itself, not a frame later

  function fill(i: number): void {
    const block = blocks[i]!
    near.unobserve(block)
    if (block.childElementCount > 0) return
    block.style.height = ''
    const first = i * blockOf
    block.append(...rows.slice(first, first + blockOf).map((row, j) => line(row, first + j)))
  }

  function line(row: Row, index: number): HTMLElement {
    const open = el('button', {
      type: 'button',
      tabindex: index === active ? 0 : -1,
      'aria-expanded': 'false',
      'aria-label': `Row ${index + 1}, all fields`,
    })
    buttons.set(index, open)
    const cells = [el('span', { role: 'cell' }, open), ...shape.map(({ cell }) => cell(row))]
    const made = el('div', { class: 'line', role: 'row', 'aria-rowindex': index + 2 }, ...cells)
    let more: HTMLElement | null = null
    made.addEventListener('click', () => {
      if (String(getSelection()) !== '') return
      if (more) more.remove()
      const fields = more
        ? null
        : el(
            'div',
            { role: 'row' },
            el('div', { class: 'detail tree', role: 'cell' }, ...tree(row, { depth: 1, zone: 'UTC' })),
          )
      if (fields) made.after(fields)
      more = fields
      open.ariaExpanded = String(more !== null)
    })
    return made
  }

  grid.addEventListener('focusin', ({ target }) => {
    active = [...buttons].find(([, button]) => button === target)?.[0] ?? active
  })
  grid.addEventListener('keydown', event => {
    if (!(event.target instanceof HTMLButtonElement)) return
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(rows.length - 1, to))
    fill(Math.floor(next / blockOf))
    buttons.get(active)!.tabIndex = -1
    buttons.get(next)!.tabIndex = 0
    buttons.get(next)!.focus()
  })
  return frame
}

function unseen(text: string): HTMLElement {
  return el('span', { class: 'unseen' }, text)
}

interface Column {
  heading: HTMLElement
  /** In characters. */
  width: number
  /** Texts take the room that is left, so that numbers stand beside what they belong to. */
  grows: boolean
  cell(row: Row): HTMLElement
}

/** Widths come from the first rows and then hold, so that the table does not move while it scrolls. */
function columns(rows: Row[]): Column[] {
  const sample = rows.slice(0, 100)
  return columnsOf(rows).map(name => {
    const values = sample.map(row => row[name] ?? null)
    const filled = values.filter(value => value !== null)
    const all = (test: (value: Value) => boolean) => filled.length > 0 && filled.every(test)
    const time = isTimeColumn(sample, name)
    const number = !time && all(value => typeof value === 'number')
    const longest = Math.max(
      name.length + (time?.isMoment ? 4 : 0),
      ...values.map(value => shortText(value).length),
    )
    const zone = time?.isMoment && el('span', { class: 'zone' }, ' UTC')
    return {
      heading: el('span', { role: 'columnheader', class: number && 'number', title: name }, name, zone),
      width: Math.min(56, Math.max(6, longest)) + 3,
      grows: !time && !number,
      cell: row => cell(row[name] ?? null, number),
    }
  })
}

function cell(value: Value, number: boolean): HTMLElement {
  const isText = typeof value === 'string' && timeText(value) === null
  const shown = isNested(value)
    ? el('span', { class: 'gist' }, gist(value))
    : isText
      ? value.slice(0, 300)
      : leaf(value)
  return el('span', { role: 'cell', class: number && 'number' }, shown)
}

function shortText(value: Value): string {
  return isNested(value) ? gist(value) : (timeText(value) ?? String(value)).slice(0, 60)
}

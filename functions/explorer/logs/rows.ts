/**
 * The rows of the logs view, in blocks. The browser leaves out of its work the blocks that are out of sight
 * (`content-visibility`), so that ten thousand rows stay smooth, wrapped or not.
 */
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { button, el, show } from '../dom.ts'
import { keep, kept } from '../kept.ts'
import { gist, isNested } from '../value.ts'
import { shown, timeIn, type Zone, zoneName } from './range.ts'
import { nameOf, type Shape, tableColumn } from './shape.ts'
import { columnNames, type Entry } from './sql.ts'
import { severityIn } from './values.ts'

export interface Column {
  /** The name in a row. */
  name: string
  /** For sorting and for keeping its width. */
  path: string
  kind: 'time' | 'table' | 'severity' | 'message' | 'value'
  title: string
  /** Whether its values are times, whose zone the heading names. */
  isMoment?: boolean
}

interface Setup {
  columns: Column[]
  zone: Zone
  sort: { path: string; ascending: boolean }
  /** Under what name widths are kept. */
  place: string
}

interface Events {
  open(row: Row): void
  sort(path: string): void
  remove(path: string): void
  /** The end is in sight. */
  more(): void
  /** There are more rows than before, or fewer. */
  grown(): void
}

/** Names a row, as the state and the address have it: its time, of all tables its own one, and its id. */
export function keyOf(row: Row, shape: Shape): string {
  const { time, table, id } = entryOf(row, shape)
  return [time, ...(shape.parts ? [table] : []), id].join()
}

/** @returns microseconds since 1970, the table, and the id, which is empty where there is none */
export function entryOf(row: Row, shape: Shape): Entry {
  const table = shape.parts ? gist(row[tableColumn] ?? '') : shape.table
  return { time: timeOf(row, shape), table, id: shape.id ? gist(row[nameOf(shape.id)] ?? '') : '' }
}

/** @param key as `keyOf` makes it */
export function entryNamed(key: string, { table, parts }: Shape): Entry {
  const [time, own, id] = (parts ? /^(.*?),(.*?),(.*)$/s : /^(.*?),()(.*)$/s).exec(key)?.slice(1) ?? []
  return { time: Number(time), table: own || table, id: id ?? '' }
}

/** Microseconds since 1970. */
export function timeOf(row: Row, { time }: Shape): number {
  return Number(row[nameOf(time)])
}

/** The columns of the rows that `rowsSql` asks for, without the id. @param paths of the chosen ones */
export function columnsOf(shape: Shape, paths: string[]): Column[] {
  const { time, message, severity, parts } = shape
  const level = severity?.type === 'INT64' ? 'Status' : 'Level'
  return [
    { name: nameOf(time), path: time.path, kind: 'time', title: 'Time', isMoment: true },
    ...(parts ? [{ name: tableColumn, path: tableColumn, kind: 'table', title: 'Table' } as const] : []),
    ...(severity ? [{ name: 'severity', path: severity.path, kind: 'severity', title: level } as const] : []),
    { name: nameOf(message), path: message.path, kind: 'message', title: 'Message' },
    ...columnNames(shape, paths).map(
      ([{ path, type }, name]) =>
        ({ name, path, kind: 'value', title: name, isMoment: type === 'TIMESTAMP' }) as const,
    ),
  ]
}

/** Pixels by path, as this device keeps them. */
function widthsOf({ place }: Setup): Record<string, number> {
  return (kept(`widths ${place}`) as Record<string, number> | null) ?? {}
}

const widths = { time: '17.5em', table: '12.2em', severity: '6.3em', message: '9em', value: '11em' }

/** Where there is little room, the names of tables give way to the messages. */
const leastWidths = { ...widths, table: '7em' }

/** Rows of a block: few, as a block that comes into sight is laid out within a frame. */
const blockOf = 50

/** Rows stand in the order in which they are given: the caller sorts, and appends when `more` is called. */
export function rowList(events: Events) {
  const head = el('div', { class: 'row head', role: 'row', hidden: true })
  const body = el('div', { class: 'blocks', role: 'presentation' })
  const end = el('p', { class: 'rows-end' })
  const grid = el('div', { role: 'grid', 'aria-label': 'Log entries', class: 'grid' })
  grid.append(el('div', { role: 'rowgroup', class: 'heads' }, head), body)
  const element = el('div', { class: 'rows', tabindex: -1 }, grid, end)
  let setup: Setup = { columns: [], zone: 'UTC', sort: { path: '', ascending: false }, place: '' }
  let rows: Row[] = []
  const lines = new Map<Row, HTMLElement>()
  let active: Row | null = null

  const watch = new IntersectionObserver(seen => seen.at(-1)!.isIntersecting && events.more(), {
    root: element,
    rootMargin: '600px',
  })
  watch.observe(end)

  const blocks = (added: Row[], isNew = false) =>
    Array.from({ length: Math.ceil(added.length / blockOf) }, (_, i) => {
      const own = added.slice(i * blockOf, (i + 1) * blockOf)
      return el('div', { class: 'block', role: 'rowgroup' }, ...own.map(row => line(row, isNew)))
    })

  function line(row: Row, isNew: boolean): HTMLElement {
    const cells = setup.columns.map(column => cell(row[column.name] ?? null, column, setup.zone))
    const made = el('div', { class: `row${isNew ? ' new' : ''}`, role: 'row', tabindex: -1 }, ...cells)
    made.addEventListener('click', () => {
      if (String(getSelection()) !== '') return
      select(row)
      events.open(row)
    })
    lines.set(row, made)
    return made
  }

  function select(row: Row | null): void {
    for (const marked of body.querySelectorAll<HTMLElement>('[aria-selected]')) {
      marked.removeAttribute('aria-selected')
      marked.tabIndex = -1
    }
    active = row
    markNeighbours()
    const made = row && lines.get(row)
    if (!made) return
    made.ariaSelected = 'true'
    made.tabIndex = 0
  }

  /** Among all tables, those before and behind the active row in its own one say so. */
  function markNeighbours(): void {
    for (const old of body.querySelectorAll('.neighbour')) old.remove()
    const { columns, sort } = setup
    if (!active || sort.path !== '' || columns.every(({ kind }) => kind !== 'table')) return
    const [at, own] = [rows.indexOf(active), active[tableColumn]]
    const isOwn = (row: Row) => row[tableColumn] === own
    const beside = [rows.slice(0, at).findLast(isOwn), rows.slice(at + 1).find(isOwn)]
    for (const [i, row] of beside.entries()) {
      const words = (i === 1) === sort.ascending ? 'after' : 'before'
      const cell = row && lines.get(row)!.querySelector('.cell-message')
      const title = `The entry ${words} it in ${gist(own ?? '')}`
      cell?.prepend(el('span', { class: 'neighbour', title }, `${words}, same table`))
    }
  }

  function place(): void {
    const own = widthsOf(setup)
    const sizes = setup.columns.map(({ path, kind }) => (own[path] ? `${own[path]}px` : leastWidths[kind]))
    const shares = sizes.map((size, i) => {
      const { kind, path } = setup.columns[i]!
      return `minmax(${size}, ${kind === 'message' ? '1fr' : own[path] ? size : widths[kind]})`
    })
    grid.style.setProperty('--columns', shares.join(' '))
    grid.style.setProperty('--least', sizes.length > 0 ? `calc(${sizes.join(' + ')})` : '0px')
    head.hidden = rows.length === 0 // above no rows it says nothing
    show(head, ...setup.columns.map(column => heading(column, setup, events, place)))
  }

  return {
    element,
    all: () => rows,
    active: () => (body.inert ? null : active),
    /** Rows that answer another question than the one asked now: they can be read, and not be opened. */
    setOld: (old: boolean) => (body.inert = old),
    select,
    set(next: Row[], with_: Setup) {
      setup = with_
      rows = next
      lines.clear()
      active = null
      place()
      show(body, ...blocks(next))
      const first = next[0] && lines.get(next[0])
      if (first) first.tabIndex = 0
      element.scrollTop = 0
      this.rewatch()
    },
    append(next: Row[]) {
      rows = [...rows, ...next]
      body.append(...blocks(next))
      markNeighbours()
      events.grown()
      this.rewatch()
    },
    prepend(next: Row[]) {
      rows = [...next, ...rows]
      body.prepend(...blocks(next, true))
      markNeighbours()
      events.grown()
    },
    /** Takes the last rows away that are out. @returns how many */
    shorten(isOut: (row: Row) => boolean): number {
      const gone = rows.slice(rows.findLastIndex(row => !isOut(row)) + 1)
      rows = rows.slice(0, rows.length - gone.length)
      for (const row of gone) {
        lines.get(row)!.remove()
        lines.delete(row)
      }
      while (body.lastElementChild?.childElementCount === 0) body.lastElementChild.remove()
      if (active && !lines.has(active)) select(null)
      events.grown()
      return gone.length
    },
    /** The observer speaks only of changes; after a page the end may still be in sight. */
    rewatch() {
      watch.unobserve(end)
      watch.observe(end)
    },
    end: (text: string) => (end.textContent = text),
    /** The row beside the active one. */
    next: (by: 1 | -1) => (active && !body.inert ? (rows[rows.indexOf(active) + by] ?? null) : null),
    /** Moves by one row, and shows the row. @returns it */
    move(by: 1 | -1): Row | null {
      const next = active ? this.next(by) : rows.at(by > 0 ? 0 : -1)
      if (!next || body.inert) return null
      select(next)
      this.reveal(next)
      return next
    },
    reveal(row: Row) {
      const made = lines.get(row)
      made?.scrollIntoView({ block: 'nearest' })
      made?.focus({ preventScroll: true })
    },
  }
}

function cell(value: Value, { kind, title }: Column, zone: Zone): HTMLElement {
  const severity = kind === 'severity' ? ` severity-${severityIn(value)}` : ''
  const text = kind === 'time' ? shown(Number(value), zone) : textOf(value, zone)
  // Its name stands before it where there are no headings.
  const named = kind === 'value' && { 'data-name': `${title} ` }
  return el('span', { role: 'gridcell', class: `cell cell-${kind}${severity}`, ...named }, text)
}

function textOf(value: Value, zone: Zone): string {
  if (value === null) return ''
  return isNested(value) ? gist(value) : (timeIn(value, zone)?.text ?? gist(value))
}

/** A press sorts, a drag of the edge widens. */
function heading(column: Column, setup: Setup, events: Events, changed: () => void): HTMLElement {
  const { path, kind, name } = column
  const sorted = setup.sort.path === path || (setup.sort.path === '' && kind === 'time')
  const title = column.isMoment ? `${column.title} (${zoneName(setup.zone)})` : column.title
  const sortable = kind === 'time' || kind === 'value'
  const arrow = sorted ? (setup.sort.ascending ? ' ↑' : ' ↓') : ''
  const sort = () => events.sort(kind === 'time' ? '' : path)
  const inner = sortable
    ? button([el('span', {}, title), arrow], sort, { title: path })
    : el('span', {}, title)
  const remove = { class: 'remove', 'aria-label': `Remove the column ${name}` }
  const sortedBy = sorted && (setup.sort.ascending ? 'ascending' : 'descending')
  const grip = el('i', { class: 'grip', 'aria-hidden': 'true' })
  const keepWidth = (width: number) => {
    keep(`widths ${setup.place}`, { ...widthsOf(setup), [path]: width })
    changed()
  }
  grip.addEventListener('pointerdown', event => drag(event, part, keepWidth))
  const part = el(
    'span',
    { role: 'columnheader', class: `cell cell-${kind}`, 'aria-sort': sortedBy },
    inner,
    kind === 'value' && button('×', () => events.remove(path), remove),
    kind !== 'message' && grip,
  )
  return part
}

/** Widens a heading with the pointer; this device keeps the width. */
function drag(event: PointerEvent, part: HTMLElement, keepWidth: (width: number) => void): void {
  event.preventDefault()
  const [from, before] = [event.clientX, part.offsetWidth]
  const grip = event.currentTarget as HTMLElement
  grip.setPointerCapture(event.pointerId)
  const width = ({ clientX }: PointerEvent) => Math.max(48, Math.round(before + clientX - from))
  const done = (up: PointerEvent) => keepWidth(width(up))
  grip.addEventListener('pointermove', over => (part.style.width = `${width(over)}px`))
  grip.addEventListener('pointerup', done, { once: true })
}

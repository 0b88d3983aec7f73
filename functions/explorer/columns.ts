/** The columns of a table: how wide each is, how its values are aligned, and what a cell shows. */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { leaf } from './detail.ts'
import { el } from './dom.ts'
import { columnsOf, gist, isNested, timeText } from './value.ts'

export interface Column {
  heading: HTMLElement
  /** In characters. */
  width: number
  cell(row: Row): HTMLElement
}

/** Widths are guessed from the first rows, and then hold: a table that scrolls must not twitch. */
export function columns(rows: Row[]): Column[] {
  const sample = rows.slice(0, 100)
  return columnsOf(rows).map(name => {
    const values = sample.map(row => row[name] ?? null)
    const filled = values.filter(value => value !== null)
    const time = filled.length > 0 && filled.every(value => timeText(value) !== null)
    const number = !time && filled.length > 0 && filled.every(value => typeof value === 'number')
    const longest = Math.max(name.length + (time ? 4 : 0), ...values.map(value => shortText(value).length))
    const width = Math.min(56, Math.max(6, longest)) + 3
    const zone = time && el('span', { class: 'zone' }, ' UTC')
    return {
      heading: el('th', { scope: 'col', class: number && 'number', title: name }, name, zone),
      width,
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

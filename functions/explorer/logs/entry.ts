/** One entry beside the rows: read in full, entries around it, and the next one. */
import { el, show } from '../dom.ts'
import { failure } from '../results.ts'
import { ServiceError } from '../service.ts'
import type { Current } from './current.ts'
import { details } from './details.ts'
import { latest } from './latest.ts'
import { iso } from './range.ts'
import { entryNamed, keyOf, type rowList } from './rows.ts'
import { tableColumn } from './shape.ts'
import { entrySql, rowsSql } from './sql.ts'
import { initial } from './state.ts'

/** What neither rows around an entry nor those with one of its values keep. */
const { filters, severity, sort, ascending } = initial
const plain = { filters, severity, sort, ascending }

/** Around an entry, in microseconds: as near as there is an entry before it. */
const surroundings = [3e8, 3.6e9, 8.64e10, 6.048e11]

/** @param values shows the values of a field, with their counts */
export function entryPanel(view: Current, list: ReturnType<typeof rowList>, values: (path: string) => void) {
  const element = el('aside', { class: 'beside-rows', hidden: true })
  const run = latest()
  /** Which entry it shows, redacted or not. */
  let shown = ''

  function close(): void {
    shown = ''
    show(element)
    element.hidden = true
  }

  /** Shows the state's entry, and marks its row; closes where there is none. */
  function showEntry(): void {
    const { row: wanted } = view.state
    const row = list.all().find(other => keyOf(other, view.shape()) === wanted) ?? null
    list.select(row)
    if (wanted === '') return close()
    open()
    if (row) list.reveal(row)
  }

  function open(): void {
    const { table, row, redact } = view.state
    element.hidden = false
    const wanted = `${table} ${row} ${redact}`
    if (wanted === shown) return
    shown = wanted
    element.inert = true // the last entry, until this one is there
    const { time, id, table: own } = entryNamed(row, view.shape())
    const shape = view.shape(own)
    const acts = {
      filter: view.filter,
      column: view.column,
      values,
      everywhere: view.everywhere && ((search: string) => view.everywhere!({ ...plain, search })),
      step: (towards: 'newer' | 'older') => step((towards === 'older') === view.state.ascending ? -1 : 1),
      around: () => around(time),
      close: () => view.change({ row: '' }),
    }
    void run(async signal => {
      const sql = entrySql(shape, { time, id })
      const { rows } = await view.query(sql, signal, { within: { from: null, to: null } })
      element.inert = false
      const gone = el('p', { class: 'hint' }, 'This entry is not there any more.')
      const source = view.shape().parts && { [tableColumn]: own }
      show(element, rows[0] ? details({ ...source, ...rows[0] }, shape, acts) : gone)
    }, fail)
  }

  /** What was logged before and after, without filters, the entry still open. */
  function around(time: number): void {
    void run(async signal => {
      for (const width of surroundings) {
        const within = { from: time - width, to: time + 1 }
        const { rows } = await view.query(rowsSql(initial, view.shape(), within, 2), signal, { within })
        if (rows.length < 2 && width !== surroundings.at(-1)) continue
        const { row } = view.state
        return view.change({ ...plain, from: iso(time - width), to: iso(time + width), search: '', row })
      }
    }, fail)
  }

  /** Moves by so many rows; the entry follows where it is open. */
  function step(by: number): void {
    const row = list.move(by)
    if (row && view.state.row !== '') view.change({ row: keyOf(row, view.shape()) })
  }

  function openActive(): void {
    const row = list.active()
    if (row) view.change({ row: keyOf(row, view.shape()) })
  }

  function fail(error: unknown): void {
    shown = ''
    if (error instanceof DOMException) return
    if (!(error instanceof ServiceError)) throw error
    element.inert = false
    show(element, failure(error, []))
  }

  return { element, show: showEntry, step, openActive, close, stop: run.stop }
}

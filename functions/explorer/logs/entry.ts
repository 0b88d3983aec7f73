/** One entry beside the rows: read in full, entries around it, and the next one. */
import type { Row } from '../../../shared/engines/engine.ts'
import { copyButton } from '../copy.ts'
import { button, el, show } from '../dom.ts'
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
  const newer = button('Newer', () => step(stepTo('newer')))
  const older = button('Older', () => step(stepTo('older')))
  const json = copyButton('Copy JSON', () => JSON.stringify(entry, null, 2))
  const acts = el(
    'div',
    { class: 'entry-acts' },
    button('Close', () => view.change({ row: '' }), { 'aria-label': 'Close the entry' }),
    newer,
    older,
    button('Entries around', around),
    copyButton('Copy link', () => location.href),
    json,
  )
  const place = el('div', {})
  const element = el('aside', { class: 'beside-rows', 'aria-label': 'Entry', hidden: true }, acts, place)
  const run = latest()
  /** Which entry it shows, redacted or not. */
  let shown = ''
  /** What it shows, once it is read. */
  let entry: Row | null = null

  function close(): void {
    shown = ''
    show(place)
    element.hidden = true
  }

  /** Shows the state's entry, and marks its row; closes where there is none, and the row stays the one to go on from. */
  function showEntry(): void {
    const { row: wanted } = view.state
    if (wanted === '') return close()
    const row = list.all().find(other => keyOf(other, view.shape()) === wanted) ?? null
    list.select(row)
    limit()
    open()
    if (row) list.reveal(row)
  }

  /** There is no next one at the ends of the rows, nor of an entry that is not among them. */
  function limit(): void {
    newer.disabled = !list.next(stepTo('newer'))
    older.disabled = !list.next(stepTo('older'))
  }

  function stepTo(towards: 'newer' | 'older'): 1 | -1 {
    return (towards === 'older') === view.state.ascending ? -1 : 1
  }

  function open(): void {
    const { table, row, redact } = view.state
    element.hidden = false
    const wanted = `${table} ${row} ${redact}`
    if (wanted === shown) return
    shown = wanted
    place.inert = json.disabled = true // the last entry, until this one is there
    const { time, id, table: own } = entryNamed(row, view.shape())
    const shape = view.shape(own)
    const uses = {
      filter: view.filter,
      column: view.column,
      values,
      everywhere: view.everywhere && ((search: string) => view.everywhere!({ ...plain, search })),
    }
    void run(async signal => {
      const sql = entrySql(shape, { time, id })
      const { rows, redacted } = await view.query(sql, signal, { within: { from: null, to: null } })
      place.inert = false
      const gone = el('p', { class: 'hint' }, 'This entry is not there any more.')
      const source = view.shape().parts && { [tableColumn]: own }
      entry = rows[0] ? { ...source, ...rows[0] } : null
      json.disabled = entry === null
      show(place, entry ? details(entry, shape, { ...uses, redacted }) : gone)
    }, fail)
  }

  /** What was logged before and after, without filters, the entry still open. */
  function around(): void {
    const { time } = entryNamed(view.state.row, view.shape())
    if (place.inert) shown = '' // it is read again
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

  /** Moves by one row; the entry follows where it is open. */
  function step(by: 1 | -1): void {
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
    place.inert = false
    show(place, failure(error, []))
  }

  return { element, show: showEntry, limit, step, openActive, close, stop: run.stop }
}

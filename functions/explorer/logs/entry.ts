/** One entry beside the rows: read in full, entries around it, and the next one. */
import type { Row } from '../../../shared/engines/engine.ts'
import { copyButton } from '../copy.ts'
import { button, el, show } from '../dom.ts'
import { failure } from '../results.ts'
import { now, ServiceError } from '../service.ts'
import type { Current } from './current.ts'
import { details, narrow } from './details.ts'
import { latest } from './latest.ts'
import { writtenOf } from './range.ts'
import { entryNamed, entryOf, keyOf, type rowList, timeOf } from './rows.ts'
import { type Shape, tableColumn } from './shape.ts'
import { entrySql, rowsSql } from './sql.ts'
import { type Filter, initial } from './state.ts'

/** What neither rows around an entry nor those with one of its values keep. */
const { filters, severity, sort, ascending } = initial
const plain = { filters, severity, sort, ascending }

/** Before an entry and behind it, in microseconds: as near as there is another one of its table. */
const surroundings = [3e8, 3.6e9, 8.64e10, 6.048e11]

/** As many on each side are a page with it. */
const nearby = 48

interface Acts {
  /** Shows the values of a field, with their counts. */
  values(path: string): void
  /** Says something of the rows, until there are others. */
  tell(text: string): void
}

export function entryPanel(view: Current, list: ReturnType<typeof rowList>, { values, tell }: Acts) {
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
  const find = el('input', {
    type: 'search',
    placeholder: 'Find in this entry',
    'aria-label': 'Find in this entry',
    oninput: () => narrow(place, find.value),
  })
  acts.append(find)
  const place = el('div', {})
  const element = el('aside', { class: 'beside-rows', 'aria-label': 'Entry', hidden: true }, acts, place)
  const run = latest()
  /** Which entry it shows, redacted or not. */
  let shown = ''
  /** What it shows, once it is read. */
  let entry: Row | null = null

  function close(): void {
    shown = find.value = ''
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
    const { table, row, redact, zone } = view.state
    element.hidden = false
    const wanted = `${table} ${row} ${redact} ${zone}`
    if (wanted === shown) return
    shown = wanted
    place.inert = json.disabled = true // the last entry, until this one is there
    const { time, id, table: own } = entryNamed(row, view.shape())
    const shape = view.shape(own)
    const uses = {
      filter: view.filter,
      column: view.column,
      values,
      everywhere: (search: string) =>
        view.everywhere
          ? view.everywhere({ ...plain, search })
          : view.change({ ...plain, search, scope: 'entry' }),
      where: view.everywhere ? 'in all tables' : 'in any field',
    }
    void run(async signal => {
      const sql = entrySql(shape, { time, id })
      const { rows, redacted } = await view.query(sql, signal, { within: { from: null, to: null } })
      place.inert = false
      const gone = el('p', { class: 'hint' }, 'This entry is not there any more.')
      const source = view.shape().parts && { [tableColumn]: own }
      entry = rows[0] ? { ...source, ...rows[0] } : null
      json.disabled = entry === null
      show(place, entry ? details(entry, shape, { ...uses, redacted, zone: view.state.zone }) : gone)
      narrow(place, find.value)
    }, fail)
  }

  /**
   * What was logged before and after, without filters, the entry still open: of its table alone where too many of others stand
   * between it and its neighbours.
   */
  function around(): void {
    const { row, search, filters: before, severity: chosen } = view.state
    const isNarrowed = search !== '' || before.length > 0 || chosen.length > 0
    const { table } = entryNamed(row, view.shape())
    if (place.inert) shown = '' // it is read again
    void run(async signal => {
      const bounds = (shape: Shape) =>
        Promise.all([false, true].map(ascending => reach(ascending, shape, signal)))
      const all = await bounds(view.shape())
      const isAll = !all.includes(null)
      const [from, to] = (isAll ? all : await bounds(view.shape(table))) as [number, number]
      const filters: Filter[] = isAll ? [] : [{ path: tableColumn, operator: '=', value: table }]
      view.change({ ...plain, filters, ...writtenOf({ from, to }), search: '', row })
      if (isAll && isNarrowed) tell('These are all entries around it, without the search and the filters.')
      if (!isAll)
        tell(`Many entries of other tables stand between it and its neighbours: these are of ${table}.`)
    }, fail)
  }

  /**
   * @returns a bound of the range that has the next entry of the same table; `null` where too many of others come before that
   */
  async function reach(ascending: boolean, shape: Shape, signal: AbortSignal): Promise<number | null> {
    const entry = entryNamed(view.state.row, view.shape())
    const isOther = (row: Row) => {
      const { time, id, table } = entryOf(row, shape)
      return table === entry.table && (time !== entry.time || id !== entry.id)
    }
    const minute = (time: number) => Math.floor(time / 6e7) * 6e7
    for (const width of surroundings) {
      const end = minute(Math.max(entry.time, Math.min(entry.time + width, now()))) + 6e7
      const within = ascending
        ? { from: entry.time, to: end }
        : { from: minute(entry.time - width), to: entry.time + 1 }
      const sql = rowsSql({ ...initial, ascending }, shape, within, nearby, entry.id ? entry : null)
      const { rows } = await view.query(sql, signal, { within })
      const isCut = rows.length === nearby
      const isFound = rows.some(isOther)
      if (isCut) return isFound ? timeOf(rows.at(-1)!, shape) + Number(ascending) : null
      const isLast = width === surroundings.at(-1) || (ascending && end > now())
      if (isFound || isLast) return ascending ? within.to : within.from
    }
    return null
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

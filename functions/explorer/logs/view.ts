/**
 * The logs view of an endpoint: its parts, its state, which is the address, and what a change of the state asks for. A
 * person's change is a step in the browser's history, the page's own is not.
 */
import { el, show } from '../dom.ts'
import type { Link } from '../link.ts'
import { bar } from './bar.ts'
import { type Current, currentOf, type Opening } from './current.ts'
import { entryPanel } from './entry.ts'
import { fieldList } from './fields.ts'
import { follower } from './following.ts'
import { histogram } from './histogram.ts'
import { listenTo } from './keys.ts'
import { chip, layout, toggle } from './layout.ts'
import { inTable, parametersOf } from './opening.ts'
import { inAddress, iso } from './range.ts'
import { reading } from './reading.ts'
import { keyOf, rowList } from './rows.ts'
import { askedOf, sortedBy, type State } from './state.ts'

export function logsView(opening: Opening) {
  const { endpoint, shapes, link, continueInSql } = opening
  const { view, notices } = currentOf(opening, settle)
  const isDated = link.view.some(([name]) => name === 'from' || name === 'to')
  const parts = partsOf(view, { shapes: shapes.map(({ table }) => table), widening: !isDated })
  const { controls, rows, entry, run, draw, stop } = parts
  const unlisten = listenTo({
    '/': controls.search,
    j: () => entry.step(1),
    k: () => entry.step(-1),
    Enter: entry.openActive,
    Escape: () => view.state.row !== '' && view.change({ row: '' }),
  })
  run()

  /** Shows the state, and asks for what is not on the screen. */
  function settle(before: State, again: boolean): void {
    const { state } = view
    if (again || before.from !== state.from || before.to !== state.to) rows.keepRange()
    if (before.redact !== state.redact) clear()
    if (again || askedOf(before) !== askedOf(state)) return run()
    draw()
    if (before.zone !== state.zone) rows.redraw()
    if (before.row !== state.row) entry.show()
  }

  /** Rows that may show what must not be seen go before anything else, and those on their way with them. */
  function clear(): void {
    stop()
    rows.clear()
    entry.close()
  }

  function editSql(sql: string): void {
    const { values, redact } = view.state
    const redacted: Link['view'] = redact === endpoint.redact ? [] : [['redact', String(redact)]]
    continueInSql({ endpoint: endpoint.name, values, sql, view: [['view', 'query'], ...redacted] })
  }

  const { start } = parametersOf(endpoint)
  return {
    element: layout(view, parts, notices, editSql),
    /** The parameters, for another endpoint that shares them. */
    values: (): Record<string, string> => ({
      ...view.state.values,
      ...(start ? { [start]: inAddress(view.state.from, 'UTC') } : {}),
    }),
    revisit: view.revisit,
    close() {
      stop()
      unlisten()
    },
  }
}

export type Parts = ReturnType<typeof partsOf>

/** The parts, each told what a press in it does. */
function partsOf(view: Current, { shapes, widening }: { shapes: string[]; widening: boolean }) {
  const { endpoint, change, filter, column } = view
  const controls = bar(endpoint, parametersOf(endpoint).others, shapes, {
    change,
    table: table => change(inTable(view.state, view.shape(table), endpoint)),
    run: patch => change(patch, { again: true }),
    stop,
    follow: () => (following.isOn() ? following.stop() : follow()),
    edited: differs => rows.mark(differs),
  })
  const bars = histogram((from, to) => {
    const { range } = view
    const within = (time: number) => Math.min(Math.max(time, range.from ?? time), range.to ?? time)
    change({ from: iso(within(from)), to: iso(within(to)) })
  })
  const list = rowList({
    open: row => change({ row: keyOf(row, view.shape()) }),
    sort: path => change(sortedBy(view.state, path)),
    remove: column,
    more: () => rows.older(),
  })
  const measured = (by: string) => change({ by, measure: by === '' ? 'rows' : view.state.measure })
  const measure = (to: string) => change({ measure: to })
  const fields = fieldList({ filter, column, by: measured, measure, close: () => showFields.set(false) })
  const showFields = toggle('Fields', 'fields', innerWidth >= 1280, on => (fields.element.hidden = !on))
  const entry = entryPanel(view, list, by => {
    showFields.set(true)
    change({ by, measure: 'rows' })
  })
  const rows = reading(view, { controls, list, bars, fields, arrived: entry.show }, widening)
  const following = follower(view, {
    rows: list.all,
    add: rows.add,
    fail: rows.fail,
    show: controls.setFollowing,
  })
  const chips = el('div', { class: 'chips' })

  function draw(): void {
    controls.set(view.state, view.shape())
    show(chips, ...view.state.filters.map(other => chip(other, view)))
    if (view.state.row === '') entry.show()
  }

  function run(how: { fresh?: boolean } = {}): void {
    following.stop()
    draw()
    rows.run(how)
  }

  function stop(): void {
    rows.stop()
    entry.stop()
    following.stop()
  }

  function follow(): void {
    const { from, to, sort, ascending } = view.state
    if (to !== 'now' || sort !== '' || ascending)
      change({ to: 'now', from: from || 'now-1h', sort: '', ascending: false })
    following.start()
  }

  return { controls, bars, list, fields, showFields, entry, rows, chips, draw, run, stop }
}

/**
 * The logs view of an endpoint: its state, which is the address, its parts, and what a change of the state asks for. A
 * person's change is a step in the browser's history, the page's own is not.
 */
import type { Link } from '../link.ts'
import { parametersOf } from '../service.ts'
import { currentOf, type LogsOpening } from './current.ts'
import { partsOf } from './parts.ts'
import { inAddress } from './range.ts'
import { askedOf, type State } from './state.ts'

/** Asks for the rows of the link at once. `close` gives up what is being read, and the keyboard. */
export function logsView(opening: LogsOpening) {
  const { endpoint, shapes, link, continueInSql } = opening
  const { view, notices } = currentOf(opening, settle)
  const isDated = link.view.some(([name]) => name === 'from' || name === 'to')
  const tables = shapes.map(({ table }) => table)
  const { element, controls, rows, entry, run, draw, stop, leave } = partsOf(view, {
    tables,
    widening: !isDated,
    notices,
    editSql,
  })
  const unlisten = listenTo({
    '/': controls.search,
    j: () => entry.step(1),
    k: () => entry.step(-1),
    Enter: entry.openActive,
    Escape: leave,
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
    const { values, redact, zone } = view.state
    const redacted: Link['view'] = redact === endpoint.redact ? [] : [['redact', String(redact)]]
    const zoned: Link['view'] = zone === 'UTC' ? [] : [['zone', zone]]
    continueInSql({ endpoint: endpoint.name, values, sql, view: [['view', 'query'], ...redacted, ...zoned] })
  }

  const { start } = parametersOf(endpoint)
  return {
    element,
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

/** @param acts by the key's name @returns what takes the keys back */
function listenTo(acts: Record<string, () => void>): () => void {
  const onkeydown = (event: KeyboardEvent) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    const writing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
    if (writing && key === 'Escape') return target.blur()
    // Enter presses what has the focus; only on a row, or on nothing, does it open the row.
    const isBusy = key === 'Enter' && !(target as HTMLElement).matches('body, [role=row]')
    if (writing || isBusy || !Object.hasOwn(acts, key)) return
    event.preventDefault()
    acts[key]!()
  }
  document.addEventListener('keydown', onkeydown)
  return () => document.removeEventListener('keydown', onkeydown)
}

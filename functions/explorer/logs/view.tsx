/**
 * The logs view of an endpoint: where its parts stand, and what a change of the state asks for. A person's change is a step in
 * the browser's history, the page's own is not.
 */
import { type VNode, createRef } from 'preact'
import { type Commands, listenTo } from '../shortcuts.ts'
import type { Link } from '../address.ts'
import type { View } from '../places.ts'
import type { Watched } from '../alerts.ts'
import { now, parametersOf } from '../service.ts'
import type { Savable } from './as-endpoint.ts'
import { Asking } from './asking.ts'
import { commandsOf } from './commands.ts'
import { Entries } from './entries.ts'
import { Entry, openActive, step } from './entry.tsx'
import { Fields } from './fields.tsx'
import { LiveTail } from './live-tail.ts'
import { Histogram, Legend } from './histogram.tsx'
import { ChartMenus } from './measure-menus.tsx'
import { PatternList } from './pattern-list.tsx'
import { type Written, inService, nameOfRange, writtenOf } from './range.ts'
import { RowList } from './row-list.tsx'
import { type Shown, onPhone, show, shownParts } from './shown.ts'
import { EmptyState } from './empty-state.tsx'
import { type State, askedOf, isLive } from './state.ts'
import { Problem, Status } from './status.tsx'
import { type LogsOpening, Store, followingEnded } from './store.ts'
import { Toolbar } from './toolbar.tsx'
import { Button, Copy } from '../controls.tsx'

/** Asks for the rows of the link at once. `close` gives up what is being read, and the keyboard. */
export class LogsView implements View {
  readonly body: VNode
  readonly #opening: LogsOpening
  readonly #store: Store
  readonly #asking: Asking
  readonly #entries: Entries
  readonly #following: LiveTail
  readonly #shown = shownParts()
  readonly #search = createRef<HTMLInputElement>()
  /** By a range that was chosen in the chart: the one before it. */
  readonly #ranged = new Map<string, Written>()
  /** What the next run says of the way to its state. */
  #telling: string[]
  readonly #keyed: Commands
  readonly #unlisten: () => void

  constructor(opening: LogsOpening) {
    const store = new Store(opening, (before, again) => this.#settle(before, again))
    const isDated = opening.link.view.some(([name]) => name === 'from' || name === 'to')
    this.#opening = opening
    this.#store = store
    this.#asking = new Asking(store, !isDated)
    this.#entries = new Entries(store)
    this.#following = new LiveTail(store, this.#asking)
    this.#telling = store.openedWith
    this.#keyed = {
      Run: () => store.change({}, { again: true }),
      Search: () => this.#search.current?.focus(),
      'Next row': () => step(store, 1),
      'Previous row': () => step(store, -1),
      'Open the row': () => openActive(store),
      // What lies over the rows goes.
      'Close the entry': () => {
        if (store.state.value.row !== '') store.change({ row: '' })
        else if (onPhone().matches) show(this.#shown, 'fields', false)
      },
    }
    this.#unlisten = listenTo(this.#keyed)
    const [asking, entries, shown] = [this.#asking, this.#entries, this.#shown]
    this.body = <Logs store={store} asking={asking} entries={entries} shown={shown} acts={this.actsOf()} />
    this.#run()
  }

  /** The parameters, for another endpoint that shares them. */
  values(): Record<string, string> {
    const { endpoint, state } = this.#store
    const { start, end } = parametersOf(endpoint)
    const { values, from, to, zone } = state.value
    return {
      ...values,
      ...(start ? { [start]: inService(from, zone, now()) } : {}),
      ...(end ? { [end]: inService(to, zone, now(), true) } : {}),
    }
  }

  commands(): Commands {
    return { ...this.#keyed, ...commandsOf(this.#store, this.actsOf(), this.#shown) }
  }

  async savable(): Promise<Savable[]> {
    const { savableOf } = await import('./as-endpoint.ts')
    return savableOf(this.#store, this.#asking.limit)
  }

  async watched(): Promise<Watched[]> {
    const { watchedIn } = await import('./as-alert.ts')
    const { endpoint, state, shape } = this.#store
    return watchedIn({ endpoint, state: state.value, shape: shape.value })
  }

  revisit(link: Link): void {
    this.#store.revisit(link)
  }

  close(): void {
    this.#stop()
    this.#entries.end()
    this.#unlisten()
  }

  #run(how: { fresh?: boolean } = {}): void {
    const isOn = this.#store.following.value !== null
    const goesOn = isOn && isLive(this.#store.state.value)
    if (isOn && !goesOn) this.#telling = [...this.#telling, followingEnded]
    this.#following.stop()
    this.#store.notices.value = this.#telling
    this.#telling = []
    this.#asking.run(how)
    if (goesOn) this.#following.start()
  }

  #stop(): void {
    this.#asking.stop()
    this.#entries.stop()
    this.#following.stop()
  }

  #settle(before: State, again: boolean): void {
    const { state, active, openRow } = this.#store
    if (again || before.from !== state.value.from || before.to !== state.value.to) this.#asking.keepRange()
    // Rows that may show what must not be seen go before anything else, and those on their way with them.
    if (before.redact !== state.value.redact) {
      this.#stop()
      this.#asking.clear()
    }
    if (again || askedOf(before) !== askedOf(state.value)) this.#run()
    else {
      if (before.list !== state.value.list) this.#asking.readPatterns()
      if (before.row !== state.value.row) active.value = openRow.value ?? active.value
    }
  }

  /** What presses in the parts do, beyond a change of the state. */
  actsOf() {
    const store = this.#store
    return {
      search: this.#search,
      stop: () => this.#stop(),
      fresh: () => this.#run({ fresh: true }),
      follow: () => this.#follow(),
      /** What of the question the table cannot have is said. */
      toTable(table: string) {
        const notices = store.toTable(table)
        store.notices.value = [...store.notices.value, ...notices]
      },
      narrow: (from: number, to: number) => this.#narrow(from, to),
      previous: () => {
        const before = this.#ranged.get(nameOfRange(store.state.value))
        return before ? () => store.change(before) : null
      },
      /** Shows the values of a field. */
      values: (path: string) => {
        show(this.#shown, 'fields', true)
        store.change({ by: path })
      },
      editSql: (sql: string) => this.#editSql(sql),
    }
  }

  #follow(): void {
    const { following, state, isEdited } = this.#store
    if (following.value) return this.#following.stop()
    const live = { to: state.value.from === '' ? '' : 'now', sort: '', ascending: false } // all time stays so
    if (!isLive(state.value) || isEdited.value) this.#store.change(live)
    this.#following.start()
  }

  #narrow(from: number, to: number): void {
    const { range, state } = this.#store
    const { from: first, to: last } = range.value
    const into = writtenOf({ from: Math.max(from, first ?? from), to: Math.min(to, last ?? to) })
    const before = { from: state.value.from, to: state.value.to }
    if (nameOfRange(before) !== nameOfRange(into)) this.#ranged.set(nameOfRange(into), before)
    this.#store.change(into)
  }

  #editSql(sql: string): void {
    const { endpoint, state } = this.#store
    const { values, redact, zone } = state.value
    const redacted: Link['view'] = redact === endpoint.redact ? [] : [['redact', String(redact)]]
    const zoned: Link['view'] = zone === 'UTC' ? [] : [['zone', zone]]
    const view: Link['view'] = [['view', 'query'], ...redacted, ...zoned]
    this.#opening.continueInSql({ endpoint: endpoint.name, values, sql, view })
  }
}

type Acts = ReturnType<LogsView['actsOf']>

interface LogsProps {
  store: Store
  asking: Asking
  entries: Entries
  shown: Shown
  acts: Acts
}

function Logs({ store, asking, entries, shown, acts }: LogsProps) {
  const { fields, chart, wrap } = shown
  const isOld = store.state.value.list === '' ? store.isOld.value : store.arePatternsOld.value
  return (
    <article class="logs">
      <h2 class="unseen">{store.endpoint.name}</h2>
      <Toolbar store={store} acts={acts} />
      <div class="chart-line" hidden={!chart.value}>
        <ChartMenus store={store} />
        <Legend store={store} />
      </div>
      <Histogram store={store} narrow={acts.narrow} hidden={!chart.value} />
      <Status store={store} entries={entries} shown={shown} fresh={acts.fresh} />
      <div class="logs-main">
        <Fields store={store} hidden={!fields.value} close={() => show(shown, 'fields', false)} />
        <div class={`rows-place${isOld ? ' old' : ''}`}>
          <div class="logs-problem">
            <Problem store={store} />
            <EmptyState store={store} />
          </div>
          {store.state.value.list === '' ? (
            <RowList store={store} wrap={wrap.value} more={asking.older} />
          ) : (
            <PatternList store={store} />
          )}
        </div>
        <Entry store={store} entries={entries} values={acts.values} />
      </div>
      <Sql store={store} edit={acts.editSql} />
    </article>
  )
}

function Sql({ store, edit }: { store: Store; edit(sql: string): void }) {
  const { sql } = store
  return (
    <details class="sql-fold">
      <summary>SQL</summary>
      <pre tabIndex={0} aria-label="SQL of these rows">
        {sql.value}
      </pre>
      <div>
        <Copy name="Copy SQL" text={() => sql.value} />
        <Button press={() => edit(sql.value)}>Continue in SQL</Button>
      </div>
    </details>
  )
}

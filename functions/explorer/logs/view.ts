/**
 * The logs view of an endpoint: its parts, its state, which is the address, and what a change of the state asks for. A
 * person's change is a step in the browser's history, the page's own is not.
 */
import { copyButton } from '../copy.ts'
import { el, show } from '../dom.ts'
import { keep, kept } from '../kept.ts'
import type { Link } from '../link.ts'
import { type Endpoint, runQuery } from '../service.ts'
import { bar } from './bar.ts'
import type { Current } from './current.ts'
import { entryPanel } from './entry.ts'
import { fieldList } from './fields.ts'
import { follower } from './following.ts'
import { histogram } from './histogram.ts'
import { listenTo } from './keys.ts'
import { inTable, keepChoices, parametersOf, plainState, shapeNamed, stateFrom } from './opening.ts'
import { inAddress, iso } from './range.ts'
import { reading } from './reading.ts'
import { keyOf, rowList } from './rows.ts'
import type { Shape } from './shape.ts'
import { addressOf, askedOf, type Filter, type State } from './state.ts'

interface Opening {
  key: string
  endpoint: Endpoint
  shapes: Shape[]
  link: Link
  /** @param step whether it is a step that Back goes back by */
  remember(link: Link, step: boolean): void
  continueInSql(link: Link): void
}

export function logsView({ key, endpoint, shapes, link, remember, continueInSql }: Opening) {
  const subject = { endpoint, shapes }
  const plain = plainState(subject)
  const parameters = parametersOf(endpoint)
  const { state, notices } = stateFrom(link, subject)
  const view: Current = {
    endpoint,
    state,
    range: { from: null, to: null },
    shape: () => shapeNamed(subject, view.state.table),
    change: patch => change(patch),
    write: () => write(false),
    query(sql, signal, { within = view.range, fresh = false } = {}) {
      const values = { ...view.state.values }
      // The endpoint's bounds are exclusive below; where they are not, a row more comes, which the SQL leaves out.
      if (parameters.start && within.from !== null) values[parameters.start] = iso(within.from - 1)
      if (parameters.end && within.to !== null) values[parameters.end] = iso(within.to)
      return runQuery(key, { endpoint, values, sql, redact: view.state.redact }, signal, fresh)
    },
  }

  // ---- the parts

  const controls = bar(endpoint, parameters.others, shapes, {
    change,
    table: table => change(inTable(view.state, shapeNamed(subject, table), endpoint)),
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
    sort: path => change(sortedBy(path, view.state)),
    remove: toggleColumn,
    more: () => rows.older(),
  })
  const fields = fieldList({
    filter,
    column: toggleColumn,
    by: by => change({ by, measure: by === '' ? 'rows' : view.state.measure }),
    measure: measure => change({ measure }),
    close: () => showFields.set(false),
  })
  const showFields = toggle('Fields', 'fields', innerWidth >= 1280, on => (fields.element.hidden = !on))
  const entry = entryPanel(view, {
    filter,
    column: toggleColumn,
    values(by) {
      showFields.set(true)
      change({ by, measure: 'rows' })
    },
    step: (towards: 'newer' | 'older') => step((towards === 'older') === view.state.ascending ? -1 : 1),
  })
  const nothingSaid = !link.view.some(([name]) => name === 'from' || name === 'to')
  const rows = reading(
    view,
    { controls, list, bars, fields, arrived: showEntry, nothing: () => nothing(view) },
    nothingSaid,
  )
  const following = follower(view, {
    rows: list.all,
    add: rows.add,
    fail: rows.fail,
    show: controls.setFollowing,
  })
  const { legend, facts, stale, place, sqlText } = rows.elements
  const chips = el('div', { class: 'chips' })
  const main = el('div', { class: 'logs-main' }, fields.element, place, entry.element)
  const showChart = toggle('Chart', 'chart', true, on => (bars.element.hidden = legend.hidden = !on))
  const wrap = toggle('Wrap', 'wrap', false, on => list.element.classList.toggle('wrap', on))
  const fresh = { type: 'button', onclick: () => run({ fresh: true }), title: 'Run now, past the cache' }
  const element = el(
    'article',
    { class: 'logs' },
    el('h2', { class: 'unseen' }, endpoint.name),
    controls.element,
    ...notices.map(text => el('p', { class: 'notice', role: 'alert' }, text)),
    chips,
    bars.element,
    el(
      'div',
      { class: 'logs-line' },
      stale,
      facts,
      legend,
      el(
        'div',
        { class: 'logs-acts' },
        copyButton('Copy link', () => location.href),
        controls.redaction,
        showFields.button,
        showChart.button,
        wrap.button,
        endpoint.cacheSeconds > 0 && endpoint.mayRunFresh && el('button', fresh, 'Run fresh'),
      ),
    ),
    main,
    sqlPart(sqlText, editSql),
  )

  // ---- the state

  /** @param again whether it runs though nothing changed */
  function change(patch: Partial<State>, { again = false } = {}): void {
    const before = view.state
    view.state = { ...before, ...patch }
    if (!('row' in patch) && askedOf(before) !== askedOf(view.state)) view.state.row = ''
    if ('from' in patch || 'to' in patch) rows.keepRange()
    keepChoices(endpoint, before, view.state)
    write(true)
    settle(before, again)
  }

  function write(step: boolean): void {
    remember({ endpoint: endpoint.name, sql: null, ...addressOf(view.state, plain) }, step)
  }

  /** Shows the state, and asks for what is not on the screen. */
  function settle(before: State, again = false): void {
    if (before.redact !== view.state.redact) clear()
    if (again || askedOf(before) !== askedOf(view.state)) return run()
    draw()
    if (before.zone !== view.state.zone) rows.redraw()
    if (before.row !== view.state.row) showEntry()
  }

  function run(how: { fresh?: boolean } = {}): void {
    following.stop()
    draw()
    rows.run(how)
  }

  function draw(): void {
    controls.set(view.state, view.shape())
    show(chips, ...view.state.filters.map(other => chip(other, view)))
    if (view.state.row === '') showEntry()
  }

  /** Rows that may show what must not be seen go before anything else, and those on their way with them. */
  function clear(): void {
    stop()
    rows.clear()
    entry.close()
  }

  function stop(): void {
    rows.stop()
    entry.stop()
    following.stop()
  }

  function filter(added: Filter): void {
    const same = ({ path, value }: Filter) => path === added.path && value === added.value
    change({ filters: [...view.state.filters.filter(other => !same(other)), added] })
  }

  function toggleColumn(path: string): void {
    const { columns: before, sort } = view.state
    const columns = before.includes(path) ? before.filter(other => other !== path) : [...before, path]
    change({ columns, sort: columns.includes(sort) ? sort : '' })
  }

  function follow(): void {
    const { from, to, sort, ascending } = view.state
    if (to !== 'now' || sort !== '' || ascending)
      change({ to: 'now', from: from || 'now-1h', sort: '', ascending: false })
    following.start()
  }

  // ---- the entry

  function showEntry(): void {
    const { row: wanted } = view.state
    const row = list.all().find(other => keyOf(other, view.shape()) === wanted) ?? null
    main.classList.toggle('with-entry', wanted !== '')
    list.select(row)
    if (wanted === '') return entry.close()
    entry.open()
    if (row) list.reveal(row)
  }

  function step(by: number): void {
    const row = list.move(by)
    if (row && view.state.row !== '') change({ row: keyOf(row, view.shape()) })
  }

  function openActive(): void {
    const row = list.active()
    if (row) change({ row: keyOf(row, view.shape()) })
  }

  function editSql(): void {
    const { values, redact } = view.state
    const redacted: Link['view'] = redact === endpoint.redact ? [] : [['redact', String(redact)]]
    const sql = sqlText.textContent
    continueInSql({ endpoint: endpoint.name, values, sql, view: [['view', 'query'], ...redacted] })
  }

  const unlisten = listenTo({
    '/': controls.search,
    j: () => step(1),
    k: () => step(-1),
    Enter: openActive,
    Escape: () => view.state.row !== '' && change({ row: '' }),
  })
  run()
  return {
    element,
    /** The parameters, for another endpoint that shares them. */
    values: (): Record<string, string> => ({
      ...view.state.values,
      ...(parameters.start ? { [parameters.start]: inAddress(view.state.from, 'UTC') } : {}),
    }),
    /** Back and Forward. */
    revisit(to: Link) {
      const before = view.state
      view.state = stateFrom(to, subject).state
      rows.keepRange()
      settle(before)
    },
    close() {
      stop()
      unlisten()
    },
  }
}

/** A press on a heading: the largest first, then the smallest. */
function sortedBy(path: string, { sort, ascending }: State): Partial<State> {
  return sort === path ? { ascending: !ascending } : { sort: path, ascending: false }
}

/** A filter; a press takes it away. */
function chip(filter: Filter, { state, change }: Current): HTMLElement {
  const { path, operator, value } = filter
  const text = `${path.split('.').slice(-2).join('.')} ${operator} ${value === null ? 'none' : String(value)}`
  const onclick = () => change({ filters: state.filters.filter(other => other !== filter) })
  const label = `Remove the filter ${text}`
  const press = { type: 'button', class: 'chip', title: path, 'aria-label': label, onclick }
  return el('button', press, el('span', {}, text), ' ×')
}

function sqlPart(text: HTMLElement, edit: () => void): HTMLElement {
  const copy = copyButton('Copy SQL', () => text.textContent)
  const go = el('button', { type: 'button', onclick: edit }, 'Continue in SQL')
  return el('details', { class: 'logs-sql' }, el('summary', {}, 'SQL'), text, el('div', {}, copy, go))
}

/** Says that there are no rows, with ways to find some. */
function nothing({ state: { from, search, filters, severity }, change }: Current): HTMLElement {
  const isFiltered = search !== '' || filters.length > 0 || severity.length > 0
  const words = isFiltered ? 'Nothing in this range passes the filters.' : 'Nothing was logged in this range.'
  const act = (name: string, patch: Partial<State>) =>
    el('button', { type: 'button', onclick: () => change(patch) }, name)
  const unfiltered = isFiltered && act('Without filters', { search: '', filters: [], severity: [] })
  const acts = el(
    'div',
    { class: 'actions' },
    unfiltered,
    from !== '' && act('All time', { from: '', to: '' }),
  )
  return el('div', { class: 'card empty' }, el('h3', {}, 'No rows'), el('p', {}, words), acts)
}

/** A button that turns a part on and off, kept on this device. */
function toggle(name: string, item: string, byDefault: boolean, apply: (on: boolean) => void) {
  let on = (kept(`show ${item}`) as boolean | null) ?? byDefault
  const button = el('button', { type: 'button', class: 'quiet', onclick: () => set(!on) }, name)
  const draw = () => {
    button.ariaPressed = String(on)
    apply(on)
  }
  const set = (to: boolean) => {
    on = to
    keep(`show ${item}`, on)
    draw()
  }
  draw()
  return { button, set }
}

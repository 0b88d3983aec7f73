/** The parts of the logs view: what a press in each does, and where they stand. */
import { spreadsheet } from '../../query/csv.ts'
import { copyButton } from '../copy.ts'
import { button, download, el, menu, show } from '../dom.ts'
import { keep, kept } from '../kept.ts'
import { parametersOf } from '../service.ts'
import { columnsOf } from '../value.ts'
import { bar } from './bar.ts'
import type { Current } from './current.ts'
import { entryPanel } from './entry.ts'
import { fieldList } from './fields.ts'
import { follower } from './following.ts'
import { histogram } from './histogram.ts'
import { chartMenus } from './measure.ts'
import { inTable } from './opening.ts'
import { writtenOf } from './range.ts'
import { reading } from './reading.ts'
import { keyOf, rowList } from './rows.ts'
import { tableTitle } from './shape.ts'
import { askedOf, cleared, type Filter, isLive, sortedBy, type State } from './state.ts'

const followed = 'Following ended: new rows are added only where rows go up to now, the newest first.'

const scopes = [
  ['message', 'in messages'],
  ['entry', 'in all fields'],
] as const

interface Setup {
  /** Names of the tables. */
  tables: string[]
  /** Whether the page may look further back by itself. */
  widening: boolean
  notices: string[]
  editSql(sql: string): void
}

/** Nothing is read until `run`; `stop` gives up what is being read, and following. */
export function partsOf(view: Current, { tables, widening, notices, editSql }: Setup) {
  const { endpoint, change, filter, column } = view
  const controls = bar(endpoint, parametersOf(endpoint).others, tables, {
    change,
    table: toTable,
    run: patch => change(patch, { again: true }),
    stop,
    follow: () => (following.isOn() ? following.stop() : follow()),
    edited: differs => rows.mark(differs),
  })
  view.typed = controls.typed
  const bars = histogram((from, to) => {
    const { range, state } = view
    const into = writtenOf({ from: Math.max(from, range.from ?? from), to: Math.min(to, range.to ?? to) })
    controls.narrowed(state, into)
    change(into)
  })
  const list = rowList({
    open: row => change({ row: keyOf(row, view.shape()) }),
    sort: path => change(sortedBy(view.state, path)),
    remove: column,
    more: () => rows.older(),
    grown: () => entry.limit(),
  })
  const by = (path: string) => change({ by: path })
  const measure = (to: string) => change({ measure: to })
  const fields = fieldList({ filter, column, by, measure, close: () => showFields.set(false) })
  const showFields = toggle('Fields', innerWidth >= 1280, on => (fields.element.hidden = !on))
  const entry = entryPanel(view, list, {
    values(path) {
      showFields.set(true)
      by(path)
    },
    tell: text => tell([text]),
  })
  /** What leaves the page goes with the rows that are shown. */
  const aged = (old: boolean) => {
    for (const each of leaving) each.disabled = old
    entry.limit()
  }
  const rows = reading(view, { controls, list, bars, fields, arrived: entry.show, aged }, widening)
  const { legend, facts, looked, stale, place, sqlText } = rows.elements
  const following = follower(view, {
    rows: list.all,
    isRunning: rows.isRunning,
    moved: rows.moved,
    add: rows.add,
    looked: rows.follow,
    fail: rows.fail,
    show: on => {
      controls.setFollowing(on)
      rows.setFollowing(on)
    },
  })
  const chips = el('div', { class: 'chips' })
  const clear = button('Clear all', () => change(cleared(view.state)), {
    class: 'quiet',
    title: 'Without search, filters, columns and sorting, the chart as at first; Back brings them back',
  })
  const menus = chartMenus(change)
  const chartLine = el('div', { class: 'chart-line' }, menus.element, legend)
  const scope = menu('Search in', chosen => change({ scope: chosen as State['scope'] }))
  const told = el('div', { class: 'notices' })
  const tell = (texts: string[]) =>
    show(told, ...texts.map(text => el('p', { class: 'notice', role: 'alert' }, text)))
  /** What the next run says of the way to its state. */
  let telling = notices

  function toTable(table: string): void {
    const now = { ...view.state, ...view.typed() }
    const { state, notices } = inTable(now, view.shape(), view.shape(table), endpoint)
    telling = notices
    change(state)
  }

  function draw(): void {
    const ended = [...told.children].find(notice => notice.textContent === followed)
    ended?.remove()
    controls.set(view.state, view.shape())
    menus.set(view.state, view.shape())
    exact.hidden = [view.state.from, view.state.to].every(bound => /^\d/.test(bound))
    link.title = exact.hidden ? '' : 'Its period goes back from when it is opened'
    scope.set(scopes, view.state.scope)
    scope.element.hidden = view.state.search === ''
    clear.hidden = askedOf(cleared(view.state)) === askedOf(view.state)
    show(chips, ...view.state.filters.map(other => filterChip(other, view)))
    if (view.state.row === '') entry.show()
  }

  function run(how: { fresh?: boolean } = {}): void {
    const goesOn = following.isOn() && isLive(view.state)
    if (following.isOn() && !goesOn) telling = [...telling, followed]
    following.stop()
    draw()
    tell(telling)
    telling = []
    rows.run(how)
    if (goesOn) following.start()
  }

  function stop(): void {
    rows.stop()
    entry.stop()
    following.stop()
  }

  function follow(): void {
    const live = { to: view.state.from === '' ? '' : 'now', sort: '', ascending: false } // all time stays so
    if (!isLive(view.state) || controls.isEdited()) change(live)
    following.start()
  }

  const save = (ending: string, type: string, text: string) =>
    download(`${tableTitle(view.state.table)}.${ending}`, text, type)
  const link = copyButton('Copy link', () => location.href)
  const exact = copyButton('Copy link to this period', view.exactLink)
  const fresh = () => run({ fresh: true })
  const saveCsv = () => save('csv', 'text/csv', spreadsheet(list.all(), columnsOf(list.all())))
  const saveJson = () => save('json', 'application/json', JSON.stringify(list.all(), null, 2))
  const leaving = [
    link,
    exact,
    button('CSV of rows shown', saveCsv, { title: 'Save them for a spreadsheet, with times in UTC' }),
    button('JSON of rows shown', saveJson, { title: 'Save them as the service answers them' }),
  ]
  const acts = el(
    'div',
    { class: 'logs-acts' },
    showFields.element,
    toggle('Chart', true, on => (bars.element.hidden = chartLine.hidden = !on)).element,
    toggle('Wrap', false, on => list.element.classList.toggle('wrap', on)).element,
    controls.redaction,
    ...leaving,
    endpoint.cacheSeconds > 0 &&
      endpoint.mayRunFresh &&
      button('Run fresh', fresh, { title: 'Run now, past the cache' }),
  )
  // Beside the rows it was, over them it is only where it is asked for.
  const phone = matchMedia('(max-width: 800px)')
  phone.addEventListener('change', () => (phone.matches ? showFields.draw(false) : showFields.restore()))
  /** What lies over the rows goes. */
  function leave(): void {
    if (view.state.row !== '') change({ row: '' })
    else if (phone.matches) showFields.set(false)
  }

  const element = el(
    'article',
    { class: 'logs' },
    el('h2', { class: 'unseen' }, endpoint.name),
    controls.element,
    chartLine,
    bars.element,
    el('div', { class: 'logs-line' }, stale, facts, scope.element, looked, clear, chips, acts),
    told,
    el('div', { class: 'logs-main' }, fields.element, place, entry.element),
    el(
      'details',
      { class: 'logs-sql' },
      el('summary', {}, 'SQL'),
      sqlText,
      el(
        'div',
        {},
        copyButton('Copy SQL', () => sqlText.textContent),
        button('Continue in SQL', () => editSql(sqlText.textContent)),
      ),
    ),
  )
  return { element, controls, entry, rows, draw, run, stop, leave }
}

/** A button that turns a part on and off; this device keeps whether it is on. */
function toggle(name: string, byDefault: boolean, apply: (on: boolean) => void) {
  const item = `show ${name.toLowerCase()}`
  const element = button(name, () => set(element.ariaPressed !== 'true'), { class: 'quiet' })
  const draw = (on: boolean) => {
    element.ariaPressed = String(on)
    apply(on)
  }
  const set = (on: boolean) => {
    keep(item, on)
    draw(on)
  }
  /** As this device keeps it. */
  const restore = () => draw((kept(item) as boolean | null) ?? byDefault)
  restore()
  return { element, set, draw, restore }
}

function filterChip(filter: Filter, { state, change }: Current): HTMLElement {
  const { path, operator, value } = filter
  const text = `${path.split('.').slice(-2).join('.')} ${operator} ${value === null ? 'none' : String(value)}`
  const without = state.filters.filter(other => other !== filter)
  return chip(text, path, `Remove the filter ${text}`, () => change({ filters: without }))
}

/** A press takes it away. */
function chip(text: string, title: string, label: string, press: () => void): HTMLElement {
  return button([el('span', {}, text), ' ×'], press, { class: 'chip', title, 'aria-label': label })
}

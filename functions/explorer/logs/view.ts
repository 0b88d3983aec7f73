/**
 * The logs view of an endpoint: its state, which is the address, and what is asked when that changes. A person's change is
 * a step in the browser's history, the page's own is not.
 */
import type { Row } from '../../../shared/engines/engine.ts'
import { copyButton } from '../copy.ts'
import { el, show } from '../dom.ts'
import { keep, kept } from '../kept.ts'
import type { Link } from '../link.ts'
import { failure } from '../results.ts'
import { gist } from '../value.ts'
import { type Answer, type Endpoint, now, type Parameter, runQuery, ServiceError } from '../service.ts'
import { bar } from './bar.ts'
import { chartOf } from './chart.ts'
import { details } from './details.ts'
import { fieldList } from './fields.ts'
import { histogram } from './histogram.ts'
import { latest } from './latest.ts'
import { inAddress, iso, type Range, rangeOf } from './range.ts'
import { type Column, rowList } from './rows.ts'
import { fieldAt, nameOf, type Shape } from './shape.ts'
import { type After, columnNames, entrySql, hasCursor, rowsSql } from './sql.ts'
import { addressOf, askedOf, type Filter, initial, type State, stateOf } from './state.ts'

interface Opening {
  key: string
  endpoint: Endpoint
  shapes: Shape[]
  link: Link
  /** @param step whether it is a step that Back goes back by */
  remember(link: Link, step: boolean): void
  continueInSql(link: Link): void
}

const pageOf = 100
const followMs = 3000

export function logsView({ key, endpoint, shapes, link, remember, continueInSql }: Opening) {
  const bounds = boundsOf(endpoint.parameters)
  const others = endpoint.parameters.filter(({ name }) => name !== bounds.start && name !== bounds.end)
  const place = (table: string) => `${endpoint.name} ${table}`
  const plain: State = { ...initial, values: {}, table: shapes[0]!.table, redact: endpoint.redact }
  const [given, notices] = opened(link)
  let state = given
  let range: Range = { from: null, to: null }
  /** What the rows on the screen answer. */
  let asked = ''
  let following: ReturnType<typeof setTimeout> | null = null
  /** Whether the page may look further back by itself, as nothing was said of the time. */
  let widening = !link.view.some(([name]) => name === 'from' || name === 'to')
  const runs = { rows: latest(), chart: latest(), entry: latest(), follow: latest() }

  // ---- the parts

  const controls = bar(endpoint, others, shapes, {
    change: patch => change(patch),
    table: table => change({ table, ...sentTo(table) }),
    run: patch => change(patch, { again: true }),
    stop,
    follow: () => (following ? unfollow() : follow()),
    edited: differs => mark(differs),
  })
  const bars = histogram((from, to) => {
    const within = (time: number) => Math.min(Math.max(time, range.from ?? time), range.to ?? time)
    change({ from: iso(within(from)), to: iso(within(to)) })
  })
  const list = rowList({
    open: row => change({ row: keyOf(row) }),
    sort: path =>
      change(state.sort === path ? { ascending: !state.ascending } : { sort: path, ascending: false }),
    remove: path => toggleColumn(path),
    more: () => void older(),
  })
  const fields = fieldList({
    filter: add,
    column: toggleColumn,
    by: by => change({ by, measure: by === '' ? 'rows' : state.measure }),
    measure: measure => change({ measure }),
  })
  const chips = el('div', { class: 'chips' })
  const legend = el('div', { class: 'bars-legend' })
  const facts = el('span', { class: 'logs-facts', role: 'status' })
  const stale = el('span', { class: 'stale', role: 'status' })
  const problem = el('div', { class: 'logs-problem' })
  const beside = el('aside', { class: 'beside-rows', hidden: true })
  const sqlText = el('pre', { tabindex: 0, 'aria-label': 'SQL of these rows' })
  const rowsPlace = el('div', { class: 'rows-place' }, problem, list.element)
  const main = el('div', { class: 'logs-main' }, fields.element, rowsPlace, beside)
  const toggles = [
    toggle('Fields', 'fields', innerWidth >= 1280, on => (fields.element.hidden = !on)),
    toggle('Chart', 'chart', true, on => (bars.element.hidden = legend.hidden = !on)),
    toggle('Wrap', 'wrap', false, on => list.element.classList.toggle('wrap', on)),
  ]
  const fresh = el(
    'button',
    {
      type: 'button',
      onclick: () => run({ fresh: true }),
      title: 'Run now, past the cache, where the key may',
    },
    'Run fresh',
  )
  const sqlPart = el(
    'details',
    { class: 'logs-sql' },
    el('summary', {}, 'SQL'),
    sqlText,
    el(
      'div',
      {},
      copyButton('Copy SQL', () => sqlText.textContent),
      el('button', { type: 'button', onclick: editSql }, 'Continue in SQL'),
    ),
  )
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
      copyButton('Copy link', () => location.href),
      controls.redaction,
      ...toggles,
      endpoint.cacheSeconds > 0 && fresh,
    ),
    main,
    sqlPart,
  )

  // ---- the state

  /** The state of a link, with what this device keeps for its table, and what in it fits no table. */
  function opened(from: Link): [State, string[]] {
    const start = bounds.start ? from.values[bounds.start] : undefined
    const end = bounds.end ? from.values[bounds.end] : undefined
    const values = Object.fromEntries(others.map(({ name }) => [name, from.values[name] ?? '']))
    const read = stateOf({ values, view: from.view }, plain)
    const said = (name: string) => from.view.some(([other]) => other === name)
    const dated = start && !said('from') ? { from: start, to: end ?? '' } : {}
    const table = shapes.some(shape => shape.table === read.table) ? read.table : plain.table
    const columns = said('columns')
      ? read.columns
      : ((kept(`columns ${place(table)}`) as string[] | null) ?? [])
    const known = (path: string) => fieldAt(shapeNamed(table), path) !== null
    const lost = read.filters.filter(({ path }) => !known(path)).map(({ path }) => path)
    const remembered = Object.fromEntries(
      others.map(({ name }) => [
        name,
        read.values[name] || ((kept(`value ${endpoint.name} ${name}`) as string | null) ?? ''),
      ]),
    )
    const notices = [
      table !== read.table && `There is no table ${read.table} here; this is ${table}.`,
      lost.length > 0 && `Left out of the link, as ${table} has no such field: ${lost.join(', ')}.`,
    ].filter(text => text !== false)
    const fitting = {
      filters: read.filters.filter(({ path }) => known(path)),
      columns: columns.filter(known),
    }
    return [{ ...read, ...dated, ...fitting, table, values: remembered }, notices]
  }

  function shapeNamed(table: string): Shape {
    return shapes.find(shape => shape.table === table) ?? shapes[0]!
  }

  /** Another table: fields that it has too are kept. */
  function sentTo(table: string): Partial<State> {
    const shape = shapeNamed(table)
    const known = (path: string) => fieldAt(shape, path) !== null
    return {
      filters: state.filters.filter(({ path }) => known(path)),
      columns: ((kept(`columns ${place(table)}`) as string[] | null) ?? []).filter(known),
      severity: shape.severity ? state.severity : [],
      sort: '',
      by: '',
      measure: 'rows',
      row: '',
    }
  }

  /** A person's change: a step in the history, run at once. @param again whether it runs though nothing changed */
  function change(patch: Partial<State>, { again = false } = {}): void {
    const before = state
    state = { ...state, ...patch }
    if (!('row' in patch) && askedOf(before) !== askedOf(state)) state.row = ''
    if ('from' in patch || 'to' in patch) widening = false
    if (before.columns !== state.columns) keep(`columns ${place(state.table)}`, state.columns)
    for (const { name } of others) keep(`value ${endpoint.name} ${name}`, state.values[name] || null)
    write(true)
    settle(before, again)
  }

  function write(step: boolean): void {
    remember({ endpoint: endpoint.name, sql: null, ...addressOf(state, plain) }, step)
  }

  /** Shows the state, and asks for what is not on the screen. */
  function settle(before: State, again: boolean): void {
    if (before.redact !== state.redact) clear()
    const ask = again || askedOf(before) !== askedOf(state)
    if (ask) run()
    else {
      draw()
      if (before.zone !== state.zone) relist(list.all())
      if (before.row !== state.row) openRow()
    }
  }

  /** Rows that may show what must not be seen go before anything else, and those on their way with them. */
  function clear(): void {
    stop()
    list.set([], { columns: [], zone: state.zone, sort: sortOf(), place: place(state.table) })
    list.end('')
    show(beside)
    entryShown = ''
    fields.set(state, shape(), null)
    bars.set(null)
    asked = ''
  }

  const shape = () => shapeNamed(state.table)
  const sortOf = () => ({ path: state.sort, ascending: state.ascending })

  function draw(): void {
    controls.set(state, shape())
    show(chips, ...state.filters.map(chip))
    if (state.row === '') closeRow()
  }

  function chip(filter: Filter): HTMLElement {
    const { path, operator, value } = filter
    const text = `${path.split('.').slice(-2).join('.')} ${operator} ${value === null ? 'none' : String(value)}`
    const remove = () => change({ filters: state.filters.filter(other => other !== filter) })
    return el(
      'button',
      {
        type: 'button',
        class: 'chip',
        title: path,
        'aria-label': `Remove the filter ${text}`,
        onclick: remove,
      },
      text,
      ' ×',
    )
  }

  function add(filter: Filter): void {
    const same = (other: Filter) => other.path === filter.path && other.value === filter.value
    change({ filters: [...state.filters.filter(other => !same(other)), filter] })
  }

  function toggleColumn(path: string): void {
    const columns = state.columns.includes(path)
      ? state.columns.filter(other => other !== path)
      : [...state.columns, path]
    change({ columns, sort: columns.includes(state.sort) ? state.sort : '' })
  }

  // ---- asking

  function query(
    sql: string,
    signal: AbortSignal,
    { within = range, fresh: isFresh = false } = {},
  ): Promise<Answer> {
    const values = { ...state.values }
    // The endpoint's bounds are exclusive below; where they are not, a row more comes, which the SQL leaves out.
    if (bounds.start && within.from !== null) values[bounds.start] = iso(within.from - 1)
    if (bounds.end && within.to !== null) values[bounds.end] = iso(within.to)
    return runQuery(key, { endpoint, values, sql, redact: state.redact }, signal, isFresh)
  }

  const limit = () => Math.min(pageOf, endpoint.maxRows)

  function run({ fresh: isFresh = false } = {}): void {
    unfollow()
    const read = rangeOf(state, now())
    draw()
    if (typeof read === 'string') {
      const detail = `${state[read]} cannot be read; write 2026-11-14 12:00 or now-15m.`
      return fail(new ServiceError({ title: 'This is no time', detail }))
    }
    range = read
    total = null
    const sql = rowsSql(state, shape(), range, limit())
    sqlText.textContent = sql
    mark(asked !== '')
    controls.setRunning(true)
    show(problem)
    facts.textContent = 'Running …'
    void runs.rows(async signal => {
      const answer = await query(sql, signal, { fresh: isFresh })
      if (answer.rows.length === 0 && widening && wider()) return
      shownRows(answer)
    }, fail)
    void runs.chart(async signal => {
      fields.set(state, shape(), null)
      const chart = await chartOf({
        state,
        shape: shape(),
        range,
        now: now(),
        maxRows: endpoint.maxRows,
        run: text => query(text, signal, { fresh: isFresh }),
      })
      bars.set(chart.bars)
      show(legend, ...chart.legend(severity => change({ severity })))
      fields.set(state, shape(), chart.top)
      if (state.measure === 'rows') total = chart.total
      tell()
    }, chartFailed)
  }

  let total: number | null = null
  let took = ''
  let done = false

  function shownRows(answer: Answer): void {
    asked = askedOf(state)
    mark(false)
    controls.setRunning(false)
    widening = false
    took = tookOf(answer)
    done = answer.rows.length < limit()
    relist(answer.rows)
    openRow()
    write(false)
    tell()
    const cause = state.search !== '' || state.filters.length > 0 || state.severity.length > 0
    if (answer.rows.length === 0) show(problem, nothing(cause))
  }

  function relist(rows: Row[]): void {
    list.set(rows, { columns: columnsOf(), zone: state.zone, sort: sortOf(), place: place(state.table) })
  }

  function tell(): void {
    const many = list.all().length
    const of = total === null ? '' : ` of ${total.toLocaleString('en')}`
    facts.textContent = `${many.toLocaleString('en')}${done ? '' : of} rows · ${took}`
    list.end(
      many === 0
        ? ''
        : done
          ? `All ${many.toLocaleString('en')} rows of this range.`
          : `${many.toLocaleString('en')} rows${of}; older ones load as you scroll.`,
    )
  }

  /** The next range back, where the person has said nothing of the time. */
  function wider(): boolean {
    const next = { 'now-1h': 'now-1d', 'now-1d': 'now-7d', 'now-7d': '' }[state.from]
    if (next === undefined) return false
    state = { ...state, from: next, to: next === '' ? '' : 'now' }
    run()
    return true
  }

  function fail(error: unknown): void {
    controls.setRunning(false)
    if (error instanceof DOMException) return void (facts.textContent = 'Stopped.')
    if (!(error instanceof ServiceError)) throw error
    const [first] = error.problem.errors ?? []
    if (first?.parameter && fillIn(first.parameter)) return
    list.set([], { columns: [], zone: state.zone, sort: sortOf(), place: place(state.table) })
    list.end('')
    mark(false)
    facts.textContent = ''
    controls.showProblem(first?.parameter, first?.detail ?? '')
    show(
      problem,
      failure(
        error,
        (error.problem.errors ?? []).filter(({ line }) => line === undefined),
      ),
    )
  }

  /** A project to begin with, where the key does not fix one: the parameter's first example. */
  function fillIn(name: string): boolean {
    const example = others.find(parameter => parameter.name === name)?.examples?.[0]
    if (state.values[name] || example === undefined) return false
    state = { ...state, values: { ...state.values, [name]: String(example) } }
    run()
    return true
  }

  function chartFailed(error: unknown): void {
    if (error instanceof DOMException) return
    bars.set(null)
    fields.set(state, shape(), [])
    const said = error instanceof ServiceError ? error.problem.detail : null
    if (said === null) throw error
    show(legend, el('span', { class: 'hint' }, `No chart: ${said}`))
  }

  function columnsOf(): Column[] {
    const { time, message, severity } = shape()
    return [
      { name: nameOf(time), path: time.path, kind: 'time' },
      ...(severity ? [{ name: 'severity', path: severity.path, kind: 'severity' } as const] : []),
      { name: nameOf(message), path: message.path, kind: 'message' },
      ...columnNames(shape(), state.columns).map(
        ([{ path }, name]) => ({ name, path, kind: 'value' }) as const,
      ),
    ]
  }

  let loading = false

  async function older(): Promise<void> {
    if (loading || done || asked !== askedOf(state) || list.all().length === 0) return
    loading = true
    await runs.rows(async signal => {
      const { rows } = await query(rowsSql(state, shape(), range, limit(), afterLast()), signal)
      list.append(rows)
      done = rows.length < limit() || list.all().length === total
      tell()
    }, fail)
    loading = false
  }

  function afterLast(): After {
    const last = list.all().at(-1)!
    const { time, id } = shape()
    if (!hasCursor(state, shape())) return { offset: list.all().length }
    return { time: Number(last[nameOf(time)]), id: gist(last[nameOf(id!)] ?? '') }
  }

  // ---- following

  function follow(): void {
    if (state.to !== 'now' || state.sort !== '' || state.ascending)
      change({ to: 'now', from: state.from || 'now-1h', sort: '', ascending: false })
    controls.setFollowing(true)
    const again = () =>
      (following = setTimeout(() => void look().finally(() => following && again()), followMs))
    again()
  }

  /** Entries may come late, so the last ten seconds are read again. */
  async function look(): Promise<void> {
    const newest = Number(list.all()[0]?.[nameOf(shape().time)] ?? range.from ?? 0)
    const seen = new Set(list.all().slice(0, 1000).map(keyOf))
    const since = { from: Math.max(newest - 1e7, range.from ?? 0), to: now() + 1e7 }
    range = { ...range, to: since.to }
    await runs.follow(async signal => {
      const { rows, truncated } = await query(rowsSql(state, shape(), since, endpoint.maxRows), signal, {
        within: since,
      })
      const added = rows.filter(row => !seen.has(keyOf(row)))
      if (added.length === 0) return
      show(problem)
      if (list.all().length === 0) relist(added)
      else list.prepend(added)
      if (total !== null) total += added.length
      tell()
      if (truncated) facts.textContent += '; some of the new ones are left out: press Run'
    }, fail)
  }

  function unfollow(): void {
    if (following) clearTimeout(following)
    following = null
    controls.setFollowing(false)
  }

  // ---- one entry

  function keyOf(row: Row): string {
    const { time, id } = shape()
    return `${gist(row[nameOf(time)] ?? '')},${id ? gist(row[nameOf(id)] ?? '') : ''}`
  }

  /** Which entry stands beside the rows, redacted or not. */
  let entryShown = ''

  function openRow(): void {
    if (state.row === '') return closeRow()
    const [time = '', id = ''] = state.row.split(/,(.*)/s)
    const row = list.all().find(other => keyOf(other) === state.row)
    list.select(row ?? null)
    beside.hidden = false
    main.classList.add('with-entry')
    if (row) list.reveal(row)
    const wanted = `${state.table} ${state.row} ${state.redact}`
    if (wanted === entryShown) return
    entryShown = wanted
    beside.inert = true // the last entry, until this one is there
    void runs.entry(async signal => {
      const sql = entrySql(shape(), { time: Number(time), id })
      const { rows } = await runQuery(
        key,
        { endpoint, values: state.values, sql, redact: state.redact },
        signal,
      )
      const acts = {
        filter: add,
        column: toggleColumn,
        around: () => around(Number(time)),
        close: () => change({ row: '' }),
        step,
      }
      beside.inert = false
      show(
        beside,
        rows[0]
          ? details(rows[0], shape(), acts)
          : el('p', { class: 'hint' }, 'This entry is not there any more.'),
      )
    }, entryFailed)
  }

  function entryFailed(error: unknown): void {
    entryShown = ''
    if (error instanceof DOMException) return
    if (!(error instanceof ServiceError)) throw error
    beside.inert = false
    show(beside, failure(error, []))
  }

  function closeRow(): void {
    entryShown = ''
    show(beside)
    beside.hidden = true
    main.classList.remove('with-entry')
    list.select(null)
  }

  /** What was logged before and after, without filters, the entry still open: as near as there is an entry before it. */
  function around(time: number): void {
    void runs.entry(async signal => {
      for (const width of [3e8, 3.6e9, 8.64e10, 6.048e11]) {
        const within = { from: time - width, to: time }
        const { rows } = await query(rowsSql(initial, shape(), within, 2), signal, { within })
        if (rows.length < 2 && width < 6e11) continue
        const near = { from: iso(time - width), to: iso(time + width) }
        const { row } = state
        change({ ...near, filters: [], severity: [], search: '', sort: '', ascending: false, row })
        return
      }
    }, entryFailed)
  }

  function step(by: number): void {
    const row = list.move(by)
    if (row && state.row !== '') change({ row: keyOf(row) })
  }

  // ---- small things

  function mark(old: boolean): void {
    rowsPlace.classList.toggle('old', old)
    stale.textContent = old ? 'Not yet run' : ''
  }

  function stop(): void {
    for (const end of Object.values(runs)) end.stop()
    controls.setRunning(false)
  }

  function editSql(): void {
    const values: Record<string, string> = { ...state.values }
    continueInSql({
      endpoint: endpoint.name,
      values,
      sql: sqlText.textContent,
      view: [
        ['view', 'query'],
        ...(state.redact === endpoint.redact ? [] : [['redact', String(state.redact)] as [string, string]]),
      ],
    })
  }

  function nothing(cause: boolean): HTMLElement {
    const act = (name: string, patch: Partial<State>) =>
      el('button', { type: 'button', onclick: () => change(patch) }, name)
    return el(
      'div',
      { class: 'card empty' },
      el('h3', {}, 'No rows'),
      el('p', {}, cause ? 'Nothing in this range passes the filters.' : 'Nothing was logged in this range.'),
      el(
        'div',
        { class: 'actions' },
        cause && act('Without filters', { search: '', filters: [], severity: [] }),
        act('All time', { from: '', to: '' }),
      ),
    )
  }

  const keys: Record<string, () => void> = {
    '/': controls.search,
    j: () => step(1),
    k: () => step(-1),
    Enter: () => {
      const row = list.active()
      if (row) change({ row: keyOf(row) })
    },
    Escape: () => state.row !== '' && change({ row: '' }),
  }

  function onkeydown(event: KeyboardEvent): void {
    const { target } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const writing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
    if (writing && event.key === 'Escape') return target.blur()
    const inButton =
      event.key === 'Enter' &&
      !(target instanceof HTMLElement && (target === document.body || target.role === 'row'))
    if (writing || inButton || !Object.hasOwn(keys, event.key)) return
    event.preventDefault()
    keys[event.key]!()
  }

  document.addEventListener('keydown', onkeydown)
  controls.set(state, shape())
  run()
  return {
    element,
    /** The parameters, for another endpoint that shares them. */
    values: (): Record<string, string> => ({
      ...state.values,
      ...(bounds.start ? { [bounds.start]: inAddress(state.from, 'UTC') } : {}),
    }),
    /** Back and Forward. @returns whether the link is this view's */
    revisit(to: Link): boolean {
      const before = state
      state = opened(to)[0]
      widening = false
      settle(before, false)
      return true
    },
    close() {
      stop()
      unfollow()
      document.removeEventListener('keydown', onkeydown)
    },
  }
}

/** The parameters that bound the time, by their names, as the quick ranges of a form find them. */
function boundsOf(parameters: Parameter[]) {
  const times = parameters.filter(({ format }) => format === 'iso-timestamp')
  const named = (pattern: RegExp) => times.find(({ name }) => pattern.test(name))?.name
  return { start: named(/start|from|since|after/i), end: named(/end|until|to$|before/i) }
}

function tookOf({ took, headers }: Answer): string {
  const engine = /engine;dur=([\d.]+)/.exec(headers.get('server-timing') ?? '')?.[1]
  const cached = /hit/.test(headers.get('cache-status') ?? '') ? ', cached' : ''
  return `${(took / 1000).toFixed(1)} s${engine ? ` (engine ${(Number(engine) / 1000).toFixed(1)} s)` : ''}${cached}`
}

/** A button that turns a part on and off, kept on this device. */
function toggle(name: string, item: string, byDefault: boolean, set: (on: boolean) => void): HTMLElement {
  let on = (kept(`show ${item}`) as boolean | null) ?? byDefault
  const press = () => {
    on = !on
    keep(`show ${item}`, on)
    apply()
  }
  const button = el('button', { type: 'button', class: 'quiet', onclick: press }, name)
  const apply = () => {
    button.ariaPressed = String(on)
    set(on)
  }
  apply()
  return button
}

/** One endpoint, open: its form, perhaps SQL, the run, and its results. */
import { button, el, show } from './dom.ts'
import { form } from './form.ts'
import type { Link } from './link.ts'
import { failure, results } from './results.ts'
import {
  type Answer,
  type Opening,
  type Parameter,
  parametersOf,
  type Query,
  runQuery,
  ServiceError,
} from './service.ts'
import { statement } from './statement.ts'

interface FormOpening extends Opening {
  /** Whether the endpoint has another view, so that the address has to say that this is the form. */
  hasView: boolean
}

/** The browser's note beside an address that ran: Back, Forward and a reload run it again. A link that is sent comes without. */
const hasRun = 'has run'

/** @returns its element, the form's values, and `close`, which cancels the query that is running */
export function openEndpoint({ key, endpoint, link, hasView, remember }: FormOpening) {
  const fields = form(endpoint, link.values, () => runs.start())
  const redact = link.view.find(([name]) => name === 'redact')?.[1]
  if (redact !== undefined) fields.setRedact(redact === 'true')
  const zone = link.view.some(([name, value]) => name === 'zone' && value === 'local') ? 'local' : 'UTC'
  let opened = false
  const runs = runner(async signal => {
    const query = { endpoint, values: fields.values(), sql: sql?.text() ?? null, redact: fields.redact() }
    remember(
      { endpoint: endpoint.name, values: query.values, sql: query.sql, view: viewOf(query.redact) },
      opened,
    )
    opened = true
    history.replaceState(hasRun, '')
    fields.showProblems([])
    sql?.showProblems([])
    try {
      const answer = await runQuery(key, query, signal, fresh)
      if (!runs.isOutdated()) controls.fold() // else they are being written in
      if (query.sql !== null) sql?.ran(query.sql)
      const status = countOf(query, answer)
      return { status, element: await results(query, answer, unbound, zone) }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      controls.unfold()
      const left = fields.showProblems(error.problem.errors ?? [])
      return { status: '', element: failure(error, sql?.showProblems(left) ?? left) }
    }
  })
  const viewOf = (redacted: boolean): Link['view'] => [
    ...(hasView ? [['view', 'query'] as [string, string]] : []),
    ...link.view.filter(([name]) => name === 'zone'), // as the other view has it
    ...(redacted === endpoint.redact ? [] : [['redact', String(redacted)] as [string, string]]),
  ]
  const edited = () => {
    runs.mark()
    controls.unfold()
  }
  const unbound = () => {
    const { start, end } = parametersOf(endpoint)
    for (const name of [start, end]) if (name) fields.fill(name, '')
    runs.start()
  }
  let fresh = false
  const runFresh = () => {
    fresh = true
    runs.start()
    fresh = false
  }
  const sql = endpoint.sandbox ? statement({ key, endpoint, sql: link.sql, run: runs.start, edited }) : null
  const controls = folding(sql ? 'Parameters and SQL' : 'Parameters', fields.element, sql?.element)
  const hint = el('span', { class: 'hint' }, 'or Ctrl-Enter')
  const element = el(
    'article',
    { class: 'form-view', onkeydown: event => runOnEnter(event as KeyboardEvent, runs.start) },
    el('div', { class: 'form-title' }, el('h2', {}, endpoint.name), sql?.modes),
    el('p', { class: 'description', tabindex: 0, title: endpoint.description }, endpoint.description),
    controls.element,
    el(
      'div',
      { class: 'run' },
      runs.button,
      endpoint.cacheSeconds > 0 &&
        endpoint.mayRunFresh &&
        button('Run fresh', runFresh, { title: 'Run now, past the cache' }),
      hint,
      runs.status,
      fields.redaction,
    ),
    runs.place,
  )
  fields.element.addEventListener('input', runs.mark)
  // What may show too much goes first, then what may be seen comes.
  fields.redaction.addEventListener('change', () => {
    show(runs.place)
    runs.start()
  })
  const given = fields.values()
  const missing = endpoint.parameters.filter(({ name, required }) => required && !given[name])
  if (missing.length === 0 && (!link.sql || history.state === hasRun)) runs.start()
  else show(runs.place, invitation(missing, fields.fill))
  return { element, values: fields.values, close: runs.stop }
}

/** How many rows there are, and whether the query's own LIMIT cut them; where it has pages, the next one says so. */
function countOf({ sql, endpoint }: Query, { rows, headers }: Answer): string {
  if (/rel="next"/.test(headers.get('link') ?? '')) return `${rows.length} rows, and there are more.`
  const limit = sql === null ? endpoint.limit : limitIn(sql)
  if (rows.length > 1 && rows.length === limit) return `${rows.length} rows: the LIMIT, so there may be more.`
  return rows.length === 1 ? '1 row.' : `${rows.length} rows.`
}

/** The LIMIT at the end of a text of SQL. */
function limitIn(sql: string): number {
  return Number(/\bLIMIT\s+(\d+)(\s+OFFSET\s+\d+)?[\s;]*$/i.exec(bare(sql))?.[1])
}

/** Without comments. */
function bare(sql: string): string {
  return sql.replaceAll(/(--|#)[^\n'"`]*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
}

/** Controls that fold on a phone, so that the results come first there; `form.css` hides the heading elsewhere. */
function folding(name: string, ...inside: (HTMLElement | undefined)[]) {
  const phone = matchMedia('(max-width: 800px)')
  const element = el('details', { class: 'controls', open: true }, el('summary', {}, name), ...inside)
  const unfold = () => (element.open = true)
  phone.addEventListener('change', unfold)
  return { element, unfold, fold: () => (element.open = !phone.matches) }
}

interface Outcome {
  status: string
  /** `null` leaves the last results in place. */
  element: HTMLElement | null
}

/** The button that runs and stops, the status beside it, and the place of the results. A run cancels the one before. */
function runner(run: (signal: AbortSignal) => Promise<Outcome>) {
  const runButton = button('Run', () => (running ? stop() : start()), { class: 'primary' })
  const status = el('p', { class: 'status', role: 'status' })
  const place = el('div', { class: 'outcome' })
  let running: AbortController | null = null
  /** Whether a person changed something since the last run began. */
  let outdated = false

  const stop = () => running?.abort()
  /** What is on the screen, or on its way, is no longer what is asked. */
  const mark = () => {
    outdated = true
    if (place.childElementCount === 0 || running) return
    place.classList.add('old')
    status.textContent = 'Not yet run.'
  }
  const start = () => {
    stop()
    const own = new AbortController()
    running = own
    outdated = false
    runButton.textContent = 'Stop'
    status.textContent = 'Running …'
    place.ariaBusy = 'true'
    place.inert = true // these rows are of the question before
    void run(own.signal)
      .catch(stopped)
      .then(outcome => {
        if (running !== own) return
        running = null
        runButton.textContent = 'Run'
        status.textContent = outcome.status
        place.ariaBusy = null
        place.inert = false
        if (outcome.element) {
          place.classList.remove('old')
          show(place, outcome.element)
        } else if (place.childElementCount > 0) place.classList.add('old') // it was stopped
        if (outdated) mark()
      })
  }
  return { button: runButton, status, place, start, stop, mark, isOutdated: () => outdated }
}

function stopped(error: unknown): Outcome {
  if (!(error instanceof DOMException && error.name === 'AbortError')) throw error
  return { status: 'Stopped.', element: null }
}

/** Ctrl-Enter runs from anywhere, Enter from a field. */
function runOnEnter(event: KeyboardEvent, run: () => void): void {
  const { key, ctrlKey, metaKey, target } = event
  if (key !== 'Enter' || event.defaultPrevented) return
  if (!ctrlKey && !metaKey && !(target instanceof HTMLInputElement)) return
  event.preventDefault()
  run()
}

/** A link with SQL that did not run here waits for a press: following it must not make its reader pay for a scan. */
function invitation(missing: Parameter[], fill: (name: string, value: string) => void): HTMLElement {
  const text =
    missing.length === 0
      ? 'This link brings a query of its own. Read it, then press Run.'
      : `Fill in ${missing.map(({ name }) => name).join(' and ')}, then press Run.`
  const examples = missing.flatMap(({ name, examples = [] }) =>
    examples.map(example => button(`${name} ${String(example)}`, () => fill(name, String(example)))),
  )
  const acts = examples.length > 0 && el('div', { class: 'actions' }, 'For example', ...examples)
  return el('div', { class: 'card empty' }, el('h3', {}, 'Nothing asked yet'), el('p', {}, text), acts)
}

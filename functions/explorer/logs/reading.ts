/** The rows and the chart of the state: both asked at once, older rows as one scrolls, and what is said about them. */
import type { Row } from '../../../shared/engines/engine.ts'
import { button, el, show } from '../dom.ts'
import { failure } from '../results.ts'
import { type Answer, bytesText, costOf, now, parametersOf, ServiceError } from '../service.ts'
import type { bar } from './bar.ts'
import { chartOf } from './chart.ts'
import type { Current } from './current.ts'
import { type fieldList, rowsText } from './fields.ts'
import type { histogram } from './histogram.ts'
import { latest } from './latest.ts'
import { placeOf } from './opening.ts'
import { type Range, rangeOf, shown, zoneName } from './range.ts'
import { columnsOf, entryOf, type rowList, timeOf } from './rows.ts'
import { foundText } from './sought.ts'
import { type After, hasCursor, rowsSql } from './sql.ts'
import { askedOf } from './state.ts'

interface Parts {
  controls: ReturnType<typeof bar>
  list: ReturnType<typeof rowList>
  bars: ReturnType<typeof histogram>
  fields: ReturnType<typeof fieldList>
  /** Called when the rows are on the screen. */
  arrived(): void
  /** Called when the rows answer what is asked, and when they no longer do. */
  aged(old: boolean): void
}

const pageOf = 100
/** In microseconds. */
const minute = 6e7

/** @param widening whether the page may look further back by itself, as nothing was said of the time */
export function reading(
  view: Current,
  { controls, list, bars, fields, arrived, aged }: Parts,
  widening: boolean,
) {
  const legend = el('div', { class: 'bars-legend' })
  const facts = el('span', { class: 'logs-facts', role: 'status' })
  const newest = () => list.element.scrollTo(0, 0)
  const looked = button([], newest, { class: 'live', title: 'Show the newest rows' }) // too often to be read aloud
  const stale = el('span', { class: 'stale', role: 'status' })
  const problem = el('div', { class: 'logs-problem' })
  const sqlText = el('pre', { tabindex: 0, 'aria-label': 'SQL of these rows' })
  const place = el('div', { class: 'rows-place' }, problem, list.element)
  const runs = { rows: latest(), chart: latest() }
  const limit = Math.min(pageOf, view.endpoint.maxRows)
  /** What the rows on the screen answer. */
  let asked = ''
  /** Rows of the range, as the chart counts them; `null` = not known. */
  let total: number | null = null
  let cost = ''
  let isAll = false
  /** Whether the rows of the last run are on the screen; the chart may be there before them. */
  let isShown = false
  let isLoading = false
  /** New rows since they are awaited; `null` = they are not. */
  let arrivals: number | null = null
  /** Bytes that were read since then. */
  let followed = 0
  const count = ({ headers }: Answer) => (followed += Number(headers.get('x-bytes-read') ?? 0))
  /** When the chart was read, and the width of its buckets, in microseconds. */
  let charted = { at: 0, width: Infinity }
  /** Whether some of the new rows are left out. */
  let isCut = false
  /** New rows that the chart does not have. */
  let uncharted = 0
  const lacking = el('span', { class: 'hint' })

  function run({ fresh = false } = {}): void {
    const range = rangeOf(view.state, now())
    if ('wrong' in range) return unasked({ detail: range.detail })
    const missing = parametersOf(view.endpoint).others.find(
      ({ name, required }) => required && !view.state.values[name],
    )
    if (missing && fillIn(missing.name)) return
    if (missing) return unasked({ parameter: missing.name, detail: `${missing.name} is required.` })
    view.range = range
    total = null
    charted.width = Infinity
    isCut = false
    isShown = false
    mark(asked !== '', true)
    markChart(true)
    controls.setRunning(true)
    show(problem)
    facts.textContent = 'Running …'
    list.end(list.all().length === 0 ? '' : 'Rows are on their way; these are of the run before.')
    const sql = rowsSql(view.state, view.shape(), range, limit)
    sqlText.textContent = sql
    void runs
      .rows(async signal => {
        const answer = await view.query(sql, signal, { fresh })
        if (answer.rows.length === 0 && widening && widen()) return
        showRows(answer)
      }, fail)
      .then(settle)
    void runs
      .chart(async signal => {
        fields.set(view.state, view.shape(), null)
        total = await readChart(signal, range, fresh)
        if (isShown) tell()
      }, chartFailed)
      .then(settle)
  }

  /** Stop stands as long as there is something to stop. */
  function settle(): void {
    controls.setRunning(isRunning())
  }

  function isRunning(): boolean {
    return runs.rows.isRunning() || runs.chart.isRunning()
  }

  /** @returns how many rows it is of */
  async function readChart(signal: AbortSignal, range: Range, fresh = false): Promise<number> {
    const { state, endpoint } = view
    const shape = view.shape()
    uncharted = 0
    const run = async (sql: string) => {
      const answer = await view.query(sql, signal, { within: range, fresh })
      count(answer)
      return answer
    }
    const chart = await chartOf({ state, shape, range, now: now(), maxRows: endpoint.maxRows, run })
    charted = { at: now(), width: chart.bars?.width ?? minute }
    bars.set(chart.bars)
    markChart(controls.isEdited())
    show(legend, lacking, ...chart.legend(view.change))
    tellLacking()
    fields.set(state, shape, chart.top)
    return chart.total
  }

  /**
   * While new rows are awaited: says so, and what that has cost, and reads the chart again up to now when a third of a
   * bucket has passed, or a minute where it lacks rows.
   */
  function follow(at: number, answer: Answer): void {
    count(answer)
    const { zone } = view.state
    const time = `${shown(at, zone).slice(11, 19)} ${zoneName(zone)}`
    const found = arrivals ? `${arrivals.toLocaleString('en')} new` : 'nothing new'
    looked.textContent = `looked at ${time}: ${found}${followed > 0 ? `, ${bytesText(followed)} read` : ''}`
    if (at - charted.at < Math.min(charted.width / 3, uncharted > 0 ? minute : Infinity)) return
    charted.at = at
    void runs.chart(async signal => {
      total = await readChart(signal, { ...view.range, to: at })
      if (isShown) tell()
    }, chartFailed)
  }

  /** The chart of a long range costs too much to be read at each look. */
  function tellLacking(): void {
    lacking.textContent = uncharted > 0 ? `not in the chart: ${rowsText(uncharted)}` : ''
  }

  function showRows(answer: Answer): void {
    asked = askedOf(view.state)
    mark(controls.isEdited())
    controls.setRedacted(answer.redacted)
    widening = false
    cost = costOf(answer)
    isAll = answer.rows.length < limit
    isShown = true
    relist(answer.rows)
    arrived()
    view.write()
    tell()
    show(problem, isAll && foundText(view, answer.rows.length))
    if (answer.rows.length > 0 || !runs.chart.isRunning()) return
    bars.set(null) // no counts of a run before beside no rows
    show(legend)
  }

  function relist(rows: Row[]): void {
    const { state, endpoint } = view
    list.set(rows, {
      columns: columnsOf(view.shape(), state.columns),
      zone: state.zone,
      sort: { path: state.sort, ascending: state.ascending },
      place: placeOf(endpoint, state.table),
    })
  }

  function tell(): void {
    const count = list.all().length
    const many = count.toLocaleString('en')
    const of = total === null || isAll ? '' : ` of ${total.toLocaleString('en')}`
    facts.textContent = `${many}${of} ${count === 1 && of === '' ? 'row' : 'rows'}${arrivals === null ? ` · ${cost}` : ''}`
    if (isCut) facts.textContent += '; some of the new ones are left out: press Run'
    const more = `${many} rows${of}; older ones load as you scroll.`
    const all = count === 1 ? 'The one row of this range.' : `All ${many} rows of this range.`
    list.end(count === 0 ? '' : isAll ? all : more)
  }

  /** Asks for the next range back. @returns whether there is one */
  function widen(): boolean {
    const next = { 'now-1h': 'now-1d', 'now-1d': 'now-7d', 'now-7d': '' }[view.state.from]
    if (next === undefined) return false
    view.state = { ...view.state, from: next, to: next === '' ? '' : 'now' }
    controls.set(view.state, view.shape())
    run()
    return true
  }

  function fail(error: unknown): void {
    if (error instanceof DOMException) {
      facts.textContent = 'Stopped.'
      list.end(list.all().length === 0 ? '' : 'Stopped; these rows are of the run before.')
      return mark(!isShown && asked !== '')
    }
    if (!(error instanceof ServiceError)) throw error
    const errors = error.problem.errors ?? []
    const [first] = errors
    if (first?.parameter && fillIn(first.parameter)) return
    relist([])
    list.end('')
    mark(false)
    facts.textContent = ''
    controls.showProblem(first?.parameter, first?.detail ?? '')
    const left = errors.filter(({ line }) => line === undefined)
    show(problem, failure(error, left))
  }

  /** The service would refuse it. */
  function unasked(problem: { parameter?: string; detail: string }): void {
    stop()
    const { detail } = problem
    const error = new ServiceError({
      title: 'Not asked yet',
      detail,
      errors: problem.parameter ? [problem] : [],
    })
    chartFailed(error)
    fail(error)
  }

  /** A project to begin with, where the key does not fix one: the parameter's first example. */
  function fillIn(name: string): boolean {
    const { others } = parametersOf(view.endpoint)
    const example = others.find(parameter => parameter.name === name)?.examples?.[0]
    if (view.state.values[name] || example === undefined) return false
    view.state = { ...view.state, values: { ...view.state.values, [name]: String(example) } }
    controls.set(view.state, view.shape())
    run()
    return true
  }

  function chartFailed(error: unknown): void {
    const isStopped = error instanceof DOMException
    fields.set(view.state, view.shape(), [])
    if (!isStopped && !(error instanceof ServiceError)) throw error
    bars.set(null, `No chart: ${isStopped ? 'stopped.' : error.problem.detail}`)
    markChart(false)
    show(legend)
  }

  async function older(): Promise<void> {
    // While the rows are on their way again, it would take their turn.
    if (!isShown || isLoading || isAll || asked !== askedOf(view.state) || list.all().length === 0) return
    isLoading = true
    await runs.rows(async signal => {
      const sql = rowsSql(view.state, view.shape(), view.range, limit, afterLast())
      const answer = await view.query(sql, signal)
      cost = costOf(answer)
      list.append(answer.rows)
      isAll = answer.rows.length < limit || list.all().length === total
      tell()
    }, olderFailed)
    isLoading = false
  }

  /** What is on the screen stays. */
  function olderFailed(error: unknown): void {
    if (error instanceof DOMException) return
    if (!(error instanceof ServiceError)) throw error
    list.end(`Older rows could not be read: ${error.problem.detail}`)
  }

  function afterLast(): After {
    const [shape, rows] = [view.shape(), list.all()]
    return hasCursor(view.state, shape) ? entryOf(rows.at(-1)!, shape) : { offset: rows.length }
  }

  /** @param old whether the rows do not answer what the controls say @param running whether those that do are on their way */
  function mark(old: boolean, running = false): void {
    place.classList.toggle('old', old)
    list.setOld(old)
    aged(old || running)
    stale.textContent = old && !running ? 'Not yet run' : ''
  }

  function markChart(old: boolean): void {
    for (const part of [bars.element, legend]) part.classList.toggle('old', old)
  }

  function stop(): void {
    for (const end of Object.values(runs)) end.stop()
    controls.setRunning(false)
  }

  return {
    elements: { legend, facts, looked, stale, place, sqlText },
    run,
    older: () => void older(),
    fail,
    isRunning,
    /** @param differs whether what is written in the bar is not what is on the screen */
    mark(differs: boolean) {
      mark(differs)
      markChart(differs || runs.chart.isRunning())
    },
    stop,
    /** The same rows and the same chart, as the state shows them. */
    redraw() {
      relist(list.all())
      arrived()
      bars.redraw(view.state.zone)
    },
    /** What was said of the time from now on holds. */
    keepRange: () => (widening = false),
    /** Takes everything away that an answer brought. */
    clear() {
      stop()
      asked = ''
      relist([])
      list.end('')
      bars.set(null)
      show(legend)
      fields.set(view.state, view.shape(), null)
    },
    follow,
    /** @param on whether new rows are awaited */
    setFollowing(on: boolean) {
      arrivals = on ? 0 : null
      followed = 0
      looked.textContent = on ? 'waiting for new rows' : ''
      if (isShown) tell()
    },
    /** The range begins later: what is before it goes. */
    moved() {
      const { from } = view.range
      const gone = from === null ? 0 : list.shorten(row => timeOf(row, view.shape()) < from)
      if (total !== null) total -= gone
      if (gone > 0) tell()
    },
    /** New rows at the top. */
    add(rows: Row[], cut: boolean) {
      show(problem)
      if (list.all().length === 0) relist(rows)
      else list.prepend(rows)
      if (total !== null) total += rows.length
      arrivals = (arrivals ?? 0) + rows.length
      uncharted += rows.length
      isCut ||= cut
      tellLacking()
      tell()
    },
  }
}

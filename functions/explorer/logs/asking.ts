/** Asks for what the state wants: rows and chart at once, older rows as one scrolls, and what it takes up by itself. */
import { batch } from '@preact/signals'
import type { Row } from '../../../shared/engines/engine.ts'
import { type Answer, costOf, now, parametersOf, ServiceError } from '../service.ts'
import { chartOf } from './bars.ts'
import { periodsOf, wholeOf } from './compare.ts'
import { type Failure, takeLatest } from '../resource.ts'
import { patternsIn, patternsSql } from './patterns.ts'
import { type Range, rangeOf } from './range.ts'
import { entryOf } from './rows.ts'
import { type After, hasCursor, rowsSql } from './sql.ts'
import { blocksOf, type Found, type Store } from './store.ts'
import { askedOf, patternsAskedOf, type State } from './state.ts'

const pageOf = 100
const mostPatterns = 200
/** In microseconds. */
const minute = 6e7

export class Asking {
  /** Of the chart's answers. */
  bytesRead = 0
  readonly #store: Store
  readonly #rows = takeLatest(() => (this.#store.reading.value = null))
  /** Rows of a page. */
  readonly limit: number
  /** Whether it may look further back by itself, as nothing was said of the time. */
  #isWidening: boolean
  /** When the chart was read, and the width of its buckets, in microseconds. */
  #charted = { at: 0, width: Infinity }

  constructor(store: Store, isOpen: boolean) {
    this.#store = store
    this.#isWidening = isOpen
    this.limit = Math.min(pageOf, store.endpoint.maxRows)
  }

  run({ fresh = false } = {}): void {
    const { state, shape, range, total, problem, olderProblem, reading } = this.#store
    const asked = state.value
    const within = rangeOf(asked, now())
    if ('wrong' in within) return this.#unasked(within.detail)
    const missing = missingParameter(this.#store)
    if (missing !== undefined && this.#fillIn(missing)) return
    if (missing !== undefined) return this.#unasked(`${missing} is required.`, missing)
    this.#charted.width = Infinity
    const sql = rowsSql(asked, shape.value, within, this.limit)
    batch(() => {
      range.value = within
      this.#store.sql.value = sql
      total.value = problem.value = null
      olderProblem.value = ''
      reading.value = 'run'
    })
    void this.#rows(signal => this.#readRows(asked, sql, signal, fresh), this.failed)
    this.#readChart(within, { fresh })
    this.readPatterns(within, fresh)
  }

  async #readRows(asked: State, sql: string, signal: AbortSignal, fresh: boolean): Promise<void> {
    const { found, chart, reading, active, openRow, isRedactionForced } = this.#store
    const answer = await this.#store.query(sql, signal, { fresh })
    if (answer.rows.length === 0 && this.#isWidening && this.#widen()) return
    this.#isWidening = false
    batch(() => {
      isRedactionForced.value = answer.redacted && !asked.redact
      reading.value = null
      found.value = { state: asked, ...this.#pageIn(answer), blocks: blocksOf(answer.rows), isCut: false }
      active.value = openRow.value
      if (answer.rows.length === 0 && chart.isRunning.value) chart.answer.value = null // no counts of a run before
    })
    this.#store.write()
  }

  #pageIn(answer: Answer): Pick<Found, 'cost' | 'isAll'> {
    return { cost: costOf(answer), isAll: answer.rows.length < this.limit }
  }

  /** @param isQuiet where the chart before goes on until then */
  #readChart(within: Range, { fresh = false, isQuiet = false }): void {
    const { chart, total, uncharted, state, shape, endpoint } = this.#store
    const job = async (signal: AbortSignal) => {
      const run = async (sql: string, of: Range = within) => {
        const answer = await this.#store.query(sql, signal, { within: of, fresh })
        this.bytesRead += bytesOf(answer)
        return answer
      }
      uncharted.value = 0
      const question = { state: state.value, shape: shape.value, range: within }
      const read = await chartOf({ ...question, now: now(), maxRows: endpoint.maxRows, run })
      this.#charted = { at: now(), width: read.bars?.width ?? minute }
      total.value = read.total
      return read
    }
    chart.read(askedOf(state.value), job, isQuiet)
  }

  /** Where these are listed. */
  readPatterns(range = this.#store.range.value, fresh = false): void {
    const { state, shape, endpoint, patterns } = this.#store
    const { list, compare } = state.value
    if (list === '') return patterns.stop()
    const periods = periodsOf(range, compare || 'before', now())
    const options = { limit: Math.min(mostPatterns, endpoint.maxRows), parts: 12, isNew: list === 'new' }
    const sql = patternsSql(state.value, shape.value, range, periods, options)
    const within = periods ? wholeOf(periods) : range
    patterns.read(patternsAskedOf(state.value), async signal => {
      const answer = await this.#store.query(sql, signal, { within, fresh })
      this.bytesRead += bytesOf(answer)
      return { ...patternsIn(answer.rows), cost: costOf(answer) }
    })
  }

  /** Reads the chart again up to then when a third of a bucket has passed, or a minute where it lacks rows. */
  chartUpTo(at: number): void {
    const { range, uncharted } = this.#store
    const { at: before, width } = this.#charted
    if (at - before < Math.min(width / 3, uncharted.value > 0 ? minute : Infinity)) return
    this.#charted.at = at
    this.#readChart({ ...range.value, to: at }, { isQuiet: true })
    this.readPatterns({ ...range.value, to: at })
  }

  /** Asks for the next range back. @returns whether there is one */
  #widen(): boolean {
    const state = this.#store.state.value
    const next = { 'now-1h': 'now-1d', 'now-1d': 'now-7d', 'now-7d': '' }[state.from]
    if (next === undefined) return false
    this.#store.set({ ...state, from: next, to: next === '' ? '' : 'now' })
    this.run()
    return true
  }

  /** A project to begin with, where the key does not fix one: the parameter's first example. */
  #fillIn(name: string): boolean {
    const { endpoint, state } = this.#store
    const example = endpoint.parameters.find(parameter => parameter.name === name)?.examples?.[0]
    if (state.value.values[name] || example === undefined) return false
    this.#store.set({ ...state.value, values: { ...state.value.values, [name]: String(example) } })
    this.run()
    return true
  }

  /** The service would refuse it. */
  #unasked(detail: string, parameter?: string): void {
    this.#rows.drop()
    this.#store.chart.clear()
    this.#store.patterns.clear()
    const errors = parameter === undefined ? [] : [{ parameter, detail }]
    const { chart, state } = this.#store
    const problem = new ServiceError({ title: 'Not asked yet', detail, errors })
    chart.answer.value = { asked: askedOf(state.value), data: null, problem }
    this.failed(problem)
  }

  readonly failed = (error: Failure): void => {
    const { problem, found } = this.#store
    if (error === 'stopped') return void (problem.value = error)
    const parameter = error.problem.errors?.[0]?.parameter
    if (parameter !== undefined && this.#fillIn(parameter)) return
    batch(() => {
      found.value = null
      problem.value = error
    })
  }

  readonly older = (): void => {
    const { found, reading, isOld, rows, state, shape, range, total, olderProblem } = this.#store
    const { length } = rows.value
    // While the rows are on their way again, it would take their turn.
    if (!found.value || found.value.isAll || reading.value !== null || isOld.value || length === 0) return
    reading.value = 'older'
    const job = async (signal: AbortSignal) => {
      const sql = rowsSql(state.value, shape.value, range.value, this.limit, this.#afterLast(rows.value))
      const answer = await this.#store.query(sql, signal)
      const { cost, isAll } = this.#pageIn(answer)
      const before = found.value!
      const isCounted = rows.value.length + answer.rows.length === total.value
      const blocks = [...before.blocks, ...blocksOf(answer.rows)]
      found.value = { ...before, cost, blocks, isAll: isAll || isCounted }
    }
    // What is on the screen stays.
    void this.#rows(job, error => {
      if (error !== 'stopped') olderProblem.value = `Older rows could not be read: ${error.problem.detail}`
    })
  }

  #afterLast(rows: Row[]): After {
    const { state, shape } = this.#store
    return hasCursor(state.value, shape.value) ? entryOf(rows.at(-1)!, shape.value) : { offset: rows.length }
  }

  isBusy(): boolean {
    return this.#rows.isRunning() || this.#store.chart.isBusy()
  }

  stop(): void {
    this.#rows.stop()
    this.#store.chart.stop()
    this.#store.patterns.stop()
  }

  /** What was said of the time from now on holds. */
  keepRange(): void {
    this.#isWidening = false
  }

  /** Takes everything away that an answer brought, and what is on its way. */
  clear(): void {
    this.stop()
    this.#store.patterns.clear()
    this.#store.chart.clear()
    this.#store.found.value = null
  }
}

/** Bytes that were read for it, as far as the service says so. */
export function bytesOf({ headers }: Answer): number {
  return Number(headers.get('x-bytes-read') ?? 0)
}

/** A required parameter without a value. */
function missingParameter({ endpoint, state }: Store): string | undefined {
  const { others } = parametersOf(endpoint)
  return others.find(({ name, required }) => required && !state.value.values[name])?.name
}

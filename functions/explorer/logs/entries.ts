/** Asks for the open entry, all of it, and for those around it. */
import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { Row } from '../../../shared/engines/engine.ts'
import { now, type ServiceError } from '../service.ts'
import { takeLatest } from '../resource.ts'
import { writtenOf } from './range.ts'
import { entryNamed, entryOf, timeOf } from './rows.ts'
import { type Shape, tableColumn } from './shape.ts'
import { entrySql, rowsSql } from './sql.ts'
import { type Filter, initial } from './state.ts'
import type { Store } from './store.ts'

/** What neither rows around an entry nor those with one of its values keep. */
const { filters, severity, sort, ascending } = initial
export const plain = { filters, severity, sort, ascending }

/** Before an entry and behind it, in microseconds: as near as there is another one of its table. */
const surroundings = [3e8, 3.6e9, 8.64e10, 6.048e11]

/** As many on each side are a page with it. */
const nearby = 48

interface Opened {
  name: string
  shape: Shape
  /** `null` where it is not there any more. */
  entry: Row | null
  redacted: boolean
}

export class Entries {
  readonly opened = signal<Opened | null>(null)
  readonly problem = signal<ServiceError | null>(null)
  readonly isReading = signal(false)
  readonly #store: Store
  readonly #latest = takeLatest(() => (this.isReading.value = false))
  /** Which entry is wanted, redacted or not; empty = none. It waits for the rows, which say what the question lacks. */
  readonly #wanted = computed(() => {
    const { table, row, redact } = this.#store.state.value
    const isAnswered = this.#store.found.value !== null || this.#store.problem.value !== null
    return row === '' || !isAnswered ? '' : `${table} ${row} ${redact}`
  })
  readonly isOpen = computed(() => this.#wanted.value !== '')
  readonly #unwatch: () => void

  constructor(store: Store) {
    this.#store = store
    this.#unwatch = effect(() => {
      const isWanted = this.#wanted.value !== ''
      untracked(() => (isWanted ? this.read() : this.#close()))
    })
  }

  stop(): void {
    this.#latest.stop()
  }

  /** For good. */
  end(): void {
    this.#unwatch()
    this.stop()
  }

  #close(): void {
    this.stop()
    batch(() => {
      this.opened.value = this.problem.value = null
      this.isReading.value = false
    })
  }

  /** Also again, where it failed or was stopped: the one before it goes then, as it is not what is asked. */
  readonly read = (): void => {
    const { state, shape } = this.#store
    const name = this.#wanted.value
    const { time, id, table } = entryNamed(state.value.row, shape.value)
    const own = this.#store.shapeOf(table)
    const source = shape.value.parts && { [tableColumn]: table }
    this.isReading.value = true
    const job = async (signal: AbortSignal) => {
      const within = { from: null, to: null }
      const { rows, redacted } = await this.#store.query(entrySql(own, { time, id }), signal, { within })
      batch(() => {
        this.problem.value = null
        this.opened.value = { name, shape: own, entry: rows[0] ? { ...source, ...rows[0] } : null, redacted }
      })
    }
    void this.#run(job, () => (this.opened.value = this.problem.value = null))
  }

  /**
   * What was logged before and after, without filters, the entry still open: of its table alone where too many of others stand
   * between it and its neighbours.
   */
  readonly around = (): void => {
    const { state, shape, notices } = this.#store
    const { row, search, filters: before, severity: chosen } = state.value
    const isNarrowed = search !== '' || before.length > 0 || chosen.length > 0
    const { table } = entryNamed(row, shape.value)
    const isUnread = this.isReading.value
    const job = async (signal: AbortSignal) => {
      const bounds = (of: Shape) =>
        Promise.all([false, true].map(isAfter => this.#reach(isAfter, of, signal)))
      const all = await bounds(shape.value)
      const isAll = !all.includes(null)
      const [from, to] = (isAll ? all : await bounds(this.#store.shapeOf(table))) as [number, number]
      const filters: Filter[] = isAll ? [] : [{ path: tableColumn, operator: '=', value: table }]
      this.#store.change({ ...plain, filters, ...writtenOf({ from, to }), search: '', row })
      if (isAll && isNarrowed)
        notices.value = ['These are all entries around it, without the search and the filters.']
      if (!isAll)
        notices.value = [
          `Many entries of other tables stand between it and its neighbours: these are of ${table}.`,
        ]
    }
    void this.#run(job).then(() => isUnread && this.read())
  }

  /**
   * @returns a bound of the range that has the next entry of the same table; `null` where too many of others come before that
   */
  async #reach(isAfter: boolean, of: Shape, signal: AbortSignal): Promise<number | null> {
    const { state, shape } = this.#store
    const entry = entryNamed(state.value.row, shape.value)
    const isOther = (row: Row) => {
      const { time, id, table } = entryOf(row, of)
      return table === entry.table && (time !== entry.time || id !== entry.id)
    }
    const minute = (time: number) => Math.floor(time / 6e7) * 6e7
    for (const width of surroundings) {
      const end = minute(Math.max(entry.time, Math.min(entry.time + width, now()))) + 6e7
      const within = isAfter
        ? { from: entry.time, to: end }
        : { from: minute(entry.time - width), to: entry.time + 1 }
      const asked = { ...initial, ascending: isAfter }
      const sql = rowsSql(asked, of, within, nearby, entry.id ? entry : null)
      const { rows } = await this.#store.query(sql, signal, { within })
      const isFound = rows.some(isOther)
      if (rows.length === nearby) return isFound ? timeOf(rows.at(-1)!, of) + Number(isAfter) : null
      const isLast = width === surroundings.at(-1) || (isAfter && end > now())
      if (isFound || isLast) return isAfter ? within.to : within.from
    }
    return null
  }

  #run(job: (signal: AbortSignal) => Promise<void>, failed = () => {}): Promise<void> {
    return this.#latest(job, error => {
      failed()
      if (error !== 'stopped') this.problem.value = error
    })
  }
}

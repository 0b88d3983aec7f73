/** Asks for the open entry, all of it, and for those around it. */
import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { Row } from '../../../shared/engines/engine.ts'
import { now, type ServiceError } from '../service.ts'
import { takeLatest } from '../resource.ts'
import { shortened } from '../series.ts'
import { nameOfRange, ranges, writtenOf } from './range.ts'
import { entryNamed, entryOf, timeOf } from './rows.ts'
import { type Shape, tableColumn } from './shape.ts'
import { entrySql, rowsSql } from './sql.ts'
import { initial, type State } from './state.ts'
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

/** `Back to “timeout”`: what one was looking for, or where. */
export function backText({ search, filters: chosen, severity: severe, from, to }: State): string {
  const isFiltered = chosen.length > 0 || severe.length > 0
  const range = ranges.find(listed => nameOfRange(listed) === nameOfRange({ from, to }))?.text
  const sought = search && `“${shortened(search)}”`
  return `Back to ${sought || (isFiltered ? 'the filters' : (range ?? 'the range before'))}`
}

/** A bound of the entries around one, and whether another one of its table is within, where there is one. */
interface Reach {
  bound: number
  hasOwn: boolean
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
  /** By the range of the entries around one: what was asked before these. */
  readonly #before = signal<ReadonlyMap<string, State>>(new Map())
  /** What was asked before the entries around one, for as long as these are looked at. */
  readonly before = computed(() => this.#before.value.get(nameOfRange(this.#store.state.value)) ?? null)
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

  /** What was logged before and after in the tables that are looked at, without what else narrows them, the entry still open. */
  readonly around = (): void => {
    const { state, shape, notices } = this.#store
    const { row, search, filters: chosen, severity: severe } = state.value
    const filters = chosen.filter(({ path }) => path === tableColumn)
    const isNarrowed = search !== '' || chosen.length > filters.length || severe.length > 0
    const { table } = entryNamed(row, shape.value)
    const isUnread = this.isReading.value
    const job = async (signal: AbortSignal) => {
      const reaches = [false, true].map(isAfter => this.#reach(isAfter, filters, signal))
      const [first, last] = (await Promise.all(reaches)) as [Reach, Reach]
      const range = writtenOf({ from: first.bound, to: last.bound })
      const before = state.value
      if (nameOfRange(before) !== nameOfRange(range))
        this.#before.value = new Map(this.#before.value).set(nameOfRange(range), before)
      this.#store.change({ ...plain, filters, ...range, search: '', row })
      notices.value = [
        isNarrowed && 'These are all entries around it, without the search and the filters.',
        !(first.hasOwn && last.hasOwn) &&
          `Many entries of other tables stand between it and its neighbours in ${table}: filter for that table to see these.`,
      ].filter(text => text !== false)
    }
    void this.#run(job).then(() => isUnread && this.read())
  }

  /** As it was before the entries around one, but for what is redacted since. */
  readonly back = (): void => {
    const { redact } = this.#store.state.value
    if (this.before.value) this.#store.change({ ...this.before.value, redact })
  }

  /** How far the entries around one go: to the next one of its table, or to as many of others as have room. */
  async #reach(isAfter: boolean, filters: State['filters'], signal: AbortSignal): Promise<Reach> {
    const { state, shape } = this.#store
    const of = shape.value
    const entry = entryNamed(state.value.row, of)
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
      const asked = { ...initial, filters, ascending: isAfter }
      const sql = rowsSql(asked, of, within, nearby, entry.id ? entry : null)
      const { rows } = await this.#store.query(sql, signal, { within })
      const hasOwn = rows.some(isOther)
      if (rows.length === nearby) return { bound: timeOf(rows.at(-1)!, of) + Number(isAfter), hasOwn }
      const isLast = width === surroundings.at(-1) || (isAfter && end > now())
      if (hasOwn || isLast) return { bound: isAfter ? within.to : within.from, hasOwn: true }
    }
    return { bound: entry.time, hasOwn: true }
  }

  #run(job: (signal: AbortSignal) => Promise<void>, failed = () => {}): Promise<void> {
    return this.#latest(job, error => {
      failed()
      if (error !== 'stopped') this.problem.value = error
    })
  }
}

/**
 * The one truth of the logs view: what is asked, which is the address, what is written and not yet run, and what came back.
 * Whatever else is on the screen is computed of these, so that it cannot be of another question.
 */
import { batch, computed, type Signal, signal } from '@preact/signals'
import type { Row } from '../../../shared/engines/engine.ts'
import { iso } from '../../../shared/answers/times.ts'
import { type Link, writeLink } from '../address.ts'
import { type Answer, type Endpoint, now, type Opening, parametersOf, runQuery } from '../service.ts'
import { type Chart, pressOf } from './bars.ts'
import type { Patterns } from './patterns.ts'
import { type Failure, Resource } from '../resource.ts'
import { keyOf } from './rows.ts'
import { inTable, keepChoices, plainState, shapeNamed, stateFrom } from './initial-state.ts'
import { inAddress, isListed, type Range, rangeOf, writtenOf } from './range.ts'
import type { Shape } from './shape.ts'
import {
  addressOf,
  askedOf,
  cleared,
  everyTable,
  type Filter,
  patternsAskedOf,
  type State,
  withColumn,
  withFilter,
} from './state.ts'

export interface LogsOpening extends Opening {
  shapes: Shape[]
  continueInSql(link: Link): void
}

/** Texts of the bar that differ from the state, as they are written. */
export interface Written {
  search?: string
  from?: string
  to?: string
  values?: Record<string, string>
}

/** Rows, with the question that they answer. */
export interface Found {
  state: State
  blocks: Block[]
  /** Of the last answer, in words. */
  cost: string
  /** Whether there are no older ones. */
  isAll: boolean
  /** Whether some of the new ones are left out. */
  isCut: boolean
}

/** Few rows, as a block that comes into sight is laid out within a frame. */
export interface Block {
  rows: Row[]
  /** Whether they were added at the top while new ones were awaited. */
  isNew: boolean
}

interface Asked {
  /** The bounds of time for the endpoint's own parameters; the current range by default. `null` = none. */
  within?: Range
  fresh?: boolean
}

/** What is said where a change of the question ended the following of new rows. */
export const followingEnded =
  'Following ended: new rows are added only where rows go up to now, the newest first.'

const rowsOfBlock = 50

export function blocksOf(rows: Row[], isNew = false): Block[] {
  return Array.from({ length: Math.ceil(rows.length / rowsOfBlock) }, (_, i) => ({
    rows: rows.slice(i * rowsOfBlock, (i + 1) * rowsOfBlock),
    isNew,
  }))
}

/** Called after each change of the state. @param again it is asked though it is the same */
type Asks = (before: State, again: boolean) => void

export class Store {
  readonly endpoint: Endpoint
  readonly tables: string[]
  readonly hasAllTables: boolean
  /** What the link says that fits no table. */
  readonly openedWith: string[]

  readonly state: Signal<State>
  readonly written = signal<Written>({})
  /** Whether the range has fields of its own. */
  readonly isCustom = signal(false)
  /** The state's range at the time of the last run. */
  readonly range = signal<Range>({ from: null, to: null })
  /** What the last run asked for. */
  readonly sql = signal('')
  readonly notices = signal<string[]>([])
  readonly found = signal<Found | null>(null)
  readonly chart = new Resource<Chart>()
  readonly patterns = new Resource<Patterns>()
  /** What is on its way: all rows, or older ones. */
  readonly reading = signal<'run' | 'older' | null>(null)
  /** Why there are no rows, or no older ones. `stopped`: by a person. */
  readonly problem = signal<Failure | null>(null)
  readonly olderProblem = signal('')
  /** Rows of the range, as the chart counts them; `null` = not known. */
  readonly total = signal<number | null>(null)
  /** While new rows are awaited: how many there were, how many the chart lacks, and what the last look was. */
  readonly following = signal<{ arrivals: number; looked: string } | null>(null)
  readonly uncharted = signal(0)
  /** Whether the key leaves no choice. */
  readonly isRedactionForced = signal(false)
  /** The row that keys go on from. */
  readonly active = signal<Row | null>(null)

  readonly rows = computed(() => this.found.value?.blocks.flatMap(block => block.rows) ?? [])
  readonly shape = computed(() => this.shapeOf(this.state.value.table))
  /** The state with what is written in the bar. */
  readonly next = computed((): State => ({ ...this.state.value, ...this.texts() }))
  readonly isEdited = computed(() => JSON.stringify(this.next.value) !== JSON.stringify(this.state.value))
  readonly asked = computed(() => askedOf(this.next.value))
  readonly isRunning = computed(
    () => this.reading.value === 'run' || this.chart.isRunning.value || this.patterns.isRunning.value,
  )
  readonly isOld = computed(() => {
    const found = this.found.value
    return found !== null && (this.reading.value === 'run' || askedOf(found.state) !== this.asked.value)
  })
  readonly isChartOld = computed(() => this.chart.isOld(this.asked.value))
  readonly arePatternsOld = computed(() => this.patterns.isOld(patternsAskedOf(this.next.value)))
  /** Whether rows may be opened, and leave the page: they answer what is asked. */
  readonly isCurrent = computed(() => !this.isOld.value && this.reading.value !== 'run')
  /** The parameter that a problem is of, and what is wrong with it. */
  readonly fault = computed(() => {
    const error = this.problem.value
    const first = error === 'stopped' ? undefined : error?.problem.errors?.[0]
    return first?.parameter === undefined ? null : { parameter: first.parameter, detail: first.detail }
  })
  readonly isNarrowed = computed(() => askedOf(cleared(this.state.value)) !== askedOf(this.state.value))
  /** The row with the state's key. */
  readonly openRow = computed(
    () => this.rows.value.find(row => keyOf(row, this.shape.value) === this.state.value.row) ?? null,
  )

  readonly #opening: LogsOpening
  readonly #asks: Asks

  constructor(opening: LogsOpening, asks: Asks) {
    const { endpoint, shapes, link } = opening
    const opened = stateFrom(link, opening)
    this.#opening = opening
    this.#asks = asks
    this.endpoint = endpoint
    this.tables = shapes.map(({ table }) => table)
    this.hasAllTables = this.tables.includes(everyTable)
    this.openedWith = opened.notices
    this.state = signal(opened.state)
  }

  shapeOf(table: string): Shape {
    return shapeNamed(this.#opening, table)
  }

  /** What is written in the bar, as the state has it. */
  private texts(): Partial<State> {
    const { search, from, to, values } = this.written.value
    const { zone, values: before } = this.state.value
    const isCustom = this.isCustom.value
    return {
      ...(search === undefined ? {} : { search: search.trim() }),
      ...(from === undefined || !isCustom ? {} : { from: inAddress(from, zone) }),
      ...(to === undefined || !isCustom ? {} : { to: inAddress(to, zone) }),
      ...(values && { values: { ...before, ...trimmed(values) } }),
    }
  }

  private linkTo(to: State): Link {
    return { endpoint: this.endpoint.name, sql: null, ...addressOf(to, plainState(this.#opening)) }
  }

  /** The bar shows the new state, and nothing that was written. */
  set(to: State): void {
    batch(() => {
      this.state.value = to
      this.written.value = {}
      if (isListed(to)) this.isCustom.value = false
      else if ('wrong' in rangeOf(to, now())) this.isCustom.value = true
    })
  }

  /** A person's change: a step in the history, run at once. @param again whether it runs though nothing changed */
  change(patch: Partial<State>, { again = false } = {}): void {
    const before = this.state.value
    const after = { ...this.next.value, ...patch }
    if (!('row' in patch) && askedOf(before) !== askedOf(after)) after.row = ''
    keepChoices(this.endpoint, before, after)
    this.notices.value = this.notices.value.filter(text => text !== followingEnded)
    this.set(after)
    this.#opening.remember(this.linkTo(after), true)
    this.#asks(before, again)
  }

  /** Shows rows of a kind alone, or all again: of what is asked now, as the chart may be behind. */
  press(only: Parameters<typeof pressOf>[0]): void {
    this.change(pressOf(only, this.next.value).patch)
  }

  filter(added: Filter): void {
    this.change(withFilter(this.state.value, added))
  }

  /** Shows a field as a column, or no longer. */
  column(path: string): void {
    this.change(withColumn(this.state.value, path))
  }

  /** @returns what of the question the table cannot have */
  toTable(table: string, patch: Partial<State> = {}): string[] {
    const fit = inTable(this.next.value, this.shape.value, this.shapeOf(table), this.endpoint)
    this.change({ ...fit.state, ...patch })
    return fit.notices
  }

  /** The address of the state with the period that is on the screen, which is the same for everyone at any time. */
  exactLink(): string {
    const { from, to } = this.range.value
    const period = writtenOf({ from, to: Math.min(to ?? Infinity, now()) })
    return new URL(writeLink(this.linkTo({ ...this.state.value, ...period })), location.href).href
  }

  /** Puts the state into the address in place of the last one. */
  write(): void {
    this.#opening.remember(this.linkTo(this.state.value), false)
  }

  /** Shows the state of a link: Back and Forward. */
  revisit(to: Link): void {
    const before = this.state.value
    this.set(stateFrom(to, this.#opening).state)
    this.#asks(before, false)
  }

  /** The row below the active one, or above it. */
  beside(by: 1 | -1): Row | null {
    const rows = this.rows.value
    const at = this.active.value ? rows.indexOf(this.active.value) : by > 0 ? -1 : rows.length
    return this.isOld.value ? null : (rows[at + by] ?? null)
  }

  /** @throws ServiceError; DOMException where `signal` ended it */
  query(
    sql: string,
    signal: AbortSignal,
    { within = this.range.value, fresh = false }: Asked = {},
  ): Promise<Answer> {
    const { key, endpoint } = this.#opening
    const { values: given, redact } = this.state.value
    const { start, end } = parametersOf(endpoint)
    const values = { ...given }
    // The endpoint's bounds are exclusive below and inclusive above: a row more may come, which the SQL leaves out.
    if (start && within.from !== null) values[start] = iso(within.from - 1)
    if (end && within.to !== null) values[end] = iso(within.to)
    return runQuery(key, { endpoint, values, sql, redact }, signal, fresh)
  }
}

function trimmed(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text.trim()]))
}

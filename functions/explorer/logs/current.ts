/** What the parts of the logs view share: the state now, how a person changes it, and how the service is asked. */
import { type Link, writeLink } from '../link.ts'
import { type Answer, type Endpoint, now, type Opening, parametersOf, runQuery } from '../service.ts'
import { inTable, keepChoices, plainState, shapeNamed, stateFrom } from './opening.ts'
import { iso } from '../../query/times.ts'
import { type Range, writtenOf } from './range.ts'
import type { Shape } from './shape.ts'
import { addressOf, askedOf, everyTable, type Filter, type State, withColumn, withFilter } from './state.ts'

export interface LogsOpening extends Opening {
  shapes: Shape[]
  continueInSql(link: Link): void
}

export interface Current {
  readonly endpoint: Endpoint
  state: State
  /** The state's range at the time of the last run. */
  range: Range
  /** Of a table, the state's by default. */
  shape(table?: string): Shape
  /** What is written in the bar and not yet asked: each change takes it along. */
  typed(): Partial<State>
  /** A person's change: a step in the history, run at once. @param again whether it runs though nothing changed */
  change(patch: Partial<State>, how?: { again?: boolean }): void
  filter(added: Filter): void
  /** Shows a field as a column, or no longer. */
  column(path: string): void
  /** Goes on in all tables; `null` where there is one. */
  everywhere: ((patch?: Partial<State>) => void) | null
  /** The address of the state with the period that is on the screen, which is the same for everyone at any time. */
  exactLink(): string
  /** Puts the state into the address in place of the last one. */
  write(): void
  /** Shows the state of a link: Back and Forward. */
  revisit(link: Link): void
  /** @throws ServiceError; DOMException where `signal` ended it */
  query(sql: string, signal: AbortSignal, asked?: Asked): Promise<Answer>
}

interface Asked {
  /** The bounds of time for the endpoint's own parameters; the current range by default. `null` = none. */
  within?: Range
  fresh?: boolean
}

/**
 * @param settle shows the new state, and asks for what is not on the screen
 * @returns the state of the link, and notices of what in it fits no table
 */
export function currentOf(
  { key, endpoint, shapes, link, remember }: LogsOpening,
  settle: (before: State, again: boolean) => void,
): { view: Current; notices: string[] } {
  const subject = { endpoint, shapes }
  const plain = plainState(subject)
  const isOne = shapes.length === 1
  const { start, end } = parametersOf(endpoint)
  const { state, notices } = stateFrom(link, subject)
  const linkTo = (to: State): Link => ({ endpoint: endpoint.name, sql: null, ...addressOf(to, plain) })
  const write = (step: boolean) => remember(linkTo(view.state), step)
  const view: Current = {
    endpoint,
    state,
    range: { from: null, to: null },
    typed: () => ({}),
    shape: (table = view.state.table) => shapeNamed(subject, table),
    change(patch, { again = false } = {}) {
      const before = view.state
      view.state = { ...before, ...view.typed(), ...patch }
      if (!('row' in patch) && askedOf(before) !== askedOf(view.state)) view.state.row = ''
      keepChoices(endpoint, before, view.state)
      write(true)
      settle(before, again)
    },
    filter: added => view.change(withFilter(view.state, added)),
    column: path => view.change(withColumn(view.state, path)),
    everywhere: isOne
      ? null
      : patch => {
          const now = { ...view.state, ...view.typed() }
          const { state } = inTable(now, view.shape(), view.shape(everyTable), endpoint)
          view.change({ ...state, ...patch })
        },
    exactLink() {
      const { from, to } = view.range
      const period = writtenOf({ from, to: Math.min(to ?? Infinity, now()) })
      return new URL(writeLink(linkTo({ ...view.state, ...period })), location.href).href
    },
    write: () => write(false),
    revisit(to) {
      const before = view.state
      view.state = stateFrom(to, subject).state
      settle(before, false)
    },
    query(sql, signal, { within = view.range, fresh = false } = {}) {
      const values = { ...view.state.values }
      // The endpoint's bounds are exclusive below and inclusive above: a row more may come, which the SQL leaves out.
      if (start && within.from !== null) values[start] = iso(within.from - 1)
      if (end && within.to !== null) values[end] = iso(within.to)
      return runQuery(key, { endpoint, values, sql, redact: view.state.redact }, signal, fresh)
    },
  }
  return { view, notices }
}

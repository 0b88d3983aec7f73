/** The logs view's state, all of which is in the address. */
import type { Link } from '../address.ts'
import { type Comparison, comparisons } from './compare.ts'
import { isOfZone } from './range.ts'
import { isZone, type Zone } from './zone.ts'

export type Scalar = string | number | boolean | null

/** `=~` and `!~`: a text has the shape that the value is, as `GET /items/<n>`, or another one. */
export const operators = ['!~', '=~', '!=', '>=', '<=', '=', '>', '<'] as const

export interface Filter {
  path: string
  operator: (typeof operators)[number]
  value: Scalar
  /** The parameter that has the value, in the SQL of an endpoint (`as-endpoint.ts`). */
  parameter?: string
}

export const severities = ['error', 'warning', 'info', 'debug', 'other'] as const

export const lists = ['', 'patterns', 'new'] as const

export const ranks = ['', 'rise'] as const

/** The name that stands for all tables. */
export const everyTable = '*'

export type Severity = (typeof severities)[number]

export interface State {
  /** The endpoint's parameters but its bounds of time. */
  values: Record<string, string>
  table: string
  /** As written: `now-1h` stays relative. */
  from: string
  to: string
  zone: Zone
  /** Text, or a regular expression between slashes. */
  search: string
  /** Where the text is looked for: in messages, or in all values of an entry. */
  scope: 'message' | 'entry'
  /** None = all. */
  severity: Severity[]
  filters: Filter[]
  /** Paths of the columns behind the message. */
  columns: string[]
  /** Path of the column that rows are sorted by; empty = the time. */
  sort: string
  ascending: boolean
  /** Path of the field that the histogram is split by, with its values beside the rows; empty = severity. */
  by: string
  /** What the chart and the values show: `rows`, one of `measures` of a field (`average:path`), or a share (`share:path="a"`). */
  measure: string
  redact: boolean
  /** The period that all is compared with; empty = none. */
  compare: Comparison | ''
  /** What is listed: entries, patterns, or those that the period before has not. */
  list: (typeof lists)[number]
  /** Which values and patterns come first: empty = the most, `rise` = what rose most from the period before. */
  rank: (typeof ranks)[number]
  /** The open row, as `key` writes it. */
  row: string
}

export const initial: Omit<State, 'values' | 'table' | 'redact'> = {
  from: 'now-1h',
  to: 'now',
  zone: 'UTC',
  search: '',
  scope: 'message',
  severity: [],
  filters: [],
  columns: [],
  sort: '',
  ascending: false,
  by: '',
  measure: 'rows',
  compare: '',
  list: '',
  rank: '',
  row: '',
}

type Text = { [Name in keyof State]: State[Name] extends string ? Name : never }[keyof State]

/** The words of the state in an address; a parameter's name cannot begin with their dot. */
const texts = ['table', ...Object.keys(initial)].filter(
  (name): name is Text => name === 'table' || typeof initial[name as keyof typeof initial] === 'string',
)

/** What differs from `before`, so that a plain view has a plain address. */
export function addressOf(state: State, before: State): Pick<Link, 'values' | 'view'> {
  const view: [string, string][] = texts
    .filter(name => state[name] !== before[name])
    .map(name => [name, state[name]])
  for (const filter of state.filters) view.push(['where', filterText(filter)])
  if (state.severity.length > 0) view.push(['severity', state.severity.join()])
  if (state.columns.join() !== before.columns.join()) view.push(['columns', state.columns.join()])
  if (state.ascending !== before.ascending) view.push(['order', state.ascending ? 'up' : 'down'])
  if (state.redact !== before.redact) view.push(['redact', String(state.redact)])
  return { values: state.values, view }
}

/** @param before what holds where the address says nothing */
export function stateOf({ values, view }: Pick<Link, 'values' | 'view'>, before: State): State {
  const said = new Map(view)
  const given = Object.fromEntries(texts.flatMap(name => (said.has(name) ? [[name, said.get(name)!]] : [])))
  const list = (name: string) => said.get(name)?.split(',').filter(Boolean)
  return {
    ...before,
    ...given,
    values: { ...before.values, ...values },
    zone: isZone(said.get('zone') ?? '') ? said.get('zone')! : before.zone,
    scope: (said.get('scope') ?? before.scope) === 'entry' ? 'entry' : 'message',
    compare: comparisons.find(([name]) => name === (said.get('compare') ?? before.compare))?.[0] ?? '',
    list: lists.find(name => name === (said.get('list') ?? before.list)) ?? '',
    rank: ranks.find(name => name === (said.get('rank') ?? before.rank)) ?? '',
    severity: severities.filter(severity => list('severity')?.includes(severity)),
    filters: view.flatMap(([name, text]) => (name === 'where' ? (readFilter(text) ?? []) : [])),
    columns: list('columns') ?? before.columns,
    ascending: said.has('order') ? said.get('order') === 'up' : before.ascending,
    redact: said.has('redact') ? said.get('redact') === 'true' : before.redact,
  }
}

/** `metadata.request.method="GET"`: the value as JSON, so that text and number differ. */
export function filterText({ path, operator, value }: Filter): string {
  return `${path}${operator}${JSON.stringify(value)}`
}

/** @returns `null` where the text is no filter */
export function readFilter(text: string): Filter | null {
  const [, path, operator, json] = /^([^=!<>]+)(!~|=~|!=|>=|<=|=|>|<)(.*)$/s.exec(text) ?? []
  if (path === undefined || json === undefined) return null
  try {
    const value = JSON.parse(json) as Scalar
    const scalar = value === null || typeof value !== 'object'
    return scalar ? { path, operator: operator as Filter['operator'], value } : null
  } catch {
    return null
  }
}

/** In place of a filter for or against the same value, and of a bound on the same side. */
export function withFilter({ filters }: State, added: Filter): Partial<State> {
  const isBound = /^[<>]/.test(added.operator)
  const replaced = ({ path, operator, value }: Filter) =>
    path === added.path &&
    (value === added.value || (isBound && operator.charAt(0) === added.operator.charAt(0)))
  return { filters: [...filters.filter(other => !replaced(other)), added] }
}

/** With the column, or without it where it is there. */
export function withColumn({ columns: before, sort }: State, path: string): Partial<State> {
  const columns = before.includes(path) ? before.filter(other => other !== path) : [...before, path]
  return { columns, sort: columns.includes(sort) ? sort : '' }
}

/** A press on a heading: the largest first, then the smallest. */
export function sortedBy({ sort, ascending }: State, path: string): Partial<State> {
  return sort === path ? { ascending: !ascending } : { sort: path, ascending: false }
}

/** All of the table in the range: without what narrows, orders and splits the rows. */
export function cleared(state: State): State {
  const { values, table, from, to, zone, redact, list, row } = state
  const wide = state.search === '' ? state.scope : 'entry' // a link may leave it out
  const scope = table === everyTable ? wide : 'message'
  return { ...initial, values, table, from, to, zone, redact, list, row, scope }
}

/** Whether new rows come at the top. */
export function isLive({ from, to, sort, ascending }: State): boolean {
  return to === (from === '' ? '' : 'now') && sort === '' && !ascending
}

/** What the rows depend on, and the histogram: whether two states ask for the same. */
export function askedOf({ row: _, zone, list: __, rank: ___, ...asked }: State): string {
  return JSON.stringify(isOfZone(asked) ? { ...asked, zone } : asked)
}

/** What the patterns depend on beside it. */
export function patternsAskedOf(state: State): string {
  return `${state.list} ${askedOf(state)}`
}

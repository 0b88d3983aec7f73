/** The state that a link opens: what the link says, what this device keeps for its table, and the plain view else. */
import { keep, kept } from '../kept.ts'
import type { Link } from '../link.ts'
import { type Endpoint, parametersOf } from '../service.ts'
import { fieldAt, measureOf, type Shape } from './shape.ts'
import { initial, type State, stateOf } from './state.ts'

/** What a view is of. */
export interface Subject {
  endpoint: Endpoint
  shapes: Shape[]
}

/** What an address without any words of the view's own shows. */
export function plainState({ endpoint, shapes }: Subject): State {
  return { ...initial, values: {}, table: shapes[0]!.table, redact: endpoint.redact }
}

/** The first table where none has that name. */
export function shapeNamed({ shapes }: Subject, table: string): Shape {
  return shapes.find(shape => shape.table === table) ?? shapes[0]!
}

/** @returns the state, and notices of what in the link fits no table */
export function stateFrom(link: Link, subject: Subject): { state: State; notices: string[] } {
  const { endpoint } = subject
  const { start, end, others } = parametersOf(endpoint)
  const plain = plainState(subject)
  const said = (name: string) => link.view.some(([other]) => other === name)
  const bound = (name: string | undefined) => (name ? link.values[name] : undefined)
  const read = stateOf({ values: {}, view: link.view }, plain)
  const shape = shapeNamed(subject, read.table)
  const known = (path: string) => fieldAt(shape, path) !== null
  const lost = read.filters.filter(({ path }) => !known(path)).map(({ path }) => path)
  const notices = [
    shape.table !== read.table && `There is no table ${read.table} here; this is ${shape.table}.`,
    lost.length > 0 && `Left out of the link, as ${shape.table} has no such field: ${lost.join(', ')}.`,
  ].filter(text => text !== false)
  // Another view may write `-1h`, and no end.
  const from = bound(start)?.replace(/^-/, 'now-')
  const dated = from && !said('from') ? { from, to: bound(end) ?? plain.to } : {}
  const state = {
    ...read,
    ...dated,
    table: shape.table,
    values: Object.fromEntries(
      others.map(({ name, pinned }) => [name, link.values[name] || (pinned ?? keptValue(endpoint, name))]),
    ),
    filters: read.filters.filter(({ path }) => known(path)),
    measure: measureOf(read.measure, shape) ? read.measure : 'rows',
    columns: said('columns') ? read.columns.filter(known) : keptColumns(endpoint, shape),
  }
  return { state, notices }
}

/** Another table: filters by fields that it has too are kept, and `lost` says which ones are not. */
export function inTable(
  { filters, severity }: State,
  shape: Shape,
  endpoint: Endpoint,
): { patch: Partial<State>; lost: string[] } {
  const { has = [], lacks = [] } = Object.groupBy(filters, ({ path }) =>
    fieldAt(shape, path) ? 'has' : 'lacks',
  )
  const lost = [...new Set(lacks.map(({ path }) => path))]
  const patch = {
    table: shape.table,
    filters: has,
    columns: keptColumns(endpoint, shape),
    severity: shape.severity ? severity : [],
    sort: '',
    by: '',
    measure: 'rows',
    row: '',
  }
  return { patch, lost: lost.map(path => `${path} is not in ${shape.table}: filter removed.`) }
}

/** Under what name this device keeps what goes with a table. */
export function placeOf({ name }: Endpoint, table: string): string {
  return `${name} ${table}`
}

/** Keeps columns and parameters for the next visit; columns only as they are chosen, as others come with a link. */
export function keepChoices(endpoint: Endpoint, before: State, { table, columns, values }: State): void {
  if (before.columns !== columns) keep(`columns ${placeOf(endpoint, table)}`, columns)
  for (const [name, value] of Object.entries(values)) keep(`value ${endpoint.name} ${name}`, value || null)
}

function keptColumns(endpoint: Endpoint, shape: Shape): string[] {
  const columns = (kept(`columns ${placeOf(endpoint, shape.table)}`) as string[] | null) ?? []
  return columns.filter(path => fieldAt(shape, path) !== null)
}

function keptValue({ name }: Endpoint, parameter: string): string {
  return (kept(`value ${name} ${parameter}`) as string | null) ?? ''
}

/** The state that a link opens: what the link says, what this device keeps for its table, and the plain view else. */
import { readItem, writeItem } from '../local-storage.ts'
import type { Link } from '../address.ts'
import { type Endpoint, parametersOf } from '../service.ts'
import { fieldAt, measureOf, severityName, type Shape, tableTitle } from './shape.ts'
import { initial, type State, stateOf } from './state.ts'

/** What a view is of. */
export interface Subject {
  endpoint: Endpoint
  shapes: Shape[]
}

/** What an address without any words of the view's own shows. */
export function plainState({ endpoint, shapes }: Subject): State {
  return { ...initial, values: {}, table: firstOf(shapes).table, redact: endpoint.redact }
}

/** The first table where none has that name. */
export function shapeNamed({ shapes }: Subject, table: string): Shape {
  return shapes.find(shape => shape.table === table) ?? firstOf(shapes)
}

function firstOf(shapes: Shape[]): Shape {
  return shapes.find(({ parts }) => !parts)!
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
  // Another view may write `-1h`, and no end.
  const from = bound(start)?.replace(/^-/, 'now-')
  const dated = from && !said('from') ? { from, to: bound(end) || plain.to } : {}
  const { state, notices } = fitted(
    {
      ...read,
      ...dated,
      table: shape.table,
      values: Object.fromEntries(
        others.map(({ name, pinned }) => [name, link.values[name] || (pinned ?? keptValue(endpoint, name))]),
      ),
      columns: said('columns') ? read.columns : keptColumns(endpoint, shape),
    },
    shape,
  )
  if (shape.table === read.table) return { state, notices }
  return { state, notices: [`There is no table ${read.table} here; this is ${shape.table}.`, ...notices] }
}

/**
 * The state with another table, and notices of what of it that table does not have, or names otherwise. All tables are
 * searched in all values, as what is looked for stands in other fields of each.
 */
export function inTable(
  state: State,
  before: Shape,
  shape: Shape,
  endpoint: Endpoint,
): { state: State; notices: string[] } {
  const own = keptColumns(endpoint, shape)
  const columns = fieldAt(shape, state.sort) && !own.includes(state.sort) ? [...own, state.sort] : own
  const scope = shape.parts ? 'entry' : state.search === '' ? 'message' : state.scope
  const fit = fitted({ ...state, table: shape.table, scope, columns, row: '' }, shape)
  const renamed = fit.state.severity.flatMap(each => {
    const [own, other] = [severityName(each, before), severityName(each, shape)]
    return own === other ? [] : `${own} is ${other} in ${tableTitle(shape.table)}.`
  })
  return { state: fit.state, notices: [...fit.notices, ...renamed] }
}

/** Takes out of a state what its table does not have, with a notice of each field. */
function fitted(state: State, shape: Shape): { state: State; notices: string[] } {
  const has = (path: string) => fieldAt(shape, path) !== null
  const { filters, columns, severity, sort, by, measure } = state
  const kept = {
    filters: filters.filter(({ path }) => has(path)),
    columns: columns.filter(has),
    severity: shape.severity ? severity.filter(each => severityName(each, shape) !== '') : [],
    sort: has(sort) ? sort : '',
    by: has(by) ? by : '',
    measure: measureOf(measure, shape) ? measure : 'rows',
  }
  const lost = [
    ...filters.filter(({ path }) => !has(path)).map(({ path }) => [path, 'filter']),
    kept.severity.length < severity.length && ['severity', 'filter'],
    ...columns.filter(path => !has(path)).map(path => [path, 'column']),
    kept.sort !== sort && [sort, 'sorting'],
    kept.by !== by && [by, 'grouping'],
    kept.measure !== measure && [measure.replace(/^\w+:/, ''), 'measure'],
  ].filter(each => each !== false) as [path: string, use: string][]
  const notices = [...Map.groupBy(lost, ([path]) => path)].map(([path, uses]) => {
    const words = [...new Set(uses.map(([, use]) => use))].join(' and ')
    return `${path} is not in ${tableTitle(shape.table)}: ${words} removed.`
  })
  return { state: { ...state, ...kept }, notices }
}

/** Under what name this device keeps what goes with a table. */
export function placeOf({ name }: Endpoint, table: string): string {
  return `${name} ${table}`
}

/** Keeps columns and parameters for the next visit; columns only as they are chosen, as others come with a link. */
export function keepChoices(endpoint: Endpoint, before: State, { table, columns, values }: State): void {
  if (before.columns !== columns) writeItem(`columns ${placeOf(endpoint, table)}`, columns)
  for (const [name, value] of Object.entries(values))
    writeItem(`value ${endpoint.name} ${name}`, value || null)
}

function keptColumns(endpoint: Endpoint, shape: Shape): string[] {
  const columns = (readItem(`columns ${placeOf(endpoint, shape.table)}`) as string[] | null) ?? []
  return columns.filter(path => fieldAt(shape, path) !== null)
}

function keptValue({ name }: Endpoint, parameter: string): string {
  return (readItem(`value ${name} ${parameter}`) as string | null) ?? ''
}

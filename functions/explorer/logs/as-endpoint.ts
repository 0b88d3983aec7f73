/** What the logs view shows, as an endpoint of its own: its SQL with parameters, whose defaults are what is shown. */
import { iso } from '../../../shared/answers/times.ts'
import type { ParameterDefinition } from '../../../shared/endpoints/definition.ts'
import type { Wish } from '../../../shared/sandbox/as-endpoint.ts'
import { type Endpoint, parametersOf } from '../service.ts'
import { aboutOf, narrowing } from '../summary.ts'
import { alike, type Asked } from './conditions.ts'
import { momentSql, reachOf } from './moment-sql.ts'
import type { Range } from './range.ts'
import { type Field, fieldAt, nameOf, type Shape, tableColumn } from './shape.ts'
import { histogramSql, rowsSql } from './sql.ts'
import type { Filter, State } from './state.ts'
import type { Store } from './store.ts'
import { zoneName } from './zone.ts'

export interface Shown {
  endpoint: Endpoint
  state: State
  shape: Shape
  /** The state's, at the time of its run. */
  range: Range
  /** Whether both ends of the range are parameters, also an end that is now. */
  isWindow?: boolean
}

type Parameters = Wish['parameters']

/** Without its name and description, which a person gives. */
export type Made = Omit<Wish, 'name' | 'description'>

/** What of the page can be an endpoint: `Rows`, `Chart`. */
export interface Savable {
  title: string
  /** What it asks, in words; empty = that of what was written. */
  about: string
  made: Made
}

/** The rows on the screen, and their chart. @param limit rows of a page */
export function savableOf(store: Store, limit: number): Savable[] {
  const { endpoint, state, shape, range, isChartOld } = store
  const shown = { endpoint, state: state.value, shape: shape.value, range: range.value }
  const chart = isChartOld.value ? null : store.chart.answer.value?.data
  const times = ['from', 'to', 'zone']
  const about = aboutOf(shown.state, [...narrowing, ...times])
  const rows = { title: 'Rows', about, made: rowsAsEndpoint(shown, limit) }
  if (!chart?.split) return [rows]
  const drawn = { ...shown, state: chart.state }
  const ofChart = aboutOf(chart.state, [...narrowing, 'measure', 'by', ...times])
  return [rows, { title: 'Chart', about: ofChart, made: chartAsEndpoint(drawn, chart.split) }]
}

/** @param limit rows of a page */
export function rowsAsEndpoint(shown: Shown, limit: number): Made {
  return made(shown, (asked, range) => rowsSql({ ...shown.state, ...asked }, shown.shape, range, limit))
}

/** Other values of its field may come tomorrow than those that are drawn. @param width of a bucket, in microseconds */
export function chartAsEndpoint(shown: Shown, { width }: { width: number }): Made {
  const split = { width, values: 'each' } as const
  return made(shown, (asked, range) => histogramSql({ ...shown.state, ...asked }, shown.shape, range, split))
}

/** @param sqlOf of filters and bounds that may be parameters */
export function made(shown: Shown, sqlOf: (asked: Partial<Asked>, range: Range) => string): Made {
  const { endpoint, state, shape } = shown
  const bounds = boundsOf(shown)
  const { filters, parameters } = named(state.filters, shape, [
    ...endpoint.parameters.map(({ name }) => name),
    ...Object.keys(bounds.parameters),
  ])
  return {
    sql: sqlOf({ filters, bounds: bounds.compared }, bounds.range),
    parameters: { ...bounds.parameters, ...parameters },
    values: { ...state.values, ...bounds.values },
    redact: state.redact,
  }
}

/** Names of the parameters where the endpoint has none of its own. */
export const freshBounds = { from: 'since', to: 'until' } as const

/** An end of the range, as calls of the endpoint have it. */
interface Bound {
  values?: Record<string, string>
  parameters?: Parameters
  /** What its SQL compares the time with; absent = nothing. */
  compared?: string
}

type Side = keyof Range

/** A relative time stays so, and up to now needs no bound. */
function boundsOf(shown: Shown) {
  const { endpoint, state, range, isWindow = false } = shown
  const { start, end } = parametersOf(endpoint)
  const boundOf = (side: Side, own?: string): Bound => {
    const isOpen = range[side] === null || (state[side] === 'now' && !isWindow)
    if (isOpen) return {}
    return own === undefined ? freshBound(side, shown) : ownBound(side, own, shown)
  }
  const [from, to] = [boundOf('from', start), boundOf('to', end)]
  return {
    values: { ...from.values, ...to.values },
    parameters: { ...from.parameters, ...to.parameters },
    range: { from: from.compared ? range.from : null, to: to.compared ? range.to : null },
    compared: { ...(from.compared && { from: from.compared }), ...(to.compared && { to: to.compared }) },
  }
}

/** A time relative to now as the service reads it; others, such as the beginning of today in a zone, are in the SQL. */
const isRelative = (written: string) => /^(now|(now)?-\d+[smhdw])$/.test(written)

/** Of a parameter of its own. */
function freshBound(side: Side, { state, range }: Shown): Bound {
  const [written, name] = [state[side], freshBounds[side]]
  const moving = isRelative(written) ? null : momentSql(written, state.zone, side === 'to')
  const preset = isRelative(written) ? written : iso(range[side]!)
  const without = moving === null ? '' : `; without it, ${written} in ${zoneName(state.zone)}`
  const description = `Only entries ${side === 'from' ? 'from this time on' : 'before this time'}${without}.`
  const definition = { type: 'string', format: 'iso-timestamp', description } as const
  return {
    parameters: { [name]: moving === null ? { ...definition, default: preset } : definition },
    compared: `${side === 'from' ? '>=' : '<'} ${moving === null ? `@${name}` : `COALESCE(@${name}, ${moving})`}`,
  }
}

/** Of a parameter of the endpoint, of which the first is exclusive and the last inclusive. */
function ownBound(side: Side, name: string, { endpoint, state, range }: Shown): Bound {
  const written = state[side]
  const moving = isRelative(written) ? null : momentSql(written, state.zone, side === 'to')
  if (moving === null) return { values: { [name]: isRelative(written) ? written : iso(range[side]! - 1) } }
  const last = side === 'from' ? moving : `TIMESTAMP_SUB(${moving}, INTERVAL 1 MICROSECOND)`
  const sign = side === 'from' ? '>=' : '<='
  const { required, default: preset } = endpoint.parameters.find(parameter => parameter.name === name)!
  if (!required && preset === undefined) return { compared: `${sign} COALESCE(@${name}, ${last})` }
  // It always has a value, which is to let all of the range through.
  return { values: { [name]: side === 'from' ? reachOf(written) : 'now' }, compared: `${sign} ${last}` }
}

/** Filters for one value as parameters; alternatives, exclusions and what decides which tables are read stay in the SQL. */
function named(
  filters: Filter[],
  shape: Shape,
  taken: string[],
): { filters: Filter[]; parameters: Parameters } {
  const parameters: Parameters = {}
  const groups = [...alike(filters).values()].map(group => {
    const [filter] = group as [Filter]
    const field = fieldAt(shape, filter.path)
    const definition = group.length === 1 && field ? definitionOf(filter, field) : null
    if (!definition) return group
    const parameter = freeName(filter, field!, [...taken, ...Object.keys(parameters)])
    parameters[parameter] = definition
    return [{ ...filter, parameter }]
  })
  return { filters: groups.flat(), parameters }
}

/** `null` for what no parameter can be. */
function definitionOf({ path, operator, value }: Filter, { type, json }: Field): ParameterDefinition | null {
  if (value === null || path === tableColumn || !/^(=|[<>]=?)$/.test(operator)) return null
  const description = `${path} ${operator} this`
  const isText = type === 'STRING' || json !== undefined
  if (isText) return String(value) === '' ? null : { type: 'string', description, default: String(value) }
  if (type === 'BOOL') return { type: 'boolean', description, default: String(value) === 'true' }
  const number = Number(value)
  if (type === 'INT64' && Number.isSafeInteger(number))
    return { type: 'integer', description, default: number }
  if (type === 'FLOAT64' && Number.isFinite(number)) return { type: 'number', description, default: number }
  if (type === 'TIMESTAMP' && /^-?\d+$/.test(String(value)))
    return { type: 'string', format: 'iso-timestamp', description, default: iso(number) }
  return null
}

/** What endpoints cannot have: `definition.schema.json`. */
const reserved = /^(sql|bq_sql|format|cursor|follow|constructor|__.*__)$/i

function freeName({ operator }: Filter, field: Field, taken: string[]): string {
  const side = operator.startsWith('>') ? '_from' : operator.startsWith('<') ? '_to' : ''
  const own = (field.json ?? nameOf(field)).replace(/^.*\./, '').replaceAll(/\W/g, '_').toLowerCase()
  const name = `${/^[a-z_]/.test(own) && !reserved.test(own) ? own : `value_${own}`}${side}`.slice(0, 90)
  const isFree = (wanted: string) => !taken.some(other => other.toLowerCase() === wanted)
  return [name, ...taken.map((_, i) => `${name}_${i + 2}`)].find(isFree)!
}

/** What the logs view shows, as an endpoint of its own: its SQL with parameters, whose defaults are what is shown. */
import { iso } from '../../../shared/answers/times.ts'
import type { ParameterDefinition } from '../../../shared/endpoints/definition.ts'
import type { Wish } from '../../../shared/sandbox/as-endpoint.ts'
import { type Endpoint, parametersOf } from '../service.ts'
import { alike, type Asked } from './conditions.ts'
import type { Range } from './range.ts'
import { type Field, fieldAt, nameOf, type Shape, tableColumn } from './shape.ts'
import { histogramSql, rowsSql } from './sql.ts'
import type { Filter, Scalar, State } from './state.ts'
import type { Store } from './store.ts'

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
  made: Made
}

/** The rows on the screen, and their chart. @param limit rows of a page */
export function savableOf(store: Store, limit: number): Savable[] {
  const { endpoint, state, shape, range, isChartOld } = store
  const shown = { endpoint, state: state.value, shape: shape.value, range: range.value }
  const chart = isChartOld.value ? null : store.chart.answer.value?.data
  const rows = { title: 'Rows', made: rowsAsEndpoint(shown, limit) }
  if (!chart?.split) return [rows]
  return [rows, { title: 'Chart', made: chartAsEndpoint({ ...shown, state: chart.state }, chart.split) }]
}

/** @param limit rows of a page */
export function rowsAsEndpoint(shown: Shown, limit: number): Made {
  return made(shown, (asked, range) => rowsSql({ ...shown.state, ...asked }, shown.shape, range, limit))
}

/** @param split as the chart was asked for */
export function chartAsEndpoint(shown: Shown, split: { width: number; values: Scalar[] }): Made {
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
    sql: sqlOf({ filters, bounds: bounds.named }, bounds.range),
    parameters: { ...bounds.parameters, ...parameters },
    values: { ...state.values, ...bounds.values },
    redact: state.redact,
  }
}

/** Names of the parameters where the endpoint has none of its own. */
export const freshBounds = { from: 'since', to: 'until' } as const

/**
 * The endpoint's own bounds where it has them, of which the first is exclusive and the last inclusive; else parameters of that
 * kind. A relative time stays so, and up to now needs no bound.
 */
function boundsOf({ endpoint, state, range, isWindow = false }: Shown) {
  const { start, end } = parametersOf(endpoint)
  const own = { from: start, to: end }
  const isOpen = (written: string) => written === 'now' && !isWindow
  const values: Record<string, string> = {}
  const parameters: Parameters = {}
  const left = { ...range }
  const given: Asked['bounds'] = {}
  for (const side of ['from', 'to'] as const) {
    const micros = range[side]
    const written = state[side]
    if (micros === null || isOpen(written)) left[side] = null
    if (left[side] === null) continue
    const [name, fresh] = [own[side], freshBounds[side]]
    const isRelative = /^(now|(now)?-\d+[smhdw])$/.test(written)
    if (name !== undefined) {
      values[name] = isRelative ? written : iso(micros! - 1)
      left[side] = null
    } else {
      parameters[fresh] = {
        type: 'string',
        format: 'iso-timestamp',
        description: `Only entries ${side === 'from' ? 'from this time on' : 'before this time'}.`,
        default: isRelative ? written : iso(micros!),
      }
      given[side] = fresh
    }
  }
  return { values, parameters, range: left, named: given }
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

/** What the chart and the values of a field show: numbers of rows, or a number of theirs, and by which field. */
import { unitOf } from '../series.ts'
import {
  type Field,
  fieldAt,
  isNumber,
  type Measure,
  measureOf,
  measures,
  nameOf,
  severityName,
  type Shape,
} from './shape.ts'
import { filterText, type State } from './state.ts'

/** Numbers that say which or when, of which an average says nothing. */
const names = /(^|_)(id|pid|num|line|code|status|asn|port|at|exp|iat)$|^time$/

/** Whether its numbers are amounts, which have an average. */
export function isAmount(field: Field): boolean {
  return isNumber(field) && !names.test(nameOf(field))
}

const amounts = [/time|duration|_ms|latency/, /bytes|length|size/, /score|count/]

/** Choices of what is shown of rows. @param measure the one that is chosen */
function measuresOf(shape: Shape, measure: string): [measure: string, text: string][] {
  const fields = amountsOf(shape, measureOf(measure, shape)?.field)
  return namesOf(fields).flatMap(({ field, label }) =>
    measures.map((kind): [string, string] => [`${kind}:${field.path}`, `${kind} ${withUnit(label, field)}`]),
  )
}

/** Shares to choose: of failures, and of what a filter lets pass. */
export function sharesOf(shape: Shape, { measure, filters }: State): [measure: string, text: string][] {
  const severe = (['error', 'warning'] as const).filter(
    each => shape.severity && severityName(each, shape) !== '',
  )
  const offered = [...severe, ...filters.map(filterText)].map(of => `share:${of}`)
  const all = new Set(measureOf(measure, shape)?.kind === 'share' ? [measure, ...offered] : offered)
  return [...all].map(each => [each, textOf(measureOf(each, shape), shape)])
}

/** What the chart can show, and what each changes of the state. */
export function measureChoices(shape: Shape, state: State): MeasureChoice[] {
  const slowest = slowestOf(shape)
  const measured = [
    ['rows', 'number of rows'],
    ...sharesOf(shape, state),
    ...measuresOf(shape, state.measure),
  ] as const
  const [rows, ...others] = measured.map(([measure, text]) => ({
    measure,
    text,
    patch: measuring(state, measure),
  }))
  const named = slowest && {
    measure: slowestMeasure,
    text: `slowest ${nameOf({ path: slowest.by })}s`,
    patch: slowest,
  }
  return [rows!, ...(named ? [named] : []), ...others]
}

interface MeasureChoice {
  measure: string
  text: string
  patch: Partial<State>
}

/** A choice that is a field to split by as well. */
export const slowestMeasure = 'slowest'

/** What is measured is shown of all rows: what the share is of does not narrow them. */
export function measuring({ severity, filters }: State, measure: string): Partial<State> {
  const isOf = (text: string) => measure === `share:${text}`
  return {
    measure,
    severity: severity.some(isOf) ? [] : severity,
    filters: filters.filter(filter => !isOf(filterText(filter))),
  }
}

/** What the numbers of a measure are in. */
export function unitOfMeasure(measure: string, shape: Shape): string {
  const of = measureOf(measure, shape)
  return of?.kind === 'share' ? '%' : of ? unitOf(nameOf(of.field)) : ''
}

function textOf(of: Measure | null, shape: Shape): string {
  if (!of) return 'rows'
  if (of.kind !== 'share') return `${of.kind} ${withUnit(nameOf(of.field), of.field)}`
  if (typeof of.of === 'string') return `share of ${severityName(of.of, shape)}`
  const { path, operator, value } = of.of!
  return `share of ${nameOf({ path })} ${operator} ${value === null ? 'none' : String(value)}`
}

/** Where a table has paths and times that they took: the paths by the average of these. */
export function slowestOf(shape: Shape): Pick<State, 'measure' | 'by'> | null {
  if (shape.parts) return shape.parts.map(slowestOf).find(found => found !== null) ?? null
  const path = shape.likely.find(field => /^(path|pathname|url|route)$/.test(nameOf(field)))
  const [time] = amountsOf(shape)
  if (!path || !time || rank(time) > 0) return null
  return { measure: `average:${time.path}`, by: path.path }
}

/** Fields that can be measured, those first that people look for. */
function amountsOf({ likely, fields }: Shape, chosen?: Field): Field[] {
  return [...new Set([...likely, ...fields])]
    .filter(field => isAmount(field) || (field === chosen && isNumber(field)))
    .toSorted((a, b) => rank(a) - rank(b))
}

/** Those inside JSON that are looked at, those that people look for first, then all others. */
export function fieldsOf(shape: Shape, { by, columns }: Pick<State, 'by' | 'columns'>): Field[] {
  const { fields, likely, time, message, id } = shape
  const inJson = [by, ...columns].flatMap(path => fieldAt(shape, path) ?? []).filter(({ json }) => json)
  const all = [...new Map([...inJson, ...likely, ...fields].map(field => [field.path, field])).values()]
  return all.filter(field => ![time, message, id].includes(field))
}

/** Times first, then other amounts; of those alike the likely ones. */
function rank(field: Field): number {
  const at = amounts.findIndex(pattern => pattern.test(nameOf(field)))
  return at < 0 ? amounts.length : at
}

export interface Named {
  field: Field
  /** The last name of its path. */
  name: string
  /** The names above it: the last one, and as many more as tell it apart from others of its name. */
  above: string
  /** `host (headers)`, where another field has the same name. */
  label: string
}

/** The fields as people read them, the same in the menus and in the list. */
export function namesOf(fields: Field[]): Named[] {
  const groups = Map.groupBy(fields, nameOf)
  return fields.map(field => {
    const name = nameOf(field)
    const alike = groups.get(name)!
    const own = field.path.split('.')
    const tails = own.slice(1).map((_, i) => own.slice(-2 - i).join('.'))
    const isApart = (tail: string) =>
      alike.every(other => other === field || !`.${other.path}`.endsWith(`.${tail}`))
    const above = (tails.find(isApart) ?? field.path).split('.').slice(0, -1).join('.')
    return { field, name, above, label: alike.length > 1 && above ? `${name} (${above})` : name }
  })
}

/** `origin_time (ms)` */
function withUnit(text: string, field: Field): string {
  const unit = unitOf(nameOf(field))
  return unit === '' || unit === 'time' ? text : `${text} (${unit})`
}

/** `Highest origin_time (ms) by path` */
export function titleOf({ by, measure }: Pick<State, 'by' | 'measure'>, shape: Shape): string {
  const field = fieldAt(shape, by)
  const text = textOf(measureOf(measure, shape), shape)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${field ? ` by ${nameOf(field)}` : ''}`
}

/** How many percent of the values are in each of so many parts between the least and the 99th percentile. */
export function spreadOf(percentiles: number[], parts: number): number[] {
  const [least, most] = [percentiles[0]!, percentiles[99]!]
  const width = (most - least) / parts
  const spread = Array.from({ length: parts }, () => 0)
  for (const value of percentiles.slice(0, 100))
    spread[width === 0 ? 0 : Math.min(parts - 1, Math.floor((value - least) / width))]!++
  return spread
}

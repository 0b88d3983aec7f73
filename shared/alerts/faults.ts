/** What is wrong with an alert, given its endpoint: what a schema of its file cannot say. */
import { type Alert, columnsOf, type Endpoint } from '../endpoints/definition.ts'
import { readParameters } from '../endpoints/parameters.ts'
import { queryText } from '../endpoints/query-string.ts'
import { isRelative } from '../endpoints/timestamps.ts'
import { ApiError } from '../errors.ts'
import { nameHint } from '../sql/hints.ts'
import type { Column } from '../sql/types.ts'
import { namesIn, ownNames } from './state.ts'

/** An alert, and how a fault at a JSON pointer of its file, or at the name there, is told. */
interface Checked<Fault> {
  alert: Alert
  problem(pointer: string, detail: string, ofName?: boolean): Fault
}

/** What is wrong with an alert of this endpoint. @param columns of its rows */
export function alertFaults<Fault>(checked: Checked<Fault>, endpoint: Endpoint, columns: Column[]): Fault[] {
  return [
    ...parameterFaults(checked, endpoint),
    ...windowFaults(checked, endpoint),
    ...nameFaults(checked, columns),
  ]
}

/** Each set is one that a caller could send, and none is there twice. */
function parameterFaults<Fault>({ alert: { sets }, problem }: Checked<Fault>, endpoint: Endpoint): Fault[] {
  const now = new Date()
  const known = new Map<string, number>()
  return sets.flatMap((set, at) => {
    const pointer = sets.length > 1 ? `/parameters/${at}` : '/parameters'
    try {
      const { undeclared, canonical } = readParameters(endpoint, queryText(set), {}, now)
      const same = known.get(canonical)
      known.set(canonical, at)
      if (same !== undefined) return [problem(pointer, `is the same set as parameters.${same}`)]
      const names = Object.keys(endpoint.parameters)
      return undeclared.map(name =>
        problem(`${pointer}/${name}`, `is no parameter of ${endpoint.name}; ${nameHint(name, names)}`, true),
      )
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return error.problems.map(({ parameter = '', detail }) =>
        problem(`${pointer}/${parameter}`, Object.hasOwn(set, parameter) ? detail : `${parameter} ${detail}`),
      )
    }
  })
}

/** A window with one end fixed, or open, is not the same window before. */
function windowFaults<Fault>(
  { alert: { condition, sets }, problem }: Checked<Fault>,
  { parameters }: Endpoint,
): Fault[] {
  if (condition.beforeMs === undefined) return []
  const times = Object.keys(parameters).filter(name => parameters[name]!.format === 'iso-timestamp')
  const isMoving = (set: Alert['sets'][number]) =>
    times.every(name => isRelative(String(set[name] ?? parameters[name]!.default ?? '')))
  if (times.length > 1 && sets.every(isMoving)) return []
  const detail = `needs an endpoint that takes both ends of its window, as times relative to now: ${times.join(' and ') || 'two parameters with the format iso-timestamp'}, such as -1h and now`
  return [problem('/condition/before', detail)]
}

const numbers = ['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC']

/** Names of those that a condition may read. */
export function numbersAmong(columns: Column[]): string[] {
  return columns.flatMap(({ name, type }) => (numbers.includes(type.kind) ? name : []))
}

function nameFaults<Fault>(
  { alert: { condition, text, sets }, problem }: Checked<Fault>,
  columns: Column[],
): Fault[] {
  const known = columns.flatMap(({ name }) => name ?? [])
  const faults = (['value', 'of'] as const)
    .filter(field => columnsOf(condition).includes(condition[field] ?? ''))
    .flatMap(field => {
      const name = condition[field]!
      const found = columns.find(column => column.name === name)
      if (numbersAmong(columns).includes(name)) return []
      const kind = found?.type.kind
      const detail = kind ? `must be a number, and is ${kind}` : `is no column; ${nameHint(name, known)}`
      return problem(`/condition/${field}`, `${name} ${detail}`)
    })
  const tellable = new Set([...ownNames, ...known, ...sets.flatMap(Object.keys)])
  const strangers = namesIn(text).filter(name => !tellable.has(name))
  return [
    ...faults,
    ...strangers.map(name =>
      problem('/text', `has {{ ${name} }}, which is nothing; ${nameHint(name, tellable)}`),
    ),
  ]
}

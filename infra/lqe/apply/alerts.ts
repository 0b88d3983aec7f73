/** Alerts of `queries/`: each is `<name>.alert.yaml` beside the endpoints, and is stored with the one whose rows it looks at. */
import { basename } from 'node:path'
import { alertFrom, type AlertCase } from '../../../shared/alerts/alert-file.ts'
import { type Alert, columnsOf, type Endpoint } from '../../../shared/endpoints/definition.ts'
import { namesIn, ownNames } from '../../../shared/alerts/state.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { queryText } from '../../../shared/endpoints/query-string.ts'
import { isRelative } from '../../../shared/endpoints/timestamps.ts'
import { ApiError } from '../../../shared/errors.ts'
import { nameHint } from '../../../shared/sql/hints.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { atPlaces, type FileProblem, type ProblemAt, problemsIn, readYaml } from './yaml.ts'

export const alertEnding = '.alert.yaml'

/** An alert with its file. */
export interface AlertSource {
  alert: Alert
  /** Name of its endpoint. */
  endpoint: string
  tests: AlertCase[]
  file: string
  problem: ProblemAt
}

/** @throws QueriesError */
export function readAlert(file: string): AlertSource {
  const { content, placeIn } = readYaml(file)
  const problem = problemsIn(file, placeIn)
  return { ...atPlaces(problem, () => alertFrom(basename(file, alertEnding), content)), file, problem }
}

/** What is wrong with an alert of this endpoint. @param columns of its rows */
export function alertFaults(source: AlertSource, endpoint: Endpoint, columns: Column[]): FileProblem[] {
  return [
    ...parameterFaults(source, endpoint),
    ...windowFaults(source, endpoint),
    ...nameFaults(source, columns),
  ]
}

/** Each set is one that a caller could send, and none is there twice. */
function parameterFaults({ alert: { sets }, problem }: AlertSource, endpoint: Endpoint): FileProblem[] {
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
function windowFaults(
  { alert: { condition, sets }, problem }: AlertSource,
  { parameters }: Endpoint,
): FileProblem[] {
  if (condition.beforeMs === undefined) return []
  const times = Object.keys(parameters).filter(name => parameters[name]!.format === 'iso-timestamp')
  const isMoving = (set: Alert['sets'][number]) =>
    times.every(name => isRelative(String(set[name] ?? parameters[name]!.default ?? '')))
  if (times.length > 1 && sets.every(isMoving)) return []
  const detail = `needs an endpoint that takes both ends of its window, as times relative to now: ${times.join(' and ') || 'two parameters with the format iso-timestamp'}, such as -1h and now`
  return [problem('/condition/before', detail)]
}

const numbers = ['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC']

function nameFaults(
  { alert: { condition, text, sets }, problem }: AlertSource,
  columns: Column[],
): FileProblem[] {
  const known = columns.flatMap(({ name }) => name ?? [])
  const faults = (['value', 'of'] as const)
    .filter(field => columnsOf(condition).includes(condition[field] ?? ''))
    .flatMap(field => {
      const name = condition[field]!
      const found = columns.find(column => column.name === name)
      const kind = found?.type.kind
      if (kind !== undefined && numbers.includes(kind)) return []
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

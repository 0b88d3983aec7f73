/** Checks endpoints that read the rows of others: those are there, in no circle, and take the parameters that they get. */
import {
  type Endpoint,
  type ParameterDefinition,
  passedOn,
  type Scalar,
  typeOf,
  type UpstreamTable,
} from '../../../shared/endpoints/definition.ts'
import { rememberColumns } from '../../../shared/endpoints/columns.ts'
import { misfitOf } from '../../../shared/endpoints/parameters.ts'
import {
  canBePassed,
  type FindUpstream,
  openUpstream,
  unreadUpstream,
} from '../../../shared/endpoints/upstream-tables.ts'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { nameHint } from '../../../shared/sql/hints.ts'
import { printType } from '../../../shared/sql/printer.ts'

/** What is wrong, at a JSON pointer of the definition. */
export interface Fault {
  pointer: string
  detail: string
}

/** Finds those that an endpoint reads among these, as they are in files or would be after a change. */
export function findAmong(endpoints: Endpoint[], engine: QueryEngine): FindUpstream {
  const byName = new Map(endpoints.map(endpoint => [endpoint.name, endpoint]))
  return openUpstream(async name => byName.get(name) ?? null, rememberColumns(engine))
}

/** Where a query names an endpoint as a table. */
export function endpointAsTable(name: string): string {
  const table = name.replaceAll(/\W/g, '_')
  return `is an endpoint: read FROM ${table}, with upstream: { ${table}: { endpoint: ${name} } } in the definition`
}

/**
 * @param endpoints all that will be there
 * @returns what can be said without the engine
 */
export function upstreamFaults(endpoint: Endpoint, endpoints: Endpoint[]): Fault[] {
  const byName = new Map(endpoints.map(one => [one.name, one]))
  const unread = new Set(unreadUpstream(endpoint))
  return Object.entries(endpoint.upstream ?? {}).flatMap(([name, { endpoint: other, parameters }]) => {
    const fault = (detail: string, field = ''): Fault => ({ pointer: `/upstream/${name}${field}`, detail })
    const found = byName.get(other)
    if (!found)
      return [fault(`names ${other}, which is not there; ${nameHint(other, byName.keys())}`, '/endpoint')]
    const circle = circleFrom(byName, [endpoint.name, other])
    if (circle) return [fault(`leads back to itself: ${circle.join(' -> ')}`, '/endpoint')]
    const faults = unread.has(name)
      ? [fault(`is declared, but the SQL reads no table of that name (FROM ${name})`)]
      : []
    if (found.redact && !endpoint.redact)
      faults.push(fault(`redacts, so that this endpoint needs redact: true`))
    if (found.jsonAsText)
      faults.push(fault(`names ${other}, which gives JSON as text (json: text)`, '/endpoint'))
    for (const missing of found.required.filter(required => !isGiven(found, required, parameters[required])))
      faults.push(fault(`gets no ${missing}, which ${other} requires`))
    for (const [parameter, value] of Object.entries(parameters)) {
      const detail = misfit(endpoint, found, parameter, value)
      if (detail) faults.push(fault(detail, `/parameters/${parameter}`))
    }
    return faults
  })

  /** What is required gets a constant, or a value that is always there. */
  function isGiven(found: Endpoint, required: string, value: Scalar | undefined): boolean {
    if (found.parameters[required]?.default !== undefined) return true
    const from = value === undefined ? null : passedOn(value)
    if (from === null) return value !== undefined && value !== ''
    return endpoint.required.includes(from) || endpoint.parameters[from]?.default !== undefined
  }
}

function misfit(endpoint: Endpoint, other: Endpoint, parameter: string, value: Scalar): string | null {
  const known = Object.hasOwn(other.parameters, parameter) ? other.parameters[parameter]! : null
  if (!known) return `is no parameter of ${other.name}; ${nameHint(parameter, Object.keys(other.parameters))}`
  const from = passedOn(value)
  if (from === null) return misfitOf(known, { json: value })
  const [given, wanted] = [endpoint.parameters[from]!, known].map(
    (one: ParameterDefinition) => typeOf(one).kind,
  )
  return given === wanted ? null : `must be ${wanted}, and ${from} is ${given}`
}

/** The way back to the first of the path; `null` where none is. */
function circleFrom(byName: Map<string, Endpoint>, path: string[]): string[] | null {
  const last = path.at(-1)!
  if (path.indexOf(last) < path.length - 1) return last === path[0] ? path : null
  for (const { endpoint } of Object.values(byName.get(last)?.upstream ?? {})) {
    const circle = circleFrom(byName, [...path, endpoint])
    if (circle) return circle
  }
  return null
}

/** Columns whose values cannot be handed on. */
export function columnFaults({ upstreamTables = [] }: Endpoint): Fault[] {
  return upstreamTables.flatMap(({ name, endpoint, columns }: UpstreamTable) =>
    columns
      .filter(({ type }) => !canBePassed(type))
      .map(column => ({
        pointer: `/upstream/${name}/endpoint`,
        detail: `names ${endpoint.name}, whose ${column.name} is ${printType(column.type)}: CAST it to STRING there`,
      })),
  )
}

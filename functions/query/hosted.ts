/** Calls at the addresses of hosted Supabase: their project is in the path, and their times have bounds. */
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { presentFor } from '../../shared/endpoints/parameters.ts'
import { queryText, splitQuery } from '../../shared/endpoints/query-string.ts'
import { fromMicros, isoTimestamp, relativeTime, toMicros } from '../../shared/endpoints/timestamps.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Call } from '../http/call.ts'

/**
 * The query string with what the address says: `{ref}` is the parameter `project`, which a key may pin, as any other.
 * @param ref of the project
 * @param query as it was sent
 * @throws ApiError `invalid_parameter`
 */
export function withAddress(
  { address, config }: Call,
  ref: string,
  endpoint: Endpoint,
  query: string,
): string {
  if (!Object.hasOwn(endpoint.parameters, 'project'))
    throw ApiError.of('invalid_parameter', {
      parameter: 'project',
      detail: `is in the address, and ${endpoint.name} has no such parameter: ask at /api/endpoints/query/${endpoint.name}`,
    })
  const present = presentFor(endpoint, config.frozenNow ?? Date.now())
  const bounds = address.hosted ? missingBounds(endpoint, query, present) : {}
  const isBound = (part: string) => Object.keys(bounds).some(name => part.startsWith(`${name}=`))
  const others = query.split('&').filter(part => part !== '' && !isBound(part))
  return [...others, queryText({ ...bounds, project: ref })].join('&')
}

const [start, end] = ['iso_timestamp_start', 'iso_timestamp_end'] as const
const minute = 60_000_000n
/** 24 hours, and a minute more: clients read the clock once for each end (`get_logs` of Supabase's MCP server, 0.8.3). */
const mostMicros = (24n * 60n + 1n) * minute

/**
 * As the Management API has it since 2025-04-02: without bounds the last minute, with one the minute beside it, with both 24
 * hours at most (https://github.com/orgs/supabase/discussions/34634).
 * @returns those that are not sent; none where the endpoint has no such parameters, or where they cannot be read
 * @throws ApiError `invalid_parameter` for more than 24 hours
 */
function missingBounds({ parameters }: Endpoint, query: string, present: Date): Record<string, string> {
  if (parameters[start]?.format !== 'iso-timestamp' || parameters[end]?.format !== 'iso-timestamp') return {}
  const sent = new Map(splitQuery(query).map(({ name, value }) => [name, value ?? '']))
  const [from, to] = [start, end].map(name => sent.get(name) ?? '')
  if (!from && !to) return { [start]: '-1m' }
  const [first = null, last = null] = [from!, to!].map(text => microsOf(text, present))
  if (first !== null && !to) return { [end]: fromMicros(first + minute) ?? '' }
  if (last !== null && !from) return { [start]: fromMicros(last - minute) ?? '' }
  if (first === null || last === null || last - first <= mostMicros) return {}
  throw ApiError.of('invalid_parameter', {
    parameter: end,
    detail: `is more than 24 hours after ${start}, the most at this address; /api/endpoints/query/NAME takes any times`,
  })
}

function microsOf(text: string, present: Date): bigint | null {
  const time = isoTimestamp(text) ?? relativeTime(text, present)
  return time === null ? null : toMicros(time)
}

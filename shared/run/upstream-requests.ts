/** From a call of an endpoint that reads others to the requests for their rows. */
import { type Endpoint, definitionError, passedOn, type Scalar } from '../endpoints/definition.ts'
import { type Parameters, pinError, presentFor, readParameters } from '../endpoints/parameters.ts'
import { savedStatement } from '../endpoints/saved-query.ts'
import { queryText } from '../endpoints/query-string.ts'
import type { Binding, Value } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Cursors } from '../pages/cursor.ts'
import { pageFor } from '../pages/page.ts'
import { Timing } from '../timing.ts'
import { isCached } from './get-answer.ts'
import type { QueryRequest, UpstreamRequest } from './query-request.ts'

type Passed = 'redacted' | 'bypass' | 'byteLimit' | 'labels' | 'gone' | 'onRun' | 'maxAgeSeconds'

/** Of the call that leads to the requests. */
export interface Asking extends Pick<QueryRequest, Passed> {
  cursors: Cursors
  /** Parameters that the caller's key fixes; those of the endpoints that are read, too. */
  pins: Record<string, string>
  /** What relative times count from. */
  now: number | string
}

/**
 * A request for each table of `upstream`, as a call of its endpoint by the same caller would make it. Only the right to call it
 * is not needed: the definition grants that, as a view does.
 * @param read the parameters of the endpoint that reads them
 * @throws ApiError `invalid_parameter` for a value that the caller sent and the other endpoint refuses; `pinned_parameter`;
 *   `internal` for one that the definition gives
 */
export function upstreamRequests(
  endpoint: Endpoint,
  read: Pick<Parameters, 'bindings' | 'sent'>,
  asking: Asking,
): UpstreamRequest[] {
  if (!endpoint.upstreamTables) return []
  const { cursors, pins, now, redacted, bypass, byteLimit, labels, onRun } = asking
  const cached = isCached(endpoint, redacted)
  // An answer that is shared must not end with its first caller, nor be older than it counts as fresh.
  const gone = cached ? () => new AbortController().signal : asking.gone
  const ages = [asking.maxAgeSeconds, ...(cached ? [endpoint.cacheSeconds] : [])]
  const maxAgeSeconds = Math.min(...ages.map(age => age ?? Infinity))
  const passed = { redacted, bypass, byteLimit, gone, onRun, maxAgeSeconds }
  return endpoint.upstreamTables.map(({ name, endpoint: other, columns, parameters }) => {
    const present = presentFor(other, now)
    const query = queryText(valuesFor(parameters, read.bindings))
    const own = parametersOf(endpoint, other, () => readParameters(other, query, pins, present), {
      sources: parameters,
      sent: read.sent,
    })
    const sent = own.sent.filter(one => read.sent.includes(passedOn(parameters[one]!) ?? ''))
    const statement = savedStatement(other, own.bindings)
    const page = pageFor(cursors, other, own, { cursor: null, now: present, sql: null })
    const request: QueryRequest = {
      endpoint: other,
      ...statement,
      ...(page ? { statement: page.statement } : {}),
      page,
      parameters: own.canonical,
      sql: null,
      sent,
      upstream: upstreamRequests(other, { ...own, sent }, { ...asking, ...passed }),
      ...passed,
      labels: { endpoint: other.name, key: labels.key },
      isWithin: true,
      timing: new Timing(),
    }
    return { table: name, columns, request }
  })
}

/** The values that the definition gives to the other endpoint's parameters. */
function valuesFor(parameters: Record<string, Scalar>, bindings: Binding[]): Record<string, Value> {
  const values = Object.entries(parameters).map(([name, value]) => {
    const from = passedOn(value)
    return [name, from === null ? value : (bindings.find(one => one.name === from)?.value ?? null)] as const
  })
  return Object.fromEntries(values)
}

interface Sources {
  sources: Record<string, Scalar>
  sent: readonly string[]
}

/** An error of the other endpoint's parameters names those that the caller knows. */
function parametersOf(
  endpoint: Endpoint,
  other: Endpoint,
  read: () => Parameters,
  { sources, sent }: Sources,
): Parameters {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, problems } = error
    const [{ parameter: pin = '' } = {}] = problems
    // The caller sent no such value, so that it cannot leave it out.
    if (code === 'pinned_parameter' && Object.hasOwn(sources, pin))
      throw pinError(
        pin,
        `is fixed by the API key, and this endpoint reads ${other.name} with another ${pin}`,
      )
    if (code === 'pinned_parameter')
      throw error.with({ detail: `${message} (in ${other.name}, which this endpoint reads)` })
    if (code !== 'invalid_parameter') throw error
    const named = problems.map(({ parameter = '', detail }) => ({
      parameter: passedOn(sources[parameter] ?? '') ?? '',
      detail: `${detail} (in ${other.name}, which this endpoint reads)`,
    }))
    if (named.every(({ parameter }) => sent.includes(parameter))) throw ApiError.of(code, ...named)
    throw definitionError(endpoint, `${other.name}, which it reads, refuses its parameters: ${message}`)
  }
}

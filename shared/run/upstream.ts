/**
 * The rows of other endpoints, which a query reads as tables: from a call to the requests for them, and from their answers to
 * bound values of its statement.
 */
import { type Endpoint, definitionError, isCached, passedOn, type Scalar } from '../endpoints/definition.ts'
import { type Parameters, pinError, presentFor, readParameters } from '../endpoints/parameters.ts'
import { queryText } from '../endpoints/query-string.ts'
import { savedStatement } from '../endpoints/saved-query.ts'
import { fromMicros } from '../endpoints/timestamps.ts'
import type { Binding, Row, Value } from '../engines/engine.ts'
import { mapScalars } from '../engines/values.ts'
import { ApiError } from '../errors.ts'
import { describeError, type Log } from '../log.ts'
import type { Cursors } from '../pages/cursor.ts'
import { pageFor } from '../pages/page.ts'
import { replacement } from '../redact/personal-class.ts'
import type { Column, SqlType } from '../sql/types.ts'
import { Timing } from '../timing.ts'
import type { AnswerResult, QueryRequest, UpstreamRequest } from './query-request.ts'

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
  const { upstreamTables = [] } = endpoint
  const { cursors, pins, now, redacted, bypass, byteLimit, labels, onRun } = asking
  const cached = isCached(endpoint, redacted)
  // A cached answer is shared: its run must not end with the first caller, and its rows must be as fresh as it claims to be.
  const gone = cached ? () => new AbortController().signal : asking.gone
  const ages = [asking.maxAgeSeconds, ...(cached ? [endpoint.cacheSeconds] : [])]
  const maxAgeSeconds = Math.min(...ages.map(age => age ?? Infinity))
  const passed = { redacted, bypass, byteLimit, gone, onRun, maxAgeSeconds }
  return upstreamTables.map(({ name, endpoint: other, columns, parameters }) => {
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

/** An error of the other endpoint's parameters names those that the caller knows. */
function parametersOf(
  endpoint: Endpoint,
  other: Endpoint,
  read: () => Parameters,
  { sources, sent }: { sources: Record<string, Scalar>; sent: readonly string[] },
): Parameters {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, problems } = error
    const [{ parameter: pin = '' } = {}] = problems
    // The definition passes the value, so the caller cannot leave it out as the usual message advises.
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

/** JSON of the rows that a statement reads as tables. As parameters, which BigQuery bounds at 10 MB, it is up to 9 times as long. */
const maxUpstreamBytes = 1_000_000

/**
 * Asks for the rows that the statement reads as tables, as their endpoints' callers would, and puts them into it.
 * @param ask answers a request (`get-answer.ts`)
 * @returns their bytes of JSON, and the store's time of the oldest, or Infinity
 * @throws ApiError that names the endpoint
 */
export async function withUpstream(
  request: QueryRequest,
  ask: (request: QueryRequest) => Promise<AnswerResult>,
  log: Log,
): Promise<{ request: QueryRequest; bytes: number; oldest: number }> {
  const { statement, timing, upstream = [] } = request
  const read = upstream.filter(({ table }) => statement.bindings.some(({ name }) => name === table))
  if (read.length === 0) return { request, bytes: 0, oldest: Infinity }
  const asked = read.map(async ({ table, columns, request: inner }) => {
    const result = await ask(inner).catch((error: unknown) => {
      throw error instanceof ApiError ? within(inner.endpoint, error) : error
    })
    return { table, columns, inner, ...result }
  })
  const answers = await timing.measure('upstream', () => Promise.all(asked))
  const bytes = answers.reduce((sum, { answer }) => sum + answer.rawBytes, 0)
  for (const { inner, answer, failure } of answers) {
    const { endpoint } = inner
    const fault = answer.summary.truncated
      ? `has more than ${endpoint.maxRows.toLocaleString('en')} rows`
      : null
    const most = `its rows and others that are read here pass ${maxUpstreamBytes.toLocaleString('en')} bytes of JSON`
    const refused = fault ?? (bytes > maxUpstreamBytes ? most : null)
    if (refused)
      throw within(endpoint, new ApiError('result_too_large', `Too much to read as a table: ${refused}`))
    if (failure)
      log('WARNING', 'older rows were read', { endpoint: endpoint.name, ...describeError(failure) })
  }
  const values = new Map<string, Value>()
  for (const { table, columns, answer } of answers)
    values.set(table, rowsAsTable(columns, await answer.rows(), answer.summary.redacted))
  const bindings = statement.bindings.map(one => ({ ...one, value: values.get(one.name) ?? one.value }))
  const oldest = Math.min(...answers.map(({ madeAt }) => madeAt))
  return { request: { ...request, statement: { ...statement, bindings } }, bytes, oldest }
}

/** Places are those in the other endpoint's SQL, which its caller does not see. */
function within({ name }: Endpoint, error: ApiError): ApiError {
  if (error.problems.some(problem => problem.endpoint !== undefined)) return error
  const { message } = error
  const detail = `${message.replace(/\.$/, '')} (in ${name}, which this endpoint reads).`
  return error.with({ detail, problems: [{ endpoint: name, detail: message }] })
}

/**
 * An array of structs with a field for each column. The values are those of the answer, each in the form that bindings have.
 * @param redacted whether personal data was taken out: it leaves a text, which is NULL where the column holds none
 */
export function rowsAsTable(columns: Column[], rows: Row[], redacted: boolean): Value {
  const element = { kind: 'STRUCT', fields: columns } as const
  const bound = (type: SqlType, value: Value) => boundScalar(type, value, redacted)
  return rows.map(row => mapScalars(element, row, bound))
}

function boundScalar({ kind }: SqlType, value: Value, redacted: boolean): Value {
  if (kind === 'STRING' || kind === 'JSON') return value
  if (redacted && typeof value === 'string' && value.includes(replacement)) return null
  return kind === 'TIMESTAMP' ? fromMicros(BigInt(value as number | string)) : value
}

/** From a query request to its answer: through the cache where the endpoint has one, else straight from the engine. */
import { hash } from 'node:crypto'
import type { AnswerCache, CacheRequest, CacheResult } from '../cache/cache.ts'
import { cacheKey, type CacheKeyFields } from '../cache/key.ts'
import { cacheTimes } from '../cache/times.ts'
import {
  EngineError,
  type QueryEngine,
  type RunCost,
  type RunLabels,
  type Statement,
  type Value,
} from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { type SavedQuery, timeAsOf } from '../endpoints/queries.ts'
import { ApiError } from '../errors.ts'
import { describeError, type Log } from '../log.ts'
import { type Answer, finish, redactAnswer } from './answer.ts'
import { blame } from './blame.ts'
import type { NameKind } from '../redact/names.ts'
import { redactionVersion, redactText } from '../redact/redact.ts'
import { estimateOver, runFirstReadable, runQuery, type RunOptions } from './engine-errors.ts'
import type { BytesInFlight } from './in-flight.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'
import type { Allowance, ByteLimit } from '../keys/limits.ts'
import type { Page } from '../pages/page.ts'
import { rowsAsTable } from './rows-as-table.ts'
import type { Column } from '../sql/types.ts'
import type { Timing } from '../timing.ts'

export interface QueryRequest {
  endpoint: Endpoint
  statement: Statement
  /** For when the statement's roll-up cannot be read: the endpoint's own query. */
  instead?: Statement | null
  /** Of the statement's rows; absent or `null` = as of now. */
  asOf?: SavedQuery['asOf']
  /** Canonical parameters. */
  parameters: string
  /** Normal form of the caller's SQL, `null` for the endpoint's own query. */
  sql: string | null
  /** Names that the caller's SQL gives to values of another kind than they say; absent = none. */
  names?: ReadonlyMap<string, NameKind>
  /** Parameters whose values are the caller's own: neither defaults nor pins. */
  sent: readonly string[]
  /** `null` where the endpoint has no pages, and for a caller's own SQL. */
  page: Page | null
  /** The requests for the rows that the statement reads as tables; absent = none. */
  upstream?: UpstreamRequest[]
  /** An older answer will not do, though it is fresh; absent = it will. */
  maxAgeSeconds?: number
  /** Whether another request's run waits for its rows. */
  isWithin?: boolean
  /** Whether personal data is removed. */
  redacted: boolean
  /** Whether a fresh copy is not enough. */
  bypass: boolean
  /** Bytes that runs for the caller's key may still read, `null` for any amount. */
  byteLimit: ByteLimit | null
  /** Labels of the engine's job. */
  labels: RunLabels
  /** A signal that aborts when the client has gone; made only where it is asked for. */
  gone: () => AbortSignal
  /** Takes what the engine says of a run for this request, also of one that fails. */
  onRun: (cost: RunCost) => void
  timing: Timing
}

/** The request for the rows of one table. */
export interface UpstreamRequest {
  /** Its name in the statement, and that of the binding that holds its rows. */
  table: string
  columns: Column[]
  request: QueryRequest
}

/** Those of the service's parts that an answer takes. */
export interface AnsweringServices {
  engine: QueryEngine
  cache: AnswerCache
  inFlight: BytesInFlight
  assertWithin: AssertWithin
  log: Log
}

export type AnswerResult = Omit<CacheResult, 'status'> & { status: CacheResult['status'] | 'uncached' }

/**
 * An endpoint that redacts by default stores no clear answer anywhere: a privileged caller's request always runs the
 * engine.
 * @throws ApiError, under 500 only where the caller can avoid it (`blame.ts`)
 */
export async function getAnswer(services: AnsweringServices, request: QueryRequest): Promise<AnswerResult> {
  return answerTo(services, request).catch((error: unknown) => {
    throw error instanceof ApiError ? blame(error, request) : error
  })
}

export function isCached({ cacheSeconds, redact }: Endpoint, redacted: boolean): boolean {
  return cacheSeconds > 0 && (redacted || !redact)
}

async function answerTo(services: AnsweringServices, request: QueryRequest): Promise<AnswerResult> {
  const { cache } = services
  const { endpoint, redacted, byteLimit } = request
  if (!isCached(endpoint, redacted)) {
    const allowance = (await byteLimit?.today()) ?? null
    if (allowance?.left === 0) throw allowance.refusal()
    // Where nothing will be cached, a run is of use to this client alone.
    const signal = request.gone()
    const startedAt = Date.now()
    const run = runEngine(services, request, allowance, { signal })
    const { answer, asOf, oldest } = await run.catch((cause: unknown) => {
      throw signal.aborted ? new ApiError('client_closed_request', 'The client has gone.', { cause }) : cause
    })
    const madeAt = Math.min(asOf === null ? Date.now() : timeAsOf(asOf, startedAt), oldest)
    return { answer, status: 'uncached', stored: false, madeAt, ageMs: 0, failure: null }
  }
  if (!byteLimit) return cache.read(cacheRequestOf(services, request, null))
  const { keyFields, freshMs: anyMs, maxAgeMs: freshMs = anyMs } = cacheRequestOf(services, request, null)
  const hot = request.bypass ? null : cache.hot(keyFields, freshMs)
  if (hot) return hot
  const allowance = await byteLimit.today()
  if (allowance.left > 0) return cache.read(cacheRequestOf(services, request, allowance))
  const fresh = request.bypass ? null : await cache.peek(keyFields, freshMs)
  if (fresh) return fresh
  throw allowance.refusal()
}

/**
 * A redacted answer is made out of a fresh clear one where there is one, which costs no run. A run that callers share is
 * paid for, and bounded, by the one who begins it; it goes on when that one's client has gone, since others may wait for it,
 * here and in other processes, the scan is paid for, and the client that comes back finds the answer.
 */
function cacheRequestOf(
  services: AnsweringServices,
  request: QueryRequest,
  allowance: Allowance | null,
): CacheRequest {
  const { cache } = services
  const { endpoint, sql, redacted, bypass, timing, maxAgeSeconds = Infinity } = request
  const keyFields = keyFieldsOf(request)
  const clear: CacheKeyFields = { ...keyFields, variant: 'clear' }
  const freshMs = endpoint.cacheSeconds * 1000
  // Redacted rows that are read make other rows than those of a clear answer, redacted.
  const mayCopy = redacted && !endpoint.redact && !bypass && !keyFields.upstream
  return {
    keyFields,
    freshMs,
    maxAgeMs: Math.min(freshMs, maxAgeSeconds * 1000),
    isWithin: request.isWithin ?? false,
    timeoutMs: timeoutOf(request),
    noteUse: endpoint.warm !== null && sql === null,
    bypass,
    timing,
    blame: error => blame(error, request),
    ...(allowance ? { maxBytes: allowance.left } : {}),
    async make(startedAt, jobKey) {
      const copy = mayCopy ? await cache.peek(clear, freshMs) : null
      const own = jobKey === undefined ? {} : { jobKey }
      if (copy)
        return { answer: await redactAnswer(endpoint, copy.answer, request.names), madeAt: copy.madeAt }
      const { answer, asOf, oldest } = await runEngine(services, request, allowance, own)
      if (asOf === null && oldest === Infinity) return { answer }
      return { answer, madeAt: Math.min(timeAsOf(asOf, startedAt), oldest) }
    },
  }
}

/** What decides the answer. */
export function keyFieldsOf(request: QueryRequest): CacheKeyFields {
  const { endpoint, parameters, sql, page, redacted, upstream = [] } = request
  const variant = redacted ? redactionVersion : 'clear'
  return {
    endpointId: endpoint.id,
    version: endpoint.version,
    parameters,
    sql,
    variant,
    ...(page?.cursor ? { cursor: page.cursor } : {}),
    ...(upstream.length > 0 ? { upstream: upstreamKey(upstream) } : {}),
  }
}

/** Equal where all that is read is: versions, parameters, and what is read by those. */
function upstreamKey(upstream: UpstreamRequest[]): string {
  const questions = upstream.map(({ table, request }) => [table, cacheKey(keyFieldsOf(request))])
  return hash('sha256', JSON.stringify(questions))
}

/** The rows that it reads are waited for at the same time, each as long as for a run elsewhere. */
function timeoutOf({ endpoint, upstream = [] }: QueryRequest): number {
  const waits = upstream.map(({ request }) => timeoutOf(request) + cacheTimes.leaseMs)
  return endpoint.timeoutSeconds * 1000 + Math.max(0, ...waits)
}

/** @returns the answer, as of when its own rows are, and store time of the oldest rows that it read as a table, or Infinity */
async function runEngine(
  services: AnsweringServices,
  asked: QueryRequest,
  allowed: Allowance | null,
  own: Pick<RunOptions, 'jobKey' | 'signal'>,
): Promise<{ answer: Answer; asOf: SavedQuery['asOf']; oldest: number }> {
  const { engine, inFlight, assertWithin, log } = services
  const { request, bytes: held, oldest } = await withUpstream(services, asked)
  const allowance = allowed && request !== asked ? await request.byteLimit!.today() : allowed
  const { endpoint, sql, page, redacted, names, bypass, labels, onRun, timing } = request
  const pay = async (cost: RunCost) => {
    onRun(cost)
    const { bytes } = cost
    if (allowance && bytes) await timing.measure('store', () => allowance.spend(bytes))
  }
  const options = {
    ...own,
    labels,
    noCache: bypass,
    ...(sql === null ? {} : { assertWithin }),
    ...(allowance ? { maxBytes: allowance.left } : {}),
  }
  try {
    return await inFlight.run(async onBytes => {
      if (held > 0) onBytes(held)
      const limits = page ? { ...endpoint, maxRows: page.rows } : endpoint
      const run = (statement: Statement) => runQuery(engine, limits, statement, { ...options, onBytes })
      const { result: ran, asOf } = await timing.measure('engine', () => runFirstReadable(request, run, log))
      await pay(ran)
      const { result, marks } = page ? await page.finish(ran) : { result: ran, marks: undefined }
      const answer = await timing.measure(redacted ? 'redact' : 'encode', () =>
        finish(endpoint, result, redacted, marks, names),
      )
      return { answer, asOf, oldest }
    })
  } catch (error) {
    const cost = costOf(error)
    if (cost) await pay(cost)
    const refused = allowance && estimateOver(allowance.left, error)
    if (refused !== null) throw allowance!.refusal(refused)
    throw redacted && error instanceof ApiError ? redactError(error) : error
  }
}

/** JSON of the rows that one statement reads as tables: as BigQuery's parameters, all it takes (10 MB), they are up to 9 times as long. */
const maxUpstreamBytes = 1_000_000

/**
 * Asks for the rows that the statement reads as tables, as their endpoints' callers would, and puts them into it.
 * @returns their bytes of JSON, and the store's time of the oldest, or Infinity
 * @throws ApiError that names the endpoint
 */
async function withUpstream(
  services: AnsweringServices,
  request: QueryRequest,
): Promise<{ request: QueryRequest; bytes: number; oldest: number }> {
  const { statement, timing, upstream = [] } = request
  const read = upstream.filter(({ table }) => statement.bindings.some(({ name }) => name === table))
  if (read.length === 0) return { request, bytes: 0, oldest: Infinity }
  const asked = read.map(async ({ table, columns, request: inner }) => {
    const result = await getAnswer(services, inner).catch((error: unknown) => {
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
      services.log('WARNING', 'older rows were read', { endpoint: endpoint.name, ...describeError(failure) })
  }
  const values = new Map<string, Value>()
  for (const { table, columns, answer } of answers)
    values.set(table, rowsAsTable(columns, await answer.rows(), answer.summary.redacted))
  const bindings = statement.bindings.map(one => ({ ...one, value: values.get(one.name) ?? one.value }))
  const oldest = Math.min(...answers.map(({ madeAt }) => madeAt))
  return { request: { ...request, statement: { ...statement, bindings } }, bytes, oldest }
}

/** Places are those in the other endpoint's SQL, which its caller does not see. */
function within({ name }: Endpoint, { code, message, problems, headers, cause }: ApiError): ApiError {
  const inner = problems.find(problem => problem.endpoint !== undefined)
  if (inner) return new ApiError(code, message, { problems, headers, cause })
  const detail = `${message.replace(/\.$/, '')} (in ${name}, which this endpoint reads).`
  return new ApiError(code, detail, { problems: [{ endpoint: name, detail: message }], headers, cause })
}

/** What a run has cost that ended with an error of the engine. */
function costOf(error: unknown): RunCost | null {
  return error instanceof ApiError && error.cause instanceof EngineError ? error.cause.cost : null
}

/** The error without personal data: an engine's message may quote a value. */
export function redactError({ code, message, problems, headers, cause }: ApiError): ApiError {
  const redactedProblems = problems.map(problem => ({ ...problem, detail: redactText(problem.detail) }))
  return new ApiError(code, redactText(message), { problems: redactedProblems, headers, cause })
}

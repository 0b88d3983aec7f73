/** From a query request to its answer: through the cache where the endpoint has one, else straight from the engine. */
import type { AnswerCache, CacheRequest, CacheResult } from '../cache/cache.ts'
import type { CacheKeyFields } from '../cache/key.ts'
import {
  EngineError,
  type QueryEngine,
  type RunCost,
  type RunLabels,
  type Statement,
} from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { type SavedQuery, timeAsOf } from '../endpoints/queries.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import { type Answer, finish, redactAnswer } from './answer.ts'
import { blame } from './blame.ts'
import type { NameKind } from '../redact/names.ts'
import { redactionVersion, redactText } from '../redact/redact.ts'
import { estimateOver, runFirstReadable, runQuery, type RunOptions } from './engine-errors.ts'
import type { BytesInFlight } from './in-flight.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'
import type { Allowance, ByteLimit } from '../keys/limits.ts'
import type { Page } from '../pages/page.ts'
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

/** Those of the service's parts that an answer takes. */
interface Services {
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
export async function getAnswer(services: Services, request: QueryRequest): Promise<AnswerResult> {
  return answerTo(services, request).catch((error: unknown) => {
    throw error instanceof ApiError ? blame(error, request) : error
  })
}

async function answerTo(services: Services, request: QueryRequest): Promise<AnswerResult> {
  const { cache } = services
  const { endpoint, redacted, byteLimit } = request
  if (endpoint.cacheSeconds === 0 || (endpoint.redact && !redacted)) {
    const allowance = (await byteLimit?.today()) ?? null
    if (allowance?.left === 0) throw allowance.refusal()
    // Where nothing will be cached, a run is of use to this client alone.
    const signal = request.gone()
    const startedAt = Date.now()
    const run = runEngine(services, request, allowance, { signal })
    const { answer, asOf } = await run.catch((cause: unknown) => {
      throw signal.aborted ? new ApiError('client_closed_request', 'The client has gone.', { cause }) : cause
    })
    const madeAt = asOf === null ? Date.now() : timeAsOf(asOf, startedAt)
    return { answer, status: 'uncached', stored: false, madeAt, ageMs: 0, failure: null }
  }
  if (!byteLimit) return cache.read(cacheRequestOf(services, request, null))
  const { keyFields, freshMs } = cacheRequestOf(services, request, null)
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
  services: Services,
  request: QueryRequest,
  allowance: Allowance | null,
): CacheRequest {
  const { cache } = services
  const { endpoint, parameters, sql, page, redacted, bypass, timing } = request
  const own = { endpointId: endpoint.id, version: endpoint.version, parameters, sql, variant: 'clear' }
  const clear: CacheKeyFields = page?.cursor ? { ...own, cursor: page.cursor } : own
  const freshMs = endpoint.cacheSeconds * 1000
  return {
    keyFields: redacted ? { ...clear, variant: redactionVersion } : clear,
    freshMs,
    timeoutMs: endpoint.timeoutSeconds * 1000,
    noteUse: endpoint.warm !== null && sql === null,
    bypass,
    timing,
    blame: error => blame(error, request),
    ...(allowance ? { maxBytes: allowance.left } : {}),
    async make(startedAt, jobKey) {
      const copy = redacted && !endpoint.redact && !bypass ? await cache.peek(clear, freshMs) : null
      const own = jobKey === undefined ? {} : { jobKey }
      if (copy)
        return { answer: await redactAnswer(endpoint, copy.answer, request.names), madeAt: copy.madeAt }
      const { answer, asOf } = await runEngine(services, request, allowance, own)
      return asOf === null ? { answer } : { answer, madeAt: timeAsOf(asOf, startedAt) }
    },
  }
}

/** @returns the answer, and as of when its rows are */
async function runEngine(
  { engine, inFlight, assertWithin, log }: Services,
  request: QueryRequest,
  allowance: Allowance | null,
  own: Pick<RunOptions, 'jobKey' | 'signal'>,
): Promise<{ answer: Answer; asOf: SavedQuery['asOf'] }> {
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
      const limits = page ? { ...endpoint, maxRows: page.rows } : endpoint
      const run = (statement: Statement) => runQuery(engine, limits, statement, { ...options, onBytes })
      const { result: ran, asOf } = await timing.measure('engine', () => runFirstReadable(request, run, log))
      await pay(ran)
      const { result, marks } = page ? await page.finish(ran) : { result: ran, marks: undefined }
      const answer = await timing.measure(redacted ? 'redact' : 'encode', () =>
        finish(endpoint, result, redacted, marks, names),
      )
      return { answer, asOf }
    })
  } catch (error) {
    const cost = costOf(error)
    if (cost) await pay(cost)
    const refused = allowance && estimateOver(allowance.left, error)
    if (refused !== null) throw allowance!.refusal(refused)
    throw redacted && error instanceof ApiError ? redactError(error) : error
  }
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

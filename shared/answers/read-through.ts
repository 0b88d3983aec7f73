/** From a query request to its answer: through the cache where the endpoint has one, else straight from the engine. */
import type { AnswerCache, CacheRequest, CacheResult } from '../cache/cache.ts'
import type { QueryEngine, Statement } from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { type Answer, finish, redactAnswer } from './answer.ts'
import { redactionVersion, redactText } from '../redact/redact.ts'
import { runQuery } from './engine-errors.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'
import type { ByteLimit } from '../keys/limits.ts'
import type { Timing } from '../timing.ts'

export interface QueryRequest {
  endpoint: Endpoint
  statement: Statement
  /** Canonical parameters. */
  parameters: string
  /** Normal form of the caller's SQL, `null` for the endpoint's own query. */
  sql: string | null
  /** Whether personal data is removed. */
  redacted: boolean
  /** Whether a fresh copy is not enough. */
  bypass: boolean
  /** Bytes that runs for the caller's key may still read, `null` for any amount. */
  byteLimit: ByteLimit | null
  /** Labels of the engine's job. */
  labels: Record<string, string>
  timing: Timing
}

/** Those of the service's parts that an answer takes. */
interface Services {
  engine: QueryEngine
  cache: AnswerCache
  assertWithin: AssertWithin
}

export type AnswerResult = Omit<CacheResult, 'status'> & { status: CacheResult['status'] | 'uncached' }

/**
 * An endpoint that redacts by default stores no clear answer anywhere: a privileged caller's request always runs the
 * engine.
 * @throws ApiError
 */
export async function readThrough(services: Services, request: QueryRequest): Promise<AnswerResult> {
  const { cache } = services
  const { endpoint, redacted, byteLimit } = request
  if (endpoint.cacheSeconds === 0 || (endpoint.redact && !redacted)) {
    const exhausted = await byteLimit?.exhausted()
    if (exhausted) throw exhausted
    const answer = await runEngine(services, request)
    return { answer, status: 'uncached', stored: false, madeAt: Date.now(), ageMs: 0, failure: null }
  }
  const cacheRequest = cacheRequestOf(services, request)
  const withoutRun = byteLimit && (await answerWithoutRun(cache, byteLimit, cacheRequest))
  return withoutRun ?? cache.read(cacheRequest)
}

/** A redacted answer is made out of a fresh clear one where there is one, which costs no run. */
function cacheRequestOf(services: Services, request: QueryRequest): CacheRequest {
  const { cache } = services
  const { endpoint, parameters, sql, redacted, bypass } = request
  const clear = { endpointId: endpoint.id, version: endpoint.version, parameters, sql, variant: 'clear' }
  const freshMs = endpoint.cacheSeconds * 1000
  return {
    keyFields: redacted ? { ...clear, variant: redactionVersion } : clear,
    freshMs,
    timeoutMs: endpoint.timeoutSeconds * 1000,
    noteUse: endpoint.warm !== null && sql === null,
    bypass,
    async make(jobKey) {
      const copy = redacted && !endpoint.redact && !bypass ? await cache.peek(clear, freshMs) : null
      if (!copy) return { answer: await runEngine(services, request, jobKey) }
      return { answer: await redactAnswer(endpoint, copy.answer), madeAt: copy.madeAt }
    },
  }
}

/**
 * An answer that reads no bytes; `null` where a run is allowed. A hot answer is served without a look at
 * the limit.
 * @throws ApiError `budget_exhausted`
 */
async function answerWithoutRun(
  cache: AnswerCache,
  byteLimit: ByteLimit,
  { keyFields, freshMs, bypass }: CacheRequest,
): Promise<CacheResult | null> {
  const hot = bypass ? null : cache.hot(keyFields, freshMs)
  if (hot) return hot
  const exhausted = await byteLimit.exhausted()
  if (!exhausted) return null
  const fresh = await cache.peek(keyFields, freshMs)
  if (fresh) return fresh
  throw exhausted
}

async function runEngine(
  { engine, assertWithin }: Services,
  { endpoint, statement, sql, redacted, byteLimit, labels, timing }: QueryRequest,
  jobKey?: string,
): Promise<Answer> {
  const options = {
    labels,
    ...(sql === null ? {} : { assertWithin }),
    ...(jobKey === undefined ? {} : { jobKey }),
  }
  try {
    const result = await timing.measure('engine', () => runQuery(engine, endpoint, statement, options))
    await byteLimit?.spend(result.bytes ?? 0)
    return timing.measure(redacted ? 'redact' : 'encode', () => finish(endpoint, result, redacted))
  } catch (error) {
    throw redacted && error instanceof ApiError ? redactError(error) : error
  }
}

/** The error without personal data: an engine's message may quote a value. */
export function redactError({ code, message, problems, headers, cause }: ApiError): ApiError {
  const redactedProblems = problems.map(problem => ({ ...problem, detail: redactText(problem.detail) }))
  return new ApiError(code, redactText(message), { problems: redactedProblems, headers, cause })
}

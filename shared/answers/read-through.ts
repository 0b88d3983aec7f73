/** From a question to its answer: through the cache where there is one, else straight from the engine. */
import type { AnswerCache } from '../cache/cache.ts'
import type { CacheRequest, CacheResult } from '../cache/ask.ts'
import type { QueryEngine, Statement } from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { type Answer, finish, redactAnswer } from './answer.ts'
import { redactionVersion, redactText } from '../redact/redact.ts'
import { runQuery } from './engine-errors.ts'
import type { ByteLimit } from '../keys/limits.ts'
import type { Timing } from '../timing.ts'

export interface QueryRequest {
  endpoint: Endpoint
  statement: Statement
  /** Canonical parameters. */
  parameters: string
  /** Normal form of the caller's SQL, `null` for the endpoint's own query. */
  sql: string | null
  /** Whether personal data is taken out. */
  redacted: boolean
  /** Whether a fresh copy is not enough. */
  bypass: boolean
  /** What the caller's runs may read, `null` for any amount. */
  byteLimit: ByteLimit | null
  /** Names for the engine's records. */
  labels: Record<string, string>
  timing: Timing
}

export type AnswerResult = Omit<CacheResult, 'status'> & { status: CacheResult['status'] | 'uncached' }

/**
 * An endpoint that redacts by default keeps no clear answer anywhere: one for a privileged caller is made anew.
 * @throws ApiError
 */
export async function readThrough(
  { engine, cache }: { engine: QueryEngine; cache: AnswerCache },
  request: QueryRequest,
): Promise<AnswerResult> {
  const { endpoint, redacted, parameters, sql, bypass } = request
  const make = (jobKey?: string) => makeAnswer(engine, request, jobKey)
  if (endpoint.cacheSeconds === 0 || (endpoint.redact && !redacted)) {
    const exhausted = await request.byteLimit?.exhausted()
    if (exhausted) throw exhausted
    const answer = await make()
    return { answer, status: 'uncached', stored: false, madeAt: Date.now(), ageMs: 0, failure: null }
  }
  const keyFields = { endpointId: endpoint.id, version: endpoint.version, parameters, sql, variant: 'clear' }
  const freshMs = endpoint.cacheSeconds * 1000
  const asked = redacted ? { ...keyFields, variant: redactionVersion } : keyFields
  const free =
    request.byteLimit && (await freeAnswer(cache, request.byteLimit, { keyFields: asked, freshMs, bypass }))
  if (free) return free
  return cache.read({
    keyFields: asked,
    freshMs,
    timeoutMs: endpoint.timeoutSeconds * 1000,
    noteUse: endpoint.warm !== null && sql === null,
    bypass,
    async make(jobKey) {
      const clear = redacted && !endpoint.redact && !bypass ? await cache.peek(keyFields, freshMs) : null
      if (!clear) return { answer: await make(jobKey) }
      return { answer: await redactAnswer(endpoint, clear.answer), madeAt: clear.madeAt }
    },
  })
}

/**
 * An answer that reads no bytes; `null` where a run may be made. A hot one is given without a look at the limit.
 * @throws ApiError `budget_exhausted`
 */
async function freeAnswer(
  cache: AnswerCache,
  byteLimit: ByteLimit,
  { keyFields, freshMs, bypass }: Pick<CacheRequest, 'keyFields' | 'freshMs' | 'bypass'>,
): Promise<CacheResult | null> {
  const hot = bypass ? null : cache.hot(keyFields, freshMs)
  if (hot) return hot
  const exhausted = await byteLimit.exhausted()
  if (!exhausted) return null
  const fresh = await cache.fresh(keyFields, freshMs)
  if (fresh) return fresh
  throw exhausted
}

async function makeAnswer(
  engine: QueryEngine,
  { endpoint, statement, sql, redacted, byteLimit, labels, timing }: QueryRequest,
  jobKey?: string,
): Promise<Answer> {
  const options = { labels, sandboxed: sql !== null, ...(jobKey === undefined ? {} : { jobKey }) }
  try {
    const result = await timing.measure('engine', () => runQuery(engine, endpoint, statement, options))
    await byteLimit?.spend(result.bytes ?? 0)
    return timing.measure(redacted ? 'redact' : 'encode', () => finish(endpoint, result, redacted))
  } catch (error) {
    throw redacted && error instanceof ApiError ? redactError(error) : error
  }
}

/** The error without personal data: an engine’s message may quote a value. */
export function redactError({ code, message, problems, headers, cause }: ApiError): ApiError {
  const redactedProblems = problems.map(problem => ({ ...problem, detail: redactText(problem.detail) }))
  return new ApiError(code, redactText(message), { problems: redactedProblems, headers, cause })
}

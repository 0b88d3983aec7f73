/** From a query request to its answer: through the cache where the endpoint has one, else straight from the engine. */
import { hash } from 'node:crypto'
import type { AnswerCache, CacheRequest } from '../cache/cache.ts'
import { cacheKey, type CacheKeyFields } from '../cache/head.ts'
import { cacheTimes } from '../cache/durations.ts'
import { isCached } from '../endpoints/definition.ts'
import { EngineError, type QueryEngine, type RunCost, type Statement } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Allowance } from '../keys/limits.ts'
import { describeError, type Log } from '../log.ts'
import { redactionVersion, redactText } from '../redact/redact.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'
import { type Answer, finish, redactAnswer, sendsRowsAsRead } from '../answers/answer.ts'
import { blame } from './blame.ts'
import { estimateOver, lacksRollup, runQuery, type RunOptions } from './run-query.ts'
import type { BytesInFlight } from '../answers/in-flight.ts'
import type { AnswerResult, QueryRequest, UpstreamRequest } from './query-request.ts'
import { withUpstream } from './upstream.ts'

/** Those of the service's parts that an answer takes. */
export interface AnsweringServices {
  engine: QueryEngine
  cache: AnswerCache
  inFlight: BytesInFlight
  assertWithin: AssertWithin
  log: Log
}

/**
 * The answer to a query request. Of an endpoint that redacts, a privileged caller's clear answer always takes a run.
 * @throws ApiError, under 500 only where the caller can avoid it (`blame.ts`)
 */
export async function getAnswer(services: AnsweringServices, request: QueryRequest): Promise<AnswerResult> {
  return answerTo(services, request).catch((error: unknown) => {
    throw error instanceof ApiError ? blame(error, request) : error
  })
}

async function answerTo(services: AnsweringServices, request: QueryRequest): Promise<AnswerResult> {
  const { cache } = services
  const { endpoint, redacted, byteLimit } = request
  if (!isCached(endpoint, redacted)) {
    const allowance = (await byteLimit?.today()) ?? null
    if (allowance?.left === 0) throw allowance.refusal()
    // Nothing is stored, so the run serves this client alone, and ends when it leaves.
    const signal = request.gone()
    const run = runEngine(services, request, allowance, { signal })
    const { answer, oldest } = await run.catch((cause: unknown) => {
      throw signal.aborted ? new ApiError('client_closed_request', 'The client has gone.', { cause }) : cause
    })
    const madeAt = Math.min(Date.now(), oldest)
    return { answer, status: 'uncached', stored: false, madeAt, ageMs: 0, failure: null }
  }
  const keyFields = request.keyFields ?? keyFieldsOf(request)
  const freshMs = Math.min(endpoint.cacheSeconds, request.maxAgeSeconds ?? Infinity) * 1000
  const hot = request.bypass ? null : cache.hot(keyFields, freshMs)
  if (hot) return hot
  if (!byteLimit) return cache.read(cacheRequestOf(services, request, keyFields, null))
  const allowance = await byteLimit.today()
  if (allowance.left > 0) return cache.read(cacheRequestOf(services, request, keyFields, allowance))
  const fresh = request.bypass ? null : await cache.peek(keyFields, freshMs)
  if (fresh) return fresh
  throw allowance.refusal()
}

/**
 * A redacted answer is made out of a fresh clear one where there is one, which costs no run. Of a run that callers share, the
 * first one pays for it and bounds it. It goes on when that client has gone: others may wait for it, the scan is paid for, and
 * a client that comes back finds the answer.
 */
function cacheRequestOf(
  services: AnsweringServices,
  request: QueryRequest,
  keyFields: CacheKeyFields,
  allowance: Allowance | null,
): CacheRequest {
  const { cache } = services
  const { endpoint, sql, redacted, bypass, timing, maxAgeSeconds = Infinity } = request
  const clear: CacheKeyFields = { ...keyFields, variant: 'clear' }
  const freshMs = endpoint.cacheSeconds * 1000
  // A query that reads other endpoints gets their rows redacted, so that its redacted answer is not its clear one, redacted.
  const mayCopy = redacted && !endpoint.redact && !bypass && !keyFields.upstream
  return {
    keyFields,
    freshMs,
    maxAgeMs: Math.min(freshMs, maxAgeSeconds * 1000),
    isWithin: request.isWithin ?? false,
    timeoutMs: timeoutOf(request),
    noteUse: endpoint.warm !== null && sql === null,
    ...(endpoint.warm ? { warmMs: endpoint.warm.seconds * 1000 } : {}),
    bypass,
    timing,
    blame: error => blame(error, request),
    ...(allowance ? { maxBytes: allowance.left } : {}),
    async make(startedAt, jobKey) {
      const copy = mayCopy ? await cache.peek(clear, freshMs) : null
      const own = jobKey === undefined ? {} : { jobKey }
      if (copy)
        return { answer: await redactAnswer(endpoint, copy.answer, request.names), madeAt: copy.madeAt }
      const { answer, oldest } = await runEngine(services, request, allowance, own)
      return oldest === Infinity ? { answer } : { answer, madeAt: Math.min(startedAt, oldest) }
    },
  }
}

type Decisive = Pick<QueryRequest, 'endpoint' | 'parameters' | 'sql' | 'page' | 'redacted' | 'upstream'>

/** What decides the answer. */
export function keyFieldsOf(request: Decisive): CacheKeyFields {
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

/**
 * The run's own time, and the longest wait for an endpoint that it reads: all are waited for at once, each as for a run of
 * another process.
 */
function timeoutOf({ endpoint, upstream = [] }: QueryRequest): number {
  const waits = upstream.map(({ request }) => timeoutOf(request) + cacheTimes.leaseMs)
  return endpoint.timeoutSeconds * 1000 + Math.max(0, ...waits)
}

/** @returns the answer, and store time of the oldest rows read as a table, or Infinity */
async function runEngine(
  services: AnsweringServices,
  asked: QueryRequest,
  allowed: Allowance | null,
  own: Pick<RunOptions, 'jobKey' | 'signal'>,
): Promise<{ answer: Answer; oldest: number }> {
  const { engine, inFlight, assertWithin, log } = services
  const { request, bytes: held, oldest } = await withUpstream(asked, inner => getAnswer(services, inner), log)
  const allowance = allowed && request !== asked ? await request.byteLimit!.today() : allowed
  const { endpoint, statement, instead, sql, page, redacted, names, bypass, labels, onRun, timing } = request
  const pay = async (cost: RunCost) => {
    onRun(cost)
    const { bytes } = cost
    if (allowance && bytes) await timing.measure('store', () => allowance.spend(bytes))
  }
  const options = {
    ...own,
    labels,
    noCache: bypass,
    asText: sendsRowsAsRead(endpoint, redacted),
    ...(sql === null ? {} : { assertWithin }),
    ...(allowance ? { maxBytes: allowance.left } : {}),
  }
  const { onBytes, release } = inFlight.rowsOfRun()
  const ended = timing.begin('engine')
  try {
    if (held > 0) onBytes(held)
    const limits = page ? { ...endpoint, maxRows: page.rows } : endpoint
    const run = (one: Statement) => runQuery(engine, limits, one, { ...options, onBytes })
    const rows = await run(statement)
      .catch((error: unknown) => {
        // A roll-up that is missing or damaged costs time and money, and no answer.
        if (!instead || !lacksRollup(error)) throw error
        log('WARNING', 'a roll-up could not be read', { endpoint: endpoint.name, ...describeError(error) })
        return run(instead)
      })
      .finally(ended)
    await pay(rows)
    const { result, marks } = page ? await page.finish(rows) : { result: rows, marks: undefined }
    const answer = await timing.measure(redacted ? 'redact' : 'encode', () =>
      finish(endpoint, result, redacted, marks, names),
    )
    return { answer, oldest }
  } catch (error) {
    const cost = costOf(error)
    if (cost) await pay(cost)
    const refused = allowance && estimateOver(allowance.left, error)
    if (refused !== null) throw allowance!.refusal(refused)
    throw redacted ? redactError(error) : error
  } finally {
    release()
  }
}

/** What a run has cost that ended with an error of the engine. */
function costOf(error: unknown): RunCost | null {
  return error instanceof ApiError && error.cause instanceof EngineError ? error.cause.cost : null
}

/** The error without personal data: a message may quote a value, of the rows or of the call. */
export function redactError<E>(error: E): E | ApiError {
  if (!(error instanceof ApiError)) return error
  const redact = (text: string) => redactText(text.replaceAll(cutShort, 'REDACTED'))
  const problems = error.problems.map(problem => ({ ...problem, detail: redact(problem.detail) }))
  return error.with({ detail: redact(error.message), problems })
}

/** What SQL's errors quote in part (`sql/cursor.ts`, `sandbox/caller-rules.ts`): a part may not show the form of the whole. */
const cutShort = /(?<=[Tt]here is )[^]{40}\.\.\.|(?<=")[^]{60}\.\.\.(?=")/g

/** Failed runs: what is recorded of them, and for how long. shared/cache/README.md, "Failures". */
import { EngineError } from '../engines/engine.ts'
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'
import type { Plain } from '../stores/store.ts'
import { mistakeMs } from './times.ts'

/** A failed run, as the head holds it. Times are store time. */
export interface Failure {
  at: number
  /** The engine does not run again before `at + ms`. */
  ms: number
  /** Consecutive failures of the engine; 0 for a caller's own mistake. */
  count: number
  error: ApiError
}

/** The back-off doubles with each failure of the engine, up to this factor. */
const maxBackOffFactor = 8

/** Whether the caller has to change the request; a stale copy never covers such an answer. */
export function isMistake(error: ApiError): boolean {
  return error.status < 500
}

/** Whether the error is about the budget of one caller; it says nothing of the query, and nothing to other callers. */
export function isOfCaller(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'budget_exhausted'
}

/** Whether the error says something of the query, and not of one caller's budget or of one process: its memory or end. */
export function isOfQuery(error: ApiError): boolean {
  const isInterrupted = error.cause instanceof EngineError && error.cause.reason === 'cancelled'
  return !isOfCaller(error) && !isInterrupted && error.code !== 'overloaded'
}

/** Any other error is a bug: `internal`. */
export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal', 'An internal error.', { cause: error })
}

/**
 * The record of a failed run.
 * @param now store time, milliseconds since 1970 UTC
 * @param backOffMs how long the engine rests after its first failure
 */
export function nextFailure(
  previous: Failure | null,
  error: ApiError,
  { now, backOffMs }: { now: number; backOffMs: number },
): Failure {
  if (isMistake(error)) return { at: now, ms: mistakeMs, count: 0, error }
  const count = (previous?.count ?? 0) + 1
  return { at: now, ms: backOffMs * Math.min(2 ** (count - 1), maxBackOffFactor), count, error }
}

/** The recorded error; a failure of the engine with the time that is left as `Retry-After`. */
export function recordedError({ at, ms, error }: Failure, now: number): ApiError {
  if (isMistake(error)) return error
  const seconds = Math.max(1, Math.ceil((at + ms - now) / 1000))
  return error.with({ headers: { ...error.headers, 'Retry-After': String(seconds) } })
}

interface FailureFields {
  at: number
  ms: number
  count: number
  code: ErrorCode
  detail: string
  problems: Plain[]
}

/** The head's field `failure`. */
export function failureFields({ at, ms, count, error }: Failure): Plain {
  const problems = error.problems.map(problem => ({ ...problem }))
  return { at, ms, count, code: error.code, detail: error.message, problems }
}

/** Reads what `failureFields` made. */
export function failureOf(fields: unknown): Failure | null {
  if (!fields) return null
  const { at, ms, count, code, detail, problems } = fields as FailureFields
  return { at, ms, count, error: new ApiError(code, detail, { problems: problems as unknown as Problem[] }) }
}

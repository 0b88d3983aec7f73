/** What is remembered of a failed run, so that nobody repeats it at once. cache.md, "When things fail". */
import { ApiError } from '../errors.ts'
import type { Failure } from './head.ts'

/** A caller's own mistake stays one for a while. */
const mistakeMs = 60_000
/** After an engine's failure: 1, 2, 4, then 8 s. */
const longestBackOffMs = 8000

/** Whether the caller has to change the question; such an answer is never covered by a stale copy. */
export function isMistake(error: ApiError): boolean {
  return error.status < 500
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal', 'An internal error.', { cause: error })
}

/** @param now store time, milliseconds since 1970 UTC */
export function afterFailure(previous: Failure | null, error: ApiError, now: number): Failure {
  if (isMistake(error)) return { at: now, ms: mistakeMs, count: 0, error }
  const count = (previous?.count ?? 0) + 1
  return { at: now, ms: Math.min(1000 * 2 ** (count - 1), longestBackOffMs), count, error }
}

/** The remembered error, saying when to come back where that helps. */
export function again({ at, ms, error }: Failure, now: number): ApiError {
  if (isMistake(error)) return error
  const seconds = Math.max(1, Math.ceil((at + ms - now) / 1000))
  return new ApiError(error.code, error.message, {
    problems: error.problems,
    headers: { ...error.headers, 'Retry-After': String(seconds) },
    cause: error.cause,
  })
}

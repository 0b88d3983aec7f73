/** Failed runs: which of them are recorded, and for how long they are answered from the record. README.md, "Failures". */
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'
import type { Plain } from '../stores/store.ts'

/** A failed run, as the head holds it. Times are store time. */
export interface Failure {
  at: number
  /** The engine does not run again before `at + ms`. */
  ms: number
  /** Consecutive failures of the engine; 0 for a caller's own mistake. */
  count: number
  error: ApiError
}

/** A caller's own mistake fails again, whoever repeats it. */
const mistakeMs = 60_000
/** After failures of the engine: 1, 2, 4, then 8 s. */
const maxBackOffMs = 8000

/** Whether the caller has to change the request; a stale copy never covers such an answer. */
export function isMistake(error: ApiError): boolean {
  return error.status < 500
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal', 'An internal error.', { cause: error })
}

/** @param now store time, milliseconds since 1970 UTC */
export function nextFailure(previous: Failure | null, error: ApiError, now: number): Failure {
  if (isMistake(error)) return { at: now, ms: mistakeMs, count: 0, error }
  const count = (previous?.count ?? 0) + 1
  return { at: now, ms: Math.min(1000 * 2 ** (count - 1), maxBackOffMs), count, error }
}

/** The recorded error; a failure of the engine with the time that is left as `Retry-After`. */
export function recordedError({ at, ms, error }: Failure, now: number): ApiError {
  if (isMistake(error)) return error
  const seconds = Math.max(1, Math.ceil((at + ms - now) / 1000))
  return new ApiError(error.code, error.message, {
    problems: error.problems,
    headers: { ...error.headers, 'Retry-After': String(seconds) },
    cause: error.cause,
  })
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

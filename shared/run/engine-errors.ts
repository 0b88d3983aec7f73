/** What an engine's errors mean to a caller: codes, whose statuses are in `shared/errors.ts`. */
import type { Endpoint } from '../endpoints/definition.ts'
import type { EngineError, EngineErrorReason } from '../engines/engine.ts'
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'

/**
 * Code and detail by the reason alone: BigQuery gives one reason under several statuses. `{message}` is the engine's,
 * and so is the whole detail where there is none here: the caller's own input is at fault.
 */
const meanings: Record<EngineErrorReason, [code: ErrorCode, detail?: string]> = {
  rejected: ['invalid_query'],
  unsupported: ['invalid_query'],
  misconfigured: ['internal', 'An internal error.'],
  no_rollup: ['engine_error', 'The query engine failed.'],
  too_many_bytes: ['bytes_limit_exceeded', '{message}; ask for less.'],
  result_too_large: ['result_too_large', '{message}; ask for fewer rows or columns.'],
  overloaded: ['overloaded', 'The service is busy with other queries; come back in a few seconds.'],
  timeout: ['query_timeout', 'The query did not finish within {timeoutSeconds} s.'],
  cancelled: ['engine_unavailable', 'The query was ended before its time: send it again.'],
  failed: ['engine_error', 'The query engine failed.'],
  unavailable: ['engine_unavailable', 'The query engine is not available at the moment.'],
}

/** What an engine's error means for a caller that can avoid it; `blame.ts` says whether it can. */
export function apiErrorOf(cause: EngineError, endpoint: Endpoint): ApiError {
  const [code, detail] = meanings[cause.reason]
  if (detail === undefined) {
    const problems = suspects(cause, endpoint)
    const unnamed = problems.filter(
      ({ parameter }) => parameter !== 'sql' && !cause.message.includes(`@${parameter}`),
    )
    const names = unnamed.map(({ parameter }) => `${parameter}: `).join('or ')
    return new ApiError(code, names + cause.message, { problems, cause })
  }
  const text = detail
    .replace('{message}', () => cause.message)
    .replace('{timeoutSeconds}', String(endpoint.timeoutSeconds))
  return new ApiError(code, text, { cause })
}

/**
 * Where the engine's message applies: a place in the statement, or a parameter that it names. For a bad regular
 * expression the engine names no parameter; the definition says which of them are regular expressions.
 */
function suspects(error: EngineError, endpoint: Endpoint): Problem[] {
  if (error.place) return [{ parameter: 'sql', ...error.place, detail: error.message }]
  const [, named] = /parameter @(\w+)/.exec(error.message) ?? []
  if (named) return [{ parameter: named, detail: error.message }]
  if (!/regular expression|^REGEXP_/i.test(error.message)) return []
  return Object.entries(endpoint.parameters)
    .filter(([, definition]) => definition.format === 'regular-expression')
    .map(([parameter]) => ({ parameter, detail: error.message }))
}

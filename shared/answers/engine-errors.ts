/** Running a statement for an endpoint, and what an engine's failure means to the caller. */
import type { Endpoint } from '../endpoints/definition.ts'
import {
  EngineError,
  type EngineErrorReason,
  type QueryEngine,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engines/engine.ts'
import { ApiError, type Problem } from '../errors.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'

export interface RunOptions extends Pick<RunLimits, 'signal' | 'labels' | 'jobKey'> {
  /** The check of a statement that holds a caller's own SQL, before it runs. */
  assertWithin?: AssertWithin
}

/** @throws ApiError for every failure of the engine */
export async function runQuery(
  engine: QueryEngine,
  endpoint: Endpoint,
  statement: Statement,
  { assertWithin, ...limits }: RunOptions = {},
): Promise<RunResult> {
  try {
    await assertWithin?.(endpoint, statement)
    return await engine.run(statement, {
      maxRows: endpoint.maxRows,
      timeoutMs: endpoint.timeoutSeconds * 1000,
      ...limits,
    })
  } catch (error) {
    throw error instanceof EngineError ? failures[error.reason](error, endpoint) : error
  }
}

const retryAfter = { headers: { 'Retry-After': '5' } }

/** cache.md: decide by reason. Only what the engine says of the caller's own input is passed on. */
const failures: Record<EngineErrorReason, (cause: EngineError, endpoint: Endpoint) => ApiError> = {
  rejected: (cause, endpoint) =>
    new ApiError('invalid_query', cause.message, { problems: suspects(cause, endpoint), cause }),
  unsupported: (cause, endpoint) =>
    new ApiError('invalid_query', cause.message, { problems: suspects(cause, endpoint), cause }),
  misconfigured: cause => new ApiError('internal', 'An internal error.', { cause }),
  too_many_bytes: cause =>
    new ApiError('bytes_limit_exceeded', 'The query would read more than is allowed; ask for less.', {
      cause,
    }),
  result_too_large: cause =>
    new ApiError('result_too_large', 'The result is too large; ask for fewer rows or columns.', { cause }),
  timeout: (cause, endpoint) =>
    new ApiError('query_timeout', `The query did not finish within ${endpoint.timeoutSeconds} s.`, { cause }),
  cancelled: cause =>
    new ApiError('engine_unavailable', 'The query was cancelled.', { cause, ...retryAfter }),
  failed: cause => new ApiError('engine_error', 'The query engine failed.', { cause, ...retryAfter }),
  unavailable: cause =>
    new ApiError('engine_unavailable', 'The query engine is not available at the moment.', {
      cause,
      ...retryAfter,
    }),
}

/**
 * What the complaint is about: a place in the statement, or a parameter. A bad regular expression is told by the engine
 * without a name; the definition says which parameters are one.
 */
function suspects(error: EngineError, endpoint: Endpoint): Problem[] {
  if (error.place) return [{ parameter: 'sql', ...error.place, detail: error.message }]
  if (!/regular expression/i.test(error.message)) return []
  return Object.entries(endpoint.parameters)
    .filter(([, definition]) => definition.format === 'regular-expression')
    .map(([parameter]) => ({ parameter, detail: error.message }))
}

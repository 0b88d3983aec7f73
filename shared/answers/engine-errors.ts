/** Running a statement for an endpoint; an engine's error becomes the caller's ApiError. */
import type { Endpoint } from '../endpoints/definition.ts'
import {
  EngineError,
  type EngineErrorReason,
  type QueryEngine,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engines/engine.ts'
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'

export interface RunOptions extends Pick<RunLimits, 'signal' | 'labels' | 'jobKey'> {
  /** The check of a statement that holds a caller's own SQL, before it runs. */
  assertWithin?: AssertWithin
}

/**
 * Runs a statement within the endpoint's row limit and timeout.
 * @throws ApiError for every failure of the engine
 */
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
    throw error instanceof EngineError ? apiErrorOf(error, endpoint) : error
  }
}

interface Meaning {
  code: ErrorCode
  /** Without it, the engine's own message goes to the caller: it is about the caller's input. */
  detail?: string | ((endpoint: Endpoint) => string)
  /** Whether the same request may succeed a little later. */
  passing?: true
}

/** By the reason alone, not by a status: BigQuery gives the same reason under several of them. */
const meanings: Record<EngineErrorReason, Meaning> = {
  rejected: { code: 'invalid_query' },
  unsupported: { code: 'invalid_query' },
  misconfigured: { code: 'internal', detail: 'An internal error.' },
  too_many_bytes: {
    code: 'bytes_limit_exceeded',
    detail: 'The query would read more than is allowed; ask for less.',
  },
  result_too_large: {
    code: 'result_too_large',
    detail: 'The result is too large; ask for fewer rows or columns.',
  },
  timeout: {
    code: 'query_timeout',
    detail: ({ timeoutSeconds }) => `The query did not finish within ${timeoutSeconds} s.`,
  },
  cancelled: { code: 'engine_unavailable', detail: 'The query was cancelled.', passing: true },
  failed: { code: 'engine_error', detail: 'The query engine failed.', passing: true },
  unavailable: {
    code: 'engine_unavailable',
    detail: 'The query engine is not available at the moment.',
    passing: true,
  },
}

function apiErrorOf(cause: EngineError, endpoint: Endpoint): ApiError {
  const { code, detail, passing } = meanings[cause.reason]
  if (detail === undefined)
    return new ApiError(code, cause.message, { problems: suspects(cause, endpoint), cause })
  const headers: Record<string, string> = passing ? { 'Retry-After': '5' } : {}
  return new ApiError(code, typeof detail === 'string' ? detail : detail(endpoint), { cause, headers })
}

/**
 * Where the engine's message applies: a place in the statement, or a parameter. For a bad regular expression the engine
 * names no parameter; the definition says which of them are regular expressions.
 */
function suspects(error: EngineError, endpoint: Endpoint): Problem[] {
  if (error.place) return [{ parameter: 'sql', ...error.place, detail: error.message }]
  if (!/regular expression/i.test(error.message)) return []
  return Object.entries(endpoint.parameters)
    .filter(([, definition]) => definition.format === 'regular-expression')
    .map(([parameter]) => ({ parameter, detail: error.message }))
}

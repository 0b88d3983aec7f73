/** Running a statement for an endpoint, and what its errors mean to a caller: codes, whose statuses are in `shared/errors.ts`.*/
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
import { describeError, type Log } from '../log.ts'
import { runNewestFirst } from './newest-first.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'

export interface RunOptions extends Pick<
  RunLimits,
  'asText' | 'maxBytes' | 'noCache' | 'onBytes' | 'signal' | 'labels' | 'jobKey'
> {
  /** The check of a statement that holds a caller's own SQL, before it runs. */
  assertWithin?: AssertWithin
}

/**
 * Runs a statement within the endpoint's limits of rows and bytes, and its timeout.
 * @throws ApiError for every failure of the engine
 */
export async function runQuery(
  engine: QueryEngine,
  endpoint: Endpoint,
  statement: Statement,
  { assertWithin, labels, ...limits }: RunOptions = {},
): Promise<RunResult> {
  const endsAt = performance.now() + endpoint.timeoutSeconds * 1000
  const limited = () => ({
    timeoutMs: endsAt - performance.now(),
    ...(labels ? { labels: { ...endpoint.labels, ...labels } } : {}),
  })
  try {
    await assertWithin?.(endpoint, statement, limited())
    return await runNewestFirst(engine, endpoint, statement, {
      maxRows: endpoint.maxRows,
      ...limited(),
      ...(endpoint.maxResultBytes === null ? {} : { maxResultBytes: endpoint.maxResultBytes }),
      ...(endpoint.reservation === null ? {} : { reservation: endpoint.reservation }),
      ...limits,
    })
  } catch (error) {
    throw error instanceof EngineError ? apiErrorOf(error, endpoint) : error
  }
}

/**
 * @param error what `runQuery` threw
 * @returns the estimate for which a run was refused, where this limit and no lower one refused it; else `null`
 */
export function estimateOver(limit: number, error: unknown): number | null {
  const cause = error instanceof ApiError ? error.cause : null
  const bytes = cause instanceof EngineError ? cause.bytes : null
  return bytes?.limit === limit ? bytes.estimate : null
}

/** A statement, and the one that answers in its place where its roll-up cannot be read; `null` = none. */
interface Readings {
  endpoint: Endpoint
  statement: Statement
  instead?: Statement | null
}

/**
 * Runs the statement, or the one that takes its place: a roll-up that is missing or damaged costs time and money, and no
 * answer. The log says so.
 */
export async function runFirstReadable<R>(
  { endpoint, statement, instead = null }: Readings,
  run: (statement: Statement) => Promise<R>,
  log: Log,
): Promise<R> {
  try {
    return await run(statement)
  } catch (error) {
    if (!instead || !lacksRollup(error)) throw error
    log('WARNING', 'a roll-up could not be read', { endpoint: endpoint.name, ...describeError(error) })
    return run(instead)
  }
}

/** Whether a run ended because its roll-up cannot be read, so that the endpoint's own query has to answer. */
export function lacksRollup(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof EngineError && error.cause.reason === 'no_rollup'
}

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

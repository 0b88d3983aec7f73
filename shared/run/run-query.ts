/** Running a statement for an endpoint within its limits. */
import type { Endpoint } from '../endpoints/definition.ts'
import {
  EngineError,
  type QueryEngine,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { AssertWithin } from '../sandbox/verdict.ts'
import { apiErrorOf } from './blame.ts'
import { runNewestFirst } from './newest-first.ts'

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

/** Whether a run ended because its roll-up cannot be read, so that the endpoint's own query has to answer. */
export function lacksRollup(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof EngineError && error.cause.reason === 'no_rollup'
}

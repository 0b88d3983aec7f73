/** Refreshes answers of endpoints that read the rows of others: as a reader who wants a younger answer does. */
import pMap from 'p-map'
import { type AnsweringServices, getAnswer, keyFieldsOf } from '../run/get-answer.ts'
import type { QueryRequest } from '../run/query-request.ts'
import { upstreamRequests } from '../run/upstream.ts'
import { cacheKey, type CacheKeyFields } from '../cache/head.ts'
import { type Endpoint, isCached } from '../endpoints/definition.ts'
import { savedStatement } from '../endpoints/saved-query.ts'
import type { FindUpstream } from '../endpoints/upstream-tables.ts'
import { ApiError } from '../errors.ts'
import type { ByteLimit } from '../keys/limits.ts'
import type { Cursors } from '../pages/cursor.ts'
import { Timing } from '../timing.ts'
import { sentOf } from './batch.ts'
import { type Budget, OutOfBudget } from './turn.ts'
import { dueAfterMs, type DueSet } from './due.ts'
import type { Tally } from './report.ts'

/** Those of the service that answer readers. */
export interface ReadingServices extends AnsweringServices {
  cursors: Cursors
  findUpstream: FindUpstream
}

interface Work {
  endpoint: Endpoint
  budget: Budget
  tally: Tally
}

/** Answers at a time. */
const reads = { concurrency: 4 }

/** Upstream answers that are as old are refreshed before. Every failure is counted, and ends with its answer. */
export async function refreshWithUpstream(
  work: Work,
  services: ReadingServices,
  due: DueSet[],
): Promise<void> {
  const { budget, tally } = work
  const endpoint = await services.findUpstream(work.endpoint)
  const answers = due.flatMap(({ set, answers: heads }) => heads.map(head => ({ set, head })))
  await pMap(
    answers,
    async ({ set, head }) => {
      try {
        if (budget.spent) throw new OutOfBudget(budget.spent)
        const request = requestFor(endpoint, { set, keyFields: head.keyFields }, work, services.cursors)
        const isSame = cacheKey(keyFieldsOf(request)) === cacheKey(head.keyFields)
        if (!isSame || !isCached(endpoint, request.redacted)) return tally.skipped('gone')
        const { status, failure } = await getAnswer(services, request)
        if (failure) tally.failed(failure)
        else if (status === 'revalidated' || status === 'miss') tally.refreshed()
        else tally.skipped(status === 'stale' ? 'leased' : 'fresh')
      } catch (error) {
        const isSpent = error instanceof ApiError && error.code === 'budget_exhausted'
        if (error instanceof OutOfBudget) tally.skipped(error.reason)
        else if (isSpent) tally.skipped('out_of_bytes')
        else tally.failed(error)
      }
    },
    reads,
  )
}

function requestFor(
  endpoint: Endpoint,
  { set, keyFields }: { set: DueSet['set']; keyFields: CacheKeyFields },
  { budget, tally }: Work,
  cursors: Cursors,
): QueryRequest {
  const sent = sentOf(set)
  const run = {
    redacted: keyFields.variant !== 'clear',
    bypass: false,
    byteLimit: limitOf(budget),
    labels: { endpoint: endpoint.name, key: 'warm' },
    gone: () => budget.signal,
    onRun({ bytes }: { bytes: number | null }) {
      tally.ran(bytes)
    },
    maxAgeSeconds: dueAfterMs(endpoint.warm!.seconds) / 1000,
  }
  const asking = { ...run, cursors, pins: {}, now: Date.now() }
  return {
    ...run,
    endpoint,
    ...savedStatement(endpoint, set),
    page: null,
    upstream: upstreamRequests(endpoint, { bindings: set, sent }, asking),
    parameters: keyFields.parameters,
    sent,
    timing: new Timing(),
  }
}

/** The warmer's budget, as that of a key. */
export function limitOf(budget: Budget): ByteLimit {
  const allowance = () => ({
    left: budget.leftBytes,
    refusal: () => new ApiError('budget_exhausted', 'The budget of this call is used up.'),
    spend: async (bytes: number) => budget.spend(bytes),
  })
  return { today: async () => allowance(), known: () => null }
}

/** Brings the answers of an endpoint's alerts up to date before each is asked for: many sets by one statement, as the warmer does. */
import pMap from 'p-map'
import { keyFieldsOf } from '../run/get-answer.ts'
import {
  cacheKey,
  type CacheKeyFields,
  firstFields,
  type Head,
  headAt,
  headOf,
  lightFields,
} from '../cache/head.ts'
import { refusalOf } from '../cache/refresh-claim.ts'
import { cacheTimes } from '../cache/durations.ts'
import { presentFor, readParameters } from '../endpoints/parameters.ts'
import { queryText } from '../endpoints/query-string.ts'
import type { QueryEngine } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import { ignoreStoreError, type Store } from '../stores/store.ts'
import type { Budget } from '../warm/turn.ts'
import type { DueSet } from '../warm/due.ts'
import { refresh } from '../warm/refresh.ts'
import { Tally } from '../warm/report.ts'
import { isCached, windowsOf } from '../endpoints/definition.ts'
import { maxAgeMs } from './due.ts'
import type { Subject } from './record.ts'

interface Refreshing {
  engine: QueryEngine
  store: Store
  log: Log
  budget: Budget
  /** The store's time. */
  now: number
  /** What relative times count from. */
  present: number
}

/** Calls of the store at a time. */
const reads = { concurrency: 32 }

/**
 * Sets that are not refreshed here run when the alert asks for them.
 * @param subjects of one endpoint
 * @returns bytes that the engine read, where it says
 */
export async function refreshTogether(
  { engine, store, log, budget, now, present }: Refreshing,
  subjects: Subject[],
): Promise<number | null> {
  const [first] = subjects
  if (!first) return null
  const { endpoint } = first
  if (!isCached(endpoint, endpoint.redact) || endpoint.upstream || endpoint.page) return null
  const wanted = new Map<string, { due: Omit<DueSet, 'answers'>; keyFields: CacheKeyFields }>()
  for (const subject of subjects)
    for (const beforeMs of windowsOf(subject.alert)) {
      const asked = answerOf(subject, present - beforeMs)
      if (asked) wanted.set(cacheKey(asked.keyFields), asked)
    }
  if (wanted.size < 2) return null
  const olderThanMs = Math.min(...subjects.map(({ alert }) => maxAgeMs(endpoint, alert)))
  const expireAt = new Date(now + endpoint.cacheSeconds * 1000 + cacheTimes.staleMs)
  const sets = await pMap(
    wanted.values(),
    async ({ due, keyFields }): Promise<DueSet[]> => {
      const head = await headFor(store, keyFields, expireAt)
      const isDue = head && (!head.stored || refusalOf(head, { now, olderThanMs }) === null)
      return isDue ? [{ ...due, answers: [head] }] : []
    },
    reads,
  ).catch(ignoreStoreError)
  const tally = new Tally(endpoint.name, log)
  const warm = { seconds: olderThanMs / 800, maxSets: Infinity }
  const since = performance.now()
  const clock = () => now + performance.now() - since
  const work = { engine, store, budget, now: clock, endpoint: { ...endpoint, warm }, tally }
  if (sets) await refresh(work, sets.flat())
  return tally.end().bytes
}

/** `null` for parameters that the endpoint does not take any more, which is told where it is asked. */
function answerOf({ endpoint, set }: Subject, moment: number) {
  try {
    const read = readParameters(endpoint, queryText(set), {}, presentFor(endpoint, moment))
    const asked = { endpoint, parameters: read.canonical, sql: null, page: null, redacted: endpoint.redact }
    return { due: { set: read.bindings }, keyFields: keyFieldsOf(asked) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return null
  }
}

/** Creates an empty head where there is none, marked as unused so that the warmer ignores it. */
async function headFor(store: Store, keyFields: CacheKeyFields, expireAt: Date): Promise<Head | null> {
  const at = headAt(cacheKey(keyFields))
  const { document } = await store.get(at, lightFields)
  if (document) return headOf(document)
  const fields = { ...firstFields(keyFields, 0), expireAt }
  const { version, writtenAt } = await store.create(at, fields)
  return headOf({ id: at.id, fields, version, writtenAt })
}

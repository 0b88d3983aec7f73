/** Making due answers anew: each set by the endpoint's own query, or many by its companion in one scan. */
import { asApiError } from '../cache/failures.ts'
import { claim, type Claim } from '../cache/claim.ts'
import type { QueryEngine, RunResult, Statement } from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { finish } from '../answers/answer.ts'
import { runQuery } from '../answers/engine-errors.ts'
import { redactError } from '../answers/read-through.ts'
import type { Store } from '../stores/store.ts'
import type { Budget } from './budget.ts'
import { dueAfterMs, type DueSet } from './due.ts'
import { inLanes } from './lanes.ts'
import { companionStatement, splitRows } from './batch.ts'
import type { Tally } from './report.ts'

export interface Work {
  engine: QueryEngine
  store: Store
  endpoint: Endpoint
  budget: Budget
  tally: Tally
}

/** A set whose leases are ours. */
interface Held extends DueSet {
  claims: Claim[]
}

/** Runs of the engine at a time. */
export const maxRuns = 4
/** Calls of the store for so many sets at a time. */
const maxStoreCalls = 10
/** One scan for many sets takes longer than one for a single set, though not by much. */
const companionPatience = 3

/** One set, by the endpoint's own query. Whatever goes wrong is counted and ends with this set. */
export async function refreshAlone(work: Work, due: DueSet): Promise<void> {
  const held = await hold(work, due)
  if (held) await runAlone(work, held)
}

/** Many sets, by the companion query. Where that fails, each is tried alone, so that one bad set spoils nothing. */
export async function refreshTogether(work: Work, due: DueSet[]): Promise<void> {
  const held: Held[] = []
  await inLanes(due, maxStoreCalls, async one => {
    const own = await hold(work, one)
    if (own) held.push(own)
  })
  if (held.length < 2 || work.budget.spent) return inLanes(held, maxRuns, one => runAlone(work, one))
  try {
    const results = await runCompanion(work, held)
    await inLanes([...held.entries()], maxStoreCalls, ([i, one]) => publish(work, one, results[i]!))
  } catch (error) {
    if (brokenEngine.has(asApiError(error).code))
      return inLanes(held, maxStoreCalls, one => giveUp(work, one, error))
    work.tally.batchFailed(error)
    await inLanes(held, maxRuns, one => runAlone(work, one))
  }
}

/** Trying again set by set would only add to its load. */
const brokenEngine = new Set(['engine_error', 'engine_unavailable'])

/** Takes the leases of a set's answers, looking again at each, as the search may be seconds old. */
async function hold({ store, endpoint, budget, tally }: Work, due: DueSet): Promise<Held | null> {
  const claims: Claim[] = []
  const times = { freshMs: endpoint.cacheSeconds * 1000, olderThanMs: dueAfterMs(endpoint.warm!.seconds) }
  for (const keyFields of due.keyFields)
    try {
      const outcome = budget.spent ?? (await claim(store, { keyFields, ...times }))
      if (typeof outcome === 'string') tally.skipped(outcome)
      else claims.push(outcome)
    } catch (error) {
      tally.failed(error)
    }
  return claims.length > 0 ? { ...due, claims } : null
}

async function runAlone(work: Work, held: Held): Promise<void> {
  if (work.budget.spent) return giveUp(work, held, null)
  const { sql } = work.endpoint
  try {
    await publish(work, held, await runCounted(work, work.endpoint, { sql, bindings: held.set }))
  } catch (error) {
    await giveUp(work, held, error)
  }
}

async function runCompanion(work: Work, held: Held[]): Promise<RunResult[]> {
  const { endpoint } = work
  const sets = held.map(({ set }) => set)
  const limits = {
    ...endpoint,
    // One row more for each set tells whether it is cut.
    maxRows: sets.length * (endpoint.maxRows + 1),
    timeoutSeconds: endpoint.timeoutSeconds * companionPatience,
  }
  const result = await runCounted(work, limits, companionStatement(endpoint, endpoint.warm!.sql!, sets))
  return splitRows(endpoint, sets, result)
}

async function runCounted(
  { engine, budget, tally }: Work,
  endpoint: Endpoint,
  statement: Statement,
): Promise<RunResult> {
  let bytes: number | null = null
  try {
    const labels = { endpoint: endpoint.name, key: 'warm' }
    const result = await runQuery(engine, endpoint, statement, { signal: budget.signal, labels })
    bytes = result.bytes
    return result
  } finally {
    budget.spend(bytes)
    tally.ran(bytes)
  }
}

/** One result serves the clear and the redacted answer. */
async function publish({ endpoint, tally }: Work, { claims }: Held, result: RunResult): Promise<void> {
  for (const claim of claims)
    try {
      const stored = await claim.store(finish(endpoint, result, isRedacted(claim)))
      if (stored) tally.refreshed()
      else tally.skipped('not_stored')
    } catch (error) {
      tally.failed(error)
      await claim.release()
    }
}

/** The failure is remembered in the head, but not that our time was up, which says nothing of the set. */
async function giveUp({ budget, tally }: Work, { claims }: Held, error: unknown): Promise<void> {
  const reason = budget.spent
  for (const claim of claims)
    if (reason && (error === null || budget.signal.aborted)) {
      tally.skipped(reason)
      await claim.release()
    } else {
      tally.failed(error)
      const known = asApiError(error)
      await claim.fail(isRedacted(claim) ? redactError(known) : known)
    }
}

function isRedacted({ keyFields }: Claim): boolean {
  return keyFields.variant !== 'clear'
}

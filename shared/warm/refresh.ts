/** Refreshes due answers: each set by the endpoint's own query, or many by the batch query in one scan. */
import pMap from 'p-map'
import { finish } from '../answers/answer.ts'
import { runQuery } from '../answers/engine-errors.ts'
import { redactError } from '../answers/read-through.ts'
import { claim, type Claim } from '../cache/claim.ts'
import { asApiError } from '../cache/failures.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import type { QueryEngine, RunResult, Statement } from '../engines/engine.ts'
import type { Store } from '../stores/store.ts'
import { batchStatement, groupsOf, splitRows } from './batch.ts'
import type { Budget } from './budget.ts'
import { dueAfterMs, type DueSet } from './due.ts'
import type { Tally } from './report.ts'

interface Work {
  engine: QueryEngine
  store: Store
  endpoint: Endpoint
  budget: Budget
  tally: Tally
}

/** A set with the leases of its answers. */
interface HeldSet extends DueSet {
  claims: Claim[]
}

/** Runs of the engine at a time. */
const runs = { concurrency: 4 }
/** Sets at a time for which the store is called. */
const storeCalls = { concurrency: 10 }
/** One scan for many sets takes longer than one for a single set, though not by much. */
const batchPatience = 3

/** Refreshes the answers of these sets. Every failure is counted, and ends with its set. */
export async function refresh(work: Work, sets: DueSet[]): Promise<void> {
  const warming = work.endpoint.warm!
  if (warming.sql === null) await pMap(sets, due => refreshAlone(work, due), runs)
  else for (const group of groupsOf(warming, sets, ({ set }) => set)) await refreshTogether(work, group)
}

async function refreshAlone(work: Work, due: DueSet): Promise<void> {
  const held = await hold(work, due)
  if (held) await runAlone(work, held)
}

/** By the batch query. Where that fails, each set is tried alone, so that one bad set spoils nothing. */
async function refreshTogether(work: Work, due: DueSet[]): Promise<void> {
  const tried = await pMap(due, one => hold(work, one), storeCalls)
  const held = tried.filter(one => one !== null)
  const runEach = () => pMap(held, one => runAlone(work, one), runs)
  if (held.length < 2 || work.budget.spent) {
    await runEach()
    return
  }
  try {
    const results = await runBatch(work, held)
    await pMap(held, (one, i) => publish(work, one, results[i]!), storeCalls)
  } catch (error) {
    if (brokenEngine.has(asApiError(error).code)) {
      await pMap(held, one => giveUp(work, one, error), storeCalls)
    } else {
      work.tally.batchFailed(error)
      await runEach()
    }
  }
}

/** After these, a run for each set would only add to the engine's load. */
const brokenEngine = new Set(['engine_error', 'engine_unavailable'])

/** Takes the leases of a set's answers, after another look at each, as the search may be seconds old. */
async function hold({ store, endpoint, budget, tally }: Work, due: DueSet): Promise<HeldSet | null> {
  const claims: Claim[] = []
  const times = { freshMs: endpoint.cacheSeconds * 1000, olderThanMs: dueAfterMs(endpoint.warm!.seconds) }
  for (const keyFields of due.answers)
    try {
      const outcome = budget.spent ?? (await claim(store, { keyFields, ...times }))
      if (typeof outcome === 'string') tally.skipped(outcome)
      else claims.push(outcome)
    } catch (error) {
      tally.failed(error)
    }
  return claims.length > 0 ? { ...due, claims } : null
}

async function runAlone(work: Work, held: HeldSet): Promise<void> {
  if (work.budget.spent) return giveUp(work, held, null)
  const { sql } = work.endpoint
  try {
    await publish(work, held, await runCounted(work, work.endpoint, { sql, bindings: held.set }))
  } catch (error) {
    await giveUp(work, held, error)
  }
}

async function runBatch(work: Work, held: HeldSet[]): Promise<RunResult[]> {
  const { endpoint } = work
  const sets = held.map(({ set }) => set)
  const limits = {
    ...endpoint,
    // One row more for each set tells whether it is cut.
    maxRows: sets.length * (endpoint.maxRows + 1),
    timeoutSeconds: endpoint.timeoutSeconds * batchPatience,
  }
  const result = await runCounted(work, limits, batchStatement(endpoint, endpoint.warm!.sql!, sets))
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
async function publish({ endpoint, tally }: Work, { claims }: HeldSet, result: RunResult): Promise<void> {
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

/** The failure is stored in the head; but not that the time was up, which says nothing of the set. */
async function giveUp({ budget, tally }: Work, { claims }: HeldSet, error: unknown): Promise<void> {
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

/** Refreshes due answers: each set by the endpoint's own query, or many by the batch query in one scan. */
import pMap from 'p-map'
import { finish } from '../answers/answer.ts'
import { estimateOver, runQuery } from '../answers/engine-errors.ts'
import { redactError } from '../answers/get-answer.ts'
import { claim, type Claim, claimTogether } from '../cache/claim.ts'
import { asApiError } from '../cache/failures.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import type { QueryEngine, Result, RunResult, Statement } from '../engines/engine.ts'
import type { Store } from '../stores/store.ts'
import { batchStatement, groupsOf, splitRows } from './batch.ts'
import { type Budget, OutOfBudget } from './budget.ts'
import { dueAfterMs, type DueSet } from './due.ts'
import type { Tally } from './report.ts'

interface Work {
  engine: QueryEngine
  store: Store
  endpoint: Endpoint
  budget: Budget
  tally: Tally
  /** The store's time. */
  now(): number
}

/** A set with the leases of its answers. */
interface HeldSet extends DueSet {
  claims: Claim[]
}

/** Runs of the engine at a time. */
const runs = { concurrency: 4 }
/** Answers of a batch that are stored at a time. */
const storeCalls = { concurrency: 32 }
/** Sets of one batch query, whose rows are all in memory together. */
const setsInBatch = 500
/** One scan for many sets takes longer than one for a single set, though not by much. */
const batchPatience = 3

/** JSON of a batch, whose rows are in memory twice while they are split. A larger one is run set by set. */
const maxBatchBytes = 50_000_000

/** Refreshes the answers of these sets. Every failure is counted, and ends with its set. */
export async function refresh(work: Work, sets: DueSet[]): Promise<void> {
  const warming = work.endpoint.warm!
  if (warming.sql === null) await pMap(sets, due => refreshAlone(work, due), runs)
  else
    for (const group of groupsOf(warming, sets, ({ set }) => set))
      for (let i = 0; i < group.length; i += setsInBatch)
        await refreshTogether(work, group.slice(i, i + setsInBatch))
}

async function refreshAlone(work: Work, due: DueSet): Promise<void> {
  const held = await hold(work, due)
  if (held) await runAlone(work, held)
}

/** By the batch query. Where that fails, each set is tried alone, so that one bad set spoils nothing. */
async function refreshTogether(work: Work, due: DueSet[]): Promise<void> {
  if (due.length < 2 || work.budget.spent) {
    await pMap(due, one => refreshAlone(work, one), runs)
    return
  }
  const held = due.map(one => holdTogether(work, one))
  try {
    const results = await runBatch(work, held)
    await pMap(held, (one, i) => publish(work, one, results[i]!), storeCalls)
  } catch (error) {
    if (error instanceof OutOfBudget || brokenEngine.has(asApiError(error).code)) {
      await pMap(held, one => giveUp(work, one, error), storeCalls)
    } else {
      work.tally.batchFailed(error)
      await pMap(due, one => refreshAlone(work, one), runs)
    }
  }
}

/** After these, a run for each set would only add to the engine's load. */
const brokenEngine = new Set(['engine_error', 'engine_unavailable'])

/** Takes the leases of a set's answers, after another look at each, as the search may be seconds old. */
async function hold({ store, endpoint, budget, tally }: Work, due: DueSet): Promise<HeldSet | null> {
  const claims: Claim[] = []
  const times = { freshMs: endpoint.cacheSeconds * 1000, olderThanMs: dueAfterMs(endpoint.warm!.seconds) }
  for (const { keyFields } of due.answers)
    try {
      const outcome = budget.spent ?? (await claim(store, { keyFields, ...times }))
      if (typeof outcome === 'string') tally.skipped(outcome)
      else claims.push(outcome)
    } catch (error) {
      tally.failed(error)
    }
  return claims.length > 0 ? { ...due, claims } : null
}

/** Without a call of the store: the warmer's own lease is that of the whole batch. */
function holdTogether({ store, endpoint, now }: Work, due: DueSet): HeldSet {
  const times = { freshMs: endpoint.cacheSeconds * 1000, madeAt: now() }
  return { ...due, claims: due.answers.map(head => claimTogether(store, { head, ...times })) }
}

async function runAlone(work: Work, held: HeldSet): Promise<void> {
  const { spent } = work.budget
  if (spent) return giveUp(work, held, new OutOfBudget(spent))
  const { sql } = work.endpoint
  try {
    await publish(work, held, await runCounted(work, work.endpoint, { sql, bindings: held.set }))
  } catch (error) {
    await giveUp(work, held, error)
  }
}

async function runBatch(work: Work, held: HeldSet[]): Promise<Result[]> {
  const { endpoint } = work
  const sets = held.map(({ set }) => set)
  const limits = {
    ...endpoint,
    // One row more for each set tells whether it is cut.
    maxRows: sets.length * (endpoint.maxRows + 1),
    maxResultBytes: maxBatchBytes,
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
  const maxBytes = budget.leftBytes
  try {
    const labels = { endpoint: endpoint.name, key: 'warm' }
    const result = await runQuery(engine, endpoint, statement, { signal: budget.signal, maxBytes, labels })
    bytes = result.bytes
    return result
  } catch (error) {
    if (budget.signal.aborted) throw new OutOfBudget('out_of_time')
    throw estimateOver(maxBytes, error) === null ? error : new OutOfBudget('out_of_bytes')
  } finally {
    budget.spend(bytes)
    tally.ran(bytes)
  }
}

/** One result serves the clear and the redacted answer. */
async function publish({ endpoint, tally }: Work, { claims }: HeldSet, result: Result): Promise<void> {
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

/** The failure is stored in the head; but not that the budget was spent, which says nothing of the set. */
async function giveUp({ tally }: Work, { claims }: HeldSet, error: unknown): Promise<void> {
  for (const claim of claims)
    if (error instanceof OutOfBudget) {
      tally.skipped(error.reason)
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

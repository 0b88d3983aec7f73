/** Refreshes due answers: many sets by one statement, in one scan or from the roll-up, or each by its own statement. */
import pMap from 'p-map'
import { finish } from '../answers/answer.ts'
import { blame } from '../run/blame.ts'
import { estimateOver, lacksRollup, runQuery } from '../run/run-query.ts'
import { redactError } from '../run/get-answer.ts'
import { claim, type Claim, claimTogether } from '../cache/refresh-claim.ts'
import { asApiError } from '../cache/head.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { ownQuery, queryFor, readsRollups, type SavedQuery, statementOf } from '../endpoints/saved-query.ts'
import {
  EngineError,
  type QueryEngine,
  type Result,
  type RunResult,
  type Statement,
} from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { SqlError } from '../sql/error.ts'
import type { Store } from '../stores/store.ts'
import { type Batch, batchFor, batchLimits, sentOf, splitRows } from './batch.ts'
import { type Budget, OutOfBudget } from './turn.ts'
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
  /** Whether answers that failed are tried again without a rest. */
  retry?: boolean | undefined
}

/** A set with the leases of its answers. */
interface HeldSet extends DueSet {
  claims: Claim[]
}

/** Runs of the engine at a time. */
const runs = { concurrency: 4 }
/** Answers of a batch that are stored at a time. */
const storeCalls = { concurrency: 32 }
/** Sets of one statement, whose rows are all in memory together. From a roll-up each set costs little but its rows. */
const setsInBatch = { ofOwn: 500, ofRollup: 2_000 }
/** One scan for many sets takes longer than one for a single set, though not by much. */
const batchPatience = 3
/**
 * A batch with too many rows is split in so many: a few large sets then cost a few more scans, and never more than a run for
 * each set.
 */
const parts = 8

/**
 * Refreshes the answers of these sets: those that a roll-up answers, however many, then the others, up to `maxSets`. Every
 * failure is counted, and ends with its set. Where the roll-up cannot be read, its sets count among the others.
 */
export async function refresh(work: Work, sets: DueSet[]): Promise<void> {
  const { endpoint, tally } = work
  const others: DueSet[] = []
  for (const { query, due } of byQuery(endpoint, sets))
    if (readsRollups(query)) others.push(...(await refreshBy(work, query, due)))
    else others.push(...due)
  const { maxSets } = endpoint.warm!
  for (const { answers } of others.slice(maxSets)) for (const _ of answers) tally.skipped('over_max_sets')
  await refreshBy(work, ownQuery(endpoint), others.slice(0, maxSets))
}

/** In the order of the sets; each group has one saved query. */
function byQuery(endpoint: Endpoint, sets: DueSet[]): { query: SavedQuery; due: DueSet[] }[] {
  const groups = new Map<string, { query: SavedQuery; due: DueSet[] }>()
  for (const one of sets) {
    const query = queryFor(endpoint, one.set)
    const group = groups.get(query.sql) ?? { query, due: [] }
    group.due.push(one)
    groups.set(query.sql, group)
  }
  return [...groups.values()]
}

/** @returns the sets that are left because the query's roll-up cannot be read */
async function refreshBy(work: Work, query: SavedQuery, sets: DueSet[]): Promise<DueSet[]> {
  const batch = sets.length > 1 ? await batchOrNone(work, query) : null
  if (!batch) return refreshEach(work, query, sets)
  const most = readsRollups(query) ? setsInBatch.ofRollup : setsInBatch.ofOwn
  return refreshInParts(work, { ...query, batch }, slices(sets, most))
}

/** `null` for a query of a shape that no batch can have, of which `lqe apply` has told. */
function batchOrNone({ engine, endpoint }: Work, query: SavedQuery): Promise<Batch | null> {
  return batchFor(engine, endpoint, query).catch((error: unknown) => {
    if (error instanceof SqlError) return null
    throw error
  })
}

interface BatchQuery extends SavedQuery {
  batch: Batch
}

async function refreshInParts(work: Work, query: BatchQuery, all: DueSet[][]): Promise<DueSet[]> {
  for (const [i, sets] of all.entries()) {
    const left = await refreshTogether(work, query, sets)
    if (left.length > 0) return [...left, ...all.slice(i + 1).flat()]
  }
  return []
}

function slices<T>(all: T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most))
}

/**
 * By one statement. Where that has too many rows, its parts are tried, and where it fails, each set alone: one bad set
 * spoils nothing.
 * @returns the sets that are left, as `refreshBy` does
 */
async function refreshTogether(work: Work, query: BatchQuery, due: DueSet[]): Promise<DueSet[]> {
  if (due.length < 2 || work.budget.spent) return refreshEach(work, query, due)
  const held = due.map(one => holdTogether(work, one))
  try {
    const results = await runBatch(work, query, held)
    await pMap(held, (one, i) => publish(work, one, results[i]!), storeCalls)
    return []
  } catch (error) {
    if (lacksRollup(error)) return leave(work, due, error)
    if (error instanceof OutOfBudget || brokenEngine.has(asApiError(error).code)) {
      await pMap(held, one => giveUp(work, one, error), storeCalls)
      return []
    }
    work.tally.batchFailed(error)
    const most = isTooLarge(error) ? Math.ceil(due.length / parts) : 1
    return most > 1 ? refreshInParts(work, query, slices(due, most)) : refreshEach(work, query, due)
  }
}

function isTooLarge(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error
  return cause instanceof EngineError && cause.reason === 'result_too_large'
}

async function refreshEach(work: Work, query: SavedQuery, due: DueSet[]): Promise<DueSet[]> {
  return (await pMap(due, one => refreshAlone(work, query, one), runs)).flat()
}

function leave(work: Work, due: DueSet[], error: unknown): DueSet[] {
  work.tally.rollupFailed(error)
  return due
}

/** After these, a run for each set would only add to the engine's load. */
const brokenEngine = new Set(['engine_error', 'engine_unavailable'])

/** Takes the leases of a set's answers, after another look at each, as the search may be seconds old. */
async function hold({ store, endpoint, budget, tally, retry }: Work, due: DueSet): Promise<HeldSet | null> {
  const claims: Claim[] = []
  const times = {
    freshMs: endpoint.cacheSeconds * 1000,
    olderThanMs: dueAfterMs(endpoint.warm!.seconds),
    retry,
  }
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
  const times = { freshMs: endpoint.cacheSeconds * 1000, startedAt: now() }
  return { ...due, claims: due.answers.map(head => claimTogether(store, { head, ...times })) }
}

/** @returns the set, if it is left as `refreshBy` leaves it */
async function refreshAlone(work: Work, query: SavedQuery, due: DueSet): Promise<DueSet[]> {
  const held = await hold(work, due)
  if (!held) return []
  const { spent } = work.budget
  try {
    if (spent) throw new OutOfBudget(spent)
    const result = await runWithBudget(work, work.endpoint, statementOf(query, held.set))
    await publish(work, held, result)
  } catch (error) {
    if (lacksRollup(error)) {
      for (const claim of held.claims) await claim.release()
      return leave(work, [due], error)
    }
    await giveUp(work, held, error)
  }
  return []
}

async function runBatch(work: Work, { batch }: BatchQuery, held: HeldSet[]): Promise<Result[]> {
  const { endpoint } = work
  const sets = held.map(({ set }) => set)
  const limits = {
    ...endpoint,
    ...batchLimits,
    timeoutSeconds: endpoint.timeoutSeconds * batchPatience,
  }
  return splitRows(endpoint, sets.length, await runWithBudget(work, limits, batch(sets)))
}

async function runWithBudget(
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
      const stored = await claim.store(await finish(endpoint, result, isRedacted(claim)))
      if (stored) tally.refreshed()
      else tally.skipped('not_stored')
    } catch (error) {
      tally.failed(error)
      await claim.release()
    }
}

/** The failure is stored in the head; but not that the budget was spent, which says nothing of the set. */
async function giveUp({ endpoint, tally }: Work, { set, claims }: HeldSet, error: unknown): Promise<void> {
  for (const claim of claims)
    if (error instanceof OutOfBudget) {
      tally.skipped(error.reason)
      await claim.release()
    } else {
      tally.failed(error)
      const statement = { sql: endpoint.sql, bindings: set }
      const known = blame(asApiError(error), { endpoint, statement, sql: null, sent: sentOf(set) })
      await claim.fail(isRedacted(claim) ? redactError(known) : known)
    }
}

function isRedacted({ keyFields }: Claim): boolean {
  return keyFields.variant !== 'clear'
}

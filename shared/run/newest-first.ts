/**
 * The newest rows of a long log without reading the long log: the query runs over its last hour, then over its last
 * six, and so on by the definition's steps, until as many rows come back as it asks for. Older rows would come after
 * them, so the answer is that of one reading. Loki walks its splits in the same way (`split_by_interval.go`).
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Endpoint, NewestFirst } from '../endpoints/definition.ts'
import { fromMicros, toMicros } from '../endpoints/timestamps.ts'
import {
  type Binding,
  EngineError,
  type QueryEngine,
  type RunCost,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engines/engine.ts'
import { SqlError } from '../sql/error.ts'
import { statementLimits } from '../sql/limits.ts'
import { newestRows } from '../sql/newest-rows.ts'
import { parse } from '../sql/parser.ts'

/**
 * Runs a statement of an endpoint by the steps of its `newestFirst`; at once where the endpoint has none, or the statement
 * has not the shape for it, as a caller's own SQL may not.
 * @param limits of all readings together: time, and bytes to scan
 * @throws EngineError, with the cost of all readings
 */
export async function runNewestFirst(
  engine: QueryEngine,
  endpoint: Endpoint,
  statement: Statement,
  limits: RunLimits,
): Promise<RunResult> {
  const { newestFirst } = endpoint
  const wanted = newestFirst && wantedRows(statement, newestFirst)
  if (!newestFirst || wanted === null) return engine.run(statement, limits)
  const starts = startsOf(newestFirst, statement.bindings)
  const steps = stepsOn(engine)
  const key = keyOf(endpoint, statement)
  const read = readerWithin(engine, limits)
  const last = starts.length - 1
  for (let step = Math.min(steps.get(key) ?? 0, last); ;) {
    const start = starts[step]!
    const bindings = statement.bindings.map(binding =>
      binding.name === newestFirst.start ? { ...binding, value: start } : binding,
    )
    const result = await read({ ...statement, bindings })
    const found = result.text?.count ?? result.rows.length
    if (step === last || result.truncated || found >= wanted) {
      steps.set(key, step)
      return result
    }
    step = Math.min(last, stepAfter(newestFirst.steps, step, found / wanted))
  }
}

/** How many times denser than the rows found so far older rows are assumed to be, at most. */
const denser = 5

/**
 * The step after one that found too few rows: the first that may have enough, so that an empty log takes few readings.
 * @param part of the rows that were wanted
 */
function stepAfter(steps: number[], step: number, part: number): number {
  const least = steps[step]! / (denser * Math.max(part, 0.01))
  const next = steps.findIndex((length, at) => at > step && length >= least)
  return next < 0 ? steps.length : next
}

/** The LIMIT, or `null` for a statement that has to be read as a whole. */
function wantedRows({ sql }: Statement, { start }: NewestFirst): number | null {
  return shapes.memo(JSON.stringify([start, sql]), { context: { sql, start } }).limit
}

const shapes = new LRUCache<string, { limit: number | null }, { sql: string; start: string }>({
  max: 200,
  memoMethod(_key, _stale, { context: { sql, start } }) {
    try {
      return { limit: newestRows(sql, parse(sql, statementLimits), start) }
    } catch (error) {
      if (error instanceof SqlError) return { limit: null }
      throw error
    }
  },
})

/** From where each reading begins, the widest last: that of the caller, which may be none. */
function startsOf({ start, end, steps }: NewestFirst, bindings: Binding[]): (string | null)[] {
  const timeOf = (name: string) =>
    bindings.find(binding => binding.name === name)?.value as string | null | undefined
  const own = timeOf(start) ?? null
  const now = BigInt(Date.now()) * 1000n
  const until = timeOf(end)
  const last = until && toMicros(until) < now ? toMicros(until) : now
  const narrow = steps.flatMap(step => fromMicros(last - BigInt(step) * 1000n) ?? [])
  return [...narrow.filter(time => own === null || time > own), own]
}

/**
 * The step that was enough for the last call, by engine, statement and parameters without the times: the next call begins
 * there. After five minutes a narrower one is tried again.
 */
const sufficient = new WeakMap<QueryEngine, LRUCache<string, number>>()

function stepsOn(engine: QueryEngine): LRUCache<string, number> {
  const known = sufficient.get(engine) ?? new LRUCache<string, number>({ max: 10_000, ttl: 300_000 })
  sufficient.set(engine, known)
  return known
}

function keyOf({ version, newestFirst }: Endpoint, { sql, bindings }: Statement): string {
  const { start, end } = newestFirst!
  // Of the end only whether it is open: a window in the past says nothing of the newest rows.
  const values = bindings
    .filter(({ name }) => name !== start)
    .map(({ name, value }) => (name === end ? value === null : value))
  return hash('sha256', JSON.stringify([version, sql, values]))
}

/** Runs the readings of one request, one after the other, which share its limits. */
function readerWithin(engine: QueryEngine, limits: RunLimits): (statement: Statement) => Promise<RunResult> {
  const { maxBytes, timeoutMs } = limits
  const endsAt = performance.now() + timeoutMs
  let cost = noCost
  return async statement => {
    const spent = cost.bytes ?? 0
    const left = {
      ...limits,
      ...(maxBytes === undefined ? {} : { maxBytes: Math.max(1, maxBytes - spent) }),
      timeoutMs: Math.max(1, Math.ceil(endsAt - performance.now())),
    }
    try {
      const result = await engine.run(statement, left)
      cost = sum(cost, result)
      return { ...result, ...cost }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      const own = error.bytes?.limit === left.maxBytes && maxBytes !== undefined
      const bytes = own ? { estimate: error.bytes!.estimate + spent, limit: maxBytes } : error.bytes
      const { reason, message, place, cause } = error
      const whole = new EngineError(reason, message, { place, bytes, cause })
      whole.cost = error.cost || spent > 0 ? sum(cost, error.cost ?? noCost) : null
      throw whole
    }
  }
}

const noCost: RunCost = { bytes: null, slotMs: null, jobId: null }

/** Of runs one after the other; the job is the last. */
function sum(before: RunCost, { bytes, slotMs, jobId }: RunCost): RunCost {
  return {
    bytes: plus(before.bytes, bytes),
    slotMs: plus(before.slotMs, slotMs),
    jobId: jobId ?? before.jobId,
  }
}

function plus(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0)
}

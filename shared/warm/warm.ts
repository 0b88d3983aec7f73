/** One call of the warmer, over the endpoints that are kept warm. Design, section 7. */
import type { QueryEngine } from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import type { Log } from '../log.ts'
import type { Store } from '../stores/store.ts'
import { Budget } from './budget.ts'
import { findDue } from './due.ts'
import { inLanes } from './lanes.ts'
import { maxRuns, refreshAlone, refreshTogether, type Work } from './refresh.ts'
import { groupsOf } from './batch.ts'
import { type EndpointReport, Tally, totalOf, type WarmReport } from './report.ts'
import { inTurn } from './turn.ts'

export interface WarmServices {
  engine: QueryEngine
  store: Store
  log: Log
}

/** Whether answers of this endpoint are kept warm: there must be a cache to keep them in. */
export function isWarmed(endpoint: Endpoint): boolean {
  return endpoint.warm !== null && endpoint.cacheSeconds > 0
}

/**
 * Makes answers in use anew, endpoint by endpoint, within the budget. Nothing that goes wrong with one set or one
 * endpoint stops the others; called twice, the second finds nothing to do.
 */
export async function warm(
  services: WarmServices,
  endpoints: Endpoint[],
  allowance: { ms: number; bytes: number },
): Promise<WarmReport> {
  const budget = new Budget(allowance)
  const reports: EndpointReport[] = []
  for (const endpoint of endpoints.filter(isWarmed)) reports.push(await warmOne(services, endpoint, budget))
  budget.end()
  return totalOf(reports)
}

async function warmOne(
  { engine, store, log }: WarmServices,
  endpoint: Endpoint,
  budget: Budget,
): Promise<EndpointReport> {
  const tally = new Tally(endpoint.name, log)
  const work = { engine, store, endpoint, budget, tally }
  try {
    const done = await inTurn(store, endpoint.id, async now => (await refreshDue(work, now), true))
    if (!done) tally.skipped('another_call')
  } catch (error) {
    tally.gaveUp(error)
  }
  return tally.end()
}

async function refreshDue(work: Work, now: number): Promise<void> {
  const { store, endpoint, tally } = work
  const { sets, refused } = await findDue(store, endpoint, now)
  for (const refusal of refused) tally.skipped(refusal)
  if (endpoint.warm!.sql === null) return inLanes(sets, maxRuns, set => refreshAlone(work, set))
  for (const group of groupsOf(endpoint.warm!, sets, ({ set }) => set)) await refreshTogether(work, group)
}

/** One call of the warmer: `infra/docs/operating.md`, "Endpoints that are kept warm". */
import { leasedUntil, takeLease } from '../cache/lease.ts'
import type { QueryEngine } from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import type { Log } from '../log.ts'
import { ignoreStoreError, type Reference, type Store } from '../stores/store.ts'
import { timeouts } from '../cache/times.ts'
import { withTimeout } from '../stores/timeout.ts'
import { Budget } from './budget.ts'
import { findDue } from './due.ts'
import { refresh } from './refresh.ts'
import { type ReadingServices, refreshWithUpstream } from './upstream.ts'
import { type EndpointReport, Tally, totalOf, type WarmReport } from './report.ts'

interface WarmServices {
  engine: QueryEngine
  store: Store
  log: Log
  /** For endpoints that read the rows of others. */
  reading?: ReadingServices
  /** Whether answers that failed are tried again without a rest. */
  retry?: boolean | undefined
}

/** Whether answers of this endpoint are kept warm, which takes a cache to keep them in. */
export function isWarmed(endpoint: Endpoint): boolean {
  return endpoint.warm !== null && endpoint.cacheSeconds > 0
}

/** Periods in minutes that divide a day, as a crontab line can express them. */
const periods = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440]

/** How often the warm function is called for an endpoint: minutes, the longest such period of at most `seconds`. */
export function warmMinutes(seconds: number): number {
  return periods.findLast(period => period * 60 <= seconds) ?? 1
}

/**
 * Refreshes answers in use, endpoint by endpoint, within the budget. A failure with one set or one endpoint does not
 * stop the others; a second call finds nothing to do.
 * @param allowance milliseconds, and bytes that the engine may read
 */
export async function warm(
  services: WarmServices,
  endpoints: Endpoint[],
  allowance: { ms: number; bytes: number },
): Promise<WarmReport> {
  const budget = new Budget(allowance)
  const reports: EndpointReport[] = []
  for (const endpoint of inOrder(endpoints).filter(isWarmed))
    reports.push(await warmOne(services, endpoint, budget))
  return totalOf(reports)
}

/** Those whose rows others read come before these. */
function inOrder(endpoints: Endpoint[]): Endpoint[] {
  const byName = new Map(endpoints.map(endpoint => [endpoint.name, endpoint]))
  const ordered = new Set<Endpoint>()
  const visit = (endpoint: Endpoint, path: Endpoint[]) => {
    if (path.includes(endpoint)) return
    for (const { endpoint: name } of Object.values(endpoint.upstream ?? {})) {
      const other = byName.get(name)
      if (other) visit(other, [...path, endpoint])
    }
    ordered.add(endpoint)
  }
  for (const endpoint of endpoints) visit(endpoint, [])
  return [...ordered]
}

async function warmOne(
  { engine, store, log, reading, retry }: WarmServices,
  endpoint: Endpoint,
  budget: Budget,
): Promise<EndpointReport> {
  const tally = new Tally(endpoint.name, log)
  try {
    const held = await withLease(store, { collection: 'warming', id: endpoint.id }, async now => {
      const since = performance.now()
      const { sets, refused } = await findDue(store, endpoint, now, retry)
      for (const refusal of refused) tally.skipped(refusal)
      if (endpoint.upstream && reading) return refreshWithUpstream({ endpoint, budget, tally }, reading, sets)
      const clock = () => now + performance.now() - since
      await refresh({ engine, store, endpoint, budget, tally, now: clock, retry }, sets)
    })
    if (!held) tally.skipped('another_call')
  } catch (error) {
    tally.gaveUp(error)
  }
  return tally.end()
}

/** The store may delete the turn of an endpoint that is no longer warmed. */
const keepMs = 7 * 86_400_000

/**
 * One call at a time for each endpoint, over all processes: calls that overlap would share the parameter sets, and each
 * would pay for a scan. If two overlap nevertheless, the leases of the cache keep them from running a set twice.
 * @param act gets the store's time
 * @returns whether the lease was free
 * @throws StoreError, and what `act` throws
 */
async function withLease(store: Store, at: Reference, act: (now: number) => Promise<void>): Promise<boolean> {
  const { document, readAt } = await withTimeout(timeouts.head, store.get(at))
  if (document && leasedUntil(document) > readAt) return false
  const expireAt = new Date(readAt + keepMs)
  const lease = await takeLease(store, at, document?.version ?? null, { expireAt })
  if (!lease) return false
  try {
    await act(lease.takenAt)
  } finally {
    await lease.finish({}, []).catch(ignoreStoreError) // the lease expires
  }
  return true
}

/** One call of the warmer: `infra/docs/operating.md`, "Endpoints that are kept warm". */
import type { QueryEngine } from '../engines/engine.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import type { Log } from '../log.ts'
import { type Store } from '../stores/store.ts'
import { Budget, takeTurn } from './turn.ts'
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
 */
export async function warm(
  services: WarmServices,
  endpoints: Endpoint[],
  budget: Budget,
): Promise<WarmReport> {
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
    // Calls that overlap would share the parameter sets, and each would pay for a scan. If two overlap nevertheless, the
    // leases of the cache keep them from running a set twice.
    const isFree = await takeTurn(store, endpoint.id, async now => {
      const since = performance.now()
      const { sets, refused } = await findDue(store, endpoint, now, retry)
      for (const refusal of refused) tally.skipped(refusal)
      const clock = () => now + performance.now() - since
      if (endpoint.upstream && reading) await refreshWithUpstream({ endpoint, budget, tally }, reading, sets)
      else await refresh({ engine, store, endpoint, budget, tally, now: clock, retry }, sets)
      return {}
    })
    if (!isFree) tally.skipped('another_call')
  } catch (error) {
    tally.gaveUp(error)
  }
  return tally.end()
}

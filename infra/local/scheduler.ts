/**
 * Calls of the warm function on a laptop: at the moments of Cloud Scheduler's jobs (`infra/deploy/scheduler.ts`), and beside
 * them whenever an answer in use is due, so that none gets older than its interval. Between two calls of a job one that was made
 * by a reader may, and in the cloud another call would cost more than that is worth.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Services } from '../../shared/services.ts'
import { findDue } from '../../shared/warm/due.ts'
import { calledSeconds } from '../../shared/alerts/due.ts'
import { isWarmed, warmMinutes } from '../../shared/warm/warm.ts'

/** An answer is due a fifth before its interval ends, which is a minute at least: 12 s. */
const lookMs = 3_000

/**
 * Calls for each endpoint that is kept warm, or has alerts, by its definition of that moment, one call of each at a time, until the signal.
 * @param call for the endpoint of this name
 */
export async function keepWarm(
  { store, endpoints }: Pick<Services, 'store' | 'endpoints'>,
  call: (name: string) => Promise<unknown>,
  { signal, everyMs = lookMs }: { signal?: AbortSignal; everyMs?: number } = {},
): Promise<void> {
  const called = new Set<string>()
  const slots = new Map<string, number>()
  const isTime = (endpoint: Endpoint) => {
    const slot = Math.floor(Date.now() / 60_000 / warmMinutes(calledSeconds(endpoint)!))
    const isNew = slots.get(endpoint.id) !== slot
    slots.set(endpoint.id, slot)
    return isNew
  }
  const isOld = async (endpoint: Endpoint) => {
    const due = isWarmed(endpoint) && (await findDue(store, endpoint, Date.now()).catch(() => null))
    return due && due.sets.length > 0
  }
  const callOnce = async ({ id, name }: Endpoint) => {
    called.add(id)
    await call(name).catch(() => {})
    called.delete(id)
  }
  const isOver = () => signal?.aborted
  while (!isOver()) {
    const known = await endpoints.remembered().catch(() => []) // the store fails: the service says so
    for (const endpoint of known.filter(one => calledSeconds(one) !== null && !called.has(one.id)))
      if (isTime(endpoint) || (await isOld(endpoint))) void callOnce(endpoint)
    await sleep(everyMs)
  }
}

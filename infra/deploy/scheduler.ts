/** A Cloud Scheduler job for each endpoint that is kept warm. */
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { isWarmed, warmMinutes } from '../../shared/warm/warm.ts'
import { readQueries } from '../lqe/apply/read.ts'
import type { Google } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

/** The crontab line of the period. */
export function scheduleFor(seconds: number): string {
  const minutes = warmMinutes(seconds)
  if (minutes < 60) return `*/${minutes} * * * *`
  return minutes < 1440 ? `0 */${minutes / 60} * * *` : '0 0 * * *'
}

/** What the job of an endpoint is, besides its name. */
function jobFor({ name, warm }: Endpoint, site: Site) {
  const { address, email } = namesIn(site)
  const audience = address('warm')
  return {
    description: `Keeps the answers of ${name} fresh`,
    schedule: scheduleFor(warm!.seconds),
    timeZone: 'Etc/UTC',
    attemptDeadline: `${site['warm-deadline']}s`,
    // One more try, for a function that is being replaced; the next call follows soon.
    retryConfig: { retryCount: 1, minBackoffDuration: '10s', maxBackoffDuration: '60s' },
    httpTarget: {
      uri: `${audience}?endpoint=${encodeURIComponent(name)}`,
      httpMethod: 'POST',
      oidcToken: { serviceAccountEmail: email('scheduler'), audience },
    },
  }
}

/**
 * Jobs for the endpoints that are kept warm, by default those of `queries/`; the others of this installation are removed. A job is
 * named by the endpoint's id, which a renamed endpoint keeps.
 */
export async function setUpJobs(
  google: Google,
  site: Site,
  endpoints: readonly Endpoint[] = readQueries('queries').map(({ endpoint }) => endpoint),
): Promise<void> {
  const at = `cloudscheduler/v1/projects/${site.project}/locations/${site.region}/jobs`
  const prefix = `${at.replace('cloudscheduler/v1/', '')}/${namesIn(site).own('warm-')}`
  const there = await google.list(at, 'jobs')
  const wanted = new Map(endpoints.filter(isWarmed).map(one => [`${prefix}${one.id}`, jobFor(one, site)]))
  for (const [name, job] of wanted) {
    const present = there.find(one => one['name'] === name)
    const one = `cloudscheduler/v1/${name}?updateMask=${Object.keys(job).join()}`
    const title = `job ${idOf(name)} (${job.schedule}, ${job.description})`
    await google.ensure(title, present, job, at, { one, making: { name } })
  }
  for (const name of there.map(one => String(one['name'])))
    if (name.startsWith(prefix) && !wanted.has(name))
      await google.remove(`job ${idOf(name)}`, `cloudscheduler/v1/${name}`)
}

function idOf(name: string): string {
  return name.split('/').at(-1)!
}

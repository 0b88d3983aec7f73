/** A Cloud Scheduler job for each endpoint that is kept warm. */
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { isWarmed, warmMinutes } from '../../shared/warm/warm.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { type Google, type GoogleError, holds, type Json } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

/** The crontab line of the period. */
export function scheduleFor(seconds: number): string {
  const minutes = warmMinutes(seconds)
  if (minutes < 60) return `*/${minutes} * * * *`
  return minutes < 1440 ? `0 */${minutes / 60} * * *` : '0 0 * * *'
}

/** The job that keeps an endpoint warm. It is named by the endpoint's id, which a renamed endpoint keeps. */
function jobFor({ id, name, warm }: Endpoint, site: Site): Json & { name: string } {
  const { address, email, own } = namesIn(site)
  const url = address('warm')
  return {
    name: `projects/${site.project}/locations/${site.region}/jobs/${own(`warm-${id}`)}`,
    description: `Keeps the answers of ${name} fresh`,
    schedule: scheduleFor(warm!.seconds),
    timeZone: 'Etc/UTC',
    attemptDeadline: `${site['warm-deadline']}s`,
    // One more try, for a function that is being replaced; the next call follows soon.
    retryConfig: { retryCount: 1, minBackoffDuration: '10s', maxBackoffDuration: '60s' },
    httpTarget: {
      uri: `${url}?endpoint=${encodeURIComponent(name)}`,
      httpMethod: 'POST',
      oidcToken: { serviceAccountEmail: email('scheduler'), audience: url },
    },
  }
}

/** Jobs for the endpoints that are kept warm, by default those of `queries/`; the others of this installation are removed. */
export async function setUpJobs(
  google: Google,
  site: Site,
  endpoints: readonly Endpoint[] = readQueries('queries').map(({ endpoint }) => endpoint),
): Promise<void> {
  const at = `cloudscheduler/v1/projects/${site.project}/locations/${site.region}/jobs`
  const wanted = endpoints.filter(isWarmed).map(endpoint => jobFor(endpoint, site))
  const there = await google.list(at, 'jobs')
  for (const { name, ...job } of wanted) {
    const present = there.find(one => one['name'] === name)
    const title = `job ${idOf(name)}: ${job['schedule'] as string}, ${job['description'] as string}`
    if (!present) await google.change(title, 'POST', at, { name, ...job })
    else if (!holds(present, job))
      await google.change(title, 'PATCH', `cloudscheduler/v1/${name}?updateMask=${Object.keys(job).join()}`, {
        name,
        ...job,
      })
  }
  const kept = new Set(wanted.map(({ name }) => name))
  for (const name of there.map(one => one['name'] as string))
    if (idOf(name).startsWith(namesIn(site).own('warm-')) && !kept.has(name)) await removeJob(google, name)
}

/** One that is gone already is no error. */
async function removeJob(google: Google, name: string): Promise<void> {
  try {
    await google.change(`job ${idOf(name)}: removed`, 'DELETE', `cloudscheduler/v1/${name}`)
  } catch (error) {
    if ((error as GoogleError).status !== 404) throw error
  }
}

function idOf(name: string): string {
  return name.split('/').at(-1)!
}

/** A Cloud Scheduler job for each endpoint that is kept warm, or has alerts. */
import type { protos, v1 } from '@google-cloud/scheduler'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { calledSeconds } from '../../shared/alerts/due.ts'
import { warmMinutes } from '../../shared/warm/warm.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { type Google, holds, overrideOf } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

/** The crontab line of the period. */
export function scheduleFor(seconds: number): string {
  const minutes = warmMinutes(seconds)
  if (minutes < 60) return `*/${minutes} * * * *`
  return minutes < 1440 ? `0 */${minutes / 60} * * *` : '0 0 * * *'
}

/** The job that calls for an endpoint. It is named by the endpoint's id, which a renamed endpoint keeps. */
function jobFor(endpoint: Endpoint, site: Site) {
  const { id, name } = endpoint
  const { address, email, own } = namesIn(site)
  const url = address('warm')
  return {
    name: `projects/${site.project}/locations/${site.region}/jobs/${own(`warm-${id}`)}`,
    description: `Keeps the answers of ${name} fresh`,
    schedule: scheduleFor(calledSeconds(endpoint)!),
    timeZone: 'Etc/UTC',
    attemptDeadline: { seconds: Number(site['warm-deadline']) },
    // One more try, for a function that is being replaced; the next call follows soon.
    retryConfig: { retryCount: 1, minBackoffDuration: { seconds: 10 }, maxBackoffDuration: { seconds: 60 } },
    httpTarget: {
      uri: `${url}?endpoint=${encodeURIComponent(name)}`,
      httpMethod: 'POST' as const,
      oidcToken: { serviceAccountEmail: email('scheduler'), audience: url },
    },
  }
}

type CloudSchedulerClient = v1.CloudSchedulerClient

/** Jobs for the endpoints that are kept warm or have alerts, by default those of `queries/`; the others of this installation are removed. */
export async function setUpJobs(
  google: Google,
  site: Site,
  endpoints: readonly Endpoint[] = readQueries('queries').map(({ endpoint }) => endpoint),
): Promise<void> {
  const { say, dryRun, isUnasked } = google.options
  const client = await connect(google, site)
  const parent = `projects/${site.project}/locations/${site.region}`
  const wanted = endpoints
    .filter(endpoint => calledSeconds(endpoint) !== null)
    .map(endpoint => jobFor(endpoint, site))
  // None, for a dry run in a project whose API is not enabled yet.
  const none: [Job[]] = [[]]
  const [there] = await google.persist(async () => {
    if (isUnasked) return none
    const listed = client.listJobs({ parent })
    return dryRun ? listed.catch(unless(permissionDenied, none)) : listed
  })
  for (const job of wanted) {
    const present = there.find(({ name }) => name === job.name)
    if (present && holds(present, job)) continue
    say(`job ${idOf(job.name)}: ${job.schedule}, ${job.description}`)
    if (!dryRun)
      await (present ? client.updateJob({ job, updateMask: { paths } }) : client.createJob({ parent, job }))
  }
  const kept = new Set(wanted.map(({ name }) => name))
  for (const { name } of there)
    if (idOf(name!).startsWith(namesIn(site).own('warm-')) && !kept.has(name!)) {
      say(`job ${idOf(name!)}: removed`)
      if (!dryRun) await client.deleteJob({ name: name! }).catch(unless(notFound, null))
    }
  await client.close()
}

type Job = protos.google.cloud.scheduler.v1.IJob

const paths = ['description', 'schedule', 'time_zone', 'attempt_deadline', 'retry_config', 'http_target']

/** Codes of gRPC, which the client has in its errors over REST as well. */
const [notFound, permissionDenied] = [5, 7]

/** What there is instead where the call fails with that code. */
function unless<T>(expected: number, instead: T) {
  return (error: { code?: unknown }): T => {
    if (error.code !== expected) throw error
    return instead
  }
}

/** Where gcloud has been sent elsewhere: REST without TLS. The client takes a host, and no path. */
async function connect(google: Google, { project }: Site): Promise<CloudSchedulerClient> {
  const { v1 } = await import('@google-cloud/scheduler')
  const override = overrideOf('cloudscheduler')
  if (!override) return new v1.CloudSchedulerClient({ projectId: project })
  const auth = {
    getUniverseDomain: async () => 'googleapis.com',
    getClient: async () => ({}),
    fetch: async (input: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers)
      headers.set('Authorization', `Bearer ${await google.accessToken()}`)
      return fetch(input, { ...init, headers })
    },
  }
  const { hostname: apiEndpoint, port } = override
  const options = { fallback: true, apiEndpoint, port: Number(port), protocol: 'http', auth }
  return new v1.CloudSchedulerClient({ projectId: project, ...(options as object) })
}

function idOf(name: string): string {
  return name.split('/').at(-1)!
}

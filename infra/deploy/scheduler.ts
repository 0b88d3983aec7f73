/** A Cloud Scheduler job for each endpoint that is kept warm. */
import type { CloudSchedulerClient, protos } from '@google-cloud/scheduler'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { isWarmed, warmMinutes } from '../../shared/warm/warm.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { type Google, overrideOf } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

type Job = protos.google.cloud.scheduler.v1.IJob

export interface Target {
  /** `projects/<project>/locations/<region>` */
  parent: string
  /** Jobs with other names are left alone. */
  prefix: string
  /** URL of the warm function, and audience of the caller's token. */
  url: string
  /** E-mail address of the account of the calls. */
  serviceAccount: string
  /** For which the scheduler waits for an answer. */
  deadlineSeconds: number
}

export interface Step {
  change: 'created' | 'updated' | 'removed'
  job: Job & { name: string }
}

type Jobs = Pick<CloudSchedulerClient, 'listJobs' | 'createJob' | 'updateJob' | 'deleteJob'>

/** The crontab line of the period. */
export function scheduleFor(seconds: number): string {
  const minutes = warmMinutes(seconds)
  if (minutes < 60) return `*/${minutes} * * * *`
  return minutes < 1440 ? `0 */${minutes / 60} * * *` : '0 0 * * *'
}

/** The job that keeps an endpoint warm. It is named by the endpoint's id, which a renamed endpoint keeps. */
export function jobFor({ id, name, warm }: Endpoint, target: Target): Job & { name: string } {
  const { parent, prefix, url, serviceAccount, deadlineSeconds } = target
  return {
    name: `${parent}/jobs/${prefix}${id}`,
    description: `Keeps the answers of ${name} fresh`,
    schedule: scheduleFor(warm!.seconds),
    timeZone: 'Etc/UTC',
    attemptDeadline: { seconds: deadlineSeconds },
    // One more try, for a function that is being replaced; the next call follows soon.
    retryConfig: { retryCount: 1, minBackoffDuration: { seconds: 10 }, maxBackoffDuration: { seconds: 60 } },
    httpTarget: {
      uri: `${url}?endpoint=${encodeURIComponent(name)}`,
      httpMethod: 'POST',
      oidcToken: { serviceAccountEmail: serviceAccount, audience: url },
    },
  }
}

/** Compares the endpoints with the jobs that exist. Changes nothing. */
export async function planJobs(endpoints: Endpoint[], target: Target, jobs: Jobs): Promise<Step[]> {
  const [listed] = await jobs.listJobs({ parent: target.parent })
  const present = listed.map(job => job.name ?? '').filter(name => name.includes(`/jobs/${target.prefix}`))
  const wanted = endpoints.filter(isWarmed).map(endpoint => jobFor(endpoint, target))
  const kept = new Set(wanted.map(({ name }) => name))
  return [
    ...wanted.map(job => ({ change: present.includes(job.name) ? 'updated' : 'created', job }) as const),
    ...present.filter(name => !kept.has(name)).map(name => ({ change: 'removed', job: { name } }) as const),
  ]
}

/** To remove a job that is gone already is no error; all other errors of the scheduler are thrown. */
export async function carryOut({ change, job }: Step, { parent }: Target, jobs: Jobs): Promise<void> {
  await actions[change](job, parent, jobs)
}

const actions: Record<Step['change'], (job: Step['job'], parent: string, jobs: Jobs) => Promise<unknown>> = {
  created: (job, parent, jobs) => jobs.createJob({ parent, job }),
  updated: (job, _, jobs) =>
    jobs.updateJob({
      job,
      updateMask: {
        paths: ['description', 'schedule', 'time_zone', 'attempt_deadline', 'retry_config', 'http_target'],
      },
    }),
  removed: ({ name }, _, jobs) =>
    jobs.deleteJob({ name }).catch((error: { code?: unknown }) => {
      if (error.code !== notFound) throw error
    }),
}

const notFound = 5

/** Options of the client where gcloud has been sent elsewhere: REST without TLS. The client takes a host, and no path. */
function elsewhere(google: Google): object {
  const override = overrideOf('cloudscheduler')
  if (!override) return {}
  const auth = {
    getUniverseDomain: async () => 'googleapis.com',
    getClient: async () => ({}),
    fetch: async (input: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers)
      headers.set('Authorization', `Bearer ${await google.accessToken()}`)
      return fetch(input, { ...init, headers })
    },
  }
  return {
    fallback: true,
    apiEndpoint: override.hostname,
    port: Number(override.port),
    protocol: 'http',
    auth,
  }
}

/** Jobs for the endpoints of `queries/` that are kept warm; the others of this installation are removed. */
export async function setUpJobs(google: Google, site: Site): Promise<void> {
  const { project, region } = site
  const { address, email, own } = namesIn(site)
  const { v1 } = await import('@google-cloud/scheduler')
  const jobs = new v1.CloudSchedulerClient({ projectId: project, ...elsewhere(google) })
  const target: Target = {
    parent: `projects/${project}/locations/${region}`,
    prefix: own('warm-'),
    url: address('warm'),
    serviceAccount: email('scheduler'),
    deadlineSeconds: Number(site['warm-deadline']),
  }
  const endpoints = readQueries('queries').map(({ endpoint }) => endpoint)
  for (const step of await planJobs(endpoints, target, jobs)) {
    const { name, description, schedule } = step.job
    google.options.say(
      ['job', name.split('/').at(-1), step.change, schedule, description].filter(Boolean).join(' '),
    )
    if (!google.options.dryRun) await carryOut(step, target, jobs)
  }
  await jobs.close()
}

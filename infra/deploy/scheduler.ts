/**
 * `node infra/deploy/scheduler.ts`: creates or updates a Cloud Scheduler job for each warmed endpoint, and removes the jobs
 * of endpoints that are gone or not warmed any more. It may be repeated.
 */
import type { CloudSchedulerClient, protos } from '@google-cloud/scheduler'
import { Command } from 'commander'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { isWarmed, warmMinutes } from '../../shared/warm/warm.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { authorizedFetch, overrideOf } from './google-api.ts'

type Job = protos.google.cloud.scheduler.v1.IJob

export interface Target {
  /** `projects/<project>/locations/<region>` */
  parent: string
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

/** Jobs with other names are left alone. */
const prefix = 'lqe-warm-'

/** The crontab line of the period. */
export function scheduleFor(seconds: number): string {
  const minutes = warmMinutes(seconds)
  if (minutes < 60) return `*/${minutes} * * * *`
  return minutes < 1440 ? `0 */${minutes / 60} * * *` : '0 0 * * *'
}

/** The job that keeps an endpoint warm. It is named by the endpoint's id, which a renamed endpoint keeps. */
export function jobFor({ id, name, warm }: Endpoint, target: Target): Job & { name: string } {
  const { parent, url, serviceAccount, deadlineSeconds } = target
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
  const present = listed.map(job => job.name ?? '').filter(name => name.includes(`/jobs/${prefix}`))
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

interface Flags {
  project: string
  region: string
  url: string
  serviceAccount: string
  deadlineSeconds: string
}

/** Options of the client where gcloud has been sent elsewhere: REST without TLS. The client takes a host, and no path. */
function elsewhere(): object {
  const override = overrideOf('cloudscheduler')
  if (!override) return {}
  const auth = {
    getUniverseDomain: async () => 'googleapis.com',
    getClient: async () => ({}),
    fetch: authorizedFetch,
  }
  return {
    fallback: true,
    apiEndpoint: override.hostname,
    port: Number(override.port),
    protocol: 'http',
    auth,
  }
}

async function main(flags: Flags): Promise<void> {
  const { v1 } = await import('@google-cloud/scheduler')
  const jobs = new v1.CloudSchedulerClient({ projectId: flags.project, ...elsewhere() })
  const target: Target = {
    ...flags,
    parent: `projects/${flags.project}/locations/${flags.region}`,
    deadlineSeconds: Number(flags.deadlineSeconds),
  }
  const endpoints = readQueries('queries').map(({ endpoint }) => endpoint)
  for (const step of await planJobs(endpoints, target, jobs)) {
    await carryOut(step, target, jobs)
    const { name, description, schedule } = step.job
    console.log([step.change, name.split('/').at(-1), schedule, description].filter(Boolean).join('  '))
  }
  await jobs.close()
}

if (import.meta.main)
  await new Command('scheduler')
    .description('Cloud Scheduler jobs for the endpoints that are kept warm')
    .requiredOption('--project <id>', 'project of the jobs')
    .requiredOption('--region <region>', 'location of the jobs')
    .requiredOption('--url <url>', 'address of the warm function')
    .requiredOption('--service-account <email>', 'account of the calls')
    .option('--deadline-seconds <seconds>', 'how long the scheduler waits for an answer', '240')
    .action(main)
    .parseAsync()

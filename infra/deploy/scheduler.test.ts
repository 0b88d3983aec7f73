/** Through the real client, over REST, against a server with the jobs of a Cloud Scheduler. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import scheduler from '@google-cloud/scheduler'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { carryOut, planJobs, scheduleFor, type Target } from './scheduler.ts'

const parent = 'projects/p/locations/europe-west1'
const target: Target = {
  parent,
  url: 'https://europe-west1-p.cloudfunctions.net/warm',
  serviceAccount: 'lqe-scheduler@p.iam.gserviceaccount.com',
  deadlineSeconds: 240,
}
const endpoints = readQueries('queries').map(({ endpoint }) => endpoint)
const usage = endpoints.find(({ name }) => name === 'usage.api-counts')!
const usageJob = `${parent}/jobs/lqe-warm-${usage.id}`

let jobs: Map<string, Record<string, unknown>>
let server: Server
let client: InstanceType<typeof scheduler.v1.CloudSchedulerClient>

beforeEach(async () => {
  jobs = new Map()
  server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => (body += chunk.toString()))
    req.on('end', () => {
      const [status, answer] = serve(req.method ?? '', (req.url ?? '').split('?')[0]!.slice(4), body)
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  client = connect((server.address() as AddressInfo).port)
})

afterEach(async () => {
  await client.close()
  server.closeAllConnections()
  server.close()
})

function connect(port: number): typeof client {
  const auth = { getUniverseDomain: async () => 'googleapis.com', getClient: async () => ({}), fetch }
  const options = { fallback: true, apiEndpoint: '127.0.0.1', port, protocol: 'http', projectId: 'p', auth }
  return new scheduler.v1.CloudSchedulerClient(options as never)
}

function serve(method: string, path: string, body: string): [number, object] {
  const error = (code: number, status: string): [number, object] => [
    code,
    { error: { code, status, message: status } },
  ]
  const job = (body ? JSON.parse(body) : {}) as { name: string }
  if (method === 'GET') return [200, { jobs: [...jobs].map(([name, fields]) => ({ ...fields, name })) }]
  if (method === 'POST' && jobs.has(job.name)) return error(409, 'ALREADY_EXISTS')
  if (method !== 'POST' && !jobs.has(path)) return error(404, 'NOT_FOUND')
  if (method === 'DELETE') jobs.delete(path)
  else jobs.set(method === 'POST' ? job.name : path, job)
  return [200, job]
}

async function apply(wanted: Endpoint[], to: Target = target): Promise<string[]> {
  const steps = await planJobs(wanted, to, client)
  for (const step of steps) await carryOut(step, to, client)
  return steps.map(({ change, job }) => `${change} ${job.name.split('/').at(-1)}`)
}

describe('the jobs', () => {
  test('are one for each endpoint that is kept warm, signed as the scheduler’s account', async () => {
    expect(await apply(endpoints)).toEqual([`created lqe-warm-${usage.id}`])
    expect(jobs.get(usageJob)).toMatchObject({
      schedule: '*/5 * * * *',
      timeZone: 'Etc/UTC',
      attemptDeadline: '240s',
      retryConfig: { retryCount: 1 },
      httpTarget: {
        uri: 'https://europe-west1-p.cloudfunctions.net/warm?endpoint=usage.api-counts',
        httpMethod: 1,
        oidcToken: { serviceAccountEmail: target.serviceAccount, audience: target.url },
      },
    })
  })

  test('are updated, not made twice', async () => {
    await apply(endpoints)
    expect(await apply(endpoints, { ...target, deadlineSeconds: 120 })).toEqual([
      `updated lqe-warm-${usage.id}`,
    ])
    expect(jobs.size).toBe(1)
    expect(jobs.get(usageJob)).toMatchObject({ attemptDeadline: '120s' })
  })

  test('of endpoints that no longer warm, or are gone, are removed; others are left alone', async () => {
    await apply(endpoints)
    for (const name of ['lqe-warm-gone', 'backup', 'lqe-warmer']) jobs.set(`${parent}/jobs/${name}`, {})
    const cold = endpoints.map(endpoint => ({ ...endpoint, warm: null }))
    expect((await apply(cold)).toSorted()).toEqual([`removed lqe-warm-${usage.id}`, 'removed lqe-warm-gone'])
    expect([...jobs.keys()]).toEqual([`${parent}/jobs/backup`, `${parent}/jobs/lqe-warmer`])
  })

  test('that somebody else has just removed are no failure', async () => {
    await apply(endpoints)
    const steps = await planJobs([], target, client)
    jobs.clear()
    for (const step of steps) await carryOut(step, target, client)
  })
})

test.each([
  [60, '*/1 * * * *'],
  [300, '*/5 * * * *'],
  [420, '*/6 * * * *'],
  [3599, '*/30 * * * *'],
  [3600, '0 */1 * * *'],
  [20_000, '0 */4 * * *'],
  [86_400, '0 0 * * *'],
])('every %i s is the schedule %s, which never waits longer', (seconds, schedule) => {
  expect(scheduleFor(seconds)).toBe(schedule)
})

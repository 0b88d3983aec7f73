/** The scheduler's jobs, in a project on the stand-in. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Alert, Endpoint } from '../../shared/endpoints/definition.ts'
import { openProject, type Project } from '../google/control/testing/project.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { scheduleFor, setUpJobs } from './scheduler.ts'
import { connect, setUp } from './testing/client.ts'

const parent = 'projects/my-project/locations/europe-west1/jobs'
const address = 'https://europe-west1-my-project.cloudfunctions.net/warm'
const endpoints = readQueries('queries').map(({ endpoint }) => endpoint)
const usage = endpoints.find(({ name }) => name === 'usage.api-counts')!
const usageJob = `${parent}/lqe-warm-${usage.id}`
const said = `job lqe-warm-${usage.id}: */5 * * * *, Keeps the answers of usage.api-counts fresh`

describe('the jobs', () => {
  let project: Project
  beforeEach(async () => {
    project = await openProject()
    await setUp(connect(project), ['APIs', 'accounts'])
  })
  afterEach(() => project.close())

  async function apply(wanted: Endpoint[], flags: Record<string, string> = {}): Promise<string[]> {
    const { google, site, said } = connect(project, flags)
    await setUpJobs(google, site, wanted)
    return said
  }
  const jobs = () => Object.keys(project.plane.state.resources).filter(name => name.startsWith(parent))
  const addJob = (id: string) => {
    project.plane.state.resources[`${parent}/${id}`] = { name: `${parent}/${id}` }
  }

  test('are one for each endpoint that is kept warm, signed as the scheduler’s account', async () => {
    expect(await apply(endpoints)).toEqual([said])
    expect(project.plane.state.resources[usageJob]).toMatchObject({
      schedule: '*/5 * * * *',
      timeZone: 'Etc/UTC',
      attemptDeadline: '240s',
      retryConfig: { retryCount: 1 },
      httpTarget: {
        uri: `${address}?endpoint=usage.api-counts`,
        httpMethod: 'POST',
        oidcToken: {
          serviceAccountEmail: 'lqe-scheduler@my-project.iam.gserviceaccount.com',
          audience: address,
        },
      },
    })
  })

  test('are one for each endpoint with alerts, as often as they are evaluated, and every five minutes at least', async () => {
    const logs = endpoints.find(({ name }) => name === 'logs.all')!
    const scheduleOf = async (everyMs: number) => {
      await apply([{ ...logs, alerts: [{ everyMs } as Alert] }])
      return (project.plane.state.resources[`${parent}/lqe-warm-${logs.id}`] as { schedule: string }).schedule
    }
    expect(await scheduleOf(120_000)).toBe('*/2 * * * *')
    expect(await scheduleOf(3_600_000)).toBe('*/5 * * * *')
    await apply([logs])
    expect(jobs()).toEqual([])
  })

  test('are changed where they differ, not made twice', async () => {
    await apply(endpoints)
    expect(await apply(endpoints)).toEqual([])
    expect(await apply(endpoints, { 'warm-deadline': '120' })).toEqual([said])
    expect(jobs()).toEqual([usageJob])
    expect(project.plane.state.resources[usageJob]).toMatchObject({ attemptDeadline: '120s' })
  })

  test('of endpoints that no longer warm, or are gone, are removed; others are left alone', async () => {
    await apply(endpoints)
    for (const id of ['lqe-warm-gone', 'backup', 'lqe-warmer', 'staging-warm-other']) addJob(id)
    const cold = endpoints.map(endpoint => ({ ...endpoint, warm: null }))
    expect((await apply(cold)).toSorted()).toEqual([
      `job lqe-warm-${usage.id}: removed`,
      'job lqe-warm-gone: removed',
    ])
    expect(jobs()).toEqual(['backup', 'lqe-warmer', 'staging-warm-other'].map(id => `${parent}/${id}`))
  })

  test('that somebody else has just removed are no failure', async () => {
    await apply(endpoints)
    project.plane.watch = call => {
      if (call.includes('/jobs 200')) delete project.plane.state.resources[usageJob]
    }
    expect(await apply([])).toEqual([`job lqe-warm-${usage.id}: removed`])
    expect(project.plane.calls.at(-1)).toMatch(/ DELETE .* 404$/)
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

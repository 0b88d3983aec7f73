/**
 * Set-up, cloudbuild.yaml under the build's own account, a rollback and a removal, for real and with gcloud, bq and the
 * functions' bundle, in a project on the stand-in.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import { openRehearsal, region, type Rehearsal } from '../google/control/rehearsal.ts'
import type { Service } from '../google/control/run.ts'
import { changes, lasting } from '../google/control/testing/project.ts'

const hour = 3_600_000
const leaveOut = {
  install: 'node_modules are there',
}
const sameBuild = { ...leaveOut, build: 'nothing has changed' }

let rehearsal: Rehearsal
let where: string[]
beforeAll(async () => {
  rehearsal = await openRehearsal(
    line => process.stdout.write(`${line}\n`),
    () => {},
  )
  where = [`--project=${rehearsal.project.id}`, `--region=${region}`]
  await rehearsal.script('setup.sh', ...where)
}, hour)
afterAll(() => rehearsal.stop())

function serviceOf(name: string): Service {
  const { plane, id } = rehearsal.project
  return plane.state.resources[`projects/${id}/locations/${region}/services/${name}`] as Service
}

/** `query-00003-aad` */
function serving(name: string): string {
  const { traffic } = serviceOf(name).status
  expect(traffic.filter(({ percent = 0 }) => percent > 0)).toEqual([
    expect.objectContaining({ percent: 100 }),
  ])
  return traffic.find(({ percent }) => percent === 100)!.revisionName!
}

async function withKey(path: string): Promise<Response> {
  const services = await openServices(loadConfig({ ...process.env, ...rehearsal.env }))
  const grant = { name: 'test', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
  const { key } = await issueKey(services.store, grant)
  await services.close()
  return fetch(`${serviceOf('query').status.url}${path}`, { headers: { 'X-API-KEY': key } })
}

describe('a deployment', () => {
  let first: string

  test(
    'passes every step of cloudbuild.yaml under the build’s own account',
    async () => {
      const lines = await rehearsal.build({ leaveOut })
      expect(lines.filter(line => line.includes('passed: '))).toHaveLength(3 + 2 + 4 + 2)
      expect(lines.filter(line => line.includes('left out: no endpoint is defined yet'))).toHaveLength(1)
      first = serving('query')
      const { calls } = rehearsal.project.plane
      expect(calls.filter(call => call.includes(' 400') || call.includes(' 500'))).toEqual([])
    },
    hour,
  )

  test(
    'answers a query of its logs, and the scheduler’s call with its token',
    async () => {
      const answer = await withKey('/api/endpoints/query/usage.api-counts?interval=daily&project=.')
      expect(answer.status).toBe(200)
      const { resources } = rehearsal.project.plane.state
      const job = Object.keys(resources)
        .find(name => name.includes('/jobs/'))!
        .split('/')
        .at(-1)!
      const called = await rehearsal.callJob(job)
      expect([called.status, await called.json()]).toEqual([200, expect.objectContaining({ failed: 0 })])
      expect((await fetch(serviceOf('warm').status.url, { method: 'POST' })).status).toBe(403)
    },
    hour,
  )

  test(
    'whose smoke test fails leaves the traffic where it was',
    async () => {
      const failing = { _SMOKE_CALL: 'logs.all?project=p&sql=SELECT%20no_such_column' }
      await expect(rehearsal.build({ leaveOut: sameBuild, substitutions: failing })).rejects.toThrow(
        /smoke failed[\s\S]*query asks BigQuery/,
      )
      expect(serving('query')).toBe(first)
      expect(serviceOf('query').status.latestReadyRevisionName).not.toBe(first)
    },
    hour,
  )

  test(
    'gives new revisions the traffic after the smoke test, and a rollback gives it back',
    async () => {
      await rehearsal.build({ leaveOut: sameBuild })
      expect(serving('query')).not.toBe(first)
      await rehearsal.script('release.sh', 'rollback', ...where)
      expect(serving('query')).toBe(first)
      expect((await withKey('/api/endpoints')).status).toBe(200)
    },
    hour,
  )

  test(
    'opens query without allUsers where the organization forbids that',
    async () => {
      const { plane, id } = rehearsal.project
      plane.state.projects[id]!.constraints.push('iam.allowedPolicyMemberDomains')
      plane.state.policies[`projects/${id}/locations/${region}/services/query`] = { bindings: [] }
      await expect(rehearsal.build({ leaveOut: sameBuild })).rejects.toThrow(
        /deploy-query failed[\s\S]*organization policy/,
      )
      const substitutions = {
        _QUERY_ACCESS: '--no-allow-unauthenticated',
        _QUERY_INVOKER_IAM_CHECK: '--no-invoker-iam-check',
      }
      await rehearsal.build({ leaveOut: sameBuild, substitutions })
      expect((await withKey('/api/endpoints')).status).toBe(200)
    },
    hour,
  )
})

describe('remove.sh', () => {
  const names = (pattern: RegExp) =>
    Object.keys(rehearsal.project.plane.state.resources).filter(name => pattern.test(name))

  test(
    'removes all but the data, which it names, and can be run again',
    async () => {
      const { plane, id } = rehearsal.project
      const output = await rehearsal.script('remove.sh', ...where)
      expect(output).toMatch(
        /# Kept:[\s\S]*Firestore database \(default\)[\s\S]*dataset logs with its tables/,
      )
      expect(
        names(/^projects\/(?!gcp-).*\/(functions|services|jobs|triggers|serviceAccounts|sinks)\//),
      ).toEqual([])
      expect(names(/\/(metrics|alertPolicies|dashboards|uptimeCheckConfigs|notificationChannels)\//)).toEqual(
        [],
      )
      expect(names(/\/tables\//)).toHaveLength(9 + 2)
      expect(JSON.stringify(plane.state.policies)).not.toMatch(/lqe-|gcp-sa-logging/)
      const before = lasting(plane.state)
      plane.calls.length = 0
      await rehearsal.script('remove.sh', ...where)
      expect(plane.calls.filter(changes)).toEqual([])
      expect(lasting(plane.state)).toEqual(before)
      expect(plane.state.policies[`projects/${id}`]!.bindings).toContainEqual({
        role: 'roles/owner',
        members: ['user:owner@example.com'],
      })
    },
    hour,
  )

  test(
    'removes data that are named, and no other',
    async () => {
      const { status } = await rehearsal.project.run('infra/deploy/remove.sh', [
        ...where,
        '--delete-dataset=other',
      ])
      expect(status).toBe(2)
      await rehearsal.script('remove.sh', ...where, '--delete-dataset=logs', '--delete-database=(default)')
      expect(names(/\/(datasets|databases)\//)).toEqual([])
    },
    hour,
  )
})

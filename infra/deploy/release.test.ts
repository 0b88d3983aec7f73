/** release.sh for real, with gcloud, in a project on the stand-in. Deployments: `deploy.soak.ts` and `release.soak.ts`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect } from '@jest/globals'
import { openProject, type Project } from '../google/control/testing/project.ts'
import { email, region, trafficOf, withRevisions } from '../google/control/testing/states.ts'
import { testWithGcloud } from '../google/testing/gcloud.ts'

const test = testWithGcloud()
const minutes = 180_000
const where = ['--project=my-project', `--region=${region}`]

let project: Project
afterEach(() => project.close())

const release = (...args: string[]) =>
  project.run('infra/deploy/release.sh', [...args, ...where], email('build'))
const traffic = () => ['query', 'warm'].map(name => trafficOf(project.plane.state, name))

describe('release.sh', () => {
  test(
    'gives the tagged revisions the traffic, and a rollback gives it back',
    async () => {
      const state = withRevisions()
      for (const name of ['query', 'warm']) {
        const service = state.resources[`projects/my-project/locations/${region}/services/${name}`] as {
          spec: { traffic: object[] }
          status: { traffic: object[] }
        }
        service.spec.traffic.push({ revisionName: `${name}-00002-abc`, tag: 'candidate' })
        service.status.traffic = service.spec.traffic
      }
      project = await openProject({ state })
      const live = join(project.folder, 'live')
      expect(await release('send', `--out=${live}`)).toMatchObject({ status: 0 })
      expect(readFileSync(live, 'utf8')).toBe('query=https://query.run.app\nwarm=https://warm.run.app\n')
      expect(traffic()).toEqual([
        ['query-00002-abc 100', 'query-00001-abc previous'],
        ['warm-00002-abc 100', 'warm-00001-abc previous'],
      ])
      expect(await release('rollback')).toMatchObject({ status: 0 })
      expect(traffic()).toEqual([
        ['query-00001-abc 100', 'query-00001-abc previous'],
        ['warm-00001-abc 100', 'warm-00001-abc previous'],
      ])
    },
    minutes,
  )

  test(
    'cannot send traffic to what is not tagged',
    async () => {
      project = await openProject({ state: withRevisions() })
      const { status, output } = await release('send', `--out=${join(project.folder, 'live')}`)
      expect([status, output]).toEqual([1, expect.stringContaining('query has no revision tagged candidate')])
    },
    minutes,
  )
})

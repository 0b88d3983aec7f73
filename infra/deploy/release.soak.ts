/** A release and a deployment for real, with gcloud, to a project on the stand-in that has a release. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect } from '@jest/globals'
import { openProject, type Project } from '../google/control/testing/project.ts'
import { email, region, trafficOf, where, withRevisions } from '../google/control/testing/states.ts'
import { testWithGcloud } from '../google/testing/gcloud.ts'

const test = testWithGcloud()
const minutes = 180_000

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
})

describe('gcloud functions deploy', () => {
  test(
    'fails as the build’s account while Resource Manager is not enabled, and leaves held traffic alone',
    async () => {
      const state = withRevisions()
      project = await openProject({ state })
      const source = join(project.folder, 'source')
      mkdirSync(source)
      writeFileSync(join(source, 'index.js'), 'exports.query = () => {}')
      writeFileSync(join(source, 'package.json'), '{}')
      const flags = [
        '--gen2',
        '--runtime=nodejs24',
        `--source=${source}`,
        '--entry-point=query',
        '--trigger-http',
        '--quiet',
      ]
      const accounts = [
        `--service-account=${email('query')}`,
        `--build-service-account=projects/my-project/serviceAccounts/${email('build')}`,
      ]
      const deploy = () =>
        project.run(
          'gcloud',
          ['functions', 'deploy', 'query', ...where, ...flags, ...accounts],
          email('build'),
        )
      const { apis } = state.projects['my-project']!
      apis.splice(apis.indexOf('cloudresourcemanager.googleapis.com'), 1)
      const { status, output } = await deploy()
      expect([status, output]).toEqual([1, expect.stringMatching(/cloudresourcemanager\.googleapis\.com/)])
      apis.push('cloudresourcemanager.googleapis.com')
      expect(await deploy()).toMatchObject({ status: 0 })
      expect(trafficOf(state, 'query')).toEqual(['query-00001-abc 100'])
      expect(Object.keys(state.resources)).toContain(
        `projects/my-project/locations/${region}/services/query/revisions/query-00003-aad`,
      )
    },
    minutes,
  )
})

/** release.sh for real, with gcloud, in a project on the stand-in. `release.soak.ts` has what takes longer. */
import { join } from 'node:path'
import { afterEach, describe, expect } from '@jest/globals'
import { openProject, type Project } from '../google/control/testing/project.ts'
import { email, where, withRevisions } from '../google/control/testing/states.ts'
import { testWithGcloud } from '../google/testing/gcloud.ts'

const test = testWithGcloud()
const minutes = 180_000

let project: Project
afterEach(() => project.close())

const release = (...args: string[]) =>
  project.run('infra/deploy/release.sh', [...args, ...where], email('build'))

describe('release.sh', () => {
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

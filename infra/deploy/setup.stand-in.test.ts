/** setup.sh for real, with gcloud, in a project on the stand-in. All of it: `setup.soak.ts`. */
import { afterEach, describe, expect } from '@jest/globals'
import { openProject, type Project } from '../google/control/testing/project.ts'
import { testWithGcloud } from '../google/testing/gcloud.ts'

const test = testWithGcloud()
const minutes = 180_000

let project: Project
afterEach(() => project.close())

describe('setup.sh', () => {
  test(
    'shows why it stops where a right is missing',
    async () => {
      project = await openProject()
      const { status, output } = await project.run(
        'infra/deploy/setup.sh',
        ['--project=my-project', '--only=apis'],
        'guest@example.com',
      )
      expect([status, output]).toEqual([1, expect.stringContaining("'serviceusage.services.enable' denied")])
    },
    minutes,
  )
})

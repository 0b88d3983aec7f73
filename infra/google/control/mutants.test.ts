/** Those mutants of set-up that a release fails for without a bundle, gcloud and emulators; all of them: `mutants.soak.ts`. */
import { afterEach, expect, test } from '@jest/globals'
import { setUpCallers, tagCandidates } from '../../deploy/functions.ts'
import { setUpJobs } from '../../deploy/scheduler.ts'
import { connect, deployBoth, setUp } from '../../deploy/testing/client.ts'
import { type Mutant, mutants } from './testing/mutants.ts'
import { partsOfSetUp } from './rehearsal.ts'
import type { Rehearsal } from './open-rehearsal.ts'
import { openProject, type Project } from './testing/project.ts'

const builder = 'lqe-build@my-project.iam.gserviceaccount.com'
const chosen = `
  API bigquery.googleapis.com, API cloudfunctions.googleapis.com, API cloudscheduler.googleapis.com, API firestore.googleapis.com,
  API iam.googleapis.com, API logging.googleapis.com, API monitoring.googleapis.com, API run.googleapis.com,
  cloudbuild.builds.builder of build, cloudscheduler.admin of build, serviceAccountUser of build on query,
  serviceAccountUser of build on scheduler, the sink, WRITER of the sink`
  .trim()
  .split(/,\s+/)

let project: Project
afterEach(() => project.close())

/** As the owner, and then as the build. */
async function release(): Promise<void> {
  const owner = connect(project)
  await setUp(owner, ['APIs', 'accounts', 'rights', 'database', 'tables', 'monitoring'])
  await deployBoth(owner)
  await setUpCallers(owner.google, owner.site)
  const build = connect(project, {}, { as: builder })
  await deployBoth(build)
  await setUpCallers(build.google, build.site)
  await tagCandidates(build.google, build.site)
  await setUpJobs(build.google, build.site)
  const [, requestsAreRouted] = partsOfSetUp.find(([title]) => title === 'requests are routed')!
  await requestsAreRouted({ project } as Rehearsal)
}

test('with all that set-up makes a release passes', async () => {
  project = await openProject()
  await release()
})

test.each(chosen.map(title => mutants.find(one => one.title === title) ?? ({ title } as Mutant)))(
  'without $title a release fails and says so',
  async ({ take, says }) => {
    project = await openProject()
    const { plane } = project
    plane.watch = () => take(plane.state)
    const end = await release().then(
      () => 'it passed',
      (error: Error) => `${error.message} ${plane.state.refused.join('; ')}`,
    )
    expect(end).toMatch(says)
  },
)

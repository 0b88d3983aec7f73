/** A push to the repository builds and deploys, by Cloud Build. To connect a repository takes a browser, once. */
import type { Google, Json } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

export async function setUpTrigger(google: Google, site: Site): Promise<void> {
  const { project, region, repository, branch, prefix } = site
  if (!repository) return
  const { email, own } = namesIn(site)
  const at = `cloudbuild/v1/projects/${project}/locations/${region}/triggers`
  const [owner, name] = repository.split('/')
  const push = { branch }
  const source: Json = repository.startsWith('projects/')
    ? { repositoryEventConfig: { repository, push } }
    : { github: { owner, name, push } }
  const wanted = {
    name: own('deploy'),
    ...source,
    filename: 'cloudbuild.yaml',
    serviceAccount: `projects/${project}/serviceAccounts/${email('build')}`,
    substitutions: { _PREFIX: prefix, _ACCOUNT: own('build') },
  }
  const present = (await google.list(at, 'triggers')).find(one => one['name'] === wanted.name)
  const id = present?.['id']
  const one = `${at}/${String(id)}?updateMask=${Object.keys(wanted).join()}`
  await google.ensure(`pushes to ${repository}`, present, wanted, at, {
    one,
    changed: { ...wanted, id },
  })
}

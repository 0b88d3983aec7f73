/** The project itself: APIs, service accounts (their roles: `rights.ts`), and builds of pushes. */
import type { Google, Json } from './google-api.ts'
import { accountNames, namesIn, type Site } from './settings.ts'

/** With those that the others call: deploying a function builds it, stores its image, and makes a service of Cloud Run. */
export const apis = `
  artifactregistry bigquery cloudbuild cloudfunctions cloudresourcemanager cloudscheduler firestore iam iamcredentials
  logging monitoring run storage`
  .match(/\w+/g)!
  .map(name => `${name}.googleapis.com`)

/** Enables what is not. Service Usage itself is enabled in every project ("Enabled services"). */
export async function setUpApis(google: Google, { project }: Site): Promise<void> {
  const names = apis.map(name => `names=projects/${project}/services/${name}`).join('&')
  const found = (await google.get(`serviceusage/v1/projects/${project}/services:batchGet?${names}`)) ?? {}
  const services = (found['services'] ?? []) as { name: string; state: string }[]
  const enabled = new Set(
    services.filter(({ state }) => state === 'ENABLED').map(({ name }) => name.split('/').at(-1)),
  )
  const missing = apis.filter(name => !enabled.has(name))
  if (missing.length > 0)
    await google.change(
      `APIs enabled: ${missing.map(name => name.split('.')[0]).join(', ')}`,
      'POST',
      `serviceusage/v1/projects/${project}/services:batchEnable`,
      { serviceIds: missing },
    )
}

/** One account for each function, one that calls warm, one that builds and deploys. */
export async function setUpAccounts(google: Google, site: Site): Promise<void> {
  const { email, own } = namesIn(site)
  const at = `iam/v1/projects/${site.project}/serviceAccounts`
  const there = new Set((await google.list(at, 'accounts')).map(account => account['email']))
  for (const name of accountNames)
    if (!there.has(email(name)))
      await google.change(`account ${own(name)}: made`, 'POST', at, {
        accountId: own(name),
        serviceAccount: { displayName: `Log query endpoints: ${name}` },
      })
}

/** A push to the repository builds and deploys, by Cloud Build. To connect a repository takes a browser, once. */
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

/** The project itself: APIs, service accounts and their roles, and builds of pushes. */
import type { Google, Json } from './google-api.ts'
import { grant } from './rights.ts'
import { type AccountName, accountNames, namesIn, type Site } from './settings.ts'

/** With those that the others call: deploying a function builds it, stores its image, and makes a service of Cloud Run. */
export const apis = `
  artifactregistry bigquery cloudbuild cloudfunctions cloudresourcemanager cloudscheduler firestore iam iamcredentials
  logging monitoring run storage`
  .match(/\w+/g)!
  .map(name => `${name}.googleapis.com`)

/** On the project. Reading the dataset is granted with the tables; calling warm when it is deployed. */
export const projectRoles: Record<AccountName, string[]> = {
  query: ['bigquery.jobUser', 'datastore.user'],
  warm: ['bigquery.jobUser', 'datastore.user'],
  scheduler: [],
  build: [
    'bigquery.jobUser',
    'cloudbuild.builds.builder',
    'cloudfunctions.developer',
    'cloudscheduler.admin',
    'datastore.user',
  ],
}

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

/** One policy for the project, one for each account. Whoever deploys signs the smoke test's call as the scheduler. */
export async function setUpRoles(google: Google, site: Site): Promise<void> {
  const { email, own } = namesIn(site)
  const member = (name: AccountName) => `serviceAccount:${email(name)}`
  const grants = accountNames.flatMap(name =>
    projectRoles[name].map(role => [`roles/${role}`, member(name)] as const),
  )
  await grant(google, `cloudresourcemanager/v1/projects/${site.project}`, 'the project', grants)
  const caller = await google.caller()
  const kind = caller.endsWith('gserviceaccount.com') ? 'serviceAccount' : 'user'
  const deployers = [member('build'), ...(caller ? [`${kind}:${caller}`] : [])]
  for (const name of accountNames) {
    const roles = [
      'serviceAccountUser',
      ...(name === 'scheduler' ? ['serviceAccountOpenIdTokenCreator'] : []),
    ]
    const wanted = roles.flatMap(role => deployers.map(one => [`roles/iam.${role}`, one] as const))
    await grant(google, `iam/v1/projects/${site.project}/serviceAccounts/${email(name)}`, own(name), wanted)
  }
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

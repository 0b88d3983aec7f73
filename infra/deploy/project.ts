/** The project itself: APIs, service accounts and their roles. */
import type { Google, Json } from './google-api.ts'
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

interface Binding {
  role: string
  members: string[]
  condition?: unknown
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
  const deployers = [member('build'), ...(caller ? [memberOf(caller)] : [])]
  for (const name of accountNames) {
    const roles =
      name === 'scheduler'
        ? ['iam.serviceAccountUser', 'iam.serviceAccountOpenIdTokenCreator']
        : ['iam.serviceAccountUser']
    const wanted = roles.flatMap(role => deployers.map(one => [`roles/${role}`, one] as const))
    await grant(google, `iam/v1/projects/${site.project}/serviceAccounts/${email(name)}`, own(name), wanted)
  }
}

export function memberOf(email: string): string {
  return `${email.endsWith('gserviceaccount.com') ? 'serviceAccount' : 'user'}:${email}`
}

/** Adds what is missing to the policy of a resource, in one change. @param wanted roles with a member each */
export async function grant(
  google: Google,
  resource: string,
  title: string,
  wanted: readonly (readonly [role: string, member: string])[],
): Promise<void> {
  await editPolicy(google, resource, title, bindings => {
    const missing = wanted.filter(([role, member]) => {
      const binding = bindings.find(one => one.role === role && !one.condition)
      if (binding?.members.includes(member)) return false
      if (binding) binding.members.push(member)
      else bindings.push({ role, members: [member] })
      return true
    })
    return [...new Set(missing.map(([role]) => role.replace('roles/', '')))].join(', ')
  })
}

/** Takes all bindings of these members away. */
export async function revoke(
  google: Google,
  resource: string,
  title: string,
  members: ReadonlySet<string>,
): Promise<void> {
  await editPolicy(google, resource, title, bindings => {
    if (!bindings.some(one => one.members.some(member => members.has(member)))) return ''
    for (const one of bindings) one.members = one.members.filter(member => !members.has(member))
    return 'taken away'
  })
}

/** @param change of the bindings, in their place; says what it is, nothing where there is none */
async function editPolicy(
  google: Google,
  resource: string,
  title: string,
  change: (bindings: Binding[]) => string,
): Promise<void> {
  await google.edit(async () => {
    const policy = (await google.policy(resource)) as { bindings?: Binding[] } & Json
    const bindings = structuredClone(policy.bindings ?? [])
    const what = change(bindings)
    const kept = { ...policy, bindings: bindings.filter(({ members }) => members.length > 0) }
    if (what)
      await google.change(`rights on ${title}: ${what}`, 'POST', `${resource}:setIamPolicy`, { policy: kept })
  })
}

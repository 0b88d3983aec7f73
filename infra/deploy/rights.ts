/**
 * Who may do what: the roles of the service's accounts, and how a right is granted on a resource, by an IAM policy or the list of
 * access of a dataset of BigQuery. Rights on the dataset are granted with the tables (`tables.ts`), those to call with the functions.
 */
import type { Google, Json } from './google-api.ts'
import { type AccountName, accountNames, namesIn, type Site } from './settings.ts'

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

// ---- a resource

/** @param rest a condition, or an entry of a list of access as it was read; such a right is another one */
type Grant = readonly [role: string, member: string, rest?: unknown]

interface Binding {
  role: string
  members: string[]
  condition?: unknown
}

/** Adds what is missing, in one change. @param wanted members as the resource names them: `user:a@b.c`, in a dataset `a@b.c` */
export async function grant(
  google: Google,
  resource: string,
  title: string,
  wanted: readonly Grant[],
): Promise<void> {
  const isThere = (there: Grant[], [role, member]: Grant) =>
    there.some(one => one[0] === role && one[1] === member && one[2] === undefined)
  await edit(google, resource, title, there => [...there, ...wanted.filter(one => !isThere(there, one))])
}

/** Takes all rights of these accounts away. */
export async function revoke(
  google: Google,
  resource: string,
  title: string,
  emails: ReadonlySet<string>,
): Promise<void> {
  const isKept = ([, member]: Grant) => !emails.has(member.replace(/^\w+:/, ''))
  await edit(google, resource, title, there => there.filter(isKept))
}

async function edit(
  google: Google,
  resource: string,
  title: string,
  change: (there: Grant[]) => Grant[],
): Promise<void> {
  await google.edit(async () => {
    const isDataset = resource.startsWith('bigquery/')
    const found = (isDataset ? await google.get(resource) : await google.policy(resource)) ?? {}
    const before = read(found)
    const after = change(before)
    const added = after.filter(one => !before.includes(one))
    const names = added.map(([role, member]) => `${role} ${member}`.replaceAll(/roles\/|\w+:|@\S+/g, ''))
    if (added.length === 0 && after.length === before.length) return
    const what = `rights on ${title}: ${names.join(', ') || 'taken away'}`
    const { etag } = found
    if (isDataset)
      await google.change(what, 'PATCH', resource, { access: accessOf(after), ...(etag ? { etag } : {}) })
    else {
      const policy = { ...found, bindings: bindingsOf(after) }
      await google.change(what, 'POST', `${resource}:setIamPolicy`, { policy })
    }
  })
}

function read({ access = [], bindings = [] }: Json): Grant[] {
  const ofDataset = (access as { role?: string; userByEmail?: string }[]).map((entry): Grant => {
    const { role = '', userByEmail = '', ...more } = entry
    return userByEmail && Object.keys(more).length === 0 ? [role, userByEmail] : [role, userByEmail, entry]
  })
  const ofPolicy = (bindings as Binding[]).flatMap(({ role, members, condition }) =>
    members.map((member): Grant => [role, member, condition]),
  )
  return [...ofDataset, ...ofPolicy]
}

function accessOf(grants: Grant[]): unknown[] {
  return grants.map(([role, userByEmail, entry]) => entry ?? { role, userByEmail })
}

function bindingsOf(grants: Grant[]): Binding[] {
  const bindings = new Map<string, Binding>()
  for (const [role, member, condition] of grants) {
    const key = JSON.stringify([role, condition])
    const none = { role, members: [], ...(condition ? { condition } : {}) }
    bindings
      .set(key, bindings.get(key) ?? none)
      .get(key)!
      .members.push(member)
  }
  return [...bindings.values()]
}

/** Who may do what: roles and the permissions in them, IAM policies, service accounts and their tokens. */
import { etagOf, invalid, isNews, projectOf, refuse, route } from './plane.ts'
import type { Call, Json, Policy, Route, State } from './plane.ts'

const all = (kind: string) => `${kind}.create ${kind}.delete ${kind}.get ${kind}.list ${kind}.update`

/**
 * Of the permissions of each role those that the stand-in asks for, but for `resourcemanager.projects.get`, which most have.
 * "IAM roles and permissions index" (cloud.google.com/iam/docs/roles-permissions), read in August 2026.
 */
const roles: Record<string, string> = {
  'roles/owner': '',
  'roles/bigquery.dataEditor': `${all('bigquery.tables')} bigquery.tables.getData bigquery.tables.updateData bigquery.datasets.get`,
  'roles/bigquery.dataViewer':
    'bigquery.datasets.get bigquery.tables.get bigquery.tables.getData bigquery.tables.list',
  'roles/bigquery.jobUser': 'bigquery.jobs.create',
  'roles/cloudbuild.builds.builder': `artifactregistry.repositories.uploadArtifacts cloudbuild.builds.create
    cloudbuild.builds.get logging.logEntries.create storage.objects.get`,
  'roles/cloudfunctions.developer': `${all('cloudfunctions.functions')} cloudfunctions.functions.sourceCodeSet
    run.routes.invoke run.services.get run.services.getIamPolicy run.services.update serviceusage.services.get`,
  'roles/cloudscheduler.admin': `${all('cloudscheduler.jobs')} serviceusage.services.get`,
  'roles/datastore.user': `datastore.databases.get ${all('datastore.entities')}`,
  'roles/iam.serviceAccountOpenIdTokenCreator': 'iam.serviceAccounts.getOpenIdToken',
  'roles/iam.serviceAccountUser': 'iam.serviceAccounts.actAs iam.serviceAccounts.get',
  'roles/logging.configWriter': `${all('logging.logMetrics')} ${all('logging.sinks')}`,
  'roles/monitoring.editor': `${all('monitoring.alertPolicies')} ${all('monitoring.dashboards')}
    ${all('monitoring.notificationChannels')} ${all('monitoring.uptimeCheckConfigs')}`,
  'roles/run.invoker': 'run.routes.invoke',
}

/** Without `resourcemanager.projects.get`. */
const narrow = ['roles/iam.serviceAccountOpenIdTokenCreator', 'roles/run.invoker']

function contains(role: string, permission: string): boolean {
  // "Service accounts overview": owners do not sign as a service account without one of the token creator roles.
  if (role === 'roles/owner') return permission !== 'iam.serviceAccounts.getOpenIdToken'
  if (permission === 'resourcemanager.projects.get') return !narrow.includes(role)
  return roles[role]?.split(/\s+/).includes(permission) ?? false
}

/** As policies name an account or a person. */
export function memberOf(email: string): string {
  return `${email.endsWith('.gserviceaccount.com') ? 'serviceAccount' : 'user'}:${email}`
}

/** Grants on what a resource is in count for it: "Resource hierarchy for access control". */
export function isPermitted(state: State, caller: string, permission: string, resource: string): boolean {
  const segments = resource.split('/')
  const has = ({ role, members }: { role: string; members: string[] }) =>
    contains(role, permission) && (members.includes(memberOf(caller)) || members.includes('allUsers'))
  const is = segments.some((_, at) =>
    state.policies[segments.slice(0, at + 1).join('/')]?.bindings?.some(has),
  )
  if (!is) state.refused.push(`${caller} lacks ${permission} on ${resource}`)
  return is
}

/** @throws Refusal in the words of IAM */
export function demand({ state, caller }: Call, permission: string, resource: string): void {
  if (isPermitted(state, caller, permission, resource)) return
  const message = `Permission '${permission}' denied on resource '${resource}' (or it may not exist).`
  refuse('PERMISSION_DENIED', message, 'IAM_PERMISSION_DENIED')
}

/**
 * Who lets something run as a service account must be allowed to use it: "Attach service accounts to resources".
 * @param account its e-mail address, or its name
 */
export function demandActAs(call: Call, account = ''): void {
  const email = account.split('/').at(-1)!
  const name = `projects/${call.params['project']}/serviceAccounts/${email}`
  if (!call.state.resources[name]) invalid(`Service account ${email} does not exist.`)
  demand(call, 'iam.serviceAccounts.actAs', name)
}

/** Throws a Refusal for an account that is unknown or too new, and `allUsers` where a constraint forbids it. */
export function checkMember(call: Call, member: string): void {
  const [, project] = projectOf(call)
  const [kind, email = ''] = member.split(':')
  const forbidding = ['iam.allowedPolicyMemberDomains', 'iam.managed.allowedPolicyMembers']
  if (kind === 'allUsers' && forbidding.some(one => project.constraints[one]))
    refuse(
      'FAILED_PRECONDITION',
      'One or more users named in the policy do not belong to a permitted customer, perhaps due to an organization policy.',
    )
  const account = `projects/${/@([^.]+)\./.exec(email)?.[1]}/serviceAccounts/${email}`
  // "Create service accounts": for a minute or more not all of Google knows a new account.
  if (kind === 'serviceAccount' && (!call.state.resources[account] || isNews(project, email)))
    invalid(`Service account ${email} does not exist.`)
}

/** `getIamPolicy` and `setIamPolicy` of a kind of resource. */
export function policyRoutes(path: string, kind: string): Route[] {
  return [
    route('GET', `${path}:getIamPolicy`, `${kind}.getIamPolicy`, getPolicy),
    route('POST', `${path}:getIamPolicy`, `${kind}.getIamPolicy`, getPolicy),
    route('POST', `${path}:setIamPolicy`, `${kind}.setIamPolicy`, setPolicy),
  ]
}

function getPolicy({ state, name }: Call): Json {
  if (name.split('/').length > 2) state.get(name) // a project is there, or the call has been refused
  const policy = state.policies[name] ?? {}
  return { ...policy, etag: etagOf(policy) }
}

function setPolicy(call: Call): Json {
  const { etag, ...policy } = call.body['policy'] as Policy
  if (etag !== undefined && etag !== getPolicy(call)['etag'])
    refuse('ABORTED', 'There were concurrent policy changes. Please retry the whole read-modify-write.')
  // "Policy": roles and service accounts must be there.
  for (const { role, members } of policy.bindings ?? []) {
    if (!(role in roles)) invalid(`Role ${role} is not supported for this resource.`)
    for (const member of members) checkMember(call, member)
  }
  call.state.policies[call.name] = policy
  return getPolicy(call)
}

/** A token as Google signs them; the signature is the stand-in's word. */
export function identityToken(email: string, audience: string): string {
  const now = Math.floor(Date.now() / 1000)
  const iss = 'https://accounts.google.com'
  const claims = { iss, aud: audience, email, email_verified: true, iat: now, exp: now + 3600 }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [part({ alg: 'RS256', typ: 'JWT' }), part(claims), 'signed-by-the-stand-in'].join('.')
}

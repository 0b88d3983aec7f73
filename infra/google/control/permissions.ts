/** Who may do what: the roles that the deployment grants, and the permissions in them that the stand-in checks. */
import { type Call, invalid, refuse, type State } from './plane.ts'

const all = (kind: string) =>
  ['create', 'delete', 'get', 'list', 'update'].map(verb => `${kind}.${verb}`).join(' ')

/**
 * Of the permissions of each role those that a method of the stand-in needs.
 * "IAM roles and permissions index" (cloud.google.com/iam/docs/roles-permissions), read in August 2026.
 */
const roles: Record<string, string> = {
  'roles/cloudbuild.builds.builder': `artifactregistry.repositories.uploadArtifacts cloudbuild.builds.create
    cloudbuild.builds.get logging.logEntries.create resourcemanager.projects.get storage.objects.get`,
  'roles/cloudfunctions.developer': `${all('cloudfunctions.functions')} cloudfunctions.functions.sourceCodeSet
    cloudbuild.builds.get resourcemanager.projects.get run.revisions.list run.routes.invoke run.services.get
    run.services.getIamPolicy run.services.list run.services.update serviceusage.services.get`,
  'roles/run.admin': `resourcemanager.projects.get run.revisions.list run.routes.invoke run.services.get
    run.services.getIamPolicy run.services.list run.services.setIamPolicy run.services.update`,
  'roles/run.invoker': 'run.routes.invoke',
  'roles/cloudscheduler.admin': `${all('cloudscheduler.jobs')} resourcemanager.projects.get serviceusage.services.get`,
  'roles/bigquery.jobUser': 'bigquery.jobs.create resourcemanager.projects.get',
  'roles/bigquery.dataEditor': `${all('bigquery.tables')} bigquery.tables.getData bigquery.tables.updateData bigquery.datasets.get resourcemanager.projects.get`,
  'roles/bigquery.dataViewer': `bigquery.datasets.get bigquery.tables.get bigquery.tables.getData bigquery.tables.list
    resourcemanager.projects.get`,
  'roles/datastore.user': `datastore.databases.get ${all('datastore.entities')} resourcemanager.projects.get`,
  'roles/logging.configWriter': `${all('logging.logMetrics')} ${all('logging.sinks')} resourcemanager.projects.get`,
  'roles/monitoring.editor': `${all('monitoring.alertPolicies')} ${all('monitoring.dashboards')}
    ${all('monitoring.notificationChannels')} ${all('monitoring.uptimeCheckConfigs')} resourcemanager.projects.get`,
  'roles/iam.serviceAccountUser':
    'iam.serviceAccounts.actAs iam.serviceAccounts.get resourcemanager.projects.get',
  'roles/iam.serviceAccountOpenIdTokenCreator': 'iam.serviceAccounts.getOpenIdToken',
}

/** "Service accounts overview": owners do not sign as a service account without one of the token creator roles. */
const notOwners = ['iam.serviceAccounts.getOpenIdToken', 'iam.serviceAccounts.getAccessToken']

/** Roles that nothing here grants are unknown to the stand-in, so a mistyped name is refused as Google refuses it. */
export function isRole(role: string): boolean {
  return role === 'roles/owner' || role in roles
}

function contains(role: string, permission: string): boolean {
  if (role === 'roles/owner') return !notOwners.includes(permission)
  return roles[role]?.split(/\s+/).includes(permission) ?? false
}

/** As policies name an account or a person. */
export function memberOf(email: string): string {
  return `${email.endsWith('.gserviceaccount.com') ? 'serviceAccount' : 'user'}:${email}`
}

/** Grants are inherited from the project: "Resource hierarchy for access control". */
export function isPermitted(state: State, caller: string, permission: string, resources: string[]): boolean {
  const member = memberOf(caller)
  const bindings = resources.flatMap(name => state.policies[name]?.bindings ?? [])
  const is = bindings.some(
    ({ role, members }) =>
      contains(role, permission) && (members.includes(member) || members.includes('allUsers')),
  )
  if (!is) state.refused.push(`${caller} lacks ${permission} on ${resources.at(-1)!}`)
  return is
}

/** @throws Refusal in the words of IAM */
export function demand({ state, caller }: Call, permission: string, resources: string[]): void {
  if (isPermitted(state, caller, permission, resources)) return
  const resource = resources.at(-1)!
  refuse(
    'PERMISSION_DENIED',
    `Permission '${permission}' denied on resource '${resource}' (or it may not exist).`,
    ['IAM_PERMISSION_DENIED', 'iam.googleapis.com', { permission, resource }],
  )
}

/** Who lets something run as a service account must be allowed to use it: "Attach service accounts to resources". */
export function demandActAs(call: Call, project: string, account: string): void {
  const name = `projects/${project}/serviceAccounts/${account}`
  if (!call.state.resources[name]) invalid(`Service account ${account} does not exist.`)
  demand(call, 'iam.serviceAccounts.actAs', [`projects/${project}`, name])
}

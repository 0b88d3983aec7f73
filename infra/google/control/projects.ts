/** Service Usage, Resource Manager, IAM and IAM Credentials: projects, their APIs, accounts and policies. */
import { isPermitted, isRole } from './permissions.ts'
import {
  type Call,
  collection,
  etagOf,
  get,
  invalid,
  isNews,
  type Json,
  operate,
  type Policy,
  polled,
  projectOf,
  refuse,
  type Route,
  route,
} from './plane.ts'

const services = 'serviceusage/v1/projects/{project}/services'
const project = 'cloudresourcemanager/v1/projects/{project}'
const accounts = 'iam/v1/projects/{project}/serviceAccounts'
const signing = 'iamcredentials/v1/projects/{project}/serviceAccounts/{account}'

export const projectRoutes = [
  route('POST', `${services}:batchEnable`, 'serviceusage.services.enable', enable),
  route('GET', `${services}:batchGet`, 'serviceusage.services.get', call => ({
    services: call.query.getAll('names').map(name => serviceOf(call, name)),
  })),
  // gcloud asks, before it deploys.
  route('GET', `${services}/{service}`, 'serviceusage.services.get', call => serviceOf(call, call.name)),
  route('GET', 'serviceusage/v1/operations/{operation}', null, polled),
  route('GET', project, 'resourcemanager.projects.get', call => {
    const [projectId, { number }] = projectOf(call)
    return { projectId, projectNumber: number, lifecycleState: 'ACTIVE', name: projectId }
  }),
  route('POST', `${project}:testIamPermissions`, null, call => {
    const asked = call.body['permissions'] as string[]
    const at = [`projects/${call.params['project']}`]
    return { permissions: asked.filter(one => isPermitted(call.state, call.caller, one, at)) }
  }),
  route('POST', `${project}:getEffectiveOrgPolicy`, 'orgpolicy.policy.get', call => {
    const constraint = String(call.body['constraint'])
    // The words of terraform-google-org-policy, issue 183.
    if (constraint.includes('.managed.'))
      invalid(
        `${constraint} is in a Managed constraint format. Managed constraints are only supported with Org Policy V2 API.`,
      )
    return { constraint, ...projectOf(call)[1].constraints[constraint.replace('constraints/', '')] }
  }),
  route(
    'GET',
    'orgpolicy/v2/projects/{project}/policies/{policy}:getEffectivePolicy',
    'orgpolicy.policy.get',
    call => {
      const rule = projectOf(call)[1].constraints[call.params['policy']!]
      return { name: call.name, spec: rule ? { rules: [rule] } : {} }
    },
  ),
  route('GET', 'cloudbilling/v1/projects/{project}/billingInfo', 'resourcemanager.projects.get', call => ({
    name: `projects/${call.params['project']}/billingInfo`,
    billingEnabled: projectOf(call)[1].isBilled,
  })),
  ...policyRoutes(project, 'resourcemanager.projects'),
  ...collection(accounts, 'iam.serviceAccounts', {
    key: 'accounts',
    id: ({ params, body }) => `${String(body['accountId'])}@${params['project']}.iam.gserviceaccount.com`,
    check: newAccount,
  }),
  ...policyRoutes(`${accounts}/{account}`, 'iam.serviceAccounts'),
  route('POST', `${signing}:generateIdToken`, 'iam.serviceAccounts.getOpenIdToken', call => {
    get(call.state, call.name)
    return { token: identityToken(call.params['account']!, call.body['audience'] as string) }
  }),
]

function serviceOf(call: Call, name: string): Json {
  const isEnabled = projectOf(call)[1].apis.includes(name.split('/').at(-1)!)
  return { name, state: isEnabled ? 'ENABLED' : 'DISABLED' }
}

function newAccount(call: Call, { name, accountId, serviceAccount }: Json): Json {
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(String(accountId)))
    invalid(`Invalid service account id ${String(accountId)}: 6 to 30 characters`)
  const email = String(name).split('/').at(-1)!
  projectOf(call)[1].news?.push(email)
  return { name, email, projectId: call.params['project'], ...(serviceAccount as Json) }
}

/** A token as Google signs them; the signature is the stand-in's word. */
export function identityToken(email: string, audience: string): string {
  const now = Math.floor(Date.now() / 1000)
  const iss = 'https://accounts.google.com'
  const claims = { iss, aud: audience, email, email_verified: true, iat: now, exp: now + 3600 }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [part({ alg: 'RS256', typ: 'JWT' }), part(claims), 'signed-by-the-stand-in'].join('.')
}

function enable(call: Call): Json {
  const [, project] = projectOf(call)
  const names = call.body['serviceIds'] as string[]
  const unknown = names.filter(name => !name.endsWith('.googleapis.com'))
  if (unknown.length > 0)
    refuse('NOT_FOUND', `Not found or permission denied for service(s): ${unknown.join(', ')}.`)
  // "Enable and disable services": these are paid for.
  if (!project.isBilled)
    refuse('FAILED_PRECONDITION', `Billing account for project '${project.number}' is not found.`)
  project.news?.push(...names.filter(name => !project.apis.includes(name)))
  project.apis = [...new Set([...project.apis, ...names])].sort()
  return operate(call, 'operations', { response: {} })
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
  if (name.split('/').length > 2) get(state, name) // a project is there, or the call has been refused
  const policy = state.policies[name] ?? {}
  return { ...policy, etag: etagOf(policy) }
}

function setPolicy(call: Call): Json {
  const { etag, ...policy } = call.body['policy'] as Policy
  if (etag !== undefined && etag !== getPolicy(call)['etag'])
    refuse('ABORTED', 'There were concurrent policy changes. Please retry the whole read-modify-write.')
  // "Policy": roles and service accounts must be there; "Restricting identities by domain" for `allUsers`.
  for (const { role, members } of policy.bindings ?? []) {
    if (!isRole(role)) invalid(`Role ${role} is not supported for this resource.`)
    for (const member of members) checkMember(call, member)
  }
  call.state.policies[call.name] = policy
  return getPolicy(call)
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

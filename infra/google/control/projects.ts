/** Service Usage, Resource Manager, IAM and IAM Credentials: projects, their APIs, accounts and policies. */
import { isRole } from './permissions.ts'
import {
  type Call,
  create,
  etagOf,
  get,
  isNews,
  type Json,
  list,
  operate,
  operationRoute,
  type Policy,
  projectOf,
  Refusal,
  remove,
  type Route,
} from './plane.ts'

const accountName = ({ params }: Call) => `projects/${params['project']}/serviceAccounts/${params['account']}`
const accountAt = 'iam/v1/projects/{project}/serviceAccounts/{account}'

export const projectRoutes: Route[] = [
  {
    method: 'POST',
    path: 'serviceusage/v1/projects/{project}/services:batchEnable',
    permission: 'serviceusage.services.enable',
    handle: call => enable(call, call.body['serviceIds'] as string[]),
  },
  {
    method: 'POST',
    path: 'serviceusage/v1/projects/{project}/services/{service}:enable',
    permission: 'serviceusage.services.enable',
    handle: call => enable(call, [call.params['service']!]),
  },
  {
    method: 'GET',
    path: 'serviceusage/v1/projects/{project}/services/{service}',
    permission: 'serviceusage.services.get',
    handle: call => {
      const [id, { apis }] = projectOf(call)
      const name = call.params['service']!
      return { name: `projects/${id}/services/${name}`, state: apis.includes(name) ? 'ENABLED' : 'DISABLED' }
    },
  },
  operationRoute('serviceusage/v1/operations/{operation}'),
  {
    method: 'GET',
    path: 'cloudresourcemanager/v1/projects/{project}',
    permission: 'resourcemanager.projects.get',
    handle: call => {
      const [projectId, { number }] = projectOf(call)
      return { projectId, projectNumber: number, lifecycleState: 'ACTIVE', name: projectId }
    },
  },
  ...policyRoutes(
    'cloudresourcemanager/v1/projects/{project}',
    'resourcemanager.projects',
    ({ params }) => `projects/${params['project']}`,
  ),
  {
    method: 'POST',
    path: 'iam/v1/projects/{project}/serviceAccounts',
    permission: 'iam.serviceAccounts.create',
    handle: call => {
      const { accountId, serviceAccount } = call.body as { accountId: string; serviceAccount?: Json }
      if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(accountId))
        throw new Refusal('INVALID_ARGUMENT', `Invalid service account id ${accountId}: 6 to 30 characters`)
      const project = call.params['project']!
      const email = `${accountId}@${project}.iam.gserviceaccount.com`
      const name = `projects/${project}/serviceAccounts/${email}`
      if (call.state.resources[name])
        throw new Refusal(
          'ALREADY_EXISTS',
          `Service account ${accountId} already exists within project projects/${project}.`,
        )
      projectOf(call)[1].news?.push(email)
      return create(call.state, name, { name, email, projectId: project, ...serviceAccount })
    },
  },
  {
    method: 'GET',
    path: 'iam/v1/projects/{project}/serviceAccounts',
    permission: 'iam.serviceAccounts.list',
    handle: ({ state, params }) => ({
      accounts: list(state, `projects/${params['project']}/serviceAccounts`),
    }),
  },
  {
    method: 'GET',
    path: accountAt,
    permission: 'iam.serviceAccounts.get',
    on: accountName,
    handle: call => get(call.state, accountName(call)),
  },
  {
    method: 'DELETE',
    path: accountAt,
    permission: 'iam.serviceAccounts.delete',
    handle: call => (remove(call.state, accountName(call)), {}),
  },
  ...policyRoutes(accountAt, 'iam.serviceAccounts', accountName),
  {
    method: 'POST',
    path: 'iamcredentials/v1/projects/{project}/serviceAccounts/{account}:generateIdToken',
    permission: 'iam.serviceAccounts.getOpenIdToken',
    on: accountName,
    handle: call => {
      get(call.state, accountName(call))
      return { token: identityToken(call.params['account']!, call.body['audience'] as string) }
    },
  },
]

/** A token as Google signs them; the signature is the stand-in's word. */
export function identityToken(email: string, audience: string): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'https://accounts.google.com',
    aud: audience,
    email,
    email_verified: true,
    iat: now,
    exp: now + 3600,
  }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [part({ alg: 'RS256', typ: 'JWT' }), part(claims), 'signed-by-the-stand-in'].join('.')
}

function enable(call: Call, services: string[]): Json {
  const [, project] = projectOf(call)
  const unknown = services.filter(name => !name.endsWith('.googleapis.com'))
  if (unknown.length > 0)
    throw new Refusal('NOT_FOUND', `Not found or permission denied for service(s): ${unknown.join(', ')}.`)
  project.news?.push(...services.filter(name => !project.apis.includes(name)))
  project.apis = [...new Set([...project.apis, ...services])].sort()
  return operate(call, 'operations', { response: {} })
}

/** `getIamPolicy` and `setIamPolicy` of a kind of resource. */
export function policyRoutes(path: string, kind: string, on: (call: Call) => string): Route[] {
  const read = ({ state, ...call }: Call): Json => {
    const name = on({ state, ...call })
    if (!name.startsWith('projects/') || name.split('/').length > 2) get(state, name)
    const policy = state.policies[name] ?? {}
    return { ...policy, etag: etagOf(policy) }
  }
  return [
    { method: 'GET', path: `${path}:getIamPolicy`, permission: `${kind}.getIamPolicy`, on, handle: read },
    { method: 'POST', path: `${path}:getIamPolicy`, permission: `${kind}.getIamPolicy`, on, handle: read },
    {
      method: 'POST',
      path: `${path}:setIamPolicy`,
      permission: `${kind}.setIamPolicy`,
      on,
      handle: call => {
        const { etag, ...policy } = call.body['policy'] as Policy
        if (etag !== undefined && etag !== read(call)['etag'])
          throw new Refusal(
            'ABORTED',
            'There were concurrent policy changes. Please retry the whole read-modify-write.',
          )
        checkPolicy(call, policy)
        call.state.policies[on(call)] = policy
        return read(call)
      },
    },
  ]
}

/** "Policy": roles and service accounts must be there; "Restricting identities by domain" for `allUsers`. */
function checkPolicy(call: Call, { bindings = [] }: Policy): void {
  for (const { role, members } of bindings) {
    if (!isRole(role))
      throw new Refusal('INVALID_ARGUMENT', `Role ${role} is not supported for this resource.`)
    for (const member of members) checkMember(call, member)
  }
}

export function checkMember(call: Call, member: string): void {
  const [, project] = projectOf(call)
  const [kind, email = ''] = member.split(':')
  if (kind === 'allUsers' && project.constraints.includes('iam.allowedPolicyMemberDomains'))
    throw new Refusal(
      'FAILED_PRECONDITION',
      'One or more users named in the policy do not belong to a permitted customer, perhaps due to an organization policy.',
    )
  const account = `projects/${/@([^.]+)\./.exec(email)?.[1]}/serviceAccounts/${email}`
  // "Create service accounts": for a minute or more not all of Google knows a new account.
  if (kind === 'serviceAccount' && (!call.state.resources[account] || isNews(project, email)))
    throw new Refusal('INVALID_ARGUMENT', `Service account ${email} does not exist.`)
}

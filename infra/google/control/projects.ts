/** Service Usage, Resource Manager, Organization Policy, Billing and IAM Credentials: what there is to a project itself. */
import { identityToken, isPermitted, policyRoutes } from './access.ts'
import { type Call, type Json, invalid, operate, polled, projectOf, refuse, route } from './plane.ts'

const services = 'serviceusage/v1/projects/{project}/services'
const project = 'cloudresourcemanager/v1/projects/{project}'
const signing = 'iamcredentials/v1/projects/{project}/serviceAccounts/{account}'
const policy = 'orgpolicy/v2/projects/{project}/policies/{policy}'

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
  route('POST', `${project}:testIamPermissions`, null, ({ state, caller, name, body }) => {
    const asked = body['permissions'] as string[]
    return { permissions: asked.filter(one => isPermitted(state, caller, one, name)) }
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
  route('GET', `${policy}:getEffectivePolicy`, 'orgpolicy.policy.get', call => {
    const rule = projectOf(call)[1].constraints[call.params['policy']!]
    return { name: call.name, spec: rule ? { rules: [rule] } : {} }
  }),
  route('GET', 'cloudbilling/v1/projects/{project}/billingInfo', 'resourcemanager.projects.get', call => ({
    billingEnabled: projectOf(call)[1].isBilled,
  })),
  ...policyRoutes(project, 'resourcemanager.projects'),
  route(
    'POST',
    `${signing}:generateIdToken`,
    'iam.serviceAccounts.getOpenIdToken',
    ({ state, name, body }) => {
      const { email } = state.get(name)
      return { token: identityToken(email as string, body['audience'] as string) }
    },
  ),
]

function serviceOf(call: Call, name: string): Json {
  const isEnabled = projectOf(call)[1].apis.includes(name.split('/').at(-1)!)
  return { name, state: isEnabled ? 'ENABLED' : 'DISABLED' }
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

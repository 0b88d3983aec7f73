/** Cloud Build: triggers, and the connected repositories that they listen to. */
import { randomUUID } from 'node:crypto'
import { demandActAs } from './permissions.ts'
import { type Call, create, etagOf, get, type Json, list, Refusal, remove, type Route } from './plane.ts'

const parent = 'cloudbuild/v1/projects/{project}/locations/{location}'
const parentName = ({ params }: Call) => `projects/${params['project']}/locations/${params['location']}`
const triggerName = (call: Call) => {
  const named = list(call.state, `${parentName(call)}/triggers`)
  const found = named.find(({ id, name }) => id === call.params['trigger'] || name === call.params['trigger'])
  return `${parentName(call)}/triggers/${(found?.['id'] as string) ?? call.params['trigger']}`
}

/** "Configure user-specified service accounts": who submits a build must be allowed to act as its account. */
function startBuild(call: Call): Json {
  const { serviceAccount, options } = call.body as { serviceAccount?: string; options?: { logging?: string } }
  demandActAs(call, call.params['project']!, serviceAccount?.split('/').at(-1) ?? '')
  if (!options?.logging)
    throw new Refusal(
      'INVALID_ARGUMENT',
      'if build.service_account is specified, the build must say where its logs go',
    )
  const name = `${parentName(call)}/builds/${randomUUID()}`
  create(call.state, name, { ...call.body, name, status: 'QUEUED' })
  return { name: name.replace('/builds/', '/operations/'), metadata: { build: { name } } }
}

/** Triggers may be named by id or name ("REST Resource: projects.locations.triggers"). */
export const buildRoutes: Route[] = [
  { method: 'POST', path: `${parent}/builds`, permission: 'cloudbuild.builds.create', handle: startBuild },
  {
    method: 'POST',
    path: `${parent}/triggers`,
    permission: 'cloudbuild.builds.create',
    handle: call => {
      const { name } = call.body as { name: string }
      if (list(call.state, `${parentName(call)}/triggers`).some(trigger => trigger['name'] === name))
        throw new Refusal('ALREADY_EXISTS', `trigger '${name}' already exists`)
      checkTrigger(call)
      const id = Buffer.from(etagOf(name)).toString('hex')
      const resourceName = `${parentName(call)}/triggers/${id}`
      return create(call.state, resourceName, { ...call.body, id, resourceName })
    },
  },
  {
    method: 'GET',
    path: `${parent}/triggers`,
    permission: 'cloudbuild.builds.list',
    handle: call => ({ triggers: list(call.state, `${parentName(call)}/triggers`) }),
  },
  {
    method: 'GET',
    path: `${parent}/triggers/{trigger}`,
    permission: 'cloudbuild.builds.get',
    handle: call => get(call.state, triggerName(call)),
  },
  {
    method: 'PATCH',
    path: `${parent}/triggers/{trigger}`,
    permission: 'cloudbuild.builds.update',
    handle: call => {
      checkTrigger(call)
      const trigger = get(call.state, triggerName(call))
      return Object.assign(trigger, call.body, { id: trigger['id'], resourceName: trigger['resourceName'] })
    },
  },
  {
    method: 'DELETE',
    path: `${parent}/triggers/{trigger}`,
    permission: 'cloudbuild.builds.update',
    handle: call => (remove(call.state, triggerName(call)), {}),
  },
]

/** "Create and manage build triggers": the account is given, may be used, and the repository is connected. */
function checkTrigger(call: Call): void {
  const {
    serviceAccount = '',
    repositoryEventConfig,
    github,
  } = call.body as {
    serviceAccount?: string
    repositoryEventConfig?: { repository: string }
    github?: { owner: string; name: string }
  }
  demandActAs(call, call.params['project']!, serviceAccount.split('/').at(-1)!)
  const repository =
    repositoryEventConfig?.repository ?? `${parentName(call)}/github/${github?.owner}/${github?.name}`
  if (!call.state.resources[repository])
    throw new Refusal(
      'FAILED_PRECONDITION',
      `Repository mapping does not exist. Please connect ${repository}`,
    )
}

/** The state in which somebody has connected a repository in the console, which takes a browser. */
export function connectRepository(state: Call['state'], name: string): void {
  state.resources[name] = { name } satisfies Json
}

/** Cloud Build: triggers, and the connected repositories that they listen to. */
import { randomUUID } from 'node:crypto'
import { demandActAs } from './permissions.ts'
import {
  type Call,
  create,
  etagOf,
  get,
  invalid,
  type Json,
  list,
  listed,
  maskOf,
  patch,
  Refusal,
  remove,
  route,
} from './plane.ts'

const parent = 'cloudbuild/v1/projects/{project}/locations/{location}'

export const buildRoutes = [
  route('POST', `${parent}/builds`, 'cloudbuild.builds.create', startBuild),
  route('GET', `${parent}/triggers`, 'cloudbuild.builds.list', listed('triggers')),
  route('POST', `${parent}/triggers`, 'cloudbuild.builds.create', createTrigger),
  route('GET', `${parent}/triggers/{trigger}`, 'cloudbuild.builds.get', call =>
    get(call.state, triggerName(call)),
  ),
  route('PATCH', `${parent}/triggers/{trigger}`, 'cloudbuild.builds.update', updateTrigger),
  route('DELETE', `${parent}/triggers/{trigger}`, 'cloudbuild.builds.update', call => {
    remove(call.state, triggerName(call))
    return {}
  }),
]

function parentName({ params }: Call): string {
  return `projects/${params['project']}/locations/${params['location']}`
}

/** "Configure user-specified service accounts": who submits a build must be allowed to act as its account. */
function startBuild(call: Call): Json {
  const { serviceAccount, options } = call.body as { serviceAccount?: string; options?: { logging?: string } }
  demandActAs(call, call.params['project']!, serviceAccount?.split('/').at(-1) ?? '')
  if (!options?.logging)
    invalid('if build.service_account is specified, the build must say where its logs go')
  const name = `${call.name}/${randomUUID()}`
  create(call.state, name, { ...call.body, name, status: 'QUEUED' })
  return { name: name.replace('/builds/', '/operations/'), metadata: { build: { name } } }
}

function createTrigger(call: Call): Json {
  const { name } = call.body as { name: string }
  if (list(call.state, call.name).some(trigger => trigger['name'] === name))
    throw new Refusal('ALREADY_EXISTS', `trigger '${name}' already exists`)
  checkTrigger(call, call.body)
  const id = Buffer.from(etagOf(name)).toString('hex')
  const resourceName = `${call.name}/${id}`
  return create(call.state, resourceName, { ...call.body, id, resourceName })
}

function updateTrigger(call: Call): Json {
  const trigger = get(call.state, triggerName(call))
  const wanted = structuredClone(trigger)
  patch(wanted, call.body, maskOf(call))
  checkTrigger(call, wanted)
  return Object.assign(trigger, wanted)
}

/** A trigger is named by its id or its name ("REST Resource: projects.locations.triggers"). */
function triggerName(call: Call): string {
  const triggers = list(call.state, `${parentName(call)}/triggers`)
  const found = triggers.find(
    ({ id, name }) => id === call.params['trigger'] || name === call.params['trigger'],
  )
  return (found?.['resourceName'] as string | undefined) ?? call.name
}

/** "Create and manage build triggers": the account is given, may be used, and the repository is connected. */
function checkTrigger(call: Call, trigger: Json): void {
  const {
    serviceAccount = '',
    repositoryEventConfig,
    github,
  } = trigger as {
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

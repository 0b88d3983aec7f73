/** Cloud Build: triggers, and the connected repositories that they listen to. */
import { randomUUID } from 'node:crypto'
import { demandActAs } from './permissions.ts'
import { type Call, collection, invalid, type Json, refuse, route } from './plane.ts'

const parent = 'cloudbuild/v1/projects/{project}/locations/{location}'

export const buildRoutes = [
  route('POST', `${parent}/builds`, 'cloudbuild.builds.create', startBuild),
  ...collection(`${parent}/triggers`, 'cloudbuild.builds', { check: checkedTrigger }),
]

/** "Configure user-specified service accounts": who submits a build must be allowed to act as its account. */
function startBuild(call: Call): Json {
  const { serviceAccount, options } = call.body as { serviceAccount?: string; options?: { logging?: string } }
  demandActAs(call, call.params['project']!, serviceAccount?.split('/').at(-1) ?? '')
  if (!options?.logging)
    invalid('if build.service_account is specified, the build must say where its logs go')
  const name = `${call.name}/${randomUUID()}`
  call.state.resources[name] = { ...call.body, name, status: 'QUEUED' }
  return { name: name.replace('/builds/', '/operations/'), metadata: { build: { name } } }
}

/** "Create and manage build triggers": the account is given, may be used, and the repository is connected. Its name is its id. */
function checkedTrigger(call: Call, trigger: Json): Json {
  const { name, serviceAccount, repositoryEventConfig, github } = trigger as {
    name: string
    serviceAccount?: string
    repositoryEventConfig?: { repository: string }
    github?: { owner: string; name: string }
  }
  const { project, location } = call.params
  demandActAs(call, project!, serviceAccount?.split('/').at(-1) ?? '')
  const repository =
    repositoryEventConfig?.repository ??
    `projects/${project}/locations/${location}/github/${github?.owner}/${github?.name}`
  if (!call.state.resources[repository])
    refuse('FAILED_PRECONDITION', `Repository mapping does not exist. Please connect ${repository}`)
  return { ...trigger, id: name }
}

/** The state in which somebody has connected a repository in the console, which takes a browser. */
export function connectRepository(state: Call['state'], name: string): void {
  state.resources[name] = { name } satisfies Json
}

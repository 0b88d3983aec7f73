/** The Cloud Run Admin API, version 2: services, their revisions, and which of them gets the traffic. */
import { demand, demandActAs } from './permissions.ts'
import {
  type Call,
  get,
  invalid,
  type Json,
  masked,
  operate,
  polled,
  refuse,
  route,
  type State,
} from './plane.ts'
import { policyRoutes } from './projects.ts'

interface Target {
  type: string
  revision?: string
  percent?: number
  tag?: string
}

export interface Service extends Json {
  name: string
  uri: string
  template: { serviceAccount: string } & Json
  latestReadyRevision: string
  invokerIamDisabled?: boolean
  traffic: Target[]
  trafficStatuses: (Target & { uri?: string })[]
}

export interface Revision extends Json {
  name: string
  annotations: Record<string, string>
  serviceAccount: string
  containers: { env: { name: string; value: string }[] }[]
}

const services = 'run/v2/projects/{project}/locations/{location}/services/{service}'
const latest = 'TRAFFIC_TARGET_ALLOCATION_TYPE_LATEST'

export const runRoutes = [
  route('GET', services, 'run.services.get', ({ state, name }) => get(state, name)),
  route('PATCH', services, 'run.services.update', updateService),
  ...policyRoutes(services, 'run.services'),
  route('GET', 'run/v2/projects/{project}/locations/{location}/operations/{operation}', null, polled),
]

/** `https://candidate---query-hash-ew.a.run.app` is `ADDRESS/run.app/candidate---query.europe-west1` here. */
export function serviceUrl(address: string, name: string, tag?: string): string {
  const [, , , location, , id] = name.split('/')
  return `${address}/run.app/${tag ? `${tag}---` : ''}${id}.${location}`
}

/** Makes a revision from a function, and the service where there is none; returns the revision's name. */
export function deployRevision(
  call: Call,
  name: string,
  annotations: Record<string, string>,
  serviceConfig: Json,
): string {
  const service = (call.state.resources[name] ??= { name, generation: 0 }) as Service
  const generation = Number(service['generation']) + 1
  const id = name.split('/').at(-1)!
  const revision = `${id}-${String(generation).padStart(5, '0')}-abc`
  const env = Object.entries((serviceConfig['environmentVariables'] ?? {}) as Record<string, string>)
  const revisionName = `${name}/revisions/${revision}`
  call.state.resources[revisionName] = {
    name: revisionName,
    annotations,
    serviceAccount: serviceConfig['serviceAccountEmail'] as string,
    containers: [{ env: env.map(([name, value]) => ({ name, value })) }],
  } satisfies Revision
  // "ServiceConfig": a deployment leaves a traffic split as it is but for `allTrafficOnLatestRevision`; so does
  // "Rollbacks, gradual rollouts, and traffic migration", "Lifecycle of traffic splits".
  const traffic =
    service.traffic && serviceConfig['allTrafficOnLatestRevision'] !== true
      ? service.traffic
      : [{ type: latest, percent: 100 }]
  Object.assign(service, {
    generation,
    uri: serviceUrl(call.address, name),
    template: { serviceAccount: serviceConfig['serviceAccountEmail'] },
    latestReadyRevision: revisionName,
  })
  send(call, service, traffic)
  return revision
}

/** Who may call a service is decided by whoever may set its policy. */
function updateService(call: Call): Json {
  const service = get(call.state, call.name) as Service
  const wanted = masked(call, service)
  const mask = call.query.get('updateMask')!.split(',')
  const other = mask.find(field => !['traffic', 'invokerIamDisabled'].includes(field))
  if (other) invalid(`the stand-in changes traffic and invokerIamDisabled, not ${other}`)
  const project = call.params['project']!
  if (mask.includes('invokerIamDisabled')) {
    demand(call, 'run.services.setIamPolicy', [`projects/${project}`, call.name])
    if (call.state.projects[project]!.constraints['run.managed.requireInvokerIam'])
      refuse('FAILED_PRECONDITION', 'Constraint run.managed.requireInvokerIam is violated')
  }
  demandActAs(call, project, service.template.serviceAccount)
  checkTraffic(call.state, call.name, wanted.traffic)
  Object.assign(service, wanted)
  send(call, service, wanted.traffic)
  return operate(call, `projects/${project}/locations/${call.params['location']}/operations`, {
    response: service,
  })
}

function send({ address }: Call, service: Service, traffic: Target[]): void {
  const newest = service.latestReadyRevision.split('/').at(-1)!
  service.traffic = traffic
  service.trafficStatuses = traffic.map(target => ({
    ...target,
    revision: target.type === latest ? newest : target.revision!,
    ...(target.tag ? { uri: serviceUrl(address, service.name, target.tag) } : {}),
  }))
}

/** "TrafficTarget": shares sum up to 100, revisions are there, and a tag is given once. */
function checkTraffic(state: State, service: string, traffic: Target[]): void {
  const sum = traffic.reduce((total, { percent = 0 }) => total + percent, 0)
  if (sum !== 100) invalid(`Traffic targets must sum to 100, got ${sum}`)
  for (const { revision, type } of traffic)
    if (type !== latest && !state.resources[`${service}/revisions/${revision}`])
      refuse('NOT_FOUND', `Revision '${revision}' is not found.`)
  const tags = traffic.flatMap(({ tag }) => tag ?? [])
  if (new Set(tags).size < tags.length) invalid('duplicate tag')
}

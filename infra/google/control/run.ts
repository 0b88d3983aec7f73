/** The Cloud Run Admin API (v1, which gcloud uses): services, their revisions, and which of them gets the traffic. */
import { demand, demandActAs } from './permissions.ts'
import {
  type Call,
  create,
  get,
  invalid,
  type Json,
  list,
  read,
  Refusal,
  remove,
  route,
  type State,
} from './plane.ts'
import { policyRoutes } from './projects.ts'

interface Metadata extends Json {
  name: string
  generation: number
  annotations: Record<string, string>
  labels: Record<string, string>
}

interface Traffic extends Json {
  revisionName?: string
  latestRevision?: boolean
  percent?: number
  tag?: string
}

interface Template extends Json {
  metadata: { name?: string; annotations?: Record<string, string> } & Json
  spec: { serviceAccountName: string } & Json
}

export interface Service extends Json {
  metadata: Metadata
  spec: { template: Template; traffic: Traffic[] }
  status: Json & { latestReadyRevisionName: string; traffic: Traffic[]; url: string }
}

const knative = 'run/apis/serving.knative.dev/v1/namespaces/{project}'
/** "Allowing public (unauthenticated) access", "Disable the Cloud Run Invoker IAM check". */
export const invokerCheckDisabled = 'run.googleapis.com/invoker-iam-disabled'

export const runRoutes = [
  route('GET', `${knative}/services`, 'run.services.list', ({ state, name }) => ({
    kind: 'ServiceList',
    items: list(state, name),
  })),
  route('GET', `${knative}/services/{service}`, 'run.services.get', read),
  route('PUT', `${knative}/services/{service}`, 'run.services.update', replace),
  route('GET', `${knative}/revisions`, 'run.revisions.list', listRevisions),
  ...policyRoutes('run/v1/projects/{project}/locations/{location}/services/{service}', 'run.services'),
]

function listRevisions({ state, name, query }: Call): Json {
  const service = /serving\.knative\.dev\/service\s*=\s*([\w-]+)/.exec(query.get('labelSelector') ?? '')?.[1]
  const parent = name.replace(/revisions$/, `services/${service}/revisions`)
  return { kind: 'RevisionList', items: list(state, parent).reverse() }
}

/** `https://candidate---query-hash-ew.a.run.app` is `ADDRESS/run.app/candidate---query` here. */
export function serviceUrl(address: string, name: string, tag?: string): string {
  return `${address}/run.app/${tag ? `${tag}---` : ''}${name.split('/').at(-1)}`
}

/** Makes a revision from a function, and the service where there is none; returns the revision's name. */
export function deployRevision(
  call: Call,
  name: string,
  {
    annotations,
    serviceConfig,
    allTraffic,
  }: { annotations: Record<string, string>; serviceConfig: Json; allTraffic: boolean },
): string {
  const env = Object.entries((serviceConfig['environmentVariables'] ?? {}) as Record<string, string>)
  const template: Template = {
    metadata: { annotations },
    spec: {
      serviceAccountName: serviceConfig['serviceAccountEmail'] as string,
      containerConcurrency: serviceConfig['maxInstanceRequestConcurrency'],
      timeoutSeconds: serviceConfig['timeoutSeconds'],
      containers: [{ image: 'built', env: env.map(([name, value]) => ({ name, value })) }],
    },
  }
  const present = call.state.resources[name] as Service | undefined
  const latest = [{ latestRevision: true, percent: 100 }]
  // "ServiceConfig": a deployment leaves a traffic split as it is but for `allTrafficOnLatestRevision`; so does
  // "Rollbacks, gradual rollouts, and traffic migration", "Lifecycle of traffic splits".
  const traffic = present && !allTraffic ? present.spec.traffic : latest
  const service = present ?? newService(call, name)
  update(call, name, service, { template, traffic })
  return service.status.latestReadyRevisionName
}

function newService(call: Call, name: string): Service {
  const [, , , location = '', , id = ''] = name.split('/')
  const metadata: Metadata = {
    name: id,
    namespace: call.state.projects[call.params['project']!]!.number,
    generation: 0,
    annotations: {},
    labels: { 'cloud.googleapis.com/location': location, 'goog-managed-by': 'cloudfunctions' },
  }
  const service = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', metadata } as unknown as Service
  return create(call.state, name, service) as Service
}

function replace(call: Call): Json {
  const { name } = call
  const present = get(call.state, name) as Service
  const { metadata, spec } = structuredClone(call.body) as Service
  if (metadata.annotations[invokerCheckDisabled] !== present.metadata.annotations[invokerCheckDisabled])
    demand(call, 'run.services.setIamPolicy', [`projects/${call.params['project']}`, name])
  demandActAs(call, call.params['project']!, spec.template.spec.serviceAccountName)
  update(call, name, present, spec)
  present.metadata.annotations = metadata.annotations
  return present
}

/** A changed template is a new revision; traffic goes where the service says. */
function update(call: Call, name: string, service: Service, { template, traffic }: Service['spec']): void {
  const isNew = canonical(template) !== canonical(service.spec?.template)
  const generation = service.metadata.generation + 1
  const latest = isNew
    ? addRevision(call, name, template, generation)
    : service.status.latestReadyRevisionName
  checkTraffic(call.state, name, traffic)
  service.metadata.generation = generation
  service.spec = { template, traffic }
  const ready = ['Ready', 'ConfigurationsReady', 'RoutesReady'].map(type => ({ type, status: 'True' }))
  const url = serviceUrl(call.address, name)
  service.status = {
    observedGeneration: generation,
    conditions: ready,
    latestReadyRevisionName: latest,
    latestCreatedRevisionName: latest,
    traffic: traffic.map(target => ({
      ...target,
      revisionName: target.latestRevision ? latest : target.revisionName!,
      ...(target.tag ? { url: serviceUrl(call.address, name, target.tag) } : {}),
    })),
    url,
    address: { url },
  }
}

/** Clients send fields in an order of their own, and leave out what is empty. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    const entries = Object.entries(part).filter(([, one]) => JSON.stringify(one) !== '{}')
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

function addRevision(call: Call, service: string, template: Template, generation: number): string {
  const id = service.split('/').at(-1)!
  const letters = generation
    .toString(26)
    .padStart(3, '0')
    .replaceAll(/./g, digit => 'abcdefghijklmnopqrstuvwxyz'[Number.parseInt(digit, 26)]!)
  const name = template.metadata.name ?? `${id}-${String(generation).padStart(5, '0')}-${letters}`
  const labels = {
    'serving.knative.dev/service': id,
    'cloud.googleapis.com/location': call.params['location']!,
  }
  create(call.state, `${service}/revisions/${name}`, {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Revision',
    metadata: {
      ...template.metadata,
      name,
      labels,
      generation: 1,
      creationTimestamp: new Date().toISOString(),
    },
    spec: template.spec,
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
  return name
}

/** "TrafficTarget": shares sum up to 100, revisions are there, and a tag is given once. */
function checkTraffic(state: State, service: string, traffic: Traffic[]): void {
  const sum = traffic.reduce((total, { percent = 0 }) => total + percent, 0)
  if (sum !== 100) invalid(`spec.traffic: Traffic targets must sum to 100, got ${sum}`)
  for (const { revisionName, latestRevision } of traffic)
    if (!latestRevision && !state.resources[`${service}/revisions/${revisionName}`])
      throw new Refusal('NOT_FOUND', `Revision '${revisionName}' is not found.`)
  const tags = traffic.flatMap(({ tag }) => tag ?? [])
  if (new Set(tags).size < tags.length) invalid('spec.traffic: duplicate tag')
}

/** With its revisions and policies; a service that is not there is no error. */
export function removeService(state: State, name: string): void {
  for (const other of Object.keys(state.resources)) if (other.startsWith(`${name}/`)) remove(state, other)
  if (state.resources[name]) remove(state, name)
}

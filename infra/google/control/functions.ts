/**
 * The Cloud Functions API (2nd gen) and the Cloud Run Admin API (version 2): a function is a build of its source and a service,
 * of which each deployment is a revision. Which of them gets the traffic is decided at the service.
 */
import { randomBytes } from 'node:crypto'
import type { Service as Deployed, Target } from '../../deploy/functions.ts'
import { demand, demandActAs, isPermitted, policyRoutes } from './access.ts'
import { invalid, masked, operate, polled, projectOf, refuse, route } from './plane.ts'
import type { Call, Json, State } from './plane.ts'

interface Function extends Json {
  name: string
  buildConfig: {
    runtime?: string
    entryPoint?: string
    serviceAccount?: string
    source?: { storageSource?: { bucket?: string; object?: string } }
  }
  serviceConfig: Settings & Json
}

interface Settings {
  serviceAccountEmail?: string
  allTrafficOnLatestRevision?: boolean
  availableMemory?: string
  availableCpu?: string
  timeoutSeconds?: number
  maxInstanceRequestConcurrency?: number
  minInstanceCount?: number
  maxInstanceCount?: number
  environmentVariables?: Record<string, string>
}

export interface Service extends Deployed {
  name: string
  template: { serviceAccount: string }
  traffic: Target[]
  trafficStatuses: NonNullable<Deployed['trafficStatuses']>
}

export interface Revision extends Json {
  name: string
  /** Name of what was uploaded. */
  source: string
  entryPoint: string
  serviceAccount: string
  env: Record<string, string>
}

const functionsAt = 'cloudfunctions/v2/projects/{project}/locations/{location}'
const functions = `${functionsAt}/functions`
const servicesAt = 'run/v2/projects/{project}/locations/{location}'
const service = `${servicesAt}/services/{service}`

/** "Runtime support": those that are not past their decommission date in November 2026, of Node. */
const runtimes = ['nodejs22', 'nodejs24']

export const functionRoutes = [
  route('GET', `${functionsAt}/runtimes`, null, () => ({
    runtimes: runtimes.map(name => ({ name, environment: 'GEN_2', stage: 'GA' })),
  })),
  route('POST', `${functions}:generateUploadUrl`, 'cloudfunctions.functions.sourceCodeSet', uploadUrl),
  route('GET', `${functions}/{function}`, 'cloudfunctions.functions.get', withTraffic),
  route('POST', functions, 'cloudfunctions.functions.create', call => {
    const name = `${call.name}/${call.query.get('functionId')}`
    call.state.assertNew(name)
    return deploy(call, { ...call.body, name } as Function)
  }),
  route('PATCH', `${functions}/{function}`, 'cloudfunctions.functions.update', call =>
    deploy(call, masked(call, call.state.get(call.name) as Function)),
  ),
  route('DELETE', `${functions}/{function}`, 'cloudfunctions.functions.delete', call => {
    call.state.get(call.name)
    for (const name of [call.name, serviceOf(call.name)]) call.state.remove(name)
    return operation(call, call.name, { response: {} })
  }),
  route('GET', `${functionsAt}/operations/{operation}`, null, polled),
  route('GET', service, 'run.services.get', ({ state, name }) => state.get(name)),
  route('PATCH', service, 'run.services.update', updateService),
  ...policyRoutes(service, 'run.services'),
  route('GET', `${servicesAt}/operations/{operation}`, null, polled),
]

function serviceOf(name: string): string {
  return name.replace('/functions/', '/services/')
}

function uploadUrl({ address, params }: Call): Json {
  const bucket = `gcf-v2-uploads-${params['location']}`
  const object = `${randomBytes(8).toString('hex')}.zip`
  return { uploadUrl: `${address}/upload/${bucket}/${object}`, storageSource: { bucket, object } }
}

/** Takes what is put at an upload URL. */
export function keepSource(state: State, path: string, bytes: Buffer): Json {
  state.resources[path.slice(1)] = { zip: bytes.toString('base64') }
  return {}
}

/** "ServiceConfig": `allTrafficOnLatestRevision` is read off the service. */
function withTraffic({ state, name }: Call): Json {
  const found = state.get(name) as Function
  const { traffic } = state.get(serviceOf(name)) as Service
  const all = traffic.some(({ type, percent }) => type === latest && percent === 100)
  return { ...found, serviceConfig: { ...found.serviceConfig, allTrafficOnLatestRevision: all } }
}

// ---- a deployment

/** Checks what is checked before anything is built, builds, and makes a revision. */
async function deploy(call: Call, wanted: Function): Promise<Json> {
  const { buildConfig, serviceConfig } = wanted
  const { runtime = '', serviceAccount: builder = '', entryPoint = '' } = buildConfig
  if (!runtimes.includes(runtime)) invalid(`Runtime ${runtime} is not supported`)
  for (const account of [serviceConfig.serviceAccountEmail, builder]) demandActAs(call, account)
  const { bucket, object } = buildConfig.source?.storageSource ?? {}
  const source = `upload/${bucket}/${object}`
  checkSource(call.state.resources[source])
  const past = limits.find(([, is]) => is(serviceConfig))
  if (past) invalid(`Could not create Cloud Run service: ${past[0]}`)
  const missing = missingToBuild(call, builder.split('/').at(-1)!)
  if (missing) return failed(call, wanted, `Build failed: ${missing}`)

  const name = serviceOf(wanted.name)
  const before = call.state.resources[name] as Service | undefined
  const generation = Number(before?.['generation'] ?? 0) + 1
  const revision = `${name.split('/').at(-1)}-${String(generation).padStart(5, '0')}-abc`
  const made = {
    name: `${name}/revisions/${revision}`,
    source,
    entryPoint,
    serviceAccount: serviceConfig.serviceAccountEmail ?? '',
    env: serviceConfig.environmentVariables ?? {},
  } satisfies Revision
  try {
    await call.start(made)
  } catch (error) {
    return failed(call, wanted, `Container Healthcheck failed for ${entryPoint}: ${(error as Error).message}`)
  }
  const uri = serviceUrl(call.address, name)
  const template = { serviceAccount: made.serviceAccount }
  const after = { ...before, name, generation, uri, template, latestReadyRevision: made.name } as Service
  // "ServiceConfig": a deployment leaves a traffic split as it is but for `allTrafficOnLatestRevision`; so does
  // "Rollbacks, gradual rollouts, and traffic migration", "Lifecycle of traffic splits".
  const keeps = before && serviceConfig.allTrafficOnLatestRevision !== true
  send(call, after, keeps ? before.traffic : [{ type: latest, percent: 100 }])
  Object.assign(serviceConfig, { service: name, uri, revision })
  Object.assign(wanted, { environment: 'GEN_2', state: 'ACTIVE', url: uri })
  Object.assign(call.state.resources, { [made.name]: made, [name]: after, [wanted.name]: wanted })
  return operation(call, wanted.name, { response: wanted })
}

function failed(call: Call, { name }: Function, message: string): Json {
  return operation(call, name, { error: { code: 3, message } })
}

function operation(call: Call, target: string, result: Json): Json {
  const stages = ['BUILD', 'SERVICE'].map(name => ({ name, state: 'COMPLETE' }))
  const type = 'type.googleapis.com/google.cloud.functions.v2.OperationMetadata'
  const metadata = { '@type': type, target, stages }
  return operate(call, `${target.replace(/\/functions\/.*/, '')}/operations`, { ...result, metadata })
}

/** The buildpack finds Node.js by `package.json`. */
function checkSource(source?: Json): void {
  const bytes = Buffer.from((source?.['zip'] ?? invalid('The source was not uploaded')) as string, 'base64')
  if (!bytes.subarray(0, 2).equals(Buffer.from('PK'))) invalid('The source is no archive')
  if (!bytes.includes('package.json')) invalid('Build failed: no buildpack groups passed detection')
}

/** "Cloud Run functions: configure memory, CPU, timeout, concurrency, environment variables": what is refused. */
const limits: [words: string, is: (settings: Settings) => boolean][] = [
  ['timeout: 1 to 3600 seconds', ({ timeoutSeconds: s = 60 }) => s < 1 || s > 3600],
  ['concurrency: 1 to 1000', ({ maxInstanceRequestConcurrency: n = 1 }) => n < 1 || n > 1000],
  ['concurrency above 1 needs a CPU', one => (one.maxInstanceRequestConcurrency ?? 1) > 1 && cpus(one) < 1],
  ['memory above 4Gi needs 2 CPUs', one => gibibytes(one) > 4 && cpus(one) < 2],
  ['memory: at most 32Gi', one => gibibytes(one) > 32],
  ['min instances: at most max instances', ({ minInstanceCount: n = 0, maxInstanceCount: m = 100 }) => n > m],
  [
    'a reserved environment variable',
    ({ environmentVariables = {} }) => Object.keys(environmentVariables).some(isReserved),
  ],
]

const isReserved = (name: string) =>
  /^(K_|X_GOOGLE_)|^(PORT|FUNCTION_TARGET|FUNCTION_SIGNATURE_TYPE)$/.test(name)
const cpus = ({ availableCpu: cpu = '1' }: Settings) =>
  cpu.endsWith('m') ? parseInt(cpu) / 1000 : Number(cpu)
const gibibytes = ({ availableMemory: text = '256Mi' }: Settings) =>
  parseFloat(text) / (text.includes('G') ? 1 : 1024)

/** APIs that the service of functions calls in the project. */
const behind = ['artifactregistry', 'cloudbuild', 'logging', 'run', 'storage'].map(
  name => `${name}.googleapis.com`,
)

/** "Custom service account for Cloud Build" of Cloud Run functions: what the account of a function's build needs. */
const toBuild = [
  'logging.logEntries.create',
  'artifactregistry.repositories.uploadArtifacts',
  'storage.objects.get',
]

function missingToBuild(call: Call, builder: string): string | undefined {
  const [id, { apis }] = projectOf(call)
  const disabled = behind.find(api => !apis.includes(api))
  if (disabled) return `${disabled} is not enabled`
  const right = toBuild.find(one => !isPermitted(call.state, builder, one, `projects/${id}`))
  return right && `${builder} lacks ${right}`
}

// ---- the service

const latest = 'TRAFFIC_TARGET_ALLOCATION_TYPE_LATEST'

/** `https://candidate---query-hash-ew.a.run.app` is `ADDRESS/run.app/candidate---query.europe-west1` here. */
export function serviceUrl(address: string, name: string, tag?: string): string {
  const [, , , location, , id] = name.split('/')
  return `${address}/run.app/${tag ? `${tag}---` : ''}${id}.${location}`
}

/** Who may call a service is decided by whoever may set its policy. */
function updateService(call: Call): Json {
  const { state, name, query } = call
  const present = state.get(name) as Service
  const wanted = masked(call, present)
  const mask = query.get('updateMask')!.split(',')
  const other = mask.find(field => !['traffic', 'invokerIamDisabled'].includes(field))
  if (other) invalid(`the stand-in changes traffic and invokerIamDisabled, not ${other}`)
  if (mask.includes('invokerIamDisabled')) {
    demand(call, 'run.services.setIamPolicy', name)
    if (projectOf(call)[1].constraints['run.managed.requireInvokerIam'])
      refuse('FAILED_PRECONDITION', 'Constraint run.managed.requireInvokerIam is violated')
  }
  demandActAs(call, present.template.serviceAccount)
  checkTraffic(state, name, wanted.traffic)
  send(call, wanted, wanted.traffic)
  state.resources[name] = wanted
  return operate(call, name.replace(/services\/.*/, 'operations'), { response: wanted })
}

function send({ address }: Call, service: Service, traffic: Target[]): void {
  service.traffic = traffic
  service.trafficStatuses = traffic.map(({ tag, ...target }) => ({
    ...target,
    revision: target.type === latest ? service.latestReadyRevision.split('/').at(-1)! : target.revision!,
    ...(tag ? { tag, uri: serviceUrl(address, service.name, tag) } : {}),
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

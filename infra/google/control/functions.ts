/** The Cloud Functions API (2nd gen): a function is a build of its source and a Cloud Run service. */
import { randomBytes } from 'node:crypto'
import { demandActAs, isPermitted } from './permissions.ts'
import {
  assertNew,
  type Call,
  get,
  invalid,
  type Json,
  list,
  masked,
  operate,
  pageOf,
  polled,
  projectOf,
  remove,
  route,
  type State,
} from './plane.ts'
import { deployRevision, type Service, serviceUrl } from './run.ts'

interface Function extends Json {
  name: string
  buildConfig: {
    runtime?: string
    entryPoint?: string
    serviceAccount?: string
    source?: { storageSource?: { bucket?: string; object?: string } }
  }
  serviceConfig: { serviceAccountEmail?: string; allTrafficOnLatestRevision?: boolean } & Json
}

const location = 'cloudfunctions/v2/projects/{project}/locations/{location}'
const functions = `${location}/functions`

/** "Runtime support": those that are not past their decommission date in November 2026, of Node. */
const runtimes = ['nodejs22', 'nodejs24']

export const functionRoutes = [
  route('GET', `${location}/runtimes`, null, () => ({
    runtimes: runtimes.map(name => ({ name, environment: 'GEN_2', stage: 'GA' })),
  })),
  route('POST', `${functions}:generateUploadUrl`, 'cloudfunctions.functions.sourceCodeSet', uploadUrl),
  route('GET', functions, 'cloudfunctions.functions.list', ({ state, name, query }) =>
    pageOf('functions', list(state, name), query),
  ),
  route('GET', `${functions}/{function}`, 'cloudfunctions.functions.get', withTraffic),
  route('POST', functions, 'cloudfunctions.functions.create', call => {
    const name = `${call.name}/${call.query.get('functionId')}`
    assertNew(call.state, name)
    return deploy(call, { ...call.body, name } as Function)
  }),
  route('PATCH', `${functions}/{function}`, 'cloudfunctions.functions.update', call =>
    deploy(call, masked(call, get(call.state, call.name) as Function)),
  ),
  route('DELETE', `${functions}/{function}`, 'cloudfunctions.functions.delete', call => {
    for (const name of [get(call.state, call.name)['name'], serviceOf(call.name)])
      remove(call.state, String(name))
    return operation(call, { response: {} }, call.name)
  }),
  route('GET', `${location}/operations/{operation}`, null, polled),
]

function serviceOf(name: string): string {
  return name.replace('/functions/', '/services/')
}

function uploadUrl({ address, params }: Call): Json {
  const bucket = `gcf-v2-uploads-${params['location']}`
  const object = `${randomBytes(8).toString('hex')}.zip`
  return { uploadUrl: `${address}/upload/${bucket}/${object}`, storageSource: { bucket, object } }
}

/** "ServiceConfig": `allTrafficOnLatestRevision` is read off the service. */
function withTraffic({ state, name }: Call): Json {
  const found = get(state, name) as Function
  const { traffic } = get(state, serviceOf(name)) as Service
  const all = traffic.some(({ type, percent }) => type.endsWith('_LATEST') && percent === 100)
  return { ...found, serviceConfig: { ...found.serviceConfig, allTrafficOnLatestRevision: all } }
}

/** Checks what is checked before anything is built, builds, and makes a revision. */
function deploy(call: Call, wanted: Function): Json {
  const project = call.params['project']!
  const { buildConfig, serviceConfig } = wanted
  if (!runtimes.includes(buildConfig.runtime ?? ''))
    invalid(`Runtime ${buildConfig.runtime} is not supported`)
  const builder = buildConfig.serviceAccount?.split('/').at(-1) ?? ''
  for (const account of [serviceConfig.serviceAccountEmail ?? '', builder])
    demandActAs(call, project, account)
  const { bucket, object } = buildConfig.source?.storageSource ?? {}
  const source = `upload/${bucket}/${object}`
  if (!call.state.resources[source]) invalid('The source was not uploaded')
  checkSettings(serviceConfig as Settings)
  checkSource(call.state.resources[source])
  const missing = missingToBuild(call, builder)
  const error = { code: 3, message: `Build failed: ${builder} lacks ${missing}` }
  if (missing) return operation(call, { error }, wanted.name)

  const service = serviceOf(wanted.name)
  const annotations = { 'cloudfunctions.googleapis.com/source': source }
  const revision = deployRevision(call, service, annotations, serviceConfig)
  const uri = serviceUrl(call.address, service)
  Object.assign(serviceConfig, { service, uri, revision })
  Object.assign(wanted, { environment: 'GEN_2', state: 'ACTIVE', url: uri })
  call.state.resources[wanted.name] = wanted
  return operation(call, { response: wanted }, wanted.name)
}

interface Settings {
  availableMemory?: string
  availableCpu?: string
  timeoutSeconds?: number
  maxInstanceRequestConcurrency?: number
  minInstanceCount?: number
  maxInstanceCount?: number
  environmentVariables?: Record<string, string>
}

/** "Cloud Run functions: configure memory, CPU, timeout, concurrency, environment variables": what is refused. */
const refused: [words: string, is: (settings: Settings) => boolean][] = [
  ['timeout: 1 to 3600 seconds', ({ timeoutSeconds: s = 60 }) => s < 1 || s > 3600],
  ['concurrency: 1 to 1000', ({ maxInstanceRequestConcurrency: n = 1 }) => n < 1 || n > 1000],
  [
    'concurrency above 1 needs a CPU',
    ({ maxInstanceRequestConcurrency: n = 1, availableCpu }) => n > 1 && cpuOf(availableCpu) < 1,
  ],
  ['memory above 4Gi needs 2 CPUs', one => gibibytes(one) > 4 && cpuOf(one.availableCpu) < 2],
  ['memory: at most 32Gi', one => gibibytes(one) > 32],
  ['min instances: at most max instances', ({ minInstanceCount: n = 0, maxInstanceCount: m = 100 }) => n > m],
  [
    'a reserved environment variable',
    ({ environmentVariables = {} }) =>
      Object.keys(environmentVariables).some(name =>
        /^(K_|X_GOOGLE_)|^(PORT|FUNCTION_TARGET|FUNCTION_SIGNATURE_TYPE)$/.test(name),
      ),
  ],
]

function cpuOf(cpu = '1'): number {
  return cpu.endsWith('m') ? parseInt(cpu) / 1000 : Number(cpu)
}

function gibibytes({ availableMemory = '256Mi' }: Settings): number {
  return parseFloat(availableMemory) / (availableMemory.includes('G') ? 1 : 1024)
}

function checkSettings(settings: Settings): void {
  for (const [words, is] of refused) if (is(settings)) invalid(`Could not create Cloud Run service: ${words}`)
}

/** The buildpack finds Node.js by `package.json`. */
function checkSource({ zip }: Json = {}): void {
  const bytes = Buffer.from(zip as string, 'base64')
  if (!bytes.subarray(0, 2).equals(Buffer.from('PK'))) invalid('The source is no archive')
  if (!bytes.includes('package.json')) invalid('Build failed: no buildpack groups passed detection')
}

/** APIs that the service of functions calls in the project. */
const behind = ['artifactregistry', 'cloudbuild', 'logging', 'run', 'storage'].map(
  name => `${name}.googleapis.com`,
)

/** "Custom service account for Cloud Build" of Cloud Run functions: what the account of a function's build needs. */
const toBuild =
  'logging.logEntries.create artifactregistry.repositories.uploadArtifacts storage.objects.get'.split(' ')

function missingToBuild({ state, params }: Call, builder: string): string | undefined {
  const { apis } = projectOf({ state, params })[1]
  const disabled = behind.find(api => !apis.includes(api))
  if (disabled) return `${disabled}, which is not enabled`
  return toBuild.find(one => !isPermitted(state, builder, one, [`projects/${params['project']}`]))
}

function operation(call: Call, result: { response?: Json; error?: Json }, target: string): Json {
  const stages = ['BUILD', 'SERVICE'].map(name => ({ name, state: 'COMPLETE' }))
  const type = 'type.googleapis.com/google.cloud.functions.v2.OperationMetadata'
  const metadata = { '@type': type, target, stages }
  return operate(call, `${target.replace(/\/functions\/.*/, '')}/operations`, { ...result, metadata })
}

/** Takes what is put at an upload URL. */
export function keepSource(state: State, path: string, bytes: Buffer): Json {
  state.resources[path.slice(1)] = { zip: bytes.toString('base64') }
  return {}
}

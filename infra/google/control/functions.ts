/** The Cloud Functions API (2nd gen): a function is a build of its source and a Cloud Run service. */
import { randomBytes } from 'node:crypto'
import { demandActAs, isPermitted } from './permissions.ts'
import {
  type Call,
  create,
  get,
  type Json,
  list,
  operate,
  operationRoute,
  patch,
  Refusal,
  remove,
  type Route,
  type State,
} from './plane.ts'
import { deployRevision, removeService, type Service, serviceUrl } from './run.ts'

interface Function extends Json {
  name: string
  buildConfig: {
    runtime?: string
    entryPoint?: string
    serviceAccount?: string
    source?: { storageSource?: Json }
  }
  serviceConfig: { serviceAccountEmail?: string; allTrafficOnLatestRevision?: boolean } & Json
}

const parent = 'cloudfunctions/v2/projects/{project}/locations/{location}'
const parentName = ({ params }: Call) => `projects/${params['project']}/locations/${params['location']}`
const functionName = (call: Call) => `${parentName(call)}/functions/${call.params['function']}`

/** "Runtime support": those that are not past their decommission date in November 2026, of Node. */
const runtimes = ['nodejs22', 'nodejs24']

export const functionRoutes: Route[] = [
  {
    method: 'GET',
    path: `${parent}/runtimes`,
    permission: null,
    handle: () => ({ runtimes: runtimes.map(name => ({ name, environment: 'GEN_2', stage: 'GA' })) }),
  },
  {
    method: 'POST',
    path: `${parent}/functions:generateUploadUrl`,
    permission: 'cloudfunctions.functions.sourceCodeSet',
    handle: call => {
      const storageSource = {
        bucket: `gcf-v2-uploads-${call.params['location']}`,
        object: `${randomBytes(8).toString('hex')}.zip`,
      }
      return {
        uploadUrl: `${call.address}/upload/${storageSource.bucket}/${storageSource.object}`,
        storageSource,
      }
    },
  },
  {
    method: 'GET',
    path: `${parent}/functions`,
    permission: 'cloudfunctions.functions.list',
    handle: call => ({ functions: list(call.state, `${parentName(call)}/functions`) }),
  },
  {
    method: 'GET',
    path: `${parent}/functions/{function}`,
    permission: 'cloudfunctions.functions.get',
    handle: call => withTraffic(call, get(call.state, functionName(call)) as Function),
  },
  {
    method: 'POST',
    path: `${parent}/functions`,
    permission: 'cloudfunctions.functions.create',
    handle: call => {
      const name = `${parentName(call)}/functions/${call.query.get('functionId')}`
      const wanted = { ...call.body, name } as Function
      if (call.state.resources[name]) throw new Refusal('ALREADY_EXISTS', `Resource '${name}' already exists`)
      return deploy(call, wanted, () => create(call.state, name, wanted))
    },
  },
  {
    method: 'PATCH',
    path: `${parent}/functions/{function}`,
    permission: 'cloudfunctions.functions.update',
    handle: call => {
      const present = get(call.state, functionName(call))
      const wanted = structuredClone(present) as Function
      patch(wanted, call.body, call.query.get('updateMask')!.split(','))
      return deploy(call, wanted, () => (call.state.resources[wanted.name] = wanted))
    },
  },
  {
    method: 'DELETE',
    path: `${parent}/functions/{function}`,
    permission: 'cloudfunctions.functions.delete',
    handle: call => {
      const name = functionName(call)
      remove(call.state, name)
      removeService(call.state, name.replace('/functions/', '/services/'))
      return operation(call, { response: {} }, name)
    },
  },
  operationRoute(`${parent}/operations/{operation}`),
]

/** "ServiceConfig": `allTrafficOnLatestRevision` is read off the service. */
function withTraffic({ state }: Call, found: Function): Json {
  const { spec } = get(state, found.name.replace('/functions/', '/services/')) as Service
  const all = spec.traffic.some(({ latestRevision, percent }) => latestRevision === true && percent === 100)
  return { ...found, serviceConfig: { ...found.serviceConfig, allTrafficOnLatestRevision: all } }
}

/** Checks what is checked before anything is built, builds, and makes a revision. */
function deploy(call: Call, wanted: Function, keep: () => void): Json {
  const project = call.params['project']!
  const { buildConfig, serviceConfig } = wanted
  if (!runtimes.includes(buildConfig.runtime ?? ''))
    throw new Refusal('INVALID_ARGUMENT', `Runtime ${buildConfig.runtime} is not supported`)
  const builder = buildConfig.serviceAccount?.split('/').at(-1) ?? ''
  for (const account of [serviceConfig.serviceAccountEmail ?? '', builder])
    demandActAs(call, project, account)
  const source = sourceName((buildConfig.source?.storageSource ?? {}) as { bucket: string; object: string })
  if (!call.state.resources[source]) throw new Refusal('INVALID_ARGUMENT', 'The source was not uploaded')
  const missing = missingToBuild(call, builder)
  if (missing)
    return operation(
      call,
      { error: { code: 3, message: `Build failed: ${builder} lacks ${missing}` } },
      wanted.name,
    )

  const service = wanted.name.replace('/functions/', '/services/')
  const revision = deployRevision(call, service, {
    annotations: { 'cloudfunctions.googleapis.com/source': source },
    serviceConfig,
    allTraffic: serviceConfig.allTrafficOnLatestRevision === true,
  })
  const uri = serviceUrl(call.address, service)
  Object.assign(serviceConfig, { service, uri, revision })
  Object.assign(wanted, { environment: 'GEN_2', state: 'ACTIVE', url: uri })
  keep()
  return operation(call, { response: wanted }, wanted.name)
}

/** "Custom service account for Cloud Build" of Cloud Run functions: what the account of a function's build needs. */
function missingToBuild({ state, params }: Call, builder: string): string | undefined {
  return [
    'logging.logEntries.create',
    'artifactregistry.repositories.uploadArtifacts',
    'storage.objects.get',
  ].find(permission => !isPermitted(state, builder, permission, [`projects/${params['project']}`]))
}

function operation(call: Call, result: { response?: Json; error?: Json }, target: string): Json {
  const stages = ['BUILD', 'SERVICE'].map(name => ({ name, state: 'COMPLETE' }))
  const metadata = {
    '@type': 'type.googleapis.com/google.cloud.functions.v2.OperationMetadata',
    target,
    stages,
  }
  return operate(call, `${parentName(call)}/operations`, { ...result, metadata })
}

function sourceName({ bucket, object }: { bucket: string; object: string }): string {
  return `upload/${bucket}/${object}`
}

/** Takes what is put at an upload URL. */
export function keepSource(state: State, path: string, bytes: Buffer): Json {
  state.resources[path.slice(1)] = { zip: bytes.toString('base64') }
  return {}
}

/**
 * A strict stand-in for Google's control plane: gcloud, bq and Google's clients talk to it as to Google, and it refuses
 * what Google refuses. One server for all APIs; the first segment of a path names the API.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { bigQueryRoutes } from './bigquery.ts'
import { buildRoutes } from './builds.ts'
import { firestoreRoutes } from './firestore.ts'
import { functionRoutes, keepSource } from './functions.ts'
import { monitoringRoutes } from './monitoring.ts'
import { demand } from './permissions.ts'
import {
  type Call,
  get,
  invalid,
  isNews,
  type Json,
  projectOf,
  Refusal,
  refuse,
  type Route,
  type State,
} from './plane.ts'
import { projectRoutes } from './projects.ts'
import { runRoutes } from './run.ts'
import { schedulerRoutes } from './scheduler.ts'
import { shapeFault } from './shapes.ts'
import { forward, type Processes } from './serving.ts'

export interface ControlPlane {
  address: string
  state: State
  /** What was asked, as `owner@example.com POST /iam/v1/projects/p/serviceAccounts 200`. */
  calls: string[]
  /** Hears of each call as its effect is there and before its answer leaves. */
  watch: (call: string) => void
  stop(): Promise<void>
}

/** A project as its owner has it after creating it and paying for it. */
export function newProject(id: string, owner = 'owner@example.com'): State {
  return {
    // Of those that "Enabled services" of Service Usage lists the one that cannot be missing.
    projects: {
      [id]: {
        number: '123456789012',
        apis: ['serviceusage.googleapis.com'],
        isBilled: true,
        constraints: {},
        news: null,
      },
    },
    policies: { [`projects/${id}`]: { bindings: [{ role: 'roles/owner', members: [`user:${owner}`] }] } },
    resources: {},
    operations: {},
    refused: [],
  }
}

/**
 * With credentials of a user these are called on behalf of gcloud's own project, not of the project in question;
 * for a service account it is the account's project that must have them enabled ("Project and quota", gcloud's
 * `billing/quota_project`).
 */
const freeForUsers = ['cloudbilling', 'cloudresourcemanager', 'serviceusage'].map(
  api => `${api}.googleapis.com`,
)

const routes: Route[] = [
  ...projectRoutes,
  ...firestoreRoutes,
  ...bigQueryRoutes,
  ...functionRoutes,
  ...runRoutes,
  ...buildRoutes,
  ...schedulerRoutes,
  ...monitoringRoutes,
]

const compiled = routes.map(route => ({
  route,
  pattern: new RegExp(`^/${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/:]+)')}$`),
}))

/**
 * Starts it on a free port of this machine, with the state that is given.
 * @param processes for requests to the services; without it they have no answer
 */
export async function startControlPlane(state: State, processes?: Processes): Promise<ControlPlane> {
  const calls: string[] = []
  const server = createServer((req, res) => {
    if (processes && req.url?.startsWith('/run.app/')) {
      void forward(req, res, { state, address, processes })
      return
    }
    void buffer(req).then(body => {
      const [status, answer] = serve(req, body, state, address)
      const call = `${callerOf(req) ?? 'unknown'} ${req.method} ${pathOf(req).pathname} ${status}`
      calls.push(call)
      plane.watch(call)
      send(res, status, answer)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const plane: ControlPlane = {
    address,
    state,
    calls,
    watch: () => {},
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return plane
}

/** What gcloud and bq need in their environment to call it as `account`, whose name is in `tokenFile`. */
export function clientEnvironment(
  address: string,
  { configFolder, tokenFile }: Record<'configFolder' | 'tokenFile', string>,
) {
  const apis = new Set(routes.map(({ path }) => path.split('/')[0]!))
  const overrides = [...apis].map(api => [
    `CLOUDSDK_API_ENDPOINT_OVERRIDES_${api.toUpperCase()}`,
    `${address}/${api}/`,
  ])
  return {
    ...(Object.fromEntries(overrides) as Record<string, string>),
    CLOUDSDK_API_ENDPOINT_OVERRIDES_OAUTH2: `${address}/oauth2/`,
    CLOUDSDK_CONFIG: configFolder,
    CLOUDSDK_AUTH_ACCESS_TOKEN_FILE: tokenFile,
    CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
    CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: '1',
  }
}

function serve(req: IncomingMessage, text: Buffer, state: State, address: string): [number, Json] {
  const { pathname: asked, searchParams: query } = pathOf(req)
  // Google's clients for Node.js take a host and no path; the only one in use is that of Cloud Scheduler.
  const pathname = asked.startsWith('/v1/') ? `/cloudscheduler${asked}` : asked
  try {
    if (req.method === 'PUT' && pathname.startsWith('/upload/'))
      return [200, keepSource(state, pathname, text)]
    const caller = callerOf(req)
    if (!caller) refuse('UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    if (pathname === '/oauth2/tokeninfo') return [200, { email: caller }]
    const body = text.length > 0 ? (JSON.parse(text.toString()) as Json) : undefined
    const fault = shapeFault(req.method ?? '', pathname.slice(1), query, body)
    if (fault) invalid(fault)
    const { route, params } = find(req.method ?? '', pathname)
    if (params['project'] !== undefined) params['project'] = projectId(state, params)
    const name = nameOf(route.path, params)
    const call: Call = { caller, params, name, query, body: body ?? {}, state, address }
    check(call, route)
    for (const kind of ['dataset', 'database'])
      if (params[kind]) get(state, `projects/${params['project']}/${kind}s/${params[kind]}`)
    return [200, route.handle(call)]
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.body]
    return [500, { error: { code: 500, status: 'INTERNAL', message: String((error as Error).stack) } }]
  }
}

function find(method: string, path: string): { route: Route; params: Record<string, string> } {
  for (const { route, pattern } of compiled) {
    const match = route.method === method ? pattern.exec(path) : null
    if (match) return { route, params: { ...match.groups } }
  }
  return refuse('UNIMPLEMENTED', `the stand-in has no ${method} ${path}`)
}

/** Projects go by id and by number, and those of accounts by `-` too. */
function projectId(state: State, params: Call['params']): string {
  // `lqe-build@my-project.iam.gserviceaccount.com` is of `my-project`.
  const ofAccount = /@([^.]+)\./.exec(params['account'] ?? params['id'] ?? '')?.[1] ?? ''
  const project = params['project'] === '-' ? ofAccount : params['project']!
  return projectOf({ state, params: { project } })[0]
}

/** `bigquery/v2/projects/{project}/datasets/{dataset}` becomes `projects/p/datasets/d`. */
function nameOf(path: string, params: Call['params']): string {
  return path
    .replace(/:\w+$/, '')
    .replace(/^\w+\/v\d\//, '')
    .replaceAll(/\{(\w+)\}/g, (_, key: string) => params[key] ?? '-')
}

/** The resource and all that it is in: `projects/p/datasets/d/tables` is in `projects/p/datasets/d` and `projects/p`. */
export function withParents(name: string): string[] {
  const segments = name.split('/')
  const lengths = Array.from({ length: Math.floor(segments.length / 2) }, (_, at) => 2 * at + 2)
  return lengths.map(length => segments.slice(0, length).join('/'))
}

/** First the API, then the permission, as Google's front end does. */
function check(call: Call, { path, permission }: Route): void {
  const api = `${path.split('/')[0]}.googleapis.com`
  if (call.params['project'] === undefined) return // an operation
  const [, project] = projectOf(call)
  const { apis, number } = project
  const isUser = !call.caller.endsWith('.gserviceaccount.com')
  if ((!apis.includes(api) || isNews(project, api)) && !(isUser && freeForUsers.includes(api))) {
    call.state.refused.push(`${api} is not enabled`)
    refuse(
      'PERMISSION_DENIED',
      `${api} has not been used in project ${number} before or it is disabled. Enable it, then retry.`,
      ['SERVICE_DISABLED', 'googleapis.com', { service: api, consumer: `projects/${number}` }],
    )
  }
  if (permission) demand(call, permission, withParents(call.name))
}

function callerOf(req: IncomingMessage): string | undefined {
  return /^Bearer (\S+@\S+)$/.exec(req.headers.authorization ?? '')?.[1]
}

function pathOf(req: IncomingMessage): URL {
  const url = new URL(req.url ?? '/', 'http://localhost')
  url.pathname = decodeURIComponent(url.pathname)
  return url
}

function send(res: ServerResponse, status: number, answer: Json): void {
  res.writeHead(status, { 'Content-Type': 'application/json; charset=UTF-8' }).end(JSON.stringify(answer))
}

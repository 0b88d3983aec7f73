/**
 * A strict stand-in for Google's control plane: gcloud and the deployment talk to it as to Google, and it refuses what Google
 * refuses. One server for all APIs; the first segment of a path names the API.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { BigQueryError } from '../bigquery/errors.ts'
import { demand } from './access.ts'
import { firestoreRoutes } from './firestore.ts'
import { functionRoutes, keepSource } from './functions.ts'
import { invalid, isNews, projectOf, Refusal, refuse } from './plane.ts'
import type { Call, Json, Route, State } from './plane.ts'
import { projectRoutes } from './projects.ts'
import { resourceRoutes } from './resources.ts'
import { forward, type Processes } from './serving.ts'
import { shapeFault } from './shapes.ts'

export type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>

const routes = [...projectRoutes, ...firestoreRoutes, ...functionRoutes, ...resourceRoutes].map(route => ({
  ...route,
  pattern: new RegExp(`^/${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/:]+)')}$`),
}))

/**
 * Starts it on a free port of this machine, with the state that is given.
 * @param processes for requests to the services; without it they have no answer
 */
export async function startControlPlane(state: State, processes?: Processes) {
  const server = createServer((req, res) => {
    const { address } = plane
    if (processes && req.url?.startsWith('/run.app/'))
      return void forward(req, res, { state, address, processes })
    void answer(req, state, address, processes).then(([status, body]) => {
      const call = `${callerOf(req) ?? 'unknown'} ${req.method} ${pathOf(req).pathname} ${status}`
      plane.calls.push(call)
      plane.watch(call)
      res.writeHead(status, { 'Content-Type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const plane = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    /** What was asked, as `owner@example.com POST /iam/v1/projects/p/serviceAccounts 200`. */
    calls: [] as string[],
    /** Hears of each call as its effect is there and before its answer leaves. */
    watch: (_: string) => {},
    stop: async () => {
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
  return plane
}

/** Variables of gcloud and of the deployment that send them here. */
export function overrides(address: string): Record<string, string> {
  const apis = ['oauth2', ...routes.map(({ path }) => path.split('/')[0]!)]
  const name = (api: string) => `CLOUDSDK_API_ENDPOINT_OVERRIDES_${api.toUpperCase()}`
  return Object.fromEntries(apis.map(api => [name(api), `${address}/${api}/`]))
}

async function answer(
  req: IncomingMessage,
  state: State,
  address: string,
  processes?: Processes,
): Promise<[number, Json]> {
  const { method = '' } = req
  const { pathname: asked, searchParams: query } = pathOf(req)
  // Google's clients for Node.js take a host and no path; the only one in use is that of Cloud Scheduler.
  const pathname = asked.startsWith('/v1/') ? `/cloudscheduler${asked}` : asked
  try {
    const text = await buffer(req)
    if (method === 'PUT' && pathname.startsWith('/upload/')) return [200, keepSource(state, pathname, text)]
    const caller =
      callerOf(req) ?? refuse('UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    if (pathname === '/oauth2/tokeninfo') return [200, { email: caller }]
    const body = text.length > 0 ? (JSON.parse(text.toString()) as Json) : undefined
    const fault = shapeFault(method, pathname.slice(1), query, body)
    if (fault) invalid(fault)
    const route = routes.find(one => one.method === method && one.pattern.test(pathname))
    if (!route) return refuse('UNIMPLEMENTED', `the stand-in has no ${method} ${pathname}`)
    const params = { ...route.pattern.exec(pathname)!.groups }
    if (params['project'] !== undefined) params['project'] = projectId(state, params)
    const start = async (revision: Json) => processes?.(revision as never, state)
    const name = nameOf(route.path, params)
    const call: Call = { caller, params, name, query, body: body ?? {}, state, address, start }
    check(call, route)
    for (const kind of ['dataset', 'database'])
      if (params[kind]) state.get(`projects/${params['project']}/${kind}s/${params[kind]}`)
    return [200, await route.handle(call)]
  } catch (error) {
    if (error instanceof Refusal || error instanceof BigQueryError) return [error.status, error.body]
    return [500, { error: { code: 500, status: 'INTERNAL', message: String((error as Error).stack) } }]
  }
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

/**
 * With credentials of a user these are called on behalf of gcloud's own project, not of the project in question;
 * for a service account it is the account's project that must have them enabled ("Project and quota", gcloud's
 * `billing/quota_project`).
 */
const freeForUsers = ['cloudbilling', 'cloudresourcemanager', 'serviceusage']

/** First the API, then the permission, as Google's front end does. */
function check(call: Call, { path, permission }: Route): void {
  if (call.params['project'] === undefined) return // an operation
  const [, project] = projectOf(call)
  const [name = ''] = path.split('/')
  const api = `${name}.googleapis.com`
  const isFree = !call.caller.endsWith('.gserviceaccount.com') && freeForUsers.includes(name)
  if (!isFree && (!project.apis.includes(api) || isNews(project, api))) {
    call.state.refused.push(`${api} is not enabled`)
    refuse(
      'PERMISSION_DENIED',
      `${api} has not been used in project ${project.number} before or it is disabled. Enable it, then retry.`,
      'SERVICE_DISABLED',
    )
  }
  if (permission) demand(call, permission, call.name)
}

function callerOf(req: IncomingMessage): string | undefined {
  return /^Bearer (\S+@\S+)$/.exec(req.headers.authorization ?? '')?.[1]
}

function pathOf(req: IncomingMessage): URL {
  const url = new URL(req.url ?? '/', 'http://localhost')
  url.pathname = decodeURIComponent(url.pathname)
  return url
}

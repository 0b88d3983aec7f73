/** The query function: which address, which method. */
import type { HttpFunction } from '@google-cloud/functions-framework'
import type { Config } from '../shared/config.ts'
import { ApiError } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import type { Services } from '../shared/services.ts'
import { version } from '../shared/version.ts'
import { readBody } from './http/body.ts'
import { type Address, type Match, type Handler, addresses, finderOf } from './http/addresses.ts'
import { type Call, type Exchange, httpFunction } from './http/call.ts'
import { allowIssuersOrigins, allowOrigin, preflight } from './http/cors.ts'
import { describeResource, mcp } from './mcp/route.ts'
import { nothingHere } from './http/problem.ts'
import { authenticate, openToPages } from './query/access.ts'
import { answer } from './query/answer.ts'
import { draftEndpoint } from './query/draft.ts'
import { describeTables, explainEndpoint, listEndpoints } from './query/endpoints.ts'
import { explorerHandlers } from './query/explorer-files.ts'
import { describeApi } from './query/openapi.ts'
import { changeView, views } from './query/views.ts'
import { describeAlerts, describeAlertsOfEndpoint } from './query/alerts.ts'

type Handle = (call: Call) => Promise<void> | void

const handlers: Record<Exclude<Handler, 'page' | 'file'>, Handle> = {
  answer,
  list: listEndpoints,
  tables: describeTables,
  explain: explainEndpoint,
  draft: draftEndpoint,
  views,
  view: changeView,
  alerts: describeAlerts,
  alertsOfEndpoint: describeAlertsOfEndpoint,
  none: listNone,
  mcp,
  resource: describeResource,
  openApi: describeApi,
  health,
}

interface Dependencies {
  services: Services | Promise<Services>
  config: Config
  log: Log
}

/** The function that the framework calls for every request. */
export function queryHandler({ services, config, log }: Dependencies): HttpFunction {
  const all: Partial<Record<Handler, Handle>> = { ...handlers, ...explorerHandlers(config) }
  const find = finderOf(addresses.filter(({ handler }) => all[handler]))
  const handle = async (exchange: Exchange) => {
    allowOrigin(exchange, config)
    await readBody(exchange.req)
    const found = findAddress(find, exchange, config)
    const call = { ...exchange, ...found, services: await services, config }
    await allowIssuersOrigins(exchange, config, call.services.issuers)
    if (exchange.req.method !== 'OPTIONS') return all[found.address.handler]!(call)
    if (found.address.handler === 'answer') await openToPages(call)
    preflight(call, methodsOf(found.address))
  }
  return httpFunction(config, handle, (status, details) =>
    // A bug has frames, also where a protocol answers it with 200.
    log(status < 500 && !('frames' in details) ? 'INFO' : 'ERROR', 'request', details),
  )
}

function findAddress(
  find: ReturnType<typeof finderOf>,
  { req, path }: Exchange,
  { maxUrlBytes }: Config,
): Match {
  if (Buffer.byteLength(req.originalUrl) > maxUrlBytes)
    throw new ApiError(
      'uri_too_long',
      `The path and query string may hold at most ${maxUrlBytes} bytes; send long SQL by POST.`,
    )
  const found = read(find, path)
  if (takes(found.address, req.method)) return found
  throw notTaken(found.address)
}

function takes({ methods }: Address, method: string): boolean {
  return method === 'OPTIONS' || methods.some(each => each === (method === 'HEAD' ? 'GET' : method))
}

function methodsOf(address: Address): string {
  const all = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']
  return all.filter(method => takes(address, method)).join(', ')
}

function notTaken(address: Address): ApiError {
  const allowed = methodsOf(address)
  return new ApiError('method_not_allowed', `This address takes ${allowed}.`, { headers: { Allow: allowed } })
}

function read(find: ReturnType<typeof finderOf>, path: string): Match {
  try {
    const found = find(path)
    if (found) return found
  } catch {
    throw new ApiError('invalid_request', 'The path is not valid percent-encoded UTF-8.')
  }
  if (path.startsWith('/')) throw nothingHere()
  throw new ApiError('invalid_request', 'The target of the request is not a path that begins with /.')
}

/** Lists that Logflare has and this service does not: an empty array, which its clients accept. */
async function listNone(call: Call): Promise<void> {
  await authenticate(call)
  call.res.setHeader('Cache-Control', 'no-store')
  call.res.status(200).json([])
}

/** Whether the process serves, and which version of it; the store and the engine are not part of it. */
function health({ res }: Call): void {
  res.setHeader('Cache-Control', 'no-store')
  res.status(200).json({ status: 'ok', version })
}

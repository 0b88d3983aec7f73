/** The query function: which route, which method. */
import type { HttpFunction } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import type { Services } from '../../shared/services.ts'
import { version } from '../../shared/version.ts'
import { readBody } from '../http/body.ts'
import { type Call, type Exchange, httpFunction, type Route } from '../http/call.ts'
import { allowOrigin, preflight } from '../http/cors.ts'
import { mcp } from '../mcp/route.ts'
import { nothingHere } from '../http/problem.ts'
import { answer } from './answer.ts'
import { explorerRoutes } from './explorer-files.ts'
import { listEndpoints } from './list.ts'
import { describeApi } from './openapi.ts'
import { describeTables } from './tables.ts'

/** Each takes OPTIONS too. */
const routes: Route[] = [
  {
    pattern: /^(?:\/api)?\/endpoints\/query\/([^/]+)\/?$/,
    methods: { GET: answer, HEAD: answer, POST: answer },
  },
  { pattern: /^(?:\/api)?\/endpoints\/?$/, methods: { GET: listEndpoints, HEAD: listEndpoints } },
  {
    pattern: /^(?:\/api)?\/endpoints\/([^/]+)\/tables\/?$/,
    methods: { GET: describeTables, HEAD: describeTables },
  },
  { pattern: /^\/mcp\/?$/, methods: { POST: mcp } },
  { pattern: /^\/openapi\.json$/, methods: { GET: describeApi, HEAD: describeApi } },
  { pattern: /^\/health\/?$/, methods: { GET: health, HEAD: health } },
]

interface Dependencies {
  services: Services | Promise<Services>
  config: Config
  log: Log
}

/** The function that the framework calls for every request. */
export function queryHandler({ services, config, log }: Dependencies): HttpFunction {
  const all = [...routes, ...explorerRoutes(config)].map(({ pattern, methods }) => ({
    pattern,
    methods: { ...methods, OPTIONS: preflight },
  }))
  const handle = async (exchange: Exchange) => {
    allowOrigin(exchange, config)
    await readBody(exchange.req)
    const route = findRoute(all, exchange, config)
    await route.handle({ ...exchange, name: route.name, services: await services, config })
  }
  return httpFunction(config, handle, (status, details) =>
    // A bug has frames, also where a protocol answers it with 200.
    log(status < 500 && !('frames' in details) ? 'INFO' : 'ERROR', 'request', details),
  )
}

function findRoute(all: Route[], { req, path }: Exchange, { maxUrlBytes }: Config) {
  if (Buffer.byteLength(req.originalUrl) > maxUrlBytes)
    throw new ApiError(
      'uri_too_long',
      `The path and query string may hold at most ${maxUrlBytes} bytes; send long SQL by POST.`,
    )
  assertReadable(path)
  for (const { pattern, methods } of all) {
    const match = pattern.exec(path)
    if (!match) continue
    const handle = Object.hasOwn(methods, req.method) ? methods[req.method] : undefined
    if (handle) return { handle, name: decodeURIComponent(match[1] ?? '') }
    const allowed = Object.keys(methods).join(', ')
    throw new ApiError('method_not_allowed', `This address takes ${allowed}.`, {
      headers: { Allow: allowed },
    })
  }
  throw nothingHere()
}

function assertReadable(path: string): void {
  if (!path.startsWith('/'))
    throw new ApiError('invalid_request', 'The target of the request is not a path that begins with /.')
  try {
    decodeURIComponent(path)
  } catch {
    throw new ApiError('invalid_request', 'The path is not valid percent-encoded UTF-8.')
  }
}

/** Whether the process serves, and which version of it; the store and the engine are not part of it. */
function health({ res }: Call): void {
  res.setHeader('Cache-Control', 'no-store')
  res.status(200).json({ status: 'ok', version })
}

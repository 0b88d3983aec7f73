/** The query function: which route, which method. */
import type { HttpFunction } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import type { Services } from '../../shared/services.ts'
import { type Call, type Exchange, httpFunction, type Route } from '../http/call.ts'
import { allowOrigin, preflight } from '../http/cors.ts'
import { mcp, noSessions } from '../mcp/route.ts'
import { nothingHere } from '../http/problem.ts'
import { answer } from './answer.ts'
import { explorerRoutes } from './explorer-files.ts'
import { listEndpoints } from './list.ts'
import { describeApi } from './openapi.ts'
import { describeTables } from './tables.ts'

const routes: Route[] = [
  {
    pattern: /^(?:\/api)?\/endpoints\/query\/([^/]+)$/,
    methods: { GET: answer, HEAD: answer, POST: answer, OPTIONS: preflight },
  },
  {
    pattern: /^(?:\/api)?\/endpoints\/?$/,
    methods: { GET: listEndpoints, HEAD: listEndpoints, OPTIONS: preflight },
  },
  {
    pattern: /^(?:\/api)?\/endpoints\/([^/]+)\/tables$/,
    methods: { GET: describeTables, HEAD: describeTables, OPTIONS: preflight },
  },
  {
    pattern: /^\/mcp\/?$/,
    methods: { POST: mcp, GET: noSessions, DELETE: noSessions, OPTIONS: preflight },
  },
  { pattern: /^\/openapi\.json$/, methods: { GET: describeApi, HEAD: describeApi, OPTIONS: preflight } },
  { pattern: /^\/health$/, methods: { GET: health, HEAD: health, OPTIONS: preflight } },
]

interface Dependencies {
  services: Services | Promise<Services>
  config: Config
  log: Log
}

/** The function that the framework calls for every request. */
export function queryHandler({ services, config, log }: Dependencies): HttpFunction {
  const all = [...routes, ...explorerRoutes(config)]
  const handle = async (exchange: Exchange) => {
    allowOrigin(exchange, config)
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

/** Whether the process serves; the store and the engine are not part of it. */
function health({ res }: Call): void {
  res.status(200).json({ status: 'ok' })
}

/** The HTTP face: which route, which method, one try/catch, one log line. */
import { randomUUID } from 'node:crypto'
import type { HttpFunction, Request, Response } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import { ApiError } from '../../shared/errors.ts'
import { describeError, type Details, type Log, traceOf } from '../../shared/log.ts'
import type { Services } from '../../shared/services.ts'
import { answer } from './answer.ts'
import { corsHeaders, preflight } from '../http/cors.ts'
import { explorerFile, explorerPage } from './explorer.ts'
import { listEndpoints } from './list.ts'
import { describeApi } from './openapi.ts'
import { sendProblem } from '../http/problem.ts'
import { describeTables } from './tables.ts'

/** One request on its way. `notes` become the log line. */
export interface Call {
  req: Request
  res: Response
  /** What the route's pattern captured, decoded. */
  name: string
  /** Raw query string, without `?`. */
  query: string
  services: Services
  config: Config
  notes: Details
}

interface Route {
  pattern: RegExp
  methods: Record<string, (call: Call) => Promise<void> | void>
}

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
  { pattern: /^\/openapi\.json$/, methods: { GET: describeApi, HEAD: describeApi, OPTIONS: preflight } },
  { pattern: /^\/$/, methods: { GET: explorerPage, HEAD: explorerPage } },
  { pattern: /^\/explorer\/([\w.-]+)$/, methods: { GET: explorerFile, HEAD: explorerFile } },
  { pattern: /^\/health$/, methods: { GET: health, HEAD: health, OPTIONS: preflight } },
]

export interface Dependencies {
  services: Services | Promise<Services>
  config: Config
  log: Log
}

/** The function that the framework calls for every request. */
export function queryHandler({ services, config, log }: Dependencies): HttpFunction {
  return async (req, res) => {
    const started = performance.now()
    const requestId = randomUUID()
    const notes: Details = { requestId, method: req.method }
    const [path, query] = splitUrl(req.originalUrl)
    res.setHeader('X-Request-Id', requestId)
    for (const [name, value] of corsHeaders(config)) res.setHeader(name, value)
    try {
      const { handle, name } = find(req, path, config)
      await handle({ req, res, name, query, services: await services, config, notes })
    } catch (error) {
      Object.assign(notes, describeError(error))
      sendProblem(res, error, { path, requestId })
    }
    log(res.statusCode < 500 ? 'INFO' : 'ERROR', 'request', {
      ...notes,
      status: res.statusCode,
      ms: Math.round(performance.now() - started),
      ...traceOf(req.get('traceparent'), config.project),
    })
  }
}

function find(req: Request, path: string, config: Config) {
  if (Buffer.byteLength(req.originalUrl) > config.maxUrlBytes)
    throw new ApiError(
      'uri_too_long',
      `The path and query string may hold at most ${config.maxUrlBytes} bytes; send long SQL by POST.`,
    )
  for (const { pattern, methods } of routes) {
    const match = pattern.exec(path)
    if (!match) continue
    const handle = Object.hasOwn(methods, req.method) ? methods[req.method] : undefined
    if (handle) return { handle, name: decodeURIComponent(match[1] ?? '') }
    const allowed = Object.keys(methods).join(', ')
    throw new ApiError('method_not_allowed', `This address takes ${allowed}.`, {
      headers: { Allow: allowed },
    })
  }
  throw new ApiError(
    'not_found',
    'There is nothing at this address. Endpoints are at /api/endpoints/query/<name>.',
  )
}

function splitUrl(url: string): [path: string, query: string] {
  const mark = url.indexOf('?')
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

/** Says that the process serves; it asks neither the store nor the engine. */
function health({ res }: Call): void {
  res.status(200).json({ status: 'ok' })
}

/** One request to either function: its id, a problem document for whatever is thrown, and its log line. */
import { randomUUID } from 'node:crypto'
import type { HttpFunction, Request, Response } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import { describeError, type Details, traceOf } from '../../shared/log.ts'
import type { RequestLine } from '../../shared/request-log.ts'
import type { Services } from '../../shared/services.ts'
import { sendProblem } from './problem.ts'

/** A request and its response. */
export interface Exchange {
  req: Request
  res: Response
  /** Path as sent, with its percent-escapes. */
  path: string
  /** Raw query string, without `?`. */
  query: string
  /** Become its log line. */
  notes: RequestLine
}

/** A request to a route of the query function. */
export interface Call extends Exchange {
  /** What the route's pattern captured, decoded. */
  name: string
  services: Services
  config: Config
}

export interface Route {
  pattern: RegExp
  methods: Record<string, (call: Call) => Promise<void> | void>
}

/**
 * The function that the framework calls for each request.
 * @param handle may throw: an ApiError goes to the caller, anything else is `internal`
 * @param write the log line, at the severity that the status has in that function
 */
export function httpFunction(
  { project }: Pick<Config, 'project'>,
  handle: (exchange: Exchange) => Promise<void>,
  write: (status: number, details: Details) => void,
): HttpFunction {
  return async (req, res) => {
    const started = performance.now()
    const requestId = randomUUID()
    const [path, query] = splitUrl(req.originalUrl)
    const notes: RequestLine = { requestId, method: req.method }
    res.setHeader('X-Request-Id', requestId)
    try {
      await handle({ req, res, path, query, notes })
    } catch (error) {
      Object.assign(notes, describeError(error))
      sendProblem(res, error, { path, requestId })
    }
    write(res.statusCode, {
      ...notes,
      status: res.statusCode,
      ms: Math.round(10 * (performance.now() - started)) / 10,
      ...traceOf(req.get('traceparent'), project),
    })
  }
}

/** Aborts when the client has gone before its response has been sent. */
export function goneSignal(res: Response): AbortSignal {
  const gone = new AbortController()
  res.once('close', () => {
    if (!res.writableFinished) gone.abort()
  })
  if (res.destroyed) gone.abort()
  return gone.signal
}

/** Slashes at the start count as one: clients append `/api/...` to a server's address that ends with one. */
function splitUrl(url: string): [path: string, query: string] {
  const mark = url.indexOf('?')
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
  return [path.replace(/^\/+/, '/'), query]
}

/** One request to either function: its id, a problem document for whatever is thrown, and its log line. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { HttpFunction, Request, Response } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import { errorCodes } from '../../shared/errors.ts'
import { describeError, type Details, traceOf } from '../../shared/log.ts'
import type { RequestLine } from '../../shared/request-log.ts'
import type { Services } from '../../shared/services.ts'
import { version } from '../../shared/version.ts'
import type { Address } from './addresses.ts'
import { sendProblem } from './problem.ts'

/** A response of the servers here. Express's methods come from its prototype. */
export interface Headed {
  /**
   * Headers of every answer. What is set one by one before the head is written, Node checks and copies twice: it costs a hot
   * answer a twentieth of its CPU.
   */
  common: Record<string, string>
}

/** A request and its response. */
export interface Exchange {
  req: Request
  res: Response & Headed
  /** Path as sent, with its percent-escapes. */
  path: string
  /** Raw query string, without `?`. */
  query: string
  /** Become its log line. */
  notes: RequestLine
}

/** A request to an address of the query function. */
export interface Call extends Exchange {
  address: Address
  /** What stands in the path for `{name}`, `{ref}` and `{view}`, decoded. */
  name: string
  ref: string | null
  view: string | null
  services: Services
  config: Config
}

/** A call whose log line is not written yet. */
interface OpenCall {
  /** Writes the line, once, after the error has been sent where nothing was. */
  end: (error?: unknown) => void
  /** Milliseconds: how long its client has been gone, and after how long the line is written all the same. */
  goneMs: number
  waitsMs: number
}

export const openCalls = new Map<ServerResponse, OpenCall>()

/** A run that goes on when its client has gone says what it cost, within the time limits of most endpoints. */
const runMs = 60_000
/** A run that is cancelled with its client, and does not end. */
const cancelMs = 1_000

/**
 * The function that the framework calls for each request. Every call has its line, also one whose client leaves before it is
 * answered: status 499, as in the logs of nginx and Cloud Run, though the run go on.
 * @param handle may throw: an ApiError goes to the caller, anything else is `internal`
 * @param write the log line, at the severity that the status has in that function
 */
export function httpFunction(
  { project }: Pick<Config, 'project'>,
  handle: (exchange: Exchange) => Promise<void>,
  write: (status: number, details: Details) => void,
): HttpFunction {
  return async (req, response) => {
    const res = response as Exchange['res']
    const started = performance.now()
    const requestId = randomUUID()
    const [path, query] = splitUrl(req.originalUrl)
    const notes: RequestLine = { requestId, method: req.method, serviceVersion: version }
    res.common['X-Request-Id'] = requestId
    const end = (error?: unknown): void => {
      if (!openCalls.delete(res)) return
      if (error !== undefined) Object.assign(notes, describeError(error))
      if (error !== undefined && !res.headersSent) sendProblem(res, error, { path, requestId })
      if (isGone(res)) notes.error ??= 'client_closed_request'
      const status = isGone(res) ? errorCodes.client_closed_request.status : res.statusCode
      const ms = Math.round(10 * (performance.now() - started)) / 10
      write(status, Object.assign(notes, { status, ms }, traceOf(req.get('traceparent'), project)))
    }
    openCalls.set(res, { end, goneMs: 0, waitsMs: runMs })
    await handle({ req, res, path, query, notes }).then(() => end(), end)
  }
}

const lookMs = 500

/** By a timer for all calls: a listener for each response would slow down hot answers. */
setInterval(() => {
  for (const [res, call] of openCalls) if (isGone(res) && (call.goneMs += lookMs) > call.waitsMs) call.end()
}, lookMs).unref()

function isGone(res: ServerResponse): boolean {
  return res.destroyed && !res.writableFinished
}

/** Aborts when the client has gone before its response has been sent: its run is to end. */
export function goneSignal(res: Response): AbortSignal {
  const call = openCalls.get(res)
  if (call) call.waitsMs = cancelMs
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

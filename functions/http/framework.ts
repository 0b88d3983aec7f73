/**
 * What functions-framework 5.0.5 does otherwise than this service promises, mended in one place:
 *
 * - It answers an unreadable body or a bad percent-escape in the path with an HTML page, and prints the body to the
 *   log. Express takes a callback for such errors, so it gets one that answers with a problem document.
 * - It reads bodies of up to 1 GB before any of our code runs. Bodies are read here first, up to 256 KB.
 * - It sends each request through parsers of bodies, execution ids and timeouts, which find nothing to do here and cost
 *   a quarter of a hot answer's CPU. Only the last layer is kept, the route to the function.
 * - Node refuses a URL past 16 KB with an empty 431. With more room for headers the handler can answer 414.
 * - On SIGTERM and SIGINT it answers 500 to one request in flight and exits. Here they are finished first.
 *
 * It leans on the framework calling `http.createServer(app)` with an Express app; `framework.test.ts` holds it to that.
 */
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Log } from '../../shared/log.ts'
import { describeError } from '../../shared/log.ts'
import { ApiError } from '../../shared/errors.ts'
import { readBody } from './body.ts'
import { problemDocument, sendProblem } from './problem.ts'

interface Options {
  log: Log
  /** How long requests in flight may go on after a signal to stop. */
  drainMs: number
  /** Called after the last request, before the process ends. */
  close: () => Promise<void>
}

interface ExpressApp {
  (req: IncomingMessage, res: ServerResponse, failed: (error: unknown) => void): void
  router: { stack: unknown[] }
}

const maxHeaderBytes = 256 * 1024

/** Changes every server that the framework makes from now on in this process. */
export function mendFramework(options: Options): void {
  const createServer = http.createServer.bind(http)
  const mended = (...args: unknown[]): Server => {
    const app = args.find(argument => typeof argument === 'function')
    if (!app || !('handle' in app)) return createServer(...(args as Parameters<typeof createServer>))
    const express = app as unknown as ExpressApp
    express.router.stack.splice(0, express.router.stack.length - 1)
    const server = createServer({ maxHeaderSize: maxHeaderBytes }, guarded(express, options.log))
    server.on('clientError', refuseUnreadable)
    server.once('listening', () => setImmediate(() => drainOnSignal(server, options)))
    return server
  }
  http.createServer = mended
}

function guarded(app: ExpressApp, log: Log) {
  return (req: IncomingMessage, res: ServerResponse) => {
    readBody(req)
      .then(() => app(req, res, error => refuse(error, req, res, log)))
      .catch((error: unknown) => refuse(error, req, res, log))
  }
}

function refuse(error: unknown, req: IncomingMessage, res: ServerResponse, log: Log): void {
  if (res.headersSent) return void res.destroy()
  const known = error instanceof ApiError ? error : fromExpress(error)
  log(known.status < 500 ? 'INFO' : 'ERROR', 'request refused', {
    status: known.status,
    ...describeError(error),
  })
  sendProblem(res, known, { path: pathOf(req) })
  if (!req.complete) res.once('finish', () => req.destroy()) // a body that nobody will read
}

/** Express marks errors of the request with a status; anything else is a bug. */
function fromExpress(error: unknown): ApiError {
  const status = (error as { status?: unknown } | undefined)?.status
  if (typeof status !== 'number' || status >= 500)
    return new ApiError('internal', 'An internal error.', { cause: error })
  return new ApiError(
    'invalid_request',
    'The request could not be read: its path is not valid percent-encoded UTF-8.',
  )
}

function pathOf(req: IncomingMessage): string {
  return (req.url ?? '/').split('?', 1)[0]!
}

/** The parser gave up before there was a request, so the answer is written by hand. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy()
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new ApiError('uri_too_long', 'The URL or the headers are too long.')
      : new ApiError('invalid_request', 'The request is not valid HTTP.')
  const body = JSON.stringify(problemDocument(refusal, { path: '' }))
  const head = [
    `HTTP/1.1 ${refusal.status} ${http.STATUS_CODES[refusal.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Takes the place of the framework's own handlers: no new connections, finish what is in flight, then end. */
function drainOnSignal(server: Server, options: Options): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      if (stopping) return // a terminal signals the whole group, and npm does so once more
      stopping = true
      options.log('INFO', 'stopping', { signal })
      drain(server, options)
    })
  }
}

function drain(server: Server, { log, drainMs, close }: Options): void {
  const deadline = setTimeout(() => process.exit(1), drainMs)
  const idle = setInterval(() => server.closeIdleConnections(), 50) // kept alive by clients after their last answer
  server.close(() => {
    clearTimeout(deadline)
    clearInterval(idle)
    close()
      .catch((error: unknown) => log('ERROR', 'closing failed', describeError(error)))
      .finally(() => process.exit(0))
  })
}

/**
 * Every change to functions-framework 5.0.5: `infra/docs/surgery.md`, "functions-framework". `framework.test.ts` and
 * `framework.shutdown.test.ts` show what it does without them, so each can go when its test there fails:
 *
 * - It makes a `node:domain` for each request, which switches async hooks on for every promise of the process. The
 *   handlers here catch everything and leave no promise loose, so a domain would catch nothing.
 * - Express sends each request through layers that parse bodies and set execution ids and timeouts: a third of a hot
 *   answer's CPU. They read bodies of up to 1 GB, and print one that they cannot parse; a bad percent-escape in the path, and
 *   a target that is not a path such as `*`, get a page of Express's own. Here requests go to the function at once, with the
 *   target as `originalUrl`, and it reads up to 256 KB (`body.ts`).
 * - Node refuses a URL past 16 KB with an empty 431. With more room for headers the handler can answer 414.
 * - Node closes a CONNECT without an answer.
 * - Node answers some requests by itself, without a body: no `Host`, an unknown `Expect`, bytes that are no HTTP, headers that are
 *   too long or do not come. They get a problem document, and every answer `X-Content-Type-Options: nosniff`.
 * - It listens on all interfaces, with no option for one.
 * - It exits on a signal while requests are in flight.
 */
import domain from 'node:domain'
import http, {
  IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Headed, openCalls } from './call.ts'
import { problemDocument, sendProblem } from './problem.ts'
import { ApiError } from '../../shared/errors.ts'
import { describeError, type Log } from '../../shared/log.ts'

type Handle = (
  req: IncomingMessage & { originalUrl?: string; res?: ServerResponse },
  res: ServerResponse,
) => void

interface ExpressApp extends Handle {
  router: { stack: { route?: { stack: { handle: Handle }[] } }[] }
  /** Prototypes that Express gives to each request and response. */
  request: object
  response: object
}

/** Rows are text that others wrote: no browser may take an answer for something else than its Content-Type says. */
const noSniffing = { 'X-Content-Type-Options': 'nosniff' }

/**
 * With Express's methods from the start, as a prototype that changes later makes every access to an object's fields slow.
 */
function serverOptions({ request, response }: ExpressApp): ServerOptions {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse<IncomingMessage> implements Headed {
    readonly common: Record<string, string> = { ...noSniffing }
    /** For the framework, which would note there that the function has ended. */
    readonly locals = {}
    /** @param headers never the words of the status, nor a list */
    override writeHead(status: number, headers?: unknown): this {
      return super.writeHead(status, { ...this.common, ...(headers as OutgoingHttpHeaders) })
    }
  }
  Object.setPrototypeOf(Request.prototype, request)
  Object.setPrototypeOf(Response.prototype, response)
  return {
    maxHeaderSize: 256 * 1024,
    requireHostHeader: false, // `toFunction` does
    IncomingMessage: Request,
    ServerResponse: Response as typeof ServerResponse,
  }
}

/** Changes every server that the framework makes from now on in this process, and every domain of the process. */
export function patchFramework({ host, ...options }: DrainOptions & { host: string | null }): void {
  domain.create = inertDomain
  const createServer = http.createServer.bind(http)
  const patched = (...args: unknown[]): Server => {
    const app = args.find(argument => typeof argument === 'function')
    if (!app || !('handle' in app)) return createServer(...(args as Parameters<typeof createServer>))
    const express = app as unknown as ExpressApp
    const server = createServer(serverOptions(express), toFunction(express))
    server.on('clientError', refuseUnreadable)
    server.on('checkExpectation', (_, res) => refuse(res, 'Expect may say 100-continue, and nothing else.'))
    server.on('connect', (_, socket) => refuseUnreadable(new Error('no proxy'), socket))
    if (host !== null) server.listen = listenOn(host, server.listen.bind(server))
    server.once('listening', () => setImmediate(() => drainOnSignal(server, options)))
    return server
  }
  http.createServer = patched
}

/** The framework gives a port and what to do then. */
function listenOn(host: string, listen: Server['listen']): Server['listen'] {
  return (port?: unknown, done?: unknown) => listen({ host, port: Number(port) }, done as () => void)
}

/** Runs what it is given, and does nothing else. */
function inertDomain(): domain.Domain {
  const inert = { on: () => inert, run: (act: () => unknown) => act() }
  return inert as unknown as domain.Domain
}

function toFunction({ router }: ExpressApp): Handle {
  const { handle } = router.stack.at(-1)!.route!.stack[0]!
  return (req, res) => {
    // RFC 9112, section 3.2
    if (req.headers.host === undefined && req.httpVersion === '1.1')
      return refuse(res, 'The request has no Host.')
    if (req.rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name)).length > 1)
      return refuse(res, 'The request has more than one Host.')
    req.originalUrl = pathIn(req.url)
    req.res = res // for Express's methods
    handle(req, res)
  }
}

/** A target in absolute form means its path (RFC 9112, section 3.2.2). */
function pathIn(target = ''): string {
  if (target.startsWith('/')) return target
  const [, rest] = /^https?:\/\/[^/?#]+(.*)$/i.exec(target) ?? []
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** What Node would answer by itself. The connection ends: a body may follow, which is not read. */
function refuse(res: ServerResponse, detail: string): void {
  sendProblem(res, new ApiError('invalid_request', detail, { headers: { Connection: 'close' } }), {
    path: '',
  })
}

/** By Node's code of the error. */
const unreadable: Partial<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: new ApiError('uri_too_long', 'The URL or the headers are too long.'),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(
    'invalid_request',
    'The request did not come in time; send it again.',
  ),
}
const notHttp = new ApiError('invalid_request', 'The request is not valid HTTP.')

/** Node's parser gave up before there was a response to write to, so the answer is written by hand. */
function refuseUnreadable({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy()
  const refusal = unreadable[code] ?? notHttp
  const body = JSON.stringify(problemDocument(refusal, { path: '' }))
  const head = [
    `HTTP/1.1 ${refusal.status} ${http.STATUS_CODES[refusal.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(noSniffing).map(pair => pair.join(': ')),
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

interface DrainOptions {
  log: Log
  /** How long requests in flight may go on after a signal, in milliseconds; then the process is killed. */
  drainMs: number
  /** Called a second before that, with requests in flight: they are to answer that the service is not available. */
  interrupt: () => void
  /** Called after the last request, before the process ends; goes on while a thread is busy that no exit can end. */
  close: () => Promise<void>
}

/** Replaces every handler of SIGTERM and SIGINT in this process. */
function drainOnSignal(server: Server, options: DrainOptions): void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const open = new Set<ServerResponse>()
  let stopping = false
  // Before the function, which may answer at once. A client whose connection ends without `Connection: close` may just be asking.
  server.prependListener('request', (_, res) => {
    open.add(res)
    if (stopping) res.shouldKeepAlive = false
    res.once('close', () => open.delete(res))
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      if (stopping) return // a terminal signals the whole process group, and npm passes the signal on once more
      stopping = true
      for (const res of open) res.shouldKeepAlive = false
      options.log('INFO', 'stopping', { signal })
      drain({ server, sockets, open }, options)
    })
  }
}

/** For a request whose head is on its way; then a connection without one is closed, as it may never say more. */
const headMs = 200

/** Before the deadline, in milliseconds: for the answers of interrupted requests, for those that give none, and for the end. */
const answerMs = 1_000
const refuseMs = 300
const killMs = 100

interface Connections {
  server: Server
  sockets: Set<Socket>
  /** Responses that are not sent. */
  open: Set<ServerResponse>
}

function drain(
  { server, sockets, open }: Connections,
  { log, drainMs, interrupt, close }: DrainOptions,
): void {
  const started = performance.now()
  const interruption = setTimeout(() => {
    log('WARNING', 'interrupting', { requests: open.size })
    interrupt()
  }, drainMs - answerMs)
  const refusal = setTimeout(() => {
    for (const { end } of openCalls.values()) end(ending())
    for (const res of open) if (!res.headersSent) sendProblem(res, ending(), { path: '' })
  }, drainMs - refuseMs)
  // `process.exit` waits for the threads of Node's pool, and native code on one of them may not heed an interruption: DuckDB's
  // planning of a statement takes minutes where it takes exponential time. So `close` waits for them, and this ends them.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), drainMs - killMs)
  // Node's own, which `close` calls, takes a connection for idle once its answer is written, though most may wait to be sent.
  server.closeIdleConnections = () => {}
  const idle = setInterval(() => {
    if (performance.now() - started < headMs) return
    const answering = new Set([...open].map(({ socket }) => socket))
    for (const socket of sockets) if (!answering.has(socket)) socket.destroySoon()
  }, 50)
  server.close(() => {
    for (const timer of [interruption, refusal]) clearTimeout(timer)
    clearInterval(idle)
    close()
      .catch((error: unknown) => log('ERROR', 'closing failed', describeError(error)))
      .finally(() => process.exit(0))
  })
}

/** For a request that waits for something that no interruption reaches, such as a run in another process. */
function ending(): ApiError {
  return new ApiError('engine_unavailable', 'This instance of the service has to stop.')
}

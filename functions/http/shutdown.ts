/**
 * SIGTERM and SIGINT: no new connections, the requests in flight finish or are interrupted in time for an answer, the
 * services close, the process ends. The framework's own handlers, which these replace, answer 500 to one request
 * in flight and exit.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../shared/errors.ts'
import { describeError, type Log } from '../../shared/log.ts'
import { openCalls } from './call.ts'
import { sendProblem } from './problem.ts'

export interface DrainOptions {
  log: Log
  /** How long requests in flight may go on after a signal, in milliseconds; then the process is killed. */
  drainMs: number
  /** Called a second before that, with requests in flight: they are to answer that the service is not available. */
  interrupt: () => void
  /** Called after the last request, before the process ends; goes on while a thread is busy that no exit can end. */
  close: () => Promise<void>
}

/** Replaces every handler of SIGTERM and SIGINT in this process. */
export function drainOnSignal(server: Server, options: DrainOptions): void {
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

/**
 * SIGTERM and SIGINT: no new connections, the requests in flight finish or are interrupted in time for an answer, the
 * services close, the process ends. The framework's own handlers, which these replace, answer 500 to one request
 * in flight and exit.
 */
import type { Server } from 'node:http'
import { describeError, type Log } from '../../shared/log.ts'

export interface DrainOptions {
  log: Log
  /** How long requests in flight may go on after a signal, in milliseconds; then the process ends with code 1. */
  drainMs: number
  /** Called a second before that, with requests in flight: they are to answer that the service is not available. */
  interrupt: () => void
  /** Called after the last request, before the process ends. */
  close: () => Promise<void>
}

/** Replaces every handler of SIGTERM and SIGINT in this process. */
export function drainOnSignal(server: Server, options: DrainOptions): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      if (stopping) return // a terminal signals the whole process group, and npm passes the signal on once more
      stopping = true
      options.log('INFO', 'stopping', { signal })
      drain(server, options)
    })
  }
}

/** For the answers of interrupted requests, in milliseconds. */
const answerMs = 1_000

function drain(server: Server, { log, drainMs, interrupt, close }: DrainOptions): void {
  const interruption = setTimeout(() => {
    log('WARNING', 'interrupting')
    interrupt()
  }, drainMs - answerMs)
  const deadline = setTimeout(() => process.exit(1), drainMs)
  const idle = setInterval(() => server.closeIdleConnections(), 50) // kept alive by clients after their last answer
  server.close(() => {
    clearTimeout(interruption)
    clearTimeout(deadline)
    clearInterval(idle)
    close()
      .catch((error: unknown) => log('ERROR', 'closing failed', describeError(error)))
      .finally(() => process.exit(0))
  })
}

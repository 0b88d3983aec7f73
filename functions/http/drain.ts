/**
 * SIGTERM and SIGINT: no new connections, the requests in flight finish, the services close, the process ends.
 * The framework's own handlers, which these replace, answer 500 to one request in flight and exit.
 */
import type { Server } from 'node:http'
import { describeError, type Log } from '../../shared/log.ts'

export interface DrainOptions {
  log: Log
  /** How long requests in flight may go on after a signal, in milliseconds; then the process ends with code 1. */
  drainMs: number
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

function drain(server: Server, { log, drainMs, close }: DrainOptions): void {
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

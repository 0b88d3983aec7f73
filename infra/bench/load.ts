/** Requests to the servers under measurement, all from this process to this machine. */
import http, { type IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOf, type Server } from './server.ts'

export interface Call {
  path: string
  headers?: Record<string, string>
}

/** Sends one request and drops the body. */
export function ask(
  { port }: Server,
  { path, headers = {} }: Call,
  agent?: http.Agent,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path, headers, agent }, response => {
      response.resume()
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
      response.once('error', reject)
    })
    request.once('error', reject)
  })
}

/** Asks until there is an answer of status 200. */
export async function untilAnswer(server: Server, call: Call): Promise<void> {
  const giveUpAt = performance.now() + 30_000
  while (performance.now() < giveUpAt) {
    const status = await ask(server, call).then(
      answer => answer.status,
      () => 0,
    )
    if (status === 200) return
    await sleep(2)
  }
  throw new Error(`no answer from ${call.path} in 30 s`)
}

export interface Load {
  /** What the n-th request asks for. */
  call: (n: number) => Call
  count: number
  /** Kept connections, each with one request at a time. */
  connections: number
}

/** Sends the requests. @returns CPU time and time on the clock that each took of the server, in microseconds */
export async function loadServer(
  server: Server,
  { call, count, connections }: Load,
): Promise<{ cpu: number; clock: number }> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const [cpu, clock] = [cpuOf(server), performance.now()]
  let sent = 0
  const worker = async () => {
    while (sent < count) {
      const next = call(sent++)
      const { status } = await ask(server, next, agent)
      if (status !== 200) throw new Error(`${next.path} answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const spent = { cpu: cpuOf(server) - cpu, clock: performance.now() - clock }
  agent.destroy()
  return { cpu: (spent.cpu * 1000) / count, clock: (spent.clock * 1000) / count }
}

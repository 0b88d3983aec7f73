/**
 * Servers under measurement, each a process of its own whose CPU and memory the operating system counts; and requests to
 * them, all from this process.
 */
import { readdirSync, readFileSync } from 'node:fs'
import http, { type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Program, type Server, start, stop } from '../local/process.ts'

/** Runs `act` with the programs started, and ends them after it. */
export async function withServers<Name extends string, T>(
  programs: Record<Name, Program>,
  act: (servers: Record<Name, Server>) => Promise<T>,
): Promise<T> {
  const servers: Partial<Record<Name, Server>> = {}
  try {
    for (const name of Object.keys(programs) as Name[]) {
      servers[name] = await start(programs[name])
      servers[name].child.stdout!.resume()
    }
    return await act(servers as Record<Name, Server>)
  } finally {
    await Promise.all((Object.values(servers) as Server[]).map(stop))
  }
}

/**
 * Time on a processor so far of a server and of the processes that it has started, all threads together, in milliseconds:
 * /proc/PID/stat has only steps of 10.
 */
export function cpuOf({ child }: Server): number {
  return cpuOfTree(String(child.pid))
}

function cpuOfTree(pid: string): number {
  let ms = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = join('/proc', pid, 'task', thread)
    ms += Number.parseInt(readFileSync(join(folder, 'schedstat'), 'utf8'), 10) / 1e6
    for (const started of readFileSync(join(folder, 'children'), 'utf8').match(/\d+/g) ?? [])
      ms += cpuOfTree(started)
  }
  return ms
}

/** Peak of resident memory so far, in MB. */
export function peakMemoryOf({ child }: Server): number {
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  return Number(peak?.[1]) / 1024
}

export interface Call {
  path: string
  headers?: Record<string, string>
}

/** Sends one request and drops the body of the response. */
export function request(
  { port }: Server,
  { path, headers = {} }: Call,
  agent?: http.Agent,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const sent = http.get({ host: '127.0.0.1', port, path, headers, agent }, response => {
      response.resume()
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
      response.once('error', reject)
    })
    sent.once('error', reject)
  })
}

/** Repeats a request until it gets status 200. */
export async function untilAnswer(server: Server, call: Call): Promise<void> {
  for (const until = performance.now() + 30_000; performance.now() < until; await sleep(2)) {
    const answer = await request(server, call).catch(() => null)
    if (answer?.status === 200) return
  }
  throw new Error(`no answer from ${call.path} in 30 s`)
}

export interface Load {
  /** The n-th request. */
  call: (n: number) => Call
  count: number
  /** Kept alive, each with one request at a time. */
  connections: number
}

/** @returns CPU time of the server and time on the clock for each request, in microseconds */
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
      const { status } = await request(server, next, agent)
      if (status !== 200) throw new Error(`${next.path} answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const spent = { cpu: cpuOf(server) - cpu, clock: performance.now() - clock }
  agent.destroy()
  return { cpu: (spent.cpu * 1000) / count, clock: (spent.clock * 1000) / count }
}

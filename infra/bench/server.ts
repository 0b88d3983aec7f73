/** Servers under measurement: each a process of its own, watched through the operating system. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../shared/testing/free-port.ts'

export interface Server {
  port: number
  child: ChildProcess
}

/** What to start: `node <args>`, with this much more in the environment. */
export interface Program {
  args: string[]
  env?: Record<string, string>
}

/** Starts functions-framework itself, as `npm start` and Google's buildpack do. */
export function functionOf(source: string, target: string, env: Record<string, string> = {}): Program {
  const main = join('node_modules', '@google-cloud', 'functions-framework', 'build', 'src', 'main.js')
  return { args: [main, `--target=${target}`, `--source=${source}`], env }
}

/** Starts the programs, and ends them whatever comes of it. */
export async function withServers<Name extends string, T>(
  programs: Record<Name, Program>,
  act: (servers: Record<Name, Server>) => Promise<T>,
): Promise<T> {
  const servers: Partial<Record<Name, Server>> = {}
  try {
    for (const name of Object.keys(programs) as Name[]) servers[name] = await start(programs[name])
    return await act(servers as Record<Name, Server>)
  } finally {
    await Promise.all((Object.values(servers) as Server[]).map(stop))
  }
}

/** Standard output goes through a pipe that is read, as when deployed. */
async function start({ args, env = {} }: Program): Promise<Server> {
  const port = await freePort()
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH, HOME, NODE_ENV: 'production', ...env, PORT: String(port) },
  })
  child.stdout.resume()
  return { port, child }
}

async function stop({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

/** Clock ticks per second in /proc: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/** User and system time of a process so far, in milliseconds. */
export function cpuOf({ child }: Server): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  const fields = stat.replace(/^.*\) /s, '').split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}

/** Peak of resident memory so far, in MB. */
export function peakMemoryOf({ child }: Server): number {
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  return Number(peak?.[1]) / 1024
}

/** Servers in processes of their own; functions among them are started as Google's buildpack starts them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire, getCompileCacheDir } from 'node:module'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../shared/config.ts'
import { freePort } from '../../shared/testing/free-port.ts'

const installed = createRequire(import.meta.url).resolve('@google-cloud/functions-framework')
const framework = join(dirname(installed), 'main.js')

/** To be started as `node <args>`. */
export interface Program {
  args: string[]
  /** Beside PATH and HOME. */
  env?: Environment
  cwd?: string
  /** Any free one by default. */
  port?: number | undefined
  stderr?: 'inherit' | 'pipe'
  /** Runs Node; by default Node itself. */
  command?: string[]
}

export interface Server {
  url: string
  port: number
  /** Its standard output goes to a pipe, as when deployed; somebody has to read it. */
  child: ChildProcess
}

/** A function of functions-framework. */
export function functionOf(source: string, target: string, env: Environment = {}): Program {
  // Node 22 would say that its SQLite is new.
  const quiet = '--disable-warning=ExperimentalWarning'
  return { args: [quiet, framework, `--target=${target}`, `--source=${source}`], env }
}

/** It may not listen yet: see `untilUp`. Of this process's environment it gets PATH and HOME only. */
export async function start({ args, env, cwd, ...given }: Program): Promise<Server> {
  const port = given.port ?? (await freePort())
  const { PATH, HOME } = process.env
  const [file, ...before] = given.command ?? [process.execPath]
  const child = spawn(file!, [...before, ...args], {
    cwd,
    env: {
      PATH,
      HOME,
      NODE_ENV: 'production',
      LISTEN_HOST: '127.0.0.1',
      NODE_COMPILE_CACHE: getCompileCacheDir(),
      ...env,
      PORT: String(port),
    },
    stdio: ['ignore', 'pipe', given.stderr ?? 'inherit'],
  })
  return { url: `http://127.0.0.1:${port}`, port, child }
}

/** Waits until the server takes connections. @throws Error where it ends before */
export async function untilUp({ port, child }: Server): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until; await sleep(20)) {
    if (child.exitCode !== null) throw new Error('the server ended as it started')
    const socket = connect(port, '127.0.0.1')
    const up = await once(socket, 'connect').catch(() => null)
    socket.destroy()
    if (up) return
  }
  throw new Error('the server takes no connections')
}

/** By SIGKILL, so without its own shutdown; a process that has ended is no error. */
export async function stop({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

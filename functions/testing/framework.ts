/** A function in a process of its own, started by functions-framework as when deployed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../shared/testing/free-port.ts'

const root = join(import.meta.dirname, '../..')
const main = join(root, 'node_modules/@google-cloud/functions-framework/build/src/main.js')

export interface FunctionProcess {
  child: ChildProcess
  url: string
  /** Standard output and standard error so far. */
  output(): string
}

/**
 * Starts the function `target` of the module `source`, and waits until it takes connections.
 * @param env the environment beside PATH
 */
export async function startFunction(
  target: string,
  { source = 'functions/index.ts', env = {} }: { source?: string; env?: Record<string, string> } = {},
): Promise<FunctionProcess> {
  const port = await freePort()
  const args = [main, `--target=${target}`, `--source=${source}`, `--port=${port}`]
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env['PATH'], ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  while (!(await takesConnections(port))) {
    if (child.exitCode !== null) throw new Error(`functions-framework ended: ${output}`)
    await sleep(20)
  }
  return { child, url: `http://127.0.0.1:${port}`, output: () => output }
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, jest } from '@jest/globals'
import { type Command, CommanderError } from 'commander'
import { visible } from '../../../shared/visible-text.ts'

interface Outcome {
  out: string
  err: string
  code: number
}

/** Arguments of Node that run the program, as `npx lqe` does. */
export const program = ['infra/lqe/bin.cjs']

const root = join(import.meta.dirname, '../../..')

interface Asked {
  args: string[]
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Answers each line of standard input, an `Asked`, by what the command prints, and on standard error its exit code. */
const loop = (lqe: string) => `
  let n = 0
  for await (const line of (await import('node:readline')).createInterface(process.stdin)) {
    const { args, cwd, env } = JSON.parse(line)
    process.argv = [process.execPath, ...args]
    process.env = env
    process.chdir(cwd)
    // Node evaluates a module again under another address, and keeps what it imports.
    await import('${lqe}?' + ++n)
    process.stdout.write('\\0')
    process.stderr.write('\\0' + (process.exitCode ?? 0) + '\\0')
    process.exitCode = undefined
  }`

let running: ChildProcess | undefined
afterAll(async () => {
  if (!running || running.exitCode !== null) return
  running.stdin!.end()
  await once(running, 'exit')
})

function begin(): ChildProcess {
  const [before, lqe] = ['infra/local/node-version.cjs', 'infra/lqe.ts'].map(file => join(root, file))
  const args = ['-r', before!, '--input-type=module', '-e', loop(pathToFileURL(lqe!).href)]
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args])
}

/** What comes on a stream up to so many marks. */
async function until(stream: Readable, marks: number): Promise<string[]> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    const parts = (text += String(chunk)).split('\0')
    if (parts.length > marks) return parts
  }
  throw new Error(`the program ended: ${text}`)
}

interface Surroundings {
  cwd?: string
  env?: NodeJS.ProcessEnv
}

/**
 * Runs a command of the program in a process that all tests of a file share, as a process for each takes half a second of the
 * processor to load its modules.
 */
export async function programEnds(
  args: string[],
  { cwd = root, env = {} }: Surroundings = {},
): Promise<Outcome> {
  const { stdin, stdout, stderr } = (running ??= begin())
  stdin!.write(`${JSON.stringify({ args, cwd, env } satisfies Asked)}\n`)
  const [[out = ''], [err = '', code]] = await Promise.all([until(stdout!, 1), until(stderr!, 2)])
  return { out, err, code: Number(code) }
}

/** Runs commands so, one after another. @throws where one fails */
export async function runProgram(commands: string[][], surroundings: Surroundings): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const args of commands) {
    const outcome = await programEnds(args, surroundings)
    const { code, err } = outcome
    if (code !== 0) throw new Error(`lqe ${args.join(' ')} ended with ${code}: ${err}`)
    outcomes.push(outcome)
  }
  return outcomes
}

/** Runs a command in this process, and reports what `lqe` would print, and its exit code. */
export async function runCommand(command: Command, args: string[]): Promise<Outcome> {
  const outcome: Outcome = { out: '', err: '', code: 0 }
  const print = (to: 'out' | 'err') => (text: string) => void (outcome[to] += text)
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeOut: print('out'), writeErr: print('err') })
  const spies = [
    jest.spyOn(console, 'log').mockImplementation(line => print('out')(`${line}\n`)),
    jest.spyOn(console, 'error').mockImplementation(line => print('err')(`${line}\n`)),
  ]
  try {
    await command.parseAsync(args, { from: 'user' })
    outcome.code = Number(process.exitCode ?? 0)
  } catch (error) {
    if (!(error instanceof CommanderError)) print('err')(`${visible((error as Error).message)}\n`)
    outcome.code = 1
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.exitCode = undefined
  }
  return outcome
}

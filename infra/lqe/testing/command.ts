import { execFile, type ExecFileOptions } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { jest } from '@jest/globals'
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

/**
 * Runs commands of the program one after another in one process of their own, as a process for each takes a second to load
 * its modules. @throws where one fails
 */
export async function runProgram(
  commands: string[][],
  options: ExecFileOptions,
): Promise<{ out: string; err: string }[]> {
  const [before, lqe] = ['infra/local/node-version.cjs', 'infra/lqe.ts'].map(file => join(root, file))
  // Node evaluates a module again under another address, and keeps what it imports.
  const loop = `
    for (const [n, args] of ${JSON.stringify(commands)}.entries()) {
      process.argv = [process.execPath, ...args]
      await import('${pathToFileURL(lqe!).href}?' + n)
      if (process.exitCode) break
      for (const stream of [process.stdout, process.stderr]) stream.write('\\0')
    }`
  const args = ['-r', before!, '--input-type=module', '-e', loop]
  const printed = await promisify(execFile)(process.execPath, args, { ...options, encoding: 'utf8' })
  const [out, err] = [printed.stdout, printed.stderr].map(text => text.split('\0'))
  return commands.map((_, n) => ({ out: out![n]!, err: err![n]! }))
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

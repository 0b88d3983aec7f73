import { jest } from '@jest/globals'
import { type Command, CommanderError } from 'commander'

interface Outcome {
  out: string
  err: string
  code: number
}

/** Arguments of Node that run the program, as `npm run lqe` does. */
export const program = ['-r', './infra/local/node-version.cjs', 'infra/lqe/lqe.ts']

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
    if (!(error instanceof CommanderError)) print('err')(`${(error as Error).message}\n`)
    outcome.code = 1
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.exitCode = undefined
  }
  return outcome
}

/** gcloud's own check of commands, without an account; for tests of the deployment. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

/** A test that is skipped, with a word about it, where the program is not installed. */
export function testWith(program: 'gcloud' | 'bq'): typeof test | typeof test.skip {
  if (spawnSync(program, ['version']).status === 0) return test
  console.warn(`${program} is not installed: what it would check of the deployment is skipped`)
  return test.skip
}

/** @returns what gcloud has to say against each command */
export function lint(commands: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  const file = join(folder, 'commands.json')
  writeFileSync(file, JSON.stringify(commands.map(command => ({ command_string: command }))))
  const output = execFileSync('gcloud', ['meta', 'lint-gcloud-commands', `--commands-file=${file}`], {
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  rmSync(folder, { recursive: true })
  const results = JSON.parse(output) as {
    success: boolean
    error_message: string | null
    command_string: string
  }[]
  expect(results).toHaveLength(new Set(commands).size)
  return results
    .filter(({ success }) => !success)
    .map(({ command_string, error_message }) => `${command_string}: ${error_message}`)
}

/** E-mail address of one of our service accounts in the project of the tests. */
export function email(name: string): string {
  return `lqe-${name}@my-project.iam.gserviceaccount.com`
}

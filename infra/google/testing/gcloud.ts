/** For tests of the deployment: gcloud's own check of commands, which needs no account. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

/** A test that is skipped with a warning where gcloud is not installed. */
export function testWithGcloud(): typeof test | typeof test.skip {
  if (spawnSync('sh', ['-c', 'command -v gcloud']).status === 0) return test
  console.warn('gcloud is not installed: its check of the deployment is skipped')
  return test.skip
}

/** @returns the commands that gcloud refuses, each with the reason */
export async function lint(commands: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  const file = join(folder, 'commands.json')
  writeFileSync(file, JSON.stringify(commands.map(command => ({ command_string: command }))))
  const args = ['meta', 'lint-gcloud-commands', `--commands-file=${file}`]
  const { stdout } = await promisify(execFile)('gcloud', args, { maxBuffer: 1e9 })
  rmSync(folder, { recursive: true })
  const results = JSON.parse(stdout) as Record<'command_string' | 'error_message', string>[]
  expect(results).toHaveLength(new Set(commands).size)
  const wrong = results.filter(one => (one as { success?: boolean }).success !== true)
  return wrong.map(({ command_string, error_message }) => `${command_string}: ${error_message}`)
}

/** E-mail address of a service account of ours in the project of the tests. */
export function email(name: string): string {
  return `lqe-${name}@my-project.iam.gserviceaccount.com`
}

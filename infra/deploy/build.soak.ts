import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { start, stop, untilUp } from '../local/process.ts'
import { buildFunctions } from './build.ts'

const folder = mkdtempSync(join(tmpdir(), 'build-'))
const bare = mkdtempSync(join(tmpdir(), 'bare-'))

beforeAll(async () => {
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  await buildFunctions(join(folder, 'dist'))
  cpSync(join(folder, 'dist'), bare, { recursive: true })
}, 60_000)
afterAll(() => {
  for (const each of [folder, bare]) rmSync(each, { recursive: true, force: true })
})

test('the folder to deploy installs as the buildpack does, and serves', async () => {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: bare, env, stdio: 'pipe' })
  npm('ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund')
  npm('run', 'gcp-build')
  const settings = { STORE: 'firestore', ENGINE: 'bigquery', BIGQUERY_DATASET: 'd', EXPLORER_DIR: 'off' }
  const command = [process.execPath, join(bare, 'node_modules/.bin/functions-framework')]
  const server = await start({ command, args: ['--target=query'], env: settings, cwd: bare })
  server.child.stdout!.resume()
  await untilUp(server)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  await stop(server)
}, 120_000)

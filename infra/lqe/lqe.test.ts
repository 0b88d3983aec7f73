/** The operator's commands against the cloud's store and engine, as they run after a deployment. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { missingEmulator } from '../google/firestore-emulator.ts'
import { type Backends, startBackends } from '../google/backends.ts'
import { writeSample } from './logs/sample.ts'
import { program } from './testing/command.ts'

const root = join(import.meta.dirname, '../..')
const missing = missingEmulator()
if (missing !== null) process.stdout.write(`Left out: lqe against Firestore, as ${missing}\n`)

describe(missing === null ? 'lqe --store firestore' : `lqe --store firestore (left out: ${missing})`, () => {
  const claim = missing === null ? test : test.skip
  const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
  let backends: Backends | undefined

  beforeAll(async () => {
    if (missing !== null) return
    const config = loadConfig({ DATA_DIR: folder })
    const logsFolder = join(folder, 'logs')
    await writeSample({ logsFolder, tablesFolder: config.tablesDir, now: new Date(), rows: 500 })
    backends = await startBackends(config)
  }, 90_000)

  afterAll(async () => {
    await backends?.stop()
    rmSync(folder, { recursive: true })
  })

  /** The project is named on the command line alone. */
  async function lqe(...args: string[]): Promise<string> {
    const { ENGINE: _, STORE: __, GOOGLE_CLOUD_PROJECT: project = '', ...env } = backends!.env
    const cloud = ['--store', 'firestore', '--project', project]
    const run = promisify(execFile)(process.execPath, [...program, ...args, ...cloud], {
      cwd: root,
      env: { PATH: process.env['PATH'], DATA_DIR: folder, ...env },
    })
    return (await run).stdout
  }

  claim(
    'plans with an estimate of bytes for each choice, applies once, issues and lists keys',
    async () => {
      const plan = await lqe('apply', '--dry-run')
      expect(plan).toMatch(/^\+ logs\.all created$/m)
      expect(plan).toMatch(/^ {2}usage\.api-counts interval=daily reads about [\d.]+ [KM]B$/m)
      const createKey = lqe('key', 'create', '--name', 'cloud', '--all', '--never')
      const [applied, created] = await Promise.all([lqe('apply'), createKey])
      expect(applied).toMatch(/^3 changed\.$/m)
      const [, id = ''] = /lqe_(\w{11})_/.exec(created) ?? []
      const [again, list] = await Promise.all([lqe('apply'), lqe('key', 'list')])
      expect(again).toMatch(/^0 changed\.$/m)
      expect(list).toContain(`${id}  active   cloud: every endpoint, never expires`)
      expect(await lqe('key', 'revoke', id)).toContain(`Revoked ${id}`)
    },
    120_000,
  )
})

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import { buildFunctions } from '../../infra/deploy/build.ts'
import { describeFrozen } from '../testing/describe-frozen.ts'

const folder = mkdtempSync(join(tmpdir(), 'frozen-'))
const bundle = join(folder, 'dist')

beforeAll(async () => {
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  await buildFunctions(bundle)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const times = { callers: 50, rounds: 100, killEvery: 3, runs: 50, losses: 50 }

/** With the times of production. */
describeFrozen({ instances: 4, ...times, outageMs: 60_000 }, () => bundle)

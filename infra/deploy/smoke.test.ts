/** What the smoke test asks of both functions, and that it leaves nothing behind. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { listKeys } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import { openProject, type Project } from '../google/control/testing/project.ts'
import { apply } from '../lqe/apply/apply.ts'
import { smoke } from './smoke.ts'
import { connect, setUp } from './testing/client.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'smoke-'))
const env = { DATA_DIR: dataDir, ENGINE_PROCESSES: '0' }

/** In place of both functions; `isOpen` = warm answers whoever calls. */
let isOpen = false
const asked: (string | undefined)[] = []
const server = createServer((req, res) => {
  const { authorization, 'x-api-key': key } = req.headers
  asked.push(req.url)
  const isWarm = req.method === 'POST'
  const ofWarm = authorization ? 404 : isOpen ? 200 : 403
  res.writeHead(isWarm ? ofWarm : req.url === '/health' || key ? 200 : 401).end('not_found')
})

let project: Project
beforeEach(async () => {
  isOpen = false
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  project = await openProject()
  await setUp(connect(project), ['APIs', 'accounts', 'rights'])
})
afterEach(async () => {
  await new Promise(resolve => server.close(resolve))
  await project.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function run(): Promise<{ said: string[]; error?: Error; keys: number }> {
  const { google, site, said } = connect(project)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const end = await smoke({ google, site, env }, { query: url, warm: url }).catch((error: Error) => error)
  const { store, close } = await openServices(loadConfig(env))
  const keys = (await listKeys(store)).length
  await close()
  return { said, keys, ...(end ? { error: end } : {}) }
}

test('it asks what a caller and the scheduler ask, and its key is gone', async () => {
  const { said, keys, error } = await run()
  expect([error, keys]).toEqual([undefined, 0])
  expect(said.filter(line => line.startsWith('passed'))).toEqual([
    'passed: query is up',
    'passed: warm knows its scheduler',
    'passed: query refuses a call without a key',
    'passed: query knows a key',
    'passed: warm is closed to the public',
  ])
})

test('it asks BigQuery by whichever endpoint takes SQL of callers', async () => {
  const services = await openServices(loadConfig({ ...env, TABLES_DIR: 'infra/lqe/init/own/tables' }))
  await apply(services, { queries: 'infra/docs/own-logs/app', dryRun: false, out: () => {} })
  await services.close()
  expect((await run()).said).toContain('passed: query asks BigQuery')
  expect(asked).toContain('/api/endpoints/query/app.latest?sql=SELECT+1+AS+ok')
})

test('what fails is named with the answer, and the key is gone', async () => {
  isOpen = true
  const { error, keys } = await run()
  expect([keys, error?.message]).toEqual([
    0,
    expect.stringMatching(
      /^failed: warm is closed to the public: http:\S+ answered 200, not 403: not_found$/,
    ),
  ])
})

/** The folder to deploy, with Google's clients as bundled in it. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { build } from 'esbuild'
import { edgeRow } from '../../functions/testing/edges.ts'
import { describeFrozen } from '../../functions/testing/describe-frozen.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { describeEmulator } from '../../shared/stores/testing/describe-stores.ts'
import { bodyOf, use } from '../../shared/warm/testing/fixture.ts'
import { buildFunctions } from './build.ts'
import { messages, unused } from './trim-google-clients.ts'
import { startBundle } from '../google/backends.ts'
import { missingEmulator, useEmulator } from '../google/firestore-emulator.ts'

const project = 'abcdefghijklmnopqrst'
let folder: string
let dist: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'build-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  dist = join(folder, 'dist')
  const starting = missingEmulator() === null ? useEmulator() : null // beside the build, for the suite below
  await buildFunctions(dist)
  await starting
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a new process takes the code cache of the build', () => {
  const program = "console.log(require('./index.cjs').cachedDataRejected); process.exit()"
  const env = { PATH: process.env['PATH'], STORE: 'firestore', GOOGLE_CLOUD_PROJECT: 'none-there' }
  expect(execFileSync(process.execPath, ['-e', program], { cwd: dist, env, encoding: 'utf8' })).toBe(
    'false\n',
  )
})

test('would install in a bare folder the packages that were tested', () => {
  const { '': _, ...locked } = packagesOf(dist)
  const tested = packagesOf('.')
  expect(Object.keys(locked)).toContain('node_modules/@google-cloud/functions-framework')
  for (const [path, { version, integrity }] of Object.entries(locked))
    expect({ path, ...tested[path] }).toMatchObject({ path, version, integrity })
  // It fails where the lock file is not that of package.json. `build.soak.ts` installs them.
  const bare = mkdtempSync(join(tmpdir(), 'bare-'))
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(dist, file), join(bare, file))
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  execFileSync('npm', ['ci', '--omit=dev', '--dry-run'], { cwd: bare, env, stdio: 'pipe' })
  rmSync(bare, { recursive: true })
})

/** By their path in node_modules, as the lock file has them. */
function packagesOf(folder: string): Record<string, { version?: string; integrity?: string }> {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: ReturnType<typeof packagesOf>
  }
  return lock.packages
}

test('the adapters of a laptop are not in the bundle', () => {
  expect(readFileSync(join(dist, 'service.js'), 'utf8')).not.toMatch(/node:sqlite|@duckdb\/node-api/)
})

describe('infra/docs/surgery.md: still needed is', () => {
  test('each part that is left out of the bundle: Firestore’s client brings it along', async () => {
    const { metafile } = await build({
      entryPoints: ['shared/stores/firestore/store.ts'],
      bundle: true,
      platform: 'node',
      write: false,
      metafile: true,
    })
    const modules = Object.keys(metafile.inputs)
    for (const path of [...unused.map(([path]) => path), messages])
      expect(modules).toContainEqual(expect.stringMatching(path))
  })

  test('the code cache: Node’s own has no function that runs after the load, and is for one user', () => {
    const [file, cache] = [join(folder, 'late.js'), join(folder, 'node-cache')]
    writeFileSync(file, `exports.early = 'first text'; exports.late = () => 'second text'`)
    const program = `const { enableCompileCache, flushCompileCache } = require('node:module')
      enableCompileCache('${cache}'); require('${file}').late(); flushCompileCache()`
    execFileSync(process.execPath, ['-e', program], { env: {} }) // not with the cache of these tests
    const [forUser = ''] = readdirSync(cache)
    const cached = readdirSync(join(cache, forUser)).map(name => readFileSync(join(cache, forUser, name)))
    expect(forUser).toMatch(new RegExp(`-${process.getuid!()}$`))
    expect(String(Buffer.concat(cached))).toContain('first text')
    expect(String(Buffer.concat(cached))).not.toContain('second text')
  })
})

describeFrozen(
  { instances: 2, callers: 10, rounds: 2, killEvery: 2, runs: 12, losses: 1, outageMs: 0 },
  () => dist,
)

describeEmulator('the trimmed bundle', () => {
  let service: TestService

  beforeAll(async () => {
    const tables = {
      'cloudflare.logs.prod': [edgeRow('one', '2026-03-10T12:00:00Z', project, '/rest/v1/items')],
    }
    service = await startService({ tables, env: { FROZEN_NOW: '2026-03-10T12:30:30.000Z' }, bundle: dist })
  })
  afterAll(() => service.stop())

  test('an answer is made, stored, and found by another process', async () => {
    const usage = `/api/endpoints/query/usage.api-counts?interval=hourly&project=${project}`
    const made = await service.fetch(usage)
    expect(made.status).toBe(200)
    expect(made.headers.get('cache-status')).toContain('fwd=miss')
    const other = await startBundle('query', service.env, () => {}, { folder: dist })
    try {
      const found = await fetch(other.url + usage, { headers: { 'X-API-KEY': service.key } })
      expect(found.headers.get('cache-status')).toMatch(/hit|collapsed/)
      expect(await found.json()).toEqual(await made.json())
    } finally {
      await other.stop()
    }
  })

  test('the warm function refreshes answers in use', async () => {
    const { endpoints, store } = service.services
    const usage = (await endpoints.find('usage.api-counts'))!
    const parameters = `[["interval","daily"],["project","${project}"]]`
    const keyFields = {
      endpointId: usage.id,
      version: usage.version,
      parameters,
      sql: null,
      variant: 'clear',
    }
    await use(store, usage, { keyFields })
    const warm = await startBundle('warm', service.env, () => {}, { folder: dist })
    try {
      const response = await fetch(warm.url, { method: 'POST' })
      expect(await response.json()).toMatchObject({ refreshed: 1, failed: 0, runs: 1 })
      expect(await bodyOf(store, keyFields)).toContain('"total_rest_requests":1')
    } finally {
      await warm.stop()
    }
  })

  test('a key’s budget bounds each run by its estimate, and is spent by what BigQuery read', async () => {
    const keyFor = (bytesPerDay: number) => service.issue({ limits: { callsPerMinute: null, bytesPerDay } })
    const logs = `/api/endpoints/query/logs.all?project=${project}`
    const refused = await service.fetch(logs, { key: await keyFor(1) })
    const { detail, ...problem } = (await refused.json()) as { detail: string }
    expect(problem).toMatchObject({ status: 429, code: 'budget_exhausted' })
    expect(detail).toMatch(/read up to [\d,]{3,} bytes, and .* may read 1 bytes more of the 1 of a day/)
    const estimate = Number(/up to ([\d,]+)/.exec(detail)![1]!.replaceAll(',', ''))
    // A call may read several times, further back each time.
    const key = await keyFor(9 * estimate)
    const statuses: number[] = []
    while (statuses.length < 10 && statuses.at(-1) !== 429)
      statuses.push((await service.fetch(logs, { key })).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
  })

  test('knows its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await (await service.fetch('/health')).json()).toEqual({ status: 'ok', version })
  })

  test('the endpoints are listed, and a caller’s own query runs', async () => {
    const list = await service.fetch('/api/endpoints')
    expect(await list.text()).toContain('usage.api-counts')
    const sql = encodeURIComponent('SELECT COUNT(*) AS n FROM edge_logs')
    const answer = await service.fetch(`/api/endpoints/query/logs.all?project=${project}&sql=${sql}`)
    expect(await answer.json()).toMatchObject({ result: [{ n: 1 }] })
  })
})

/** A whole service for tests over HTTP: real engine, real store, real framework, on a free port. */
import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { http } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { type Config, type Environment, loadConfig } from '../../shared/config.ts'
import type { Details, Log, Severity } from '../../shared/log.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { issueKey, rights } from '../../shared/keys/records.ts'
import { patchFramework } from '../http/framework.ts'
import { queryHandler } from '../routes.ts'
import { startBackends, startBundle } from '../../infra/google/backends.ts'
import type { BigQueryServer } from '../../infra/google/bigquery/server.ts'

export interface TestService {
  url: string
  /** A key with every right. */
  key: string
  services: Services
  /** Where the engine is BigQuery. */
  bigQuery: BigQueryServer | null
  /** The environment of another process that serves the same data. */
  env: Environment
  /** Log lines so far. */
  logged: { severity: Severity; message: string; details: Details }[]
  /** GET (or what `init` says) with `key`, unless headers say otherwise. */
  fetch(path: string, init?: RequestInit & { key?: string | null }): Promise<Response>
  issue(grant: Partial<Parameters<typeof issueKey>[1]>): Promise<string>
  stop(): Promise<void>
}

export interface TestSetup {
  /** Rows by logical table name, as NDJSON has them. */
  tables: Record<string, object[]>
  /** Folder of endpoints; the shipped ones by default. */
  queries?: string
  /** By default the engine runs in this process, as the start of another one takes longer than most tests. */
  env?: Environment
  /** Folder of a bundle, to be served from a process of its own with Google's clients; needs the emulator. */
  bundle?: string | null
}

/** For `env`: the engine in processes of its own, as it runs by default. */
export const asShipped: Environment = { ENGINE_PROCESSES: undefined }

/** `npm run test:deployed` runs the same tests against the bundle in `dist`. */
const asDeployed = process.env['SERVICE'] === 'deployed' ? resolve('dist/function') : null

let made = 0
let patched = false

export async function startService({
  tables,
  queries = 'queries',
  env = {},
  bundle = asDeployed,
}: TestSetup): Promise<TestService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'service-'))
  const local = { DATA_DIR: dataDir, ENGINE_PROCESSES: '0', ...env }
  await load(dataDir, loadConfig(local).tablesDir, tables)
  const backends = bundle
    ? await startBackends(loadConfig(local), env['FROZEN_NOW'] ? { now: env['FROZEN_NOW'] } : {})
    : null
  const settings = { ...local, ...backends?.env }
  const config = loadConfig(settings)
  const services = await openServices(config)
  await apply(services, { queries, dryRun: false, out: () => {} })
  const logged: TestService['logged'] = []
  const log = (severity: Severity, message: string, details: Details = {}) =>
    void logged.push({ severity, message, details })
  const server = bundle
    ? await startBundle('query', settings, log, { folder: bundle })
    : await startInProcess(services, config, log)
  const { url } = server
  const issue: TestService['issue'] = async grant => {
    const all = { name: 'test', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
    return (await issueKey(services.store, { ...all, ...grant })).key
  }
  const key = await issue({ rights: [...rights] })
  // A body that nobody reads keeps its connection open, and with it the process.
  const ended = new AbortController()
  setMaxListeners(0, ended.signal) // one for each call
  return {
    url,
    key,
    services,
    bigQuery: backends?.bigQuery ?? null,
    env: settings,
    logged,
    issue,
    fetch(path, { key: other = key, headers, ...init } = {}) {
      const own: Record<string, string> = other === null ? {} : { 'X-API-KEY': other }
      return fetch(url + path, {
        signal: ended.signal,
        ...init,
        headers: { ...own, ...(headers as Record<string, string>) },
      })
    },
    async stop() {
      ended.abort()
      await server.stop()
      await services.close()
      await backends?.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** For functions in this process, which rely on the patch as deployed ones do. */
export function patchOnce(log: Log): void {
  if (!patched) patchFramework({ log, host: null, drainMs: 0, interrupt: () => {}, close: async () => {} })
  patched = true
}

async function startInProcess(services: Services, config: Config, log: Log) {
  patchOnce(log)
  const name = `query-${++made}`
  http(name, queryHandler({ services, config, log }))
  const server = getTestServer(name)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  return { url, stop }
}

async function load(dataDir: string, tablesFolder: string, tables: Record<string, object[]>): Promise<void> {
  const file = join(dataDir, 'rows.ndjson')
  for (const [table, rows] of Object.entries(tables)) {
    writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    await loadLogs({ logsFolder: join(dataDir, 'logs'), tablesFolder, table, files: [file], out: () => {} })
  }
}

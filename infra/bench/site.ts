/** The service under measurement: sample logs, the shipped endpoints, a key, and stored answers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AnswerCache } from '../../shared/cache/cache.ts'
import { cacheKey, type CacheKeyFields, headAt } from '../../shared/cache/head.ts'
import { loadConfig } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Result } from '../../shared/engines/engine.ts'
import { readParameters } from '../../shared/endpoints/parameters.ts'
import { openServices, type Services } from '../../shared/services.ts'
import type { Write } from '../../shared/stores/store.ts'
import { type Grant, issueKey } from '../../shared/keys/records.ts'
import { apply } from '../lqe/apply/apply.ts'
import { startBackends } from '../google/backends.ts'
import { answerOf } from '../lqe/query.ts'
import { projects, writeSample } from '../lqe/logs/sample.ts'
import type { Call } from './server.ts'

export interface Site {
  /** For files of the sections; removed with the site. */
  folder: string
  /** Environment of a process that serves this site. */
  env: Record<string, string>
  headers: Record<string, string>
  services: Services
  close(): Promise<void>
}

/** With the adapters of a laptop, in a folder of its own that `close` removes. */
export async function openSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const env = { DATA_DIR: join(folder, 'data') }
  const config = loadConfig(env)
  await writeSample({
    logsFolder: join(config.dataDir, 'logs'),
    tablesFolder: config.tablesDir,
    now: new Date(),
  })
  return openSiteOver(folder, env, async () => rmSync(folder, { recursive: true, force: true }))
}

/** The same logs behind Google's clients, as when deployed: Firestore's emulator and the stand-in for BigQuery. */
export async function openDeployedSite({ folder, env: local }: Site): Promise<Site> {
  const backends = await startBackends(loadConfig(local))
  return openSiteOver(folder, backends.env, backends.stop)
}

/** Over logs that are there: saves the shipped endpoints and makes a key for them, which may have every call run the query. */
export async function openSiteOver(folder: string, env: Site['env'], stop = async () => {}): Promise<Site> {
  // In this process, whose CPU time is counted.
  const services = await openServices({ ...loadConfig(env), engineProcesses: 0 })
  const close = () => services.close().then(stop)
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
  const grant: Grant = { name: 'bench', endpoints: '*', pins: {}, rights: ['cache:bypass'], expiresAt: null }
  const { key } = await issueKey(services.store, grant)
  return { folder, env, services, headers: { 'X-API-KEY': key }, close }
}

/** The project in the requests. */
export const project = projects[0]!.ref

/** Throws Error where there is none. */
export async function endpointNamed(site: Site, name: string): Promise<Endpoint> {
  const endpoint = await site.services.endpoints.find(name)
  if (!endpoint) throw new Error(`there is no endpoint ${name}`)
  return endpoint
}

/**
 * Stores an answer as another process does that has just run the query.
 * @param name of the endpoint
 * @returns the request for it, and its body
 */
export async function storeAnswer(
  site: Site,
  name: string,
  query: string,
  result: Result,
): Promise<{ call: Call; gzip: Buffer; identity: Buffer }> {
  const endpoint = await endpointNamed(site, name)
  const cache = new AnswerCache(site.services.store)
  const run = async () => ({ ...result, bytes: null, slotMs: null, jobId: null })
  const services = { ...site.services, engine: { ...site.services.engine, run }, cache }
  const { answer } = await answerOf(services, endpoint, query, { sql: null, redact: false, fresh: false })
  await cache.close()
  const call = { path: `/api/endpoints/query/${name}?${query}`, headers: site.headers }
  return { call, gzip: await answer.bytes('gzip'), identity: await answer.bytes('identity') }
}

/**
 * Stores copies of an answer for other parameters, as processes have stored them that ran the query: by their documents.
 * @param queryOf the query string of the n-th
 */
export async function copyAnswer(
  site: Site,
  name: string,
  { from, queryOf, count }: { from: string; queryOf: (n: number) => string; count: number },
): Promise<void> {
  const { store } = site.services
  const endpoint = await endpointNamed(site, name)
  const { id: endpointId, version } = endpoint
  const keyFieldsOf = (query: string): CacheKeyFields => {
    const { canonical: parameters } = readParameters(endpoint, query, {})
    return { endpointId, version, parameters, sql: null, variant: 'clear' }
  }
  const { document } = await store.get(headAt(cacheKey(keyFieldsOf(from))))
  for (let n = 0; n < count; n += copiesAtOnce) {
    const writes = Array.from({ length: Math.min(copiesAtOnce, count - n) }, (_, i): Write => {
      const keyFields = keyFieldsOf(queryOf(n + i))
      const fields = { ...document!.fields, question: { ...keyFields } }
      return { type: 'create', at: headAt(cacheKey(keyFields)), fields }
    })
    await store.batch(writes)
  }
}

/** Writes of one commit. */
const copiesAtOnce = 400

/** The usage chart by the minute: about 12 KB of JSON, a typical answer. */
export function minutesOfUsage(): Result {
  const counts = ['rest', 'storage', 'auth', 'realtime'].map(api => `total_${api}_requests`)
  const columns = [
    { name: 'timestamp', type: { kind: 'DATETIME' as const } },
    ...counts.map(name => ({ name, type: { kind: 'INT64' as const } })),
  ]
  const rows = Array.from({ length: 80 }, (_, minute) => ({
    timestamp: new Date(Date.UTC(2026, 0, 31, 12, minute)).toISOString().slice(0, 19),
    ...Object.fromEntries(counts.map((name, at) => [name, (minute * 7919 * (at + 1)) % 10_000])),
  }))
  return { columns, rows, truncated: false }
}

/** Rows of the edge log as a caller gets them, with all their metadata. */
export async function logRows({ services }: Site, count: number): Promise<Result> {
  const sql = `SELECT id, timestamp, event_message, metadata FROM \`cloudflare.logs.prod\` LIMIT ${count}`
  return services.engine.run({ sql, bindings: [] }, { maxRows: count, timeoutMs: 60_000 })
}

/**
 * Several processes answer redacted and clear calls of one endpoint, mixed, while its definition changes. Each answer
 * holds the number of the definition that made it, and an address that a redacted answer must not show.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { loadConfig } from '../../shared/config.ts'
import { openServices } from '../../shared/services.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { startFunction } from './framework.ts'

export interface Leaks {
  calls: number
  /** Redacted answers with a clear address, and clear ones without. */
  wrong: number
  /** Answers of a definition that was replaced longer ago than `rememberMs`. */
  outdated: number
  changes: number
}

const address = '203.0.113.7'

export async function findLeaks(wanted: {
  calls: number
  changes: number
  rememberMs: number
}): Promise<Leaks> {
  const folder = mkdtempSync(join(tmpdir(), 'leaks-'))
  const env = {
    DATA_DIR: join(folder, 'data'),
    REMEMBER_MS: String(wanted.rememberMs),
    ENGINE_PROCESSES: '0',
  }
  const services = await openServices(loadConfig(env))
  let current = 0
  let changedAt = 0
  const change = async () => {
    define(folder, current + 1)
    await apply(services, { queries: folder, dryRun: false, out: () => {} })
    current++
    changedAt = performance.now()
  }
  await change()
  const grant = { name: 'leaks', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
  const { key } = await issueKey(services.store, grant)
  const start = () => startFunction('query', { env: { NODE_ENV: 'production', ...env } })
  const servers = await Promise.all([start(), start(), start()])
  const result: Leaks = { calls: 0, wrong: 0, outdated: 0, changes: 0 }
  const callers = Array.from({ length: 12 }, async (_, i) => {
    for (; result.calls < wanted.calls || result.changes < wanted.changes; result.calls++) {
      const redacted = Math.random() < 0.5
      const settled = performance.now() - changedAt > wanted.rememberMs ? current : 0
      const answer = await read(servers[i % servers.length]!.url, key, redacted)
      if (answer.address !== (redacted ? 'REDACTED' : address)) result.wrong++
      if (answer.definition < settled) result.outdated++
    }
  })
  const changing = (async () => {
    while (result.changes < wanted.changes) {
      await sleep(wanted.rememberMs * 1.5)
      await change()
      result.changes++
    }
    await sleep(wanted.rememberMs * 1.2)
  })()
  await Promise.all([...callers, changing])
  for (const { child } of servers) child.kill('SIGKILL')
  await services.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  return result
}

function define(folder: string, definition: number): void {
  mkdirSync(folder, { recursive: true })
  const parameters = 'parameters: {properties: {nonce: {type: string}}}'
  const yaml = `id: 00000000-0000-4000-8000-00000000000a\ndescription: d\n${parameters}\ncache: {seconds: 60}\n`
  writeFileSync(join(folder, 'leaky.yaml'), yaml)
  writeFileSync(
    join(folder, 'leaky.sql'),
    `SELECT ${definition} AS definition, '${address}' AS address, @nonce AS nonce`,
  )
}

/** Five parameter sets, so that answers are hits, misses, and redacted copies of clear ones. */
async function read(server: string, key: string, redacted: boolean) {
  const url = `${server}/api/endpoints/query/leaky?nonce=${Math.floor(Math.random() * 5)}`
  const headers = { 'X-API-KEY': key, 'SVC-ENDPOINT-REDACT-PII': String(redacted) }
  const response = await fetch(url, { headers })
  const body = (await response.json()) as { result: { definition: number; address: string }[] }
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(body)}`)
  return body.result[0]!
}

/** A service with an hour of logs in all tables and a short time limit, and what it makes of queries. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entries } from '../../shared/sandbox/testing/dashboards/dashboards.ts'
import { asShipped, startService } from './service.ts'

export interface Outcome {
  sql: string
  status: number
  /** The problem's code, or `answered`. */
  code: string
  detail: string
  ms: number
  /** CPU time of this process past the time limit and until the end, which no other program on the machine lengthens. */
  lateCpuMs: number
}

export interface HostileService {
  limitMs: number
  /** @param key by default the one with every right */
  send(sql: string, key?: string): Promise<Outcome>
  /** A key of another caller. */
  issue(): Promise<string>
  stop(): Promise<void>
}

export async function startHostileService(limitSeconds: number): Promise<HostileService> {
  const queries = mkdtempSync(join(tmpdir(), 'hostile-'))
  const definition = readFileSync('queries/logs.all.yaml', 'utf8')
  writeFileSync(join(queries, 'logs.all.yaml'), `${definition}\ntimeoutSeconds: ${limitSeconds}\n`)
  writeFileSync(join(queries, 'logs.all.sql'), readFileSync('queries/logs.all.sql', 'utf8'))
  const service = await startService({ tables: entries(), queries, env: asShipped, bundle: null })
  const path = '/api/endpoints/query/logs.all?project=acme'
  return {
    limitMs: limitSeconds * 1000,
    issue: () => service.issue({ name: 'other' }),
    async send(sql, key) {
      const started = performance.now()
      let atLimit: NodeJS.CpuUsage | null = null
      const timer = setTimeout(() => (atLimit = process.cpuUsage()), limitSeconds * 1000)
      const response = await service.fetch(path, {
        method: 'POST',
        ...(key && { key }),
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ sql }),
      })
      const text = await response.text()
      clearTimeout(timer)
      const ms = performance.now() - started
      const { user, system } = atLimit ? process.cpuUsage(atLimit) : { user: 0, system: 0 }
      const { status } = response
      const answered = { code: 'answered', detail: '' }
      const { code, detail } = status === 200 ? answered : (JSON.parse(text) as typeof answered)
      return { sql, status, code, detail, ms, lateCpuMs: (user + system) / 1000 }
    },
    async stop() {
      await service.stop()
      rmSync(queries, { recursive: true })
    },
  }
}

/**
 * Whether an outcome is what no caller may get: a fault of the service, or an end later than a second past the limit, by the
 * clock and by the CPU.
 */
export function isFault({ status, code, ms, lateCpuMs }: Outcome, limitMs: number): boolean {
  return (status >= 500 && code !== 'query_timeout') || (ms > limitMs + 1000 && lateCpuMs > 1000)
}

/** Keys, values, rows, bodies and SQL with a mark go through the service; then its log is searched for the mark. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { writeSample } from '../../infra/lqe/logs/sample.ts'
import { loadConfig } from '../../shared/config.ts'
import { openServices } from '../../shared/services.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { startFunction } from '../testing/framework.ts'

const folder = mkdtempSync(join(tmpdir(), 'canary-'))

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

test('no key, value, row, body or caller’s SQL is ever logged', async () => {
  const env = { DATA_DIR: folder }
  const { tablesDir } = loadConfig(env)
  await writeSample({ logsFolder: join(folder, 'logs'), tablesFolder: tablesDir, now: new Date(), rows: 300 })
  const services = await openServices(loadConfig(env))
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
  const { key } = await issueKey(services.store, {
    name: 'canary-name',
    endpoints: '*',
    pins: {},
    rights: [],
    expiresAt: null,
  })
  await services.close()

  const { child, url, output } = await startFunction('query', { env })
  const json = { 'Content-Type': 'application/json' }
  const calls: [path: string, init: RequestInit][] = [
    ['/api/endpoints/query/logs.all?project=canary-value', {}],
    ['/api/endpoints/query/logs.all?project=canary-value&iso_timestamp_start=canary-time', {}],
    ['/api/endpoints/query/usage.api-counts?interval=daily&project=canary-value(', {}],
    ['/api/endpoints/query/usage.api-counts?interval=canary-interval&project=.', {}],
    ['/api/endpoints/query/logs.all?project=qhzvnxwtrkdplmcoyaeb', {}],
    [
      `/api/endpoints/query/logs.all?project=a&sql=${encodeURIComponent("SELECT 'canary-sql' FROM nowhere")}`,
      {},
    ],
    [
      `/api/endpoints/query/logs.all?project=a&sql=${encodeURIComponent("SELECT CAST('canary-sql' AS INT64)")}`,
      {},
    ],
    ['/api/endpoints/query/canary-endpoint?project=a', {}],
    ['/canary-path/%ff', {}],
    ['/canary-path', {}],
    [
      '/api/endpoints/query/logs.all?project=a',
      { method: 'POST', headers: json, body: '{"sql": "canary-body' },
    ],
    [
      '/api/endpoints/query/logs.all?project=a',
      { method: 'POST', headers: json, body: '{"sql": "canary-body"}' },
    ],
    ['/api/endpoints/query/logs.all?project=a', { headers: { 'SVC-ENDPOINT-REDACT-PII': 'canary-header' } }],
    ['/api/endpoints/query/logs.all?project=a', { headers: { 'X-API-KEY': `${key}canary-key` } }],
  ]
  for (const [path, { headers, ...init }] of calls)
    await fetch(url + path, {
      ...init,
      headers: { 'X-API-KEY': key, ...(headers as Record<string, string>) },
    })
  await sleep(100)
  child.kill('SIGTERM')
  await once(child, 'exit')

  const lines = output()
    .split('\n')
    .filter(line => line.startsWith('{'))
  expect(lines.length).toBeGreaterThanOrEqual(calls.length)
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('severity')
  expect(output()).not.toContain('canary')
  expect(output()).not.toContain(key.slice(-20))
  expect(output()).not.toContain('qhzvnxwtrkdplmcoyaeb')
  expect(output()).not.toMatch(/203\.0\.113|198\.51\.100|2001:db8/)
}, 60_000)

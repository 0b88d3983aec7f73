/** Marked keys, values, rows, bodies and SQL go through everything; then all that was logged is searched for the marks. */
import { spawn } from 'node:child_process'
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

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'canary-'))
const framework = join(root, 'node_modules/@google-cloud/functions-framework/build/src/main.js')

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

test('neither a key nor a value, a row, a body or a caller’s text is ever logged', async () => {
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

  const port = 30_000 + Math.floor(Math.random() * 20_000)
  const args = [framework, '--target=query', '--source=functions/index.ts', `--port=${port}`]
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env['PATH'], ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  while (!output.includes('Serving function')) await sleep(20)

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
    await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { 'X-API-KEY': key, ...(headers as Record<string, string>) },
    })
  await sleep(100)
  child.kill('SIGTERM')
  await new Promise(resolve => child.once('exit', resolve))

  const lines = output.split('\n').filter(line => line.startsWith('{'))
  expect(lines.length).toBeGreaterThanOrEqual(calls.length)
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('severity')
  expect(output).not.toContain('canary')
  expect(output).not.toContain(key.slice(-20))
  expect(output).not.toContain('qhzvnxwtrkdplmcoyaeb')
  expect(output).not.toMatch(/203\.0\.113|198\.51\.100|2001:db8/)
}, 60_000)

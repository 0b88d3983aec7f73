/**
 * What callers send, sent to one process: values, rows, bodies and SQL with a mark, which its log is searched for, and a whole
 * API key in places that are not for it, which neither an error nor a log line gives back.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { writeSample } from '../../infra/lqe/logs/sample.ts'
import { loadConfig } from '../../shared/config.ts'
import { makeKey, writeKey } from '../../shared/key-text.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'

const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
const parts = makeKey()
const misplaced = writeKey(parts)
let key: string
let server: FunctionProcess

/** What came back, by where the misplaced key was. */
const answers: [where: string, answer: string][] = []

beforeAll(async () => {
  const config = loadConfig({ DATA_DIR: folder })
  const folders = { logsFolder: join(folder, 'logs'), tablesFolder: config.tablesDir }
  await writeSample({ ...folders, now: new Date(), rows: 300 })
  const services = await openServices(config)
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
  const grant = { name: 'canary-name', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
  ;({ key } = await issueKey(services.store, grant))
  await services.close()
  server = await startFunction('query', { env: { DATA_DIR: folder } })
  for (const [path, init] of marked) await ask(path, init)
  await ask(logs, { headers: { 'X-API-KEY': `${key}canary-key` } })
  await misplaceKeys()
  await sleep(100)
  server.child.kill('SIGTERM')
  await once(server.child, 'exit')
})

afterAll(() => {
  server.child.kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

const query = '/api/endpoints/query'
const logs = `${query}/logs.all?project=a`
const sql = (text: string) => `${logs}&sql=${encodeURIComponent(text)}`

const paths = [
  `${query}/${misplaced}`,
  `${query}/${misplaced}?project=a`,
  `${query}/${misplaced.replaceAll('_', '%5f')}`,
  `${query}/${misplaced}%ff`,
  `/${misplaced}`,
  `/api/endpoints/${misplaced}/tables`,
  `/explorer/${misplaced}`,
  `${logs}&${misplaced}=1`,
  `${logs}&x${misplaced}=1`,
  `${query}/logs.all?project=a&project=${misplaced}`,
  `${query}/logs.all?iso_timestamp_start=${misplaced}`,
  `${query}/logs.all?project=a&format=${misplaced}`,
  `${query}/usage.api-counts?project=a&interval=${misplaced}`,
  `${logs}&cursor=${misplaced}`,
  `${logs}&limit=${misplaced}`,
  sql(misplaced),
  sql(`SELECT ${misplaced}`),
  sql(`SELECT ${misplaced} FROM edge_logs`),
  sql(`SELECT id FROM ${misplaced}`),
  sql(`SELECT ${misplaced}(id) FROM edge_logs`),
  sql(`SELECT id FROM edge_logs WHERE id = @${misplaced}`),
  sql(`SELECT id ${misplaced} ${misplaced} FROM edge_logs`),
  sql(`SELECT t.${misplaced} FROM edge_logs AS t`),
  sql(`SELECT CAST('${misplaced}' AS INT64)`),
  sql(`SELECT CAST(id AS ${misplaced}) FROM edge_logs`),
  sql(`SELECT PARSE_JSON('${misplaced}')`),
  sql(`SELECT '${misplaced}`),
  sql(`SELECT TIMESTAMP '${misplaced}'`),
  sql(`SELECT REGEXP_CONTAINS(id, '(${misplaced}') FROM edge_logs`),
]

const headers = [
  'X-API-KEY',
  'Authorization',
  'Accept',
  'Accept-Encoding',
  'Content-Type',
  'Origin',
  'SVC-ENDPOINT-VERSION',
  'SVC-ENDPOINT-REDACT-PII',
  'SVC-ENDPOINT-LABELS',
  'LF-ENDPOINT-LABELS',
  'If-None-Match',
  'traceparent',
  'MCP-Protocol-Version',
  'MCP-Session-Id',
  misplaced,
]

const calls: [method: string, params: unknown][] = [
  [misplaced, {}],
  ['tools/call', { name: misplaced, arguments: {} }],
  ['tools/call', { name: misplaced }],
  ['tools/call', { name: { a: misplaced } }],
  ['tools/call', { name: 'logs_all', arguments: misplaced }],
  ['tools/call', { name: 'logs_all', arguments: { project: [misplaced] } }],
  ['tools/call', { name: 'logs_all', arguments: { project: 'a', [misplaced]: 1, [`x${misplaced}`]: 1 } }],
  ['tools/call', { name: 'logs_all', arguments: { project: 'a', cursor: misplaced } }],
  ['tools/call', { name: 'logs_all', arguments: { project: 'a', iso_timestamp_start: misplaced } }],
  ['tools/call', { name: 'query_logs_all', arguments: { project: 'a', sql: `SELECT ${misplaced}` } }],
  ['tools/call', { name: 'query_logs_all', arguments: { project: 'a', sql: `SELECT a FROM ${misplaced}` } }],
  ['tools/call', { name: 'query_logs_all', arguments: { project: 'a', sql: { a: misplaced } } }],
  ['resources/read', { uri: `lqe://${misplaced}/edge_logs` }],
  ['resources/read', { uri: misplaced }],
  ['resources/read', { uri: [misplaced] }],
  ['prompts/get', { name: misplaced }],
  ['prompts/get', { name: 'investigate', arguments: { [misplaced]: 1 } }],
  ['tools/list', { cursor: [misplaced] }],
  ['initialize', { protocolVersion: misplaced, capabilities: misplaced, clientInfo: misplaced }],
]

const json = 'application/json'

const marked: [path: string, init?: RequestInit][] = [
  [`${query}/logs.all?project=canary-value`],
  [`${query}/logs.all?project=canary-value&iso_timestamp_start=canary-time`],
  [`${query}/usage.api-counts?interval=daily&project=canary-value(`],
  [`${query}/usage.api-counts?interval=canary-interval&project=.`],
  [`${query}/logs.all?project=qhzvnxwtrkdplmcoyaeb`],
  [sql("SELECT 'canary-sql' FROM nowhere")],
  [sql("SELECT CAST('canary-sql' AS INT64)")],
  [`${query}/canary-endpoint?project=a`],
  ['/canary-path/%ff'],
  ['/canary-path'],
  [logs, { method: 'POST', headers: { 'Content-Type': json }, body: '{"sql": "canary-body' }],
  [logs, { method: 'POST', headers: { 'Content-Type': json }, body: '{"sql": "canary-body"}' }],
  [logs, { headers: { 'SVC-ENDPOINT-REDACT-PII': 'canary-header' } }],
]

async function ask(path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(server.url + path, {
    ...init,
    headers: { 'X-API-KEY': key, ...(init.headers as Record<string, string>) },
  })
  return [...response.headers, await response.text()].join('\n')
}

async function misplaceKeys(): Promise<void> {
  for (const path of paths) answers.push([path, await ask(path)])
  const post = (path: string, text: string, more = {}) =>
    ask(path, { method: 'POST', body: text, headers: { 'Content-Type': json, ...more } })
  for (const body of [misplaced, JSON.stringify({ sql: misplaced }), JSON.stringify({ [misplaced]: 1 })])
    answers.push([body, await post(logs, body)])
  for (const name of headers) {
    const sent = { [name]: misplaced }
    answers.push([`header ${name}`, await ask(logs, { headers: sent })])
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    answers.push([
      `MCP header ${name}`,
      await post('/mcp', list, { Accept: `${json}, text/event-stream`, ...sent }),
    ])
  }
  for (const version of ['2025-06-18', '2026-07-28'])
    for (const [method, params] of calls) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const more = { Accept: `${json}, text/event-stream`, 'MCP-Protocol-Version': version }
      answers.push([`${version} ${method} ${JSON.stringify(params)}`, await post('/mcp', body, more)])
    }
  answers.push(['MCP body', await post('/mcp', misplaced, { Accept: `${json}, text/event-stream` })])
}

test('no key, value, row, body or caller’s SQL is ever logged', () => {
  const lines = server
    .output()
    .split('\n')
    .filter(line => line.startsWith('{'))
  expect(lines.length).toBeGreaterThan(marked.length + answers.length)
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('severity')
  expect(server.output()).not.toContain('canary')
  expect(server.output()).not.toContain(key.slice(-20))
  expect(server.output()).not.toContain('qhzvnxwtrkdplmcoyaeb')
  expect(server.output()).not.toMatch(/203\.0\.113|198\.51\.100|2001:db8/)
})

test('a key in the wrong place comes back in no answer and in no log line', () => {
  const secret = parts.secret.slice(0, 12)
  expect(answers.filter(([, answer]) => answer.includes(secret))).toEqual([])
  expect(server.output()).not.toContain(secret)
  expect(server.output()).toContain('"message":"request"')
})

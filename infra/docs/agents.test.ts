/**
 * The recipes of agents.md: settings of clients, and the endpoint of "Supabase's own MCP server", which
 * `supabase-clients.soak.ts` has itself.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { sampleEntries } from '../lqe/logs/sample.ts'

const page = readFileSync(join(import.meta.dirname, 'agents.md'), 'utf8')
const project = 'qhzvnxwtrkdplmcoyaeb'
const queries = mkdtempSync(join(tmpdir(), 'supabase-mcp-'))
let service: TestService
let agentKey: string

beforeAll(async () => {
  const [, from] = /^cp (infra\/docs\/supabase-mcp)\/\* queries\/$/m.exec(page)!
  for (const folder of ['queries', from!]) cpSync(folder, queries, { recursive: true })
  const tables: Record<string, object[]> = {}
  for (const { table, entry } of [...sampleEntries(1_000, 1, new Date())].flat())
    (tables[table] ??= []).push(entry)
  service = await startService({ tables, queries })
  // As `key create --for agent` makes it.
  agentKey = await service.issue({ endpoints: ['logs'], pins: { project }, redacted: true })
})

afterAll(async () => {
  await service.stop()
  rmSync(queries, { recursive: true })
})

interface Server {
  url?: string
  headers?: Record<string, string>
  args?: string[]
}

test('a client gets the tools by the page’s settings, and the others of its table have the same address and header', async () => {
  const [, text = ''] = /```json\n(.*?)```/s.exec(page)!
  const { mcpServers } = JSON.parse(text) as { mcpServers: { logs: Required<Server> } }
  const { url, headers } = mcpServers.logs
  const address = new URL(url.replace('http://localhost:8080', service.url))
  const sent = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace('${env:LQE_KEY}', service.key),
  ])
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: Object.fromEntries(sent) as Record<string, string> }
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('query_logs_all')
  await client.close()

  const [, desktop = ''] = /the server is `(\{.*\})`/.exec(page)!
  const lines = [
    (JSON.parse(desktop) as Required<Server>).args.join(' '),
    ...[...page.matchAll(/`((?:claude mcp|npx).*--header.*)`/g)].map(([, line]) => line!),
  ]
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(line).toContain(url)
    expect(line).toMatch(/--header "?X-API-KEY:/)
  }
  const [, inputs = ''] = /`"inputs": (\[.*?\])`/.exec(page)!
  expect(JSON.parse(inputs)).toEqual([expect.objectContaining({ id: 'key', type: 'promptString' })])
})

async function ask(sql: string, key: string): Promise<Record<string, unknown>[]> {
  const query = new URLSearchParams({ project, sql }).toString()
  const response = await service.fetch(`/api/endpoints/query/logs?${query}`, { key })
  const { result, error } = (await response.json()) as { result: Record<string, unknown>[]; error?: object }
  expect(error).toBeUndefined()
  return result
}

test.each([
  ['edge_logs', ['identifier', 'request.method', 'request.path', 'response.status_code']],
  ['postgres_logs', ['identifier', 'parsed.error_severity']],
  [
    'function_edge_logs',
    [
      'response.status_code',
      'request.method',
      'function_id',
      'execution_time_ms',
      'deployment_id',
      'version',
    ],
  ],
  ['function_logs', ['level', 'event_type', 'function_id', 'execution_id', 'deployment_id', 'version']],
  ['auth_logs', ['level', 'status', 'path', 'msg']],
  ['storage_logs', []],
  ['realtime_logs', []],
])('the entries of %s have their attributes, by ClickHouse’s subscripts', async (source, attributes) => {
  const columns = attributes.map((name, at) => `, log_attributes['${name}'] as a${at}`).join('')
  const rows = await ask(
    `select id, timestamp, event_message, severity_text${columns} from logs where source = '${source}' order by timestamp desc limit 100`,
    agentKey,
  )
  expect(rows.length).toBeGreaterThan(0)
  const missing = attributes.filter((_, at) => rows.every(row => row[`a${at}`] === null))
  expect(missing).toEqual([])
})

test('no entry of another project is among them, and none is there twice', async () => {
  const [counted] = await ask('select count(*) as all_rows, count(distinct id) as ids from logs', agentKey)
  expect(counted!['all_rows']).toBe(counted!['ids'])
  const identifiers = await ask(
    `select distinct json_value(log_attributes['identifier']) as ref from logs
    where source in ('edge_logs', 'postgres_logs')`,
    service.key,
  )
  expect(identifiers).toEqual([{ ref: project }])
})

/** The endpoint of agents.md, "Supabase's own MCP server"; `supabase-clients.soak.ts` has that server itself. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { sampleEntries } from '../lqe/logs/sample.ts'

const project = 'qhzvnxwtrkdplmcoyaeb'
const queries = mkdtempSync(join(tmpdir(), 'supabase-mcp-'))
let service: TestService
let agentKey: string

beforeAll(async () => {
  const [, from] = /^cp (infra\/docs\/supabase-mcp)\/\* queries\/$/m.exec(
    readFileSync(join(import.meta.dirname, 'agents.md'), 'utf8'),
  )!
  for (const folder of ['queries', from!]) cpSync(folder, queries, { recursive: true })
  const tables: Record<string, object[]> = {}
  for (const { table, entry } of [...sampleEntries(1_000, 1, new Date())].flat())
    (tables[table] ??= []).push(entry)
  service = await startService({ tables, queries })
  // As `key create --for agent` makes it.
  agentKey = await service.issue({ endpoints: ['logs'], pins: { project }, redacted: true })
}, 60_000)

afterAll(async () => {
  await service.stop()
  rmSync(queries, { recursive: true })
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

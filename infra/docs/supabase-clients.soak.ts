/**
 * Clients of Supabase's Management API, as npm has them: its MCP server (agents.md, "Supabase's own MCP server") and
 * supabase-management-js. They bring 40 MB of packages that nothing else here needs, so they are installed for the run alone.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { projects, sampleEntries } from '../lqe/logs/sample.ts'

const project = 'qhzvnxwtrkdplmcoyaeb'
const folder = mkdtempSync(join(tmpdir(), 'supabase-clients-'))
let service: TestService

beforeAll(async () => {
  const queries = join(folder, 'queries')
  for (const from of ['queries', 'infra/studio', 'infra/docs/supabase-mcp'])
    cpSync(from, queries, { recursive: true })
  const tables: Record<string, object[]> = {}
  for (const { table, entry } of [...sampleEntries(2_000, 1, new Date())].flat())
    (tables[table] ??= []).push(entry)
  service = await startService({ tables, queries })
}, 120_000)

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** @returns the folder of the package */
function installed(name: string, version: string): string {
  const home = join(folder, version)
  execFileSync('npm', ['install', '--ignore-scripts', '--prefix', home, `${name}@${version}`], {
    stdio: 'ignore',
  })
  return join(home, 'node_modules', name)
}

/** The MCP server in a process of its own, as a client's settings start it. */
async function connected(version: string): Promise<Client> {
  const server = installed('@supabase/mcp-server-supabase', version)
  const { bin } = JSON.parse(readFileSync(join(server, 'package.json'), 'utf8')) as {
    bin: Record<string, string>
  }
  const [, line] = /^npx @supabase\/mcp-server-supabase (.*)$/m.exec(
    readFileSync('infra/docs/agents.md', 'utf8'),
  )!
  const values: Record<string, string> = {
    'http://localhost:8080': service.url,
    'lqe_...': service.key,
    mine: project,
  }
  const args = line!.split(' ').map(word => values[word] ?? word)
  const client = new Client({ name: 'soak', version: '1' })
  const command = join(server, Object.values(bin)[0]!)
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [command, ...args] }))
  return client
}

interface Version {
  version: string
  services: string[]
  /** Further calls, each with what its answer holds. */
  further: { tool: string; args: Record<string, string>; answers: RegExp }[]
}

const services = ['api', 'postgres', 'edge-function', 'auth', 'storage', 'realtime']
const branches = { tool: 'get_logs', args: { service: 'branch-action' } }
const own = (sql: string, answers: RegExp) => ({ tool: 'query_logs', args: { sql }, answers })

test.each<Version>([
  // The last that asks logs.all.
  {
    version: '0.8.3',
    services,
    further: [{ ...branches, answers: /workflow_run_logs.* is not a table of this/ }],
  },
  {
    version: '0.13.0',
    services: [...services, 'edge-function-runtime'],
    further: [
      { ...branches, answers: /"rows.*:0/ },
      own('select distinct source from logs', /function_edge_logs/),
      own("select id from logs where log_attributes['request.path'] = '/'", /write JSON_VALUE\(x\)/),
      own("select toInt32OrZero(log_attributes['status']) as s from logs", /write SAFE_CAST\(x AS INT64\)/),
    ],
  },
])(
  'the MCP server $version gets the logs of each service, and reads how to correct its own SQL',
  async ({ version, services, further }) => {
    const client = await connected(version)
    const call = async (tool: string, args: Record<string, string>) =>
      JSON.stringify(await client.callTool({ name: tool, arguments: args }))
    for (const service of services)
      expect([service, await call('get_logs', { service })]).toEqual([
        service,
        expect.stringContaining('event_message'),
      ])
    for (const { tool, args, answers } of further) expect(await call(tool, args)).toMatch(answers)
    await client.close()
  },
  300_000,
)

test('supabase-management-js gets logs and charts', async () => {
  type Call = (ref: string, parameters?: object) => Promise<{ status: number; data: { result: object[] } }>
  interface Api {
    getProjectLogs: Call
    getProjectUsageApiCount: Call
    getProjectUsageRequestCount: Call
    getProjectFunctionCombinedStats: Call
  }
  const { SupabaseManagementAPI } = (await import(
    join(installed('supabase-management-js', '2.0.2'), 'dist/index.mjs')
  )) as { SupabaseManagementAPI: new (options: { accessToken: string; baseUrl: string }) => Api }
  const api = new SupabaseManagementAPI({ accessToken: service.key, baseUrl: service.url })
  const times = {
    iso_timestamp_start: new Date(Date.now() - 3_600_000).toISOString(),
    iso_timestamp_end: new Date().toISOString(),
  }
  const answers = [
    await api.getProjectLogs(project, times),
    await api.getProjectLogs(project, { sql: 'select count(*) as n from edge_logs', ...times }),
    await api.getProjectUsageRequestCount(project),
    await api.getProjectFunctionCombinedStats(project, {
      interval: '1day',
      function_id: Object.values(projects[0]!.functions)[0]!,
    }),
  ]
  for (const interval of ['15min', '30min', '1hr', '3hr', '1day', '3day', '7day'])
    answers.push(await api.getProjectUsageApiCount(project, { interval }))
  for (const { status, data } of answers) expect([status, data.result[0]]).toEqual([200, expect.any(Object)])
}, 300_000)

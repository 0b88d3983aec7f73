/**
 * A hot chart against MCP Toolbox (github.com/googleapis/mcp-toolbox), which computes it for each call from the same rows in
 * SQLite.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from '../../../shared/testing/free-port.ts'
import { functionOf, type Program, type Server } from '../../local/process.ts'
import { type Call, loadServer, type Load, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement } from '../measure.ts'
import { project, type Site } from '../site.ts'
import { targets } from '../targets.ts'

const rounds = 9
const requests = 2000
const connections = 8

/** On the clock. Left out unless `MCP_TOOLBOX` is its program, which is not among the dependencies: 315 MB. */
export async function agents(site: Site): Promise<Measurement[]> {
  const program = process.env['MCP_TOOLBOX']
  if (program === undefined) {
    console.error('MCP Toolbox is left out: MCP_TOOLBOX is not its program (npm: @toolbox-sdk/server)')
    return []
  }
  const query = `interval=daily&project=${project}`
  const ours = { path: `/api/endpoints/query/usage.api-counts?${query}`, headers: site.headers }
  const theirs = toolCall('usage', { project })
  const { program: toolbox, rows } = await toolboxOf(site, program)
  const programs = { ours: functionOf('functions/index.ts', 'query', site.env), theirs: toolbox }
  return withServers(programs, async servers => {
    await untilAnswer(servers.ours, ours)
    await untilAnswer(servers.theirs, theirs)
    await assertSame({ server: servers.ours, call: ours }, { server: servers.theirs, call: theirs })
    const turns = {
      ours: async () => (await loadServer(servers.ours, loadOf(ours))).clock,
      theirs: async () => (await loadServer(servers.theirs, loadOf(theirs))).clock,
    }
    const clock = await alternately(rounds, turns, 1)
    return [compared(targets.toolbox, { ...clock, unit: `us, of ${rows} rows,` })]
  })
}

function loadOf(call: Call): Load {
  return { call: () => call, count: requests, connections }
}

/** As a client of 2025 sends it, the last that MCP Toolbox knows. */
function toolCall(name: string, args: object): Call {
  return {
    path: '/mcp',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-06-18',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  }
}

/** The chart's own columns only, flat and in SQLite's own types: the least that it has to read. */
async function toolboxOf(site: Site, program: string): Promise<{ program: Program; rows: number }> {
  const file = join(site.folder, 'toolbox.sqlite')
  const sql = `SELECT t.timestamp, r.url, r.path FROM \`cloudflare.logs.prod\` AS t,
    UNNEST(t.metadata) AS m, UNNEST(m.request) AS r`
  const { rows } = await site.services.engine.run(
    { sql, bindings: [] },
    { maxRows: 100_000, timeoutMs: 60_000 },
  )
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE requests (second INTEGER, url TEXT, path TEXT); BEGIN')
  const insert = database.prepare('INSERT INTO requests VALUES (?, ?, ?)')
  for (const { timestamp, url, path } of rows)
    insert.run(Math.floor(Number(timestamp) / 1_000_000), url as string, path as string)
  database.exec('COMMIT')
  database.close()
  const config = join(site.folder, 'toolbox.yaml')
  writeFileSync(config, toolboxConfig(file))
  const port = await freePort()
  const args = ['--config', config, '--port', String(port), '--disable-version-check', '--log-level', 'ERROR']
  return { program: { command: [program], args, port }, rows: rows.length }
}

function toolboxConfig(database: string): string {
  const count = (api: string) => `SUM(instr(path, '/${api}') > 0) AS total_${api}_requests`
  const counts = ['rest', 'storage', 'auth', 'realtime'].map(count).join(', ')
  const source = { kind: 'source', name: 'logs', type: 'sqlite', database }
  const tool = {
    kind: 'tool',
    name: 'usage',
    type: 'sqlite-sql',
    source: 'logs',
    description: 'Requests by day',
    parameters: [{ name: 'project', type: 'string', description: 'Text in the URL' }],
    statement: `SELECT date(second, 'unixepoch') AS timestamp, ${counts} FROM requests
      WHERE second >= unixepoch('now', '-7 days') AND instr(url, ?) > 0 GROUP BY 1 ORDER BY 1`,
  }
  return [source, tool].map(each => JSON.stringify(each)).join('\n---\n')
}

/** Only equal charts are compared. Theirs has a text for each row. */
async function assertSame(ours: Answered, theirs: Answered): Promise<void> {
  const { result: mine } = JSON.parse(await textOf(ours)) as { result: object[] }
  const text = await textOf(theirs)
  const message = JSON.parse(text.startsWith('{') ? text : /^data: (\{.*)$/m.exec(text)![1]!) as ToolMessage
  const other = message.result.content.flatMap(({ text }) => JSON.parse(text) as object[])
  const numbers = (rows: object[]) => JSON.stringify(rows.map(row => Object.values(row).slice(1).map(Number)))
  if (mine.length < 7 || numbers(mine) !== numbers(other))
    throw new Error(`the charts differ: ${numbers(mine)} and ${numbers(other)}`)
}

interface Answered {
  server: Server
  call: Call
}

interface ToolMessage {
  result: { content: { text: string }[] }
}

async function textOf({ server, call: { path, headers = {}, body } }: Answered): Promise<string> {
  const method = body === undefined ? 'GET' : 'POST'
  const response = await fetch(server.url + path, { method, headers, body: body ?? null })
  return response.text()
}

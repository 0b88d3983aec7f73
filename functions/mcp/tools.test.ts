/** An agent's investigation, without a model: each call asks by what the answer before says, and nothing else is known. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, describe, expect, test } from '@jest/globals'
import { sampleIncident, writeSample } from '../../infra/lqe/logs/sample.ts'
import { loadConfig } from '../../shared/config.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { startService } from '../testing/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'incident-'))
const now = new Date('2026-11-21T12:00:00Z')
const { tablesDir: tablesFolder } = loadConfig({})

afterAll(() => rmSync(folder, { recursive: true }))

const requests = `edge_logs AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r
  CROSS JOIN UNNEST(m.response) AS a`
const callers = `${requests} CROSS JOIN UNNEST(r.headers) AS h CROSS JOIN UNNEST(r.sb) AS s`

/** The first row between the two marks, which is JSON, and what stands outside of them. */
function read(text: string) {
  const mark = /^<rows (\w{16})>$/m.exec(text)?.[1]
  if (mark === undefined) throw new Error(text)
  const [before, rows, after] = text.split(new RegExp(`^</?rows ${mark}>$`, 'm'))
  return {
    row: JSON.parse(rows!.trim().split('\n')[0]!) as Record<string, string>,
    outside: `${before}${after}`,
  }
}

async function investigate(client: Client, project: string) {
  const texts: string[] = []
  const ask = async (sql: string) => {
    const { content } = await client.callTool({
      name: 'query_logs_all',
      arguments: { project, sql, format: 'json' },
    })
    const { text } = content[0] as { text: string }
    texts.push(text)
    return read(text).row
  }
  const hour = `t.timestamp > TIMESTAMP '${new Date(now.getTime() - 3_600_000).toISOString()}'`
  const { path, status_code } = await ask(
    `SELECT r.path, a.status_code, COUNT(*) AS errors FROM ${requests}
     WHERE ${hour} AND a.status_code >= 500 GROUP BY r.path, a.status_code ORDER BY errors DESC LIMIT 5`,
  )
  const { user, version } = await ask(
    `SELECT s.auth_user AS user, h.x_client_info AS version, h.user_agent, COUNT(*) AS errors FROM ${callers}
     WHERE ${hour} AND r.path = '${path}' AND a.status_code = ${status_code}
     GROUP BY user, version, h.user_agent ORDER BY errors DESC LIMIT 5`,
  )
  const { since } = await ask(
    `SELECT MIN(t.timestamp) AS since, COUNT(*) AS calls, COUNTIF(a.status_code >= 500) AS errors FROM ${callers}
     WHERE s.auth_user = '${user}' AND h.x_client_info = '${version}'`,
  )
  const { event_message } = await ask(
    `SELECT t.event_message, COUNT(*) AS times FROM postgres_logs AS t CROSS JOIN UNNEST(t.metadata) AS m
     CROSS JOIN UNNEST(m.parsed) AS p WHERE p.error_severity = 'ERROR'
     AND t.timestamp >= TIMESTAMP_SUB(TIMESTAMP '${since}', INTERVAL 1 MINUTE)
     GROUP BY t.event_message ORDER BY times DESC LIMIT 5`,
  )
  return { found: { path, user, version, since, event_message }, texts }
}

describe('an incident in the sample logs', () => {
  test.each(Array.from({ length: rounds(1, 20) }, (_, at) => at + 1))(
    'of seed %i is found by the tools in four calls and 5,000 tokens',
    async seed => {
      const dataDir = join(folder, String(seed))
      const logsFolder = join(dataDir, 'logs')
      await writeSample({ logsFolder, tablesFolder, now, seed, rows: 2000, incident: true })
      const service = await startService({
        tables: {},
        env: { DATA_DIR: dataDir, FROZEN_NOW: now.toISOString() },
      })
      const client = new Client({ name: 'script', version: '1' })
      try {
        const { project, table, user, begin } = sampleIncident(seed, now)
        const key = await service.issue({ endpoints: ['logs.all'] })
        const requestInit = { headers: { 'X-API-KEY': key } }
        const url = new URL(`${service.url}/mcp`)
        await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
        const { found, texts } = await investigate(client, project.ref)
        expect(found).toMatchObject({
          path: `/rest/v1/${table}`,
          user: user.id,
          version: user.client.library,
          event_message: 'canceling statement due to statement timeout',
        })
        expect(Math.abs(Date.parse(found.since!) * 1000 - begin)).toBeLessThan(5 * 60_000_000)
        expect(texts).toHaveLength(4)
        // Half of the usual four characters for a token: ids and numbers take more of them than words do.
        expect(texts.join('').length / 2).toBeLessThan(5_000)
        // What the culprit writes to a reader is in the rows, and nowhere else.
        expect(texts[1]).toContain('call no more tools')
        for (const text of texts) expect(read(text).outside).not.toMatch(/SYSTEM|call no more tools/)
      } finally {
        await client.close()
        await service.stop()
      }
    },
  )
})

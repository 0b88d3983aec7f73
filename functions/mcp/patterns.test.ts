/** The tool `patterns`, as an agent calls it that may see no personal data. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startService, type TestService } from '../testing/service.ts'
import { edgeRow } from '../testing/edges.ts'

const now = '2026-01-31T15:00:00Z'
let service: TestService
let client: Client

beforeAll(async () => {
  const at = (minutes: number) => new Date(Date.parse(now) - minutes * 60_000).toISOString()
  const message = (minutes: number, event_message: string, error_severity = 'LOG') => ({
    id: `${minutes} ${event_message}`,
    timestamp: at(minutes),
    project: 'p',
    event_message,
    metadata: { parsed: { error_severity } },
  })
  const rows = Array.from({ length: 90 }, (_, i) =>
    message(i + 1, `connection from host=203.0.113.${i % 250} port=${i}`),
  )
  const failures = [5, 10, 20].map(minutes =>
    message(minutes, `relation "t${minutes}" does not exist`, 'ERROR'),
  )
  service = await startService({
    tables: {
      'postgres.logs': [...rows, ...failures],
      'cloudflare.logs.prod': [edgeRow('e', at(2), 'p', '/a/1')],
    },
    env: { FROZEN_NOW: now },
  })
  const key = await service.issue({ endpoints: ['logs.all'], pins: { project: 'p' }, redacted: true })
  client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'X-API-KEY': key } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }))
})

afterAll(async () => {
  await client.close()
  await service.stop()
})

async function patterns(args: Record<string, unknown>) {
  const { content, isError } = await client.callTool({
    name: 'patterns',
    arguments: { endpoint: 'logs.all', ...args },
  })
  const { text } = (content as { text: string }[])[0]!
  return {
    text,
    isError,
    rows: text
      .split(/<\/?rows \w+>\n?/)[1]
      ?.trimEnd()
      .split('\n'),
  }
}

test('counts all messages by shape, and compares with the period before', async () => {
  const { text, rows } = await patterns({ table: 'postgres_logs', from: '2026-01-31T14:15:00Z' })
  expect(text).toContain(
    '2 patterns of 48 entries from 2026-01-31T14:15:00.000Z to 2026-01-31T15:00:00.000Z; 1 of them new: ' +
      'without an entry from 2026-01-31T13:30:00.000Z to 2026-01-31T14:15:00.000Z.',
  )
  expect(rows).toEqual([
    'entries,share_percent,before,first,last,severity,pattern',
    '45,93.8,45,2026-01-31T14:15:00.000Z,2026-01-31T14:59:00.000Z,info,connection from host=REDACTED port=<n>',
    '3,6.3,0,2026-01-31T14:40:00.000Z,2026-01-31T14:55:00.000Z,error,relation <text> does not exist',
  ])
})

test('lists what is new since a time, in all tables', async () => {
  const { rows } = await patterns({ from: 'now-1h', since: '2026-01-31T14:30:00Z' })
  expect(rows!.slice(1).map(row => row.split(',').at(-1))).toEqual([
    'relation <text> does not exist',
    'GET | <n> | REDACTED | /a/<n>',
  ])
  expect((await patterns({ since: '2026-01-31T14:45:00Z' })).rows!.length).toBe(2)
  expect((await patterns({ since: 'now-1m' })).text).toMatch(
    /^No pattern from .*59:00.000Z to .* that has no entry from .*58:00.000Z to .*59:00.000Z\.\nlogs.all answered no rows/,
  )
})

test('is narrowed by a field, by a text and in its length', async () => {
  expect((await patterns({ table: 'postgres_logs', filter: 'error_severity:ERROR' })).rows!.length).toBe(2)
  expect((await patterns({ filter: '/^relation/' })).rows!.length).toBe(2)
  expect((await patterns({ limit: 1 })).rows!.length).toBe(2)
})

test.each([
  [{ endpoint: 'logs.al' }, 'endpoint: may not be logs.al; did you mean logs.all?'],
  [{ table: 'postgres_log' }, 'table: may not be postgres_log; did you mean postgres_logs?'],
  [{ from: '14 o’clock' }, 'from: must be a time such as'],
  [{ since: 'now' }, 'since: must be before to'],
  [{ from: 'now-1m', since: 'now-2m' }, 'from: must be before since'],
  [{ limit: 0 }, 'limit: must be a whole number from 1 to 200'],
  [{ form: 'x' }, 'form: is no argument; did you mean from?'],
  [{ parameters: { projct: 'p' } }, 'parameters: may not hold projct; did you mean project?'],
  [{ parameters: { project: {} } }, 'project: must be one value'],
  [{ parameters: [1] }, 'parameters: must be an object'],
])('refuses %j in words', async (args, words) => {
  const { isError, text } = await patterns(args)
  expect([isError, text]).toEqual([true, expect.stringContaining(words)])
})

/** Who may know of which alerts: over HTTP, as a resource for agents, and from the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { AlertStatus } from '../../shared/alerts/list.ts'
import { environment } from '../../shared/alerts/testing/delivering.ts'
import { answer, startReceiver } from '../../shared/alerts/testing/receiver.ts'
import { loadConfig } from '../../shared/config.ts'
import { alertCommand } from '../../infra/lqe/alert.ts'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { runCommand } from '../../infra/lqe/testing/command.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'
import { warmEndpoints } from '../warm/handler.ts'

const files: Record<string, string> = {
  'requests.yaml': `
id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e11
description: Requests of a project.
parameters:
  properties:
    project: { type: string }
    mail: { type: string }
cache: { seconds: 60 }`,
  'requests.sql': `SELECT project, COUNT(*) AS requests, ANY_VALUE(@mail) AS mail FROM \`cloudflare.logs.prod\`
WHERE @project IS NULL OR project = @project GROUP BY project`,
  'busy.alert.yaml': `
endpoint: requests
parameters: [{ project: one, mail: tom@example.com }, { project: two }, {}]
condition: { value: requests, above: 1 }
text: '{{ requests }} of {{ project }} for {{ mail }}'
redact: false`,
}

const queries = mkdtempSync(join(tmpdir(), 'queries-'))
let service: TestService

beforeAll(async () => {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(queries, file), text)
  const row = (id: string, project: string) => edgeRow(id, '2026-03-10T12:00:00.000Z', project, '/')
  const rows = [row('a', 'one'), row('b', 'one'), row('c', 'two')]
  const env = { ...environment, ALERTS_TO_LOOPBACK: 'yes', REMEMBER_MS: '1' }
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, queries, env })
})
afterAll(async () => {
  await service.stop()
  rmSync(queries, { recursive: true })
})

async function seen(key?: string): Promise<AlertStatus[]> {
  const response = await service.fetch('/api/alerts', key === undefined ? {} : { key })
  expect(response.status).toBe(200)
  return ((await response.json()) as { result: AlertStatus[] }).result
}

const lqe = (...args: string[]) =>
  runCommand(
    alertCommand(
      act => act(service.services),
      () => loadConfig(service.env),
    ),
    args,
  )

test('an alert that was not evaluated yet has no state', async () => {
  expect(await seen()).toMatchObject([1, 2, 3].map(() => ({ alert: 'busy', state: null, since: null })))
  expect((await lqe('list')).out).toBe(
    ['project=one&mail=tom%40example.com', 'project=two', '']
      .map(set => `${['not evaluated yet', 'busy', set].filter(Boolean).join('  ')}\n`)
      .join(''),
  )
})

test('lqe alert test prints what it finds and would tell, and stores nothing', async () => {
  expect((await lqe('test', 'busy')).out).toBe(
    `firing  project=one&mail=tom%40example.com  value 2  2 of one for tom@example.com
calm  project=two  value 1  1 of two for null
firing  value 2  2 of one for null
`,
  )
  expect((await seen())[0]!.state).toBeNull()
  expect(await lqe('test', 'busi')).toMatchObject({
    code: 1,
    err: 'There is no alert busi; did you mean busy?\n',
  })
})

test('a key sees the alerts of its endpoints, for the parameters that it fixes, and personal data with its right alone', async () => {
  const { services, env } = service
  await warmEndpoints({ services, config: loadConfig(env), log: () => {} }, await services.endpoints.all())
  const all = await seen()
  expect(all).toMatchObject([
    {
      alert: 'busy',
      endpoint: 'requests',
      severity: 'warning',
      condition: { value: 'requests', above: 1 },
      parameters: { project: 'one', mail: 'tom@example.com' },
      state: 'firing',
      value: 2,
      text: '2 of one for tom@example.com',
      silencedUntil: null,
      channels: [],
      undelivered: [],
      nextAt: expect.stringMatching(/^\d{4}-.*Z$/),
      history: [{ state: 'firing', value: 2, id: expect.stringMatching(/^msg_/) }],
    },
    { parameters: { project: 'two' }, state: 'ok', value: 1, text: '', history: [] },
    { parameters: {}, state: 'firing' },
  ])
  expect(all[0]!.since).toBe(all[0]!.history[0]!.at)
  const pinned = await seen(await service.issue({ pins: { project: 'one' } }))
  expect(pinned).toEqual([
    { ...all[0], parameters: { project: 'one', mail: 'REDACTED' }, text: '2 of one for REDACTED' },
  ])
  expect(await seen(await service.issue({ pins: { project: 'three' } }))).toEqual([])
  expect(await seen(await service.issue({ endpoints: ['other'] }))).toEqual([])
  const ofEndpoint = async (init: object) => service.fetch('/api/endpoints/requests/alerts', init)
  expect(await (await ofEndpoint({})).json()).toEqual({ result: all })
  const key = await service.issue({ pins: { project: 'one' } })
  expect(await (await ofEndpoint({ key })).json()).toEqual({ result: pinned })
  expect((await ofEndpoint({ key: await service.issue({ endpoints: ['other'] }) })).status).toBe(404)
  const redacted = await service.issue({ rights: ['pii:read'], redacted: true })
  expect((await seen(redacted))[0]!.text).toBe('2 of one for REDACTED')
  expect((await service.fetch('/api/alerts', { key: null })).status).toBe(401)
})

test('an agent reads the same as a resource', async () => {
  const key = await service.issue({ pins: { project: 'one' } })
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'X-API-KEY': key } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }))
  try {
    const { resources } = await client.listResources()
    expect(resources).toMatchObject([{ uri: 'lqe://alerts', name: 'alerts' }])
    const { contents } = await client.readResource({ uri: 'lqe://alerts' })
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual(await seen(key))
  } finally {
    await client.close()
  }
})

test('lqe alert silence holds it back for as long as it says', async () => {
  expect((await lqe('silence', 'busy', '--for', '2h')).out).toMatch(
    /^busy is silenced until \d{4}-\d\d-\d\dT[\d:]{8}Z\n$/,
  )
  const until = Date.parse((await seen())[0]!.silencedUntil!)
  expect(until - Date.now()).toBeGreaterThan(7_000_000)
  expect((await lqe('list')).out).toMatch(
    /^firing since \S+ {2}busy {2}project=one&mail=tom%40example\.com {2}value 2 {2}silenced until \S+\n/,
  )
  expect((await lqe('silence', 'busy', '--for', '0m')).out).toBe('busy is not silenced\n')
  expect((await seen())[0]!.silencedUntil).toBeNull()
  expect(await lqe('silence', 'busy', '--for', 'long')).toMatchObject({
    code: 1,
    err: expect.stringContaining('such as 2h'),
  })
})

test('what a receiver refuses shows, without its address, and goes to another one once that is applied', async () => {
  const { services, env } = service
  const receiver = await startReceiver({ secure: false, behaviour: answer(404) })
  const warm = async () => {
    const found = (await services.endpoints.find('requests'))!
    await warmEndpoints({ services, config: loadConfig(env), log: () => {} }, [found])
    return (await seen()).find(({ alert }) => alert === 'told')!
  }
  const applied = async (path: string) => {
    const hook = `{ kind: webhook, url: 'http://127.0.0.1:${receiver.port}/${path}', secret: HOOK_SECRET }`
    writeFileSync(join(queries, 'channels.yaml'), `hook: ${hook}`)
    await apply(services, { queries, dryRun: false, out: () => {} })
  }
  const told = files['busy.alert.yaml']!.replace(/parameters: .*/, 'parameters: { project: one }')
  writeFileSync(join(queries, 'told.alert.yaml'), `${told}\nchannels: [hook]`)
  await applied('rotated')
  const { undelivered } = await warm()
  expect(undelivered).toEqual([{ channel: 'hook', since: expect.stringMatching(/Z$/), givenUp: false }])
  expect((await lqe('list')).out).toMatch(/  told  project=one  value 2  not delivered to hook since \S+Z\n/)
  expect(await (await service.fetch('/api/alerts')).text()).not.toMatch(/127\.0\.0\.1|rotated|HOOK_SECRET/)
  expect((await warm()).undelivered).toEqual(undelivered) // it waits
  receiver.behaviour = answer(204)
  await applied('new')
  expect((await warm()).undelivered).toEqual([])
  expect(receiver.received.map(({ path }) => path)).toEqual(['/rotated', '/new'])
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  await receiver.close()
})

/** The recipes of alerts.md: its first alert is told, and each of its channels delivers to a receiver on this machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { edgeRow } from '../../functions/testing/edges.ts'
import { warmEndpoints } from '../../functions/warm/handler.ts'
import { openChannels } from '../../shared/alerts/deliver.ts'
import type { Message } from '../../shared/alerts/channels.ts'
import { environment, failureOf, message } from '../../shared/alerts/testing/delivering.ts'
import { answer, host, type Receiver, startReceiver } from '../../shared/alerts/testing/receiver.ts'
import { type Config, loadConfig } from '../../shared/config.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { freePort } from '../../shared/testing/free-port.ts'
import { apply } from '../lqe/apply/apply.ts'
import { channelCommand } from '../lqe/alert.ts'
import { loadLogs } from '../lqe/logs/load.ts'
import { runCommand } from '../lqe/testing/command.ts'

/** The blocks of a language in a section of a page. */
function blocksOf(page: string, section: string, language: string): string[] {
  const [, text = ''] = readFileSync(join(import.meta.dirname, page), 'utf8').split(`\n## ${section}\n`)
  const blocks = text.split('\n## ')[0]!.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))
  return [...blocks].map(([, block]) => block!)
}
const [first, [sql]] = [
  blocksOf('alerts.md', 'The first one', 'yaml'),
  blocksOf('alerts.md', 'The first one', 'sql'),
]
const [hook = '', endpoint = '', alert = ''] = first
const folder = mkdtempSync(join(tmpdir(), 'recipes-'))
const secret = environment['HOOK_SECRET']!
let config: Config
let services: Services
let receiver: Receiver

beforeAll(async () => {
  const env = {
    DATA_DIR: join(folder, 'data'),
    ENGINE_PROCESSES: '0',
    ALERTS_TO_LOOPBACK: 'yes',
    REMEMBER_MS: '1',
  }
  config = loadConfig({
    ...env,
    HOOK_SECRET: secret,
    ANOTHER_SECRET: environment['HOOK_SECRET_BEFORE'],
    PAGER_KEY: 'routing-key',
  })
  services = await openServices(config)
})
afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => void (receiver = await startReceiver()))
afterEach(() => receiver.close())

/** Applies the channels, and delivers to them. */
async function applied(yaml: string): Promise<(name: string, one?: Partial<Message>) => Promise<void>> {
  const queries = mkdtempSync(join(folder, 'queries-'))
  writeFileSync(join(queries, 'channels.yaml'), yaml)
  await apply(services, { queries, dryRun: false, out: () => {} })
  const there = `https://${host}:${receiver.port}`
  const { deliver } = openChannels({
    ...config,
    store: services.store,
    secret: name => (name === 'SLACK_URL' ? `${there}/services/T0/B0/X` : config.secret(name)),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    google: { token: async () => 'ya29', pubSub: there, secretManager: there },
  })
  return (name, one) => deliver(name, { ...message, ...one }, new AbortController().signal)
}

describe('the channels of the page', () => {
  /** In place of the receivers that it names, one on this machine. */
  const here = () =>
    blocksOf('alerts.md', 'Channels', 'yaml')[0]!
      .replace('https://hooks.example.com', `https://${host}:${receiver.port}`)
      .replace('secret: PAGER_KEY', `secret: PAGER_KEY, url: 'https://${host}:${receiver.port}/v2/enqueue'`)

  test.each([
    ['team', '/services/T0/B0/X', { text: expect.stringContaining('12 errors in 5 minutes') }],
    ['pager', '/v2/enqueue', { routing_key: 'routing-key', event_action: 'trigger' }],
    ['hook', '/alerts', { type: 'alert.firing' }],
    [
      'bus',
      '/v1/projects/my-project/topics/alerts:publish',
      { messages: [{ attributes: { id: message.id } }] },
    ],
  ])('deliver: %s', async (name, path, body) => {
    await (
      await applied(here())
    )(name)
    expect(receiver.received.map(({ path }) => path)).toEqual([path])
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject(body)
  })

  test('are tried by a command, which says why one does not take it', async () => {
    const deliver = await applied(here())
    const given = { ...services, deliver }
    const run = (name: string) =>
      runCommand(
        channelCommand(act => act(given)),
        ['test', name],
      )
    expect(await run('pager')).toMatchObject({ out: 'pager took firing.\npager took resolved.\n', code: 0 })
    expect(receiver.received.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { event_action: 'trigger' },
      { event_action: 'resolve' },
    ])
    receiver.behaviour = answer(404)
    expect(await run('team')).toMatchObject({ err: 'channel team: the receiver answers 404\n', code: 1 })
    const none = 'channel nobody: channels.yaml has none of this name\n'
    expect(await run('nobody')).toMatchObject({ err: none, code: 1 })
  })

  test('send the body that the page shows', async () => {
    await (
      await applied(here())
    )('hook')
    const { body, headers } = receiver.received[0]!
    const { data, ...shown } = JSON.parse(blocksOf('reference.md', 'Alerts', 'json')[0]!) as { data: object }
    const sent = new Webhook(secret).verify(body, headers as Record<string, string>)
    expect(sent).toEqual({ ...shown, data: { ...data, id: message.id } })
  })
})

test('the first alert of the page is told by the warm function, once it fires and once it is over', async () => {
  const http = await startReceiver({ secure: false })
  const queries = mkdtempSync(join(folder, 'queries-'))
  const files = {
    'channels.yaml': hook.replace('9000', String(http.port)),
    'edge.errors.sql': sql!,
    'edge.errors.yaml': endpoint,
    'edge.failing.alert.yaml': alert,
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(queries, file), text)
  const row = edgeRow('a', new Date().toISOString(), 'qhzvnxwtrkdplmcoyaeb', '/')
  const failed = { ...row, id: 'b', metadata: { ...row.metadata, response: { status_code: 404 } } }
  const rows = join(folder, 'rows.ndjson')
  writeFileSync(rows, `${JSON.stringify(row)}\n${JSON.stringify(failed)}\n`)
  const { dataDir, tablesDir: tablesFolder } = config
  const into = { logsFolder: join(dataDir, 'logs'), tablesFolder, table: 'cloudflare.logs.prod' }
  await loadLogs({ ...into, files: [rows], out: () => {} })
  const warmed = async () => {
    await apply(services, { queries, tablesFolder, dryRun: false, out: () => {} })
    const endpoints = await services.endpoints.all()
    await warmEndpoints({ services, config, log: () => {} }, endpoints)
    // As if its interval had passed.
    const { documents } = await services.store.query({ collection: 'warming', limit: 10 })
    for (const { id } of documents) await services.store.remove({ collection: 'warming', id })
  }
  await warmed()
  await warmed()
  writeFileSync(join(queries, 'edge.failing.alert.yaml'), alert.replace('above: 0.05', 'above: 0.5'))
  await warmed()
  const told = http.received.map(({ body, headers }) =>
    new Webhook(secret).verify(body, headers as Record<string, string>),
  )
  expect(told).toMatchObject([
    { type: 'alert.firing', data: { alert: 'edge.failing', text: '1 of 2 requests failed' } },
    { type: 'alert.resolved', data: { alert: 'edge.failing' } },
  ])
  await http.close()
})

describe('the receiver of the page', () => {
  const port = { here: 0 }
  const lines: string[] = []
  let deliver: Awaited<ReturnType<typeof applied>>
  let program: ReturnType<typeof spawn>

  beforeAll(async () => {
    port.here = await freePort()
    const file = join(folder, 'receiver.mjs')
    const receiver = readFileSync(join(import.meta.dirname, 'receiver.mjs'), 'utf8')
    const text = receiver.replace('9000', String(port.here))
    // Says when it listens.
    writeFileSync(file, text.replace("'127.0.0.1')", "'127.0.0.1', () => console.log('listens'))"))
    program = spawn(process.execPath, [file], {
      env: { HOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output = createInterface(program.stdout!)
    output.on('line', line => lines.push(line))
    await once(output, 'line')
  })
  afterAll(async () => {
    program.kill()
    await once(program, 'exit')
  })
  beforeEach(async () => {
    deliver = await applied(hook.replace('9000', String(port.here)))
  })

  test('takes a message once', async () => {
    for (const id of ['a', 'b', 'a']) await deliver('hook', { id })
    const line = `alert.firing: ${message.text}`
    expect(lines).toEqual(['listens', line, line])
  })

  test('takes nothing that is signed with another secret, later, or not at all', async () => {
    const url = `http://127.0.0.1:${port.here}`
    const post = (headers: Record<string, string>) =>
      fetch(url, { method: 'POST', headers, body: '{}' }).then(({ status }) => status)
    const signed = (at: number, key = secret) => ({
      'webhook-id': 'c',
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': new Webhook(key).sign('c', new Date(at), '{}'),
    })
    const hour = 3_600_000
    const statuses = [
      await post({}),
      await post(signed(Date.now(), environment['HOOK_SECRET_BEFORE'])),
      await post(signed(Date.now() - hour)),
      await post(signed(Date.now() + hour)),
      await post({ ...signed(Date.now()), 'webhook-id': 'd' }),
    ]
    expect(statuses).toEqual([401, 401, 401, 401, 401])
    const another = await applied(`hook: { kind: webhook, url: '${url}', secret: ANOTHER_SECRET }`)
    expect((await failureOf(another('hook'))).message).toContain('answers 401')
  })
})

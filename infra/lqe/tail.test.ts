import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { loadLogs } from './logs/load.ts'
import { tailCommand } from './tail.ts'
import { program, runCommand } from './testing/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'tail-'))
const { tablesDir: tablesFolder } = loadConfig({})
let services: Services
const children: ChildProcess[] = []

beforeAll(async () => {
  services = await openServices(loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' }))
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
})

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await services.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

let files = 0

async function load(messages: string[], second: number): Promise<void> {
  const file = join(folder, `${++files}.ndjson`)
  const time = new Date(Date.UTC(2026, 2, 10, 12, 0, second)).toISOString()
  const rows = messages.map((message, at) => ({
    id: `${files}-${at}`,
    timestamp: time,
    project: 'red',
    event_message: message,
    metadata: [],
  }))
  writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const table = 'cloudflare.logs.prod'
  await loadLogs({ logsFolder: join(folder, 'logs'), tablesFolder, table, files: [file], out: () => {} })
}

test('lqe tail prints the newest rows, then those that come, oldest first, and ends well with Ctrl-C', async () => {
  await load(['one', 'two', 'three\nin two lines'], 1)
  const args = [...program, 'tail', 'logs.all', '--param', 'project=red', '--rows', '2', '--every', '1']
  const env = { PATH: process.env['PATH'], DATA_DIR: folder }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const lines = async (count: number) => {
    while (out.split('\n').length <= count) await sleep(100)
    return out.trimEnd().split('\n')
  }
  expect(await lines(2)).toEqual([
    '2026-03-10T12:00:01.000000Z  two',
    '2026-03-10T12:00:01.000000Z  three in two lines',
  ])
  await load(['four', 'five'], 2)
  await load(['six'], 3)
  expect((await lines(5)).slice(2)).toEqual([
    '2026-03-10T12:00:02.000000Z  four',
    '2026-03-10T12:00:02.000000Z  five',
    '2026-03-10T12:00:03.000000Z  six',
  ])
  child.kill('SIGINT')
  expect([await once(child, 'exit'), err]).toEqual([[0, null], ''])
})

test.each([
  [
    'usage.api-counts',
    'interval=daily',
    'usage.api-counts has no rows to follow: its definition has no page.\n',
  ],
  ['logs.al', 'project=red', 'There is no endpoint logs.al; did you mean logs.all?\n'],
  [
    'logs.all',
    'projekt=red',
    'project is required and must not be empty; projekt was ignored: did you mean project?\n',
  ],
])('lqe tail %s --param %s ends with an error that says why', async (name, param, err) => {
  const command = tailCommand(act => act(services))
  expect(await runCommand(command, [name, '--param', param])).toEqual({ out: '', err, code: 1 })
})

test('lqe tail follows no rows of SQL', async () => {
  const args = ['logs.all', '--param', 'project=red', '--param', 'sql=SELECT id FROM edge_logs']
  const { err, code } = await runCommand(
    tailCommand(act => act(services)),
    args,
  )
  expect([err, code]).toEqual(['Rows of SQL are not followed: leave sql out.\n', 1])
})

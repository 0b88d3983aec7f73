import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { keyCommand } from './keys.ts'
import { loadLogs } from './logs/load.ts'
import { queryCommand } from './query.ts'
import { tailCommand } from './tail.ts'
import { program, runCommand } from './testing/command.ts'

/** A clear screen, one of a single byte (C1), a title, another order of letters, and what would be a line of its own. */
const hostile = 'a\u001b[2J\u009b31m\u001b]0;t\u0007\u202eb\u2028c\rd\u{e0041}'
const hidden = /[^\P{C}\n\t]|[\u2028\u2029]/u

const folder = mkdtempSync(join(tmpdir(), 'print-'))
let services: Services

beforeAll(async () => {
  const config = loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' })
  const file = join(folder, 'lines')
  const row = { timestamp: '2026-01-31T12:00:00Z', project: 'p', event_message: `${hostile}\ne`, id: hostile }
  writeFileSync(file, JSON.stringify(row))
  const logsFolder = join(folder, 'logs')
  const load = { logsFolder, tablesFolder: config.tablesDir, files: [file], out: () => {} }
  await loadLogs({ ...load, table: 'cloudflare.logs.prod' })
  services = await openServices(config)
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
  const grant = { endpoints: [`${hostile}\nx`], pins: { [hostile]: hostile }, rights: [], expiresAt: null }
  await issueKey(services.store, { ...grant, name: `${hostile}\nx` })
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})

const wasTerminal = process.stdout.isTTY
const asTerminal = (is: boolean) => void (process.stdout.isTTY = is)
afterEach(() => asTerminal(wasTerminal))

const query = async (format: string, isTerminal: boolean) => {
  asTerminal(isTerminal)
  const sql = 'SELECT t.event_message AS message, STRUCT(t.id AS id) AS nested FROM edge_logs AS t'
  const args = ['logs.all', '--param', 'project=p', '--sql', sql, '--format', format]
  const { out } = await runCommand(
    queryCommand(act => act(services)),
    args,
  )
  return out
}

describe('a terminal gets no hidden or control characters of rows', () => {
  test.each(['table', 'csv', 'spreadsheet', 'json', 'ndjson'])('by lqe query --format %s', async format => {
    const out = await query(format, true)
    expect(out).toMatch(/a(\\u\{1b\}|\\u001b)\[2J(\\u\{9b\}|\\u009b)31m/)
    expect(out).not.toMatch(hidden)
  })

  test.each(['text', 'ndjson'])('by lqe tail --format %s', async format => {
    asTerminal(true)
    const tailing = runCommand(
      tailCommand(act => act(services)),
      ['logs.all', '--param', 'project=p', '--every', '1', '--format', format],
    )
    const printed = jest.spyOn(console, 'log') // the spy of runCommand
    while (printed.mock.calls.length === 0) await sleep(20)
    process.emit('SIGTERM')
    const { out } = await tailing
    expect(out).toMatch(/2J/)
    expect(out).not.toMatch(hidden)
  })
})

test('names of keys are shown so, each key in one line', async () => {
  const { out } = await runCommand(
    keyCommand(act => act(services)),
    ['list'],
  )
  expect(out).toMatch(/a\\u\{1b\}\[2J/)
  expect(out).not.toMatch(hidden)
  expect(out.trimEnd().split('\n')).toHaveLength(1)
})

describe('a program gets', () => {
  test('CSV with its bytes', async () => {
    expect(await query('csv', false)).toContain(`"${hostile}\ne"`)
  })

  test.each(['json', 'ndjson'])('%s with the same values, in escapes of its own', async format => {
    const out = await query(format, false)
    expect(out).not.toMatch(hidden)
    const read = JSON.parse(out) as { result?: object[] }
    expect(read.result?.[0] ?? read).toEqual({ message: `${hostile}\ne`, nested: { id: hostile } })
  })
})

test('messages of errors are shown so, whatever they name', () => {
  const env = { PATH: process.env['PATH'], DATA_DIR: folder }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...program, ...args], { encoding: 'utf8', env }).stderr
  const queries = join(folder, 'a\u001b[2J')
  for (const stderr of [
    run('query', 'a\u001b[2Jb'),
    run('apply', '--queries', queries),
    run('key', 'list', '--a\u001b[2Jb'),
  ]) {
    expect(stderr).toContain(String.raw`a\u{1b}[2J`)
    expect(stderr).not.toMatch(hidden)
  }
})

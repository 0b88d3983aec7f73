import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripTypeScriptTypes } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { Command } from 'commander'
import { parse } from 'yaml'
import { loadConfig } from '../../shared/config.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { testCommand } from './endpoint-tests/command.ts'
import { importAll } from './import/command.ts'
import { keyCommand } from './keys.ts'
import { loadLogs } from './logs/load.ts'
import { queryCommand } from './query.ts'
import { storeCommand } from './store/command.ts'
import { tailCommand } from './tail.ts'
import { program, programEnds, runCommand } from './testing/command.ts'
import { typesCommand } from './types.ts'

/** A clear screen, one of a single byte (C1), a title, another order of letters, and what would be a line of its own. */
const hostile = 'a\u001b[2J\u009b31m\u001b]0;t\u0007\u202eb\u2028c\rd\u{e0041}'
const hidden = /[^\P{C}\n\t]|[\u2028\u2029]/u

const comment = '\u202e\u{e0041}'
const hiding = {
  id: '00000000-0000-4000-8000-000000000001',
  description: hostile,
  parameters: { properties: { p: { type: 'string', description: hostile, enum: [hostile, 'b'] } } },
  cache: { seconds: 0 },
}

const folder = mkdtempSync(join(tmpdir(), 'print-'))
const queries = join(folder, 'queries')
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
  cpSync('queries', queries, { recursive: true })
  writeFileSync(
    join(queries, 'hiding.sql'),
    `WITH seen AS (SELECT 1 AS n) SELECT @p AS p FROM seen -- ${comment}\n`,
  )
  writeFileSync(join(queries, 'hiding.yaml'), JSON.stringify(hiding))
  await apply(services, { queries, dryRun: false, out: () => {} })
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

describe('what a command writes holds none as it is, and reads back the same:', () => {
  const written = (file: string) => {
    const text = readFileSync(join(folder, file), 'utf8')
    expect(text).not.toMatch(hidden)
    return text
  }
  const run = (
    command: (act: (act: (of: Services) => Promise<void>) => Promise<void>) => Command,
    ...args: string[]
  ) =>
    runCommand(
      command(act => act(services)),
      args,
    )

  test('the client of lqe types', async () => {
    await run(typesCommand, '--out', join(folder, 'client.ts'))
    const client = stripTypeScriptTypes(written('client.ts'))
    expect(client).toContain(String.raw`a\u001b[2J\u009b31m`)
  })

  test('the file of lqe store export', async () => {
    const { err } = await run(act => storeCommand(act, () => null), 'export', join(folder, 'all.json'))
    expect(err).toBe('')
    const { definitions } = JSON.parse(written('all.json')) as Record<
      'definitions',
      { endpoint: { name: string } }[]
    >
    const found = definitions.find(({ endpoint }) => endpoint.name === 'hiding')
    expect(found?.endpoint).toMatchObject({ description: hostile })
  })

  test('the cases of lqe test --update', async () => {
    const cases = [{ name: 'a', parameters: { p: hostile }, rows: [] }]
    writeFileSync(
      join(queries, 'hiding.test.yaml'),
      `# ${comment}\n${JSON.stringify({ now: '2026-01-31T12:00:00Z', tables: {}, cases })}`,
    )
    const { err } = await runCommand(
      testCommand(() => 'infra/tables'),
      ['hiding', '--update', '--queries', queries],
    )
    expect(err).toBe('')
    expect(parse(written('queries/hiding.test.yaml'))).toMatchObject({ cases: [{ rows: [{ p: hostile }] }] })
  })

  test('the definition of lqe import, which says where the SQL has some', async () => {
    const own = {
      token: hiding.id,
      name: 'moved',
      description: hostile,
      query: `SELECT 1 AS a\n-- ${comment}`,
    }
    writeFileSync(join(folder, 'logflare.json'), JSON.stringify(own))
    const out: string[] = []
    await importAll([join(folder, 'logflare.json')], {
      queries: join(folder, 'moved'),
      dryRun: false,
      force: false,
      engine: services.engine,
      stored: [],
      tablesFolder: 'infra/tables',
      environment: {},
      out: line => void out.push(line),
    })
    expect(out).toContainEqual(
      expect.stringMatching(/^! moved has characters in line 2 of its SQL that are not seen/),
    )
    expect(parse(written('moved/moved.yaml'))).toMatchObject({ description: hostile })
  })
})

test('messages of errors are shown so, whatever they name', async () => {
  const env = { PATH: process.env['PATH'], DATA_DIR: folder }
  const queries = join(folder, 'a\u001b[2J')
  // Options that are unknown end the process.
  const unknown = [...program, 'key', 'list', '--a\u001b[2Jb']
  for (const stderr of [
    (await programEnds(['query', 'a\u001b[2Jb'], { env })).err,
    (await programEnds(['apply', '--queries', queries], { env })).err,
    spawnSync(process.execPath, unknown, { encoding: 'utf8', env }).stderr,
  ]) {
    expect(stderr).toContain(String.raw`a\u{1b}[2J`)
    expect(stderr).not.toMatch(hidden)
  }
})

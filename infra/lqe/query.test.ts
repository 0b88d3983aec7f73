import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { endpointCommand } from './endpoints.ts'
import { writeSample } from './logs/sample.ts'
import { queryCommand } from './query.ts'
import { runCommand } from './testing/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'query-'))
let services: Services

beforeAll(async () => {
  const config = loadConfig({ DATA_DIR: folder })
  const logsFolder = join(folder, 'logs')
  await writeSample({ logsFolder, tablesFolder: config.tablesDir, now: new Date(), rows: 300 })
  services = await openServices(config)
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})

const query = (...args: string[]) =>
  runCommand(
    queryCommand(act => act(services)),
    args,
  )

const chart = ['usage.api-counts', '--param', 'interval=daily', '--param', 'project=.']
const counting = [
  'logs.all',
  '--param',
  'project=x',
  '--sql',
  "SELECT 'a  b' AS text, NULL AS nothing, [1] AS list, TIMESTAMP '2026-01-31 12:00:00.5Z' AS time",
]

describe('lqe query', () => {
  test('prints rows as a table, with values in one line', async () => {
    expect(await query(...counting)).toEqual({
      out: 'text  nothing  list  time (UTC)\na b            [1]   2026-01-31 12:00:00.500\n1 row\n',
      err: '',
      code: 0,
    })
  })

  test('prints CSV, NDJSON, and the body as it is served', async () => {
    expect((await query(...counting, '--format', 'csv')).out).toMatch(/^text,nothing,list,time\r?\na {2}b,,/)
    expect(JSON.parse((await query(...counting, '--format', 'ndjson')).out)).toEqual({
      text: 'a  b',
      nothing: null,
      list: [1],
      time: 1_769_860_800_500_000,
    })
    const body = JSON.parse((await query(...chart, '--format', 'json')).out) as { result: object[] }
    expect(body.result.length).toBeGreaterThan(5)
  })

  test.each([
    [['usage.api-count'], 'There is no endpoint usage.api-count; did you mean usage.api-counts?\n'],
    [
      ['nothing-like-it'],
      'There is no endpoint nothing-like-it; here are logs.all, service.usage, usage.api-counts\n',
    ],
    [['usage.api-counts', '--param', 'project=x'], /^interval is required/],
    [['logs.all', '--param', 'project'], /Write it as name=value/],
    [['logs.all', '--param', 'project=x', '--sql', 'SELECT 1 FROM nowhere'], /nowhere/],
  ])('%j says what is wrong', async (args, said) => {
    const { err, code } = await query(...args)
    expect(code).toBe(1)
    expect(err).toMatch(said)
  })

  test('names a parameter that the endpoint does not have', async () => {
    expect((await query(...chart, '--param', 'projects=x')).err).toBe(
      'usage.api-counts has no parameter projects; did you mean project?\n',
    )
  })
})

test('lqe endpoint list prints each endpoint with its parameters', async () => {
  const { out } = await runCommand(
    endpointCommand(act => act(services)),
    ['list'],
  )
  expect(out).toMatch(/^[\w-]{36} {2}usage\.api-counts {2}interval\* project\*$/m)
})

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { endpointCommand } from './endpoints.ts'
import { writeSample } from './logs/sample.ts'
import { queryCommand } from './query.ts'
import { program, runCommand } from './testing/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'query-'))
let services: Services

beforeAll(async () => {
  const config = loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' })
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
    [['logs.all', '--param', 'project=x', '--param', 'sql=SELECT 1 FROM nowhere'], /nowhere/],
    [['logs.all', '--param', 'project=x', '--param', 'lql=x'], /^lql is Logflare’s own/],
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

describe('lqe query --out', () => {
  const out = join(folder, 'rows.parquet')
  const write = (sql: string, ...args: string[]) =>
    query('logs.all', '--param', 'project=x', '--sql', sql, '--out', out, ...args)
  const read = async (sql: string) => {
    const connection = await (await DuckDBInstance.create()).connect()
    await connection.run(`SET TimeZone = 'UTC'`)
    return (await connection.runAndReadAll(sql)).getRowsJson()
  }
  const typesOf = async () =>
    (await read(`DESCRIBE SELECT * FROM '${out}'`)).map(([name, type]) => [name, type])

  test.each([
    ['9007199254740993', 'BIGINT', '9007199254740993'],
    [
      "NUMERIC '-12345678901234567890123456789.000000001'",
      'DECIMAL(38,9)',
      '-12345678901234567890123456789.000000001',
    ],
    ["BIGNUMERIC '1.000000000000000001'", 'VARCHAR', '1.000000000000000001'],
    ["TIMESTAMP '2026-01-31 12:00:00.123456Z'", 'TIMESTAMP WITH TIME ZONE', '2026-01-31 12:00:00.123456+00'],
    ["DATETIME '2026-01-31 12:00:00.5'", 'TIMESTAMP', '2026-01-31 12:00:00.5'],
    ["DATE '2026-01-31'", 'DATE', '2026-01-31'],
    ["TIME '12:00:00'", 'TIME', '12:00:00'],
    ["CAST('-inf' AS FLOAT64)", 'DOUBLE', '-Infinity'],
    ['TRUE', 'BOOLEAN', true],
    ["b'\\x00\\xff'", 'BLOB', '\\x00\\xFF'],
    ["'a\\n\\000\\'é'", 'VARCHAR', "a\n\0'é"],
    [`JSON '{"a": [1, null]}'`, 'JSON', '{"a":[1,null]}'],
    ['INTERVAL 1 DAY', 'VARCHAR', '0-0 1 0:0:0'],
    ['CAST(NULL AS INT64)', 'BIGINT', null],
    [
      "[STRUCT('x' AS path, b'\\xff' AS raw, [NUMERIC '1.5'] AS list, TIMESTAMP '2026-01-31 12:00:00Z' AS moment)]",
      'STRUCT(path VARCHAR, raw BLOB, list DECIMAL(38,9)[], moment TIMESTAMP WITH TIME ZONE)[]',
      [{ path: 'x', raw: '\\xFF', list: ['1.500000000'], moment: '2026-01-31 12:00:00+00' }],
    ],
  ])('keeps %s as %s', async (sql, type, value) => {
    expect(await write(`SELECT ${sql} AS \`a "b\``)).toEqual({ out: `1 row in ${out}\n`, err: '', code: 0 })
    expect([await typesOf(), await read(`FROM '${out}'`)]).toEqual([[['a "b', type]], [[value]]])
  })

  test('keeps the columns where there are no rows', async () => {
    await write('SELECT id, timestamp FROM edge_logs WHERE FALSE')
    expect([await typesOf(), await read(`FROM '${out}'`)]).toEqual([
      [
        ['id', 'VARCHAR'],
        ['timestamp', 'TIMESTAMP WITH TIME ZONE'],
      ],
      [],
    ])
  })

  test('has the rows that are printed, and says where they are cut', async () => {
    expect((await query(...chart, '--out', out)).err).toBe('')
    const printed = (await query(...chart, '--format', 'ndjson')).out.trimEnd().split('\n')
    expect(await read(`SELECT total_rest_requests FROM '${out}'`)).toEqual(
      printed.map(line => [String((JSON.parse(line) as Record<string, number>)['total_rest_requests'])]),
    )
    expect((await write('SELECT i FROM UNNEST(GENERATE_ARRAY(1, 2000)) AS i')).err).toBe(
      'Only the first 1000 rows: there are more than maxRows\n',
    )
  })

  test('leaves the file of before where it fails, and nothing beside it', async () => {
    await write('SELECT 1 AS n')
    const before = readFileSync(out)
    const names = readdirSync(folder)
    expect((await write('SELECT n FROM nowhere')).code).toBe(1)
    // Files of 1 MB at most, of which this one is 5.
    const sql = `SELECT STRING_AGG(TO_HEX(SHA512(CONCAT(i, ' ', j)))) AS text FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS i,
      UNNEST(GENERATE_ARRAY(1, 40)) AS j GROUP BY i`
    const args = [...program, 'query', 'logs.all', '--param', 'project=x', '--sql', sql, '--out', out]
    const limited = spawnSync('sh', ['-c', 'ulimit -f 2048; exec "$@"', 'sh', process.execPath, ...args], {
      env: { PATH: process.env['PATH'], DATA_DIR: folder },
      encoding: 'utf8',
    })
    expect([limited.status, limited.stderr]).toEqual([
      1,
      expect.stringMatching(/rows.parquet was not written/),
    ])
    const inFile = await query(...chart, '--out', join(out, 'below.parquet'))
    expect(inFile.err).toMatch(/below\.parquet was not written: .*/)
    const missing = await query(...chart, '--out', join(folder, 'missing/a.parquet'))
    expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/was not written/)])
    expect([readFileSync(out), readdirSync(folder)]).toEqual([before, names])
  })

  test.each([
    [['--out', 'rows.csv'], 'Name a file .parquet; other formats are printed: --format csv > FILE.'],
    [['--out', out, '--format', 'csv'], "cannot be used with option '--format <format>'"],
  ])('%j is refused', async (args, said) => expect((await query(...chart, ...args)).err).toContain(said))
})

test('lqe endpoint list prints each endpoint with its parameters', async () => {
  const { out } = await runCommand(
    endpointCommand(act => act(services)),
    ['list'],
  )
  expect(out).toMatch(/^[\w-]{36} {2}usage\.api-counts {2}interval\* project\*$/m)
})

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../../../functions/testing/edges.ts'
import { loadConfig } from '../../../shared/config.ts'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { loadLogs } from '../logs/load.ts'
import { apply } from './apply.ts'
import { sampleSets } from './compare.ts'
import { readQueries } from './read.ts'
import { QueriesError } from './yaml.ts'

const now = '2026-03-10T12:30:30.000Z'
let folder: string
let queries: string
let services: Services

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'batch-'))
  const config = loadConfig({ DATA_DIR: join(folder, 'data'), FROZEN_NOW: now, ENGINE_PROCESSES: '0' })
  const file = join(folder, 'rows.ndjson')
  const rows = [10, 45, 100, 5000].map(minutes => {
    const time = new Date(Date.parse(now) - minutes * 60_000).toISOString()
    return edgeRow('a', time, 'abcdefgh', '/rest/v1/a')
  })
  writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const table = 'cloudflare.logs.prod'
  const logsFolder = join(folder, 'data/logs')
  await loadLogs({ logsFolder, tablesFolder: config.tablesDir, table, files: [file], out: () => {} })
  services = await openServices(config)
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(() => {
  queries = mkdtempSync(join(folder, 'queries-'))
  // Without the one that has no batch query: its checks ask each log table.
  cpSync('queries', queries, { recursive: true, filter: file => !file.includes('logs.all') })
})

afterEach(() => rmSync(queries, { recursive: true }))

const batchQuery = 'usage.api-counts.warm.sql'

function edit(file: string, from: string | RegExp, to: string): void {
  const path = join(queries, file)
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(from, to)
  expect(changed).not.toBe(text)
  writeFileSync(path, changed)
}

async function refusal(options: { compare?: boolean; engine?: QueryEngine } = {}): Promise<string> {
  const { compare = false, engine = services.engine } = options
  const error = await apply(
    { engine, store: services.store },
    { queries, dryRun: true, compare, out: () => {} },
  ).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(QueriesError)
  return (error as QueriesError).message.replaceAll(`${queries}/`, '')
}

describe('apply takes a batch query', () => {
  test('into the stored definition, under a version of its own', async () => {
    await apply(services, { queries, dryRun: false, compare: true, out: () => {} })
    const before = (await services.endpoints.all()).find(({ name }) => name === 'usage.api-counts')!
    expect(before.warm).toEqual({
      seconds: 300,
      maxSets: 50,
      sql: readFileSync(join(queries, batchQuery), 'utf8'),
      apart: { interval: ['daily', '1day', '3day', '7day'] },
    })
    edit(batchQuery, 'GROUP BY start, url', 'GROUP BY start, r.url')
    await apply(services, { queries, dryRun: false, out: () => {} })
    const after = (await services.endpoints.all()).find(({ name }) => name === 'usage.api-counts')!
    expect(after.version).not.toBe(before.version)
  })
})

describe('apply refuses, naming file, line and column,', () => {
  test('a batch query that does not parse', async () => {
    edit(batchQuery, 'FROM sets AS s', 'FORM sets AS s')
    expect(await refusal()).toMatch(/^usage\.api-counts\.warm\.sql:\d+:\d+ /)
  })

  test('one whose dry run fails', async () => {
    edit(batchQuery, 'r.path, ', 'r.patch, ')
    expect(await refusal()).toMatch(/^usage\.api-counts\.warm\.sql:\d+:\d+ .*patch/)
  })

  test('one that takes other parameters', async () => {
    edit(batchQuery, '@sets[OFFSET(0)].interval IN', '@interval IN')
    expect(await refusal()).toMatch(/^usage\.api-counts\.warm\.sql:\d+:\d+ @interval is not known/)
  })

  test('one that takes no sets', async () => {
    writeFileSync(join(queries, batchQuery), 'SELECT 1 AS a')
    expect(await refusal()).toBe('usage.api-counts.warm.sql:1:1 takes no @sets')
  })

  test.each([
    [
      's.interval,\n  s.project',
      's.interval',
      /:\d+:3 column 2 must be project STRING, and is timestamp DATETIME/,
    ],
    [
      'AS total_rest_requests',
      'AS rests',
      /:\d+:3 column 4 must be total_rest_requests INT64, and is rests INT64/,
    ],
    [
      '  SUM(c.rest)',
      '  1.5',
      /column 4 must be total_rest_requests INT64, and is total_rest_requests FLOAT64/,
    ],
    [',\n  SUM(c.realtime) AS total_realtime_requests', '', /column 7 must be .*, and is nothing/],
    [
      '\nFROM sets AS s\nJOIN',
      ', 1 AS more\nFROM sets AS s\nJOIN',
      /column 8 must be nothing, and is more INT64/,
    ],
  ])('one with other columns: %j made %j', async (from, to, expected) => {
    edit(batchQuery, from, to)
    expect(await refusal()).toMatch(expected)
  })

  test('one of an endpoint that has a column with the name of a parameter', async () => {
    edit('usage.api-counts.sql', "DATETIME(bucket, 'UTC') AS timestamp", "DATETIME(bucket, 'UTC') AS project")
    expect(await refusal()).toMatch(/warm\.sql:1:1 project is a parameter and a column/)
  })

  test('one whose file is missing', async () => {
    rmSync(join(queries, batchQuery))
    expect(await refusal()).toMatch(
      /^usage\.api-counts\.yaml:\d+:\d+ warm\.query names .*, which is not there/,
    )
  })

  test('one that no endpoint names', async () => {
    cpSync(join(queries, batchQuery), join(queries, 'other.warm.sql'))
    expect(await refusal()).toBe('other.warm.sql:1:1 has no .yaml beside it, and no other .yaml names it')
  })

  test('sets apart by a parameter that is not declared', async () => {
    edit('usage.api-counts.yaml', 'interval: [daily,', 'span: [daily,')
    expect(await refusal()).toMatch(/yaml:\d+:\d+ warm\.apart names span, not declared in properties/)
  })
})

describe('apply with a comparison refuses', () => {
  test.each([
    ['counts other rows', "STRPOS(r.path, '/rest') > 0", "STRPOS(r.path, '/rest') > 1"],
    ['has another window', '> 0 THEN 180', '> 0 THEN 30'],
    ['has another order', /timestamp\s*$/, 'timestamp DESC'],
    ['has rows of its own', 's.project,\n  DATETIME', "CONCAT(s.project, 'x') AS project,\n  DATETIME"],
  ])('a batch query that %s', async (_, from, to) => {
    edit(batchQuery, from, to)
    expect(await refusal({ compare: true })).toMatch(/^usage\.api-counts\.warm\.sql:1:1 .*(rows|row that)/)
  })

  test('a definition without samples to compare with', async () => {
    edit('usage.api-counts.yaml', /\n +examples: .*\/rest\/v1\/'\]/, '')
    expect(await refusal({ compare: true })).toMatch(/project has neither enum nor examples/)
  })

  test('logs that change between all runs', async () => {
    let run = 0
    const engine: QueryEngine = {
      ...services.engine,
      describe: statement => services.engine.describe(statement),
      run: async (statement, limits) => {
        const result = await services.engine.run(statement, limits)
        return { ...result, rows: result.rows.map(row => ({ ...row, total_rest_requests: ++run })) }
      },
    }
    expect(await refusal({ compare: true, engine })).toMatch(/the logs keep changing/)
  })
})

test('sample sets are the combinations of choices and examples', () => {
  const { endpoint } = readQueries(queries).find(({ endpoint }) => endpoint.name === 'usage.api-counts')!
  const texts = sampleSets(endpoint).map(set => set.map(({ value }) => value as string).join(' '))
  expect(texts).toHaveLength(24)
  expect(texts).toContain('3day /rest/v1/')
})

/** What `apply` does with the roll-ups of definitions, on DuckDB and on BigQuery. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../../../functions/testing/edges.ts'
import { loadConfig } from '../../../shared/config.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { type BigQueryServer, startBigQueryServer } from '../../google/bigquery/server.ts'
import { loadLogs } from '../logs/load.ts'
import { apply, explained } from './apply.ts'
import { QueriesError } from './yaml.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
const folder = mkdtempSync(join(tmpdir(), 'apply-rollups-'))
let queries: string
let services: Services
let server: BigQueryServer
let cloud: Services

beforeAll(async () => {
  const env = { DATA_DIR: join(folder, 'data'), FROZEN_NOW: now, ENGINE_PROCESSES: '0' }
  const config = loadConfig(env)
  const file = join(folder, 'rows.ndjson')
  // One in the minute that has not ended.
  const rows = [0.1, 10, 45, 100, 5000].map(minutes => {
    const time = new Date(Date.parse(now) - minutes * 60_000).toISOString()
    return edgeRow('a', time, project, '/rest/v1/a')
  })
  writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const logsFolder = join(folder, 'data/logs')
  const table = 'cloudflare.logs.prod'
  await loadLogs({ logsFolder, tablesFolder: config.tablesDir, table, files: [file], out: () => {} })
  services = await openServices(config)
  const tables = readTableSchemas(config.tablesDir)
  server = await startBigQueryServer({ logsFolder, tables, dataset: 'acme-jobs.logs', now })
  const bigQuery = {
    ENGINE: 'bigquery',
    BIGQUERY_DATASET: 'acme-jobs.logs',
    BIGQUERY_EMULATOR_HOST: server.url,
  }
  const store = { DATA_DIR: join(folder, 'cloud') }
  cloud = await openServices(loadConfig({ ...env, ...bigQuery, ...store, GOOGLE_CLOUD_PROJECT: 'acme-jobs' }))
})

afterAll(async () => {
  await Promise.all([services.close(), cloud.close()])
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(() => {
  queries = mkdtempSync(join(folder, 'queries-'))
  // The one that has a roll-up: the checks of the others take as long as its own.
  cpSync('queries', queries, { recursive: true, filter: file => !/logs\.all|service\.usage/.test(file) })
})

const [rollup, answer, yaml] = ['rollup.sql', 'from-rollup.sql', 'yaml'].map(
  ending => `usage.api-counts.${ending}`,
) as [string, string, string]
const from = 'rollup:'

function edit(file: string, from: string | RegExp, to: string): void {
  const path = join(queries, file)
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(from, to)
  expect(changed).not.toBe(text)
  writeFileSync(path, changed)
}

/** A comparison asks for each example of each parameter; the shipped queries are compared once with all. */
const oneExample = () => edit(yaml, /examples: \[.*\]/, `examples: [${project}]`)

async function run(of: Services, options: { dryRun?: boolean; compareRollups?: boolean } = {}) {
  const lines: string[] = []
  await apply(of, { queries, dryRun: false, ...options, out: line => lines.push(line) })
  return lines
}

async function refusal(compareRollups = false, of = services): Promise<string> {
  const error = await run(of, { dryRun: compareRollups, compareRollups }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(QueriesError)
  return (error as QueriesError).message.replaceAll(`${queries}/`, '')
}

describe('apply refuses, naming file, line and column,', () => {
  test.each([
    [
      'what a roll-up cannot hold',
      rollup,
      'COUNTIF(STRPOS(r.path',
      'AVG(STRPOS(r.path',
      /rollup\.sql:\d+:\d+ /,
    ],
    ['a roll-up whose dry run fails', rollup, 'r.path', 'r.patch', /rollup\.sql:\d+:\d+ .*patch/],
    ['a sum of FLOAT64', rollup, /COUNTIF\(.*rest/, 'SUM(1.5) AS rest', /rollup\.sql:\d+:3 a sum of FLOAT64/],
    [
      'a roll-up that is not grouped by a time first',
      rollup,
      't.timestamp AS time',
      "'a' AS time",
      /rollup\.sql:8:3 the first column that a roll-up is grouped by is its time: time is no TIMESTAMP/,
    ],
    ['a cluster that is no column', yaml, from, `${from}\n  cluster: [rest]`, /yaml:\d+:\d+ rollup\.cluster/],
    [
      'five clusters',
      yaml,
      from,
      `${from}\n  cluster: [a, b, c, d, e]`,
      /yaml:\d+:\d+ rollup\.cluster must NOT have more than 4/,
    ],
    ['a file that is missing', yaml, from, `${from}\n  from: over.sql`, /rollup\.from names over\.sql/],
    [
      'a query of another parameter',
      answer,
      /@interval/g,
      '@span',
      /from-rollup\.sql:\d+:\d+ @span is not declared/,
    ],
    [
      'a query with other columns',
      answer,
      'total_rest_requests',
      'rests',
      /from-rollup\.sql:\d+:\d+ column 2 must/,
    ],
    [
      'queries over roll-ups as definitions of before have them, saying what to delete',
      yaml,
      'sandbox: true',
      'answers: [{ query: usage.api-counts.from-hours.sql, when: {} }]\nsandbox: true',
      /yaml:\d+:1 answers is gone: .* Delete the roll-ups by the hour and the queries over them/,
    ],
    [
      'a partition as definitions of before have it',
      yaml,
      from,
      `${from}\n  partition: time`,
      /yaml:\d+:3 rollup\.partition is gone: .* Leave it out/,
    ],
    ['a `when` of no parameter', yaml, '{ project:', '{ ref:', /when names ref/],
    [
      'a `when` that is no schema',
      yaml,
      "pattern: '^([a",
      "pattern: '^(([a",
      /rollup\.when is no JSON Schema/,
    ],
    [
      'two roll-ups of one file',
      yaml,
      /rollup:.*\n(  .*\n)*/,
      'rollup: [&one { when: {} }, *one]\n',
      /rollup\.1\.query names usage\.api-counts\.rollup\.sql, as one before it does/,
    ],
    ['no roll-ups', yaml, /rollup:.*\n(  .*\n)*/, 'rollup: []\n', /rollup must NOT have fewer than 1 items/],
  ])('%s', async (_, file, from, to, expected) => {
    edit(file, from, to)
    expect(await refusal()).toMatch(expected)
  })
})

describe('apply with a comparison', () => {
  test('takes the shipped queries, on both engines', async () => {
    await run(services, { dryRun: true, compareRollups: true })
    oneExample()
    await run(cloud)
    await run(cloud, { dryRun: true, compareRollups: true })
  })

  test.each([
    ['with other counts', rollup, "'/rest') > 0", "'/rest') > 1", /from-rollup\.sql:1:1 .*other rows/],
    [
      'with another window',
      answer,
      'ELSE 60',
      'ELSE 30',
      /from-rollup\.sql:1:1 interval="minutely" .*other rows/,
    ],
    [
      'with another beginning of days',
      answer,
      'THEN 10080',
      'THEN 4000',
      /from-rollup\.sql:1:1 interval="daily" .*other rows/,
    ],
    [
      'without the minute that has not ended',
      answer,
      '  AND IF(',
      '  AND time < TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE)\n  AND IF(',
      /from-rollup\.sql:1:1 .*other rows/,
    ],
  ])('refuses one %s', async (_, file, from, to, expected) => {
    oneExample()
    edit(file, from, to)
    expect(await refusal(true)).toMatch(expected)
  })

  test('refuses a `when` that lets patterns through which the roll-up does not decide', async () => {
    edit(yaml, /pattern: '\^\(\[a-z\].*?'/, 'minLength: 1')
    expect(await refusal(true)).toMatch(/from-rollup\.sql:1:1 .*"\/rest\/v1\/": gives other rows/)
  })
})

describe('apply --explain', () => {
  const explainedHere = async ({ engine }: Services) =>
    (await explained(queries, 'usage.api-counts', engine)).map(line => line.replaceAll(`${queries}/`, ''))

  test('prints what is made of a roll-up and the query over it, and what calls and the warmer read', async () => {
    const lines = await explainedHere(cloud)
    expect(lines[0]).toMatch(
      /^made of .*from-rollup\.sql answers where .*"enum":\["hourly","daily","1day","3day","7day"\]/,
    )
    expect(lines[1]).toMatch(/^ {2}SELECT .* UNION ALL SELECT /)
    expect(lines[2]).toMatch(/^ {2}a call reads about [\d.]+ \w+$/)
    expect(lines[3]).toMatch(
      /^ {2}warmed every 300 s by one statement, which for \d+ sets reads about [\d.]+ \w+$/,
    )
    expect(lines.filter(line => / answers /.test(line))).toHaveLength(3)
    expect(lines.at(-3)).toMatch(/by time, sorted by origin, words, and brought up to date every 5 min$/)
    expect(lines.at(-1)).toContain('TIMESTAMP_TRUNC(t.timestamp, HOUR) AS time_hour')
  })

  test.each([
    ['SUM(auth)', 'MAX(auth)', '15:3: MAX of what is no sum that it adds up'],
    [
      'WHERE time >=',
      'WHERE time !=',
      '18:7: it bounds time by more than a comparison with what is the same in all rows',
    ],
    [
      'FROM `usage.api-counts.rollup`',
      'FROM (SELECT * FROM `usage.api-counts.rollup`)',
      '17:14: *: name the columns',
    ],
  ])('says why nothing is made where %s is %s', async (of, to, expected) => {
    edit(answer, of, to)
    expect((await explainedHere(services)).join('\n')).toContain(
      `none by the hour is made of it, because of usage.api-counts.from-rollup.sql:${expected}`,
    )
  })
})

describe('a roll-up on BigQuery', () => {
  const views = () =>
    server.requests
      .flatMap(({ body }) => body?.configuration?.query?.query ?? [])
      .filter(sql => /^(CREATE|DROP)/.test(sql))

  test('is made with the first apply, replaced when it changes, and removed with its endpoint', async () => {
    await run(cloud)
    expect(await run(cloud)).toEqual(['= usage.api-counts unchanged', '0 changed.'])
    server.requests.length = 0
    edit(yaml, from, `${from}\n  refreshMinutes: 10`)
    const lines = await run(cloud)
    expect(lines).toContain('+ usage.api-counts.rollup to be made by the engine')
    expect(lines).toContain('- usage.api-counts.rollup of before, which nothing refers to')
    expect(views().map(sql => sql.slice(0, 6))).toEqual(['CREATE', 'CREATE', 'DROP M', 'DROP M'])
    server.requests.length = 0
    const files = readdirSync(queries).filter(file => file.startsWith('usage.api-counts.'))
    for (const file of files) rmSync(join(queries, file))
    await run(cloud)
    expect(views().map(sql => sql.slice(0, 6))).toEqual(['DROP M', 'DROP M'])
  })

  test('that was removed by hand is missed by a comparison, which says where to look, and made again', async () => {
    oneExample()
    await run(cloud)
    const { rollups: made } = (await cloud.endpoints.all()).find(({ name }) => name === 'usage.api-counts')!
    await cloud.engine.rollups.remove(made[1]!)
    expect(await refusal(true, cloud)).toMatch(/cannot be read: notFound; see "Roll-ups" in infra/)
    expect(await run(cloud)).toContain('+ usage.api-counts.hours.rollup to be made by the engine')
    expect(await cloud.engine.rollups.has(made[1]!)).toBe(true)
  })

  test('is planned and not made with --dry-run', async () => {
    edit(yaml, from, `${from}\n  refreshMinutes: 7`)
    server.requests.length = 0
    expect(await run(cloud, { dryRun: true })).toContain('+ usage.api-counts.rollup to be made by the engine')
    expect(views()).toEqual([])
  })
})

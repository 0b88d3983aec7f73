import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../../../functions/testing/edges.ts'
import { loadConfig } from '../../../shared/config.ts'
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { loadLogs } from '../logs/load.ts'
import { apply } from './apply.ts'
import { sampleSets } from '../../../shared/endpoints/samples.ts'
import { readQueries } from './read.ts'
import { QueriesError } from './yaml.ts'

const now = '2026-03-10T12:30:30.000Z'
let folder: string
let queries: string
let services: Services

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'warmed-'))
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
  // Without the one that is not warmed: its checks ask each log table.
  cpSync('queries', queries, { recursive: true, filter: file => !file.includes('logs.all') })
})

afterEach(() => rmSync(queries, { recursive: true }))

function edit(file: string, from: string | RegExp, to: string): void {
  const path = join(queries, file)
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(from, to)
  expect(changed).not.toBe(text)
  writeFileSync(path, changed)
}

async function refusal(options: { compareRollups?: boolean; engine?: QueryEngine } = {}): Promise<string> {
  const { compareRollups = false, engine = services.engine } = options
  const error = await apply(
    { engine, store: services.store },
    { queries, dryRun: true, compareRollups, out: () => {} },
  ).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(QueriesError)
  return (error as QueriesError).message.replaceAll(`${queries}/`, '')
}

async function applied(): Promise<string[]> {
  const lines: string[] = []
  await apply(services, { queries, dryRun: true, out: line => lines.push(line) })
  return lines.map(line => line.replaceAll(`${queries}/`, ''))
}

describe('apply', () => {
  test('says nothing of the shipped endpoints, whose sets are warmed by one statement', async () => {
    expect((await applied()).filter(line => line.includes('one by one'))).toEqual([])
  })

  test('says why the sets of an endpoint are warmed one by one', async () => {
    edit('usage.api-counts.sql', 'SELECT\n  DATETIME(bucket', 'SELECT AS STRUCT\n  DATETIME(bucket')
    expect(await applied()).toContain(
      '! usage.api-counts is warmed one by one, because of usage.api-counts.sql:30:1: SELECT AS STRUCT',
    )
  })

  test('says so, too, where it is the engine that takes no batch', async () => {
    const describe: QueryEngine['describe'] = async statement => {
      if (statement.bindings.some(({ name }) => name === 'sets'))
        throw new EngineError('unsupported', 'no arrays')
      return services.engine.describe(statement)
    }
    const lines: string[] = []
    const engine: QueryEngine = Object.assign(Object.create(services.engine) as QueryEngine, { describe })
    await apply({ engine, store: services.store }, { queries, dryRun: true, out: line => lines.push(line) })
    expect(lines.filter(line => line.includes('one by one'))).toHaveLength(2)
    expect(lines.join()).toContain('from-rollup.sql:1:1: no arrays')
  })

  test.each([
    [
      'query',
      'seconds: 300, query: usage.api-counts.warm.sql',
      /warm\.query is gone: .* delete the file that it names/,
    ],
    ['apart', 'seconds: 300, apart: { interval: [daily] }', /warm\.apart is gone: .* Leave it out/],
  ])('says what to delete of a definition of before: %s', async (_, written, expected) => {
    edit('usage.api-counts.yaml', 'seconds: 300', written)
    expect(await refusal()).toMatch(expected)
    expect(await refusal()).toMatch(/^usage\.api-counts\.yaml:\d+:\d+ /)
  })
})

describe('apply with a comparison refuses', () => {
  test('a definition without samples to compare with', async () => {
    edit('usage.api-counts.yaml', /\n +examples: .*\/rest\/v1\/'\]/, '')
    expect(await refusal({ compareRollups: true })).toMatch(/project has neither enum nor examples/)
  })

  test('logs that change between all runs', async () => {
    let run = 0
    const engine: QueryEngine = {
      ...services.engine,
      describe: statement => services.engine.describe(statement),
      run: async (statement, limits) => {
        const result = await services.engine.run(statement, limits)
        return { ...result, rows: [{ ...result.rows[0], run: ++run }] }
      },
    }
    expect(await refusal({ compareRollups: true, engine })).toMatch(/the logs keep changing/)
  })
})

test('sample sets are the combinations of choices and examples', () => {
  const { endpoint } = readQueries(queries).find(({ endpoint }) => endpoint.name === 'usage.api-counts')!
  const texts = sampleSets(endpoint).map(set => set.map(({ value }) => value as string).join(' '))
  expect(texts).toHaveLength(24)
  expect(texts).toContain('3day /rest/v1/')
})

/** The shipped endpoints on BigQuery's interface, over sample logs: the same rows as straight from the local engine. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Endpoint, typeOf } from '../../../shared/endpoints/definition.ts'
import type { Binding, QueryEngine, Value } from '../../../shared/engines/engine.ts'
import { openBigQuery } from '../../../shared/engines/bigquery/engine.ts'
import { openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { tableQueries } from '../../../shared/sandbox/offered-tables.ts'
import { readQueries } from '../../lqe/apply/read.ts'
import { projects, writeSample } from '../../lqe/logs/sample.ts'
import { type BigQueryServer, startBigQueryServer } from './server.ts'

const now = '2026-03-04T05:06:07.000Z'
const tablesFolder = 'infra/tables'
const tables = readTableSchemas(tablesFolder)
const endpoints = readQueries('queries').map(({ endpoint }) => endpoint)
const limits = { maxRows: 1000, timeoutMs: 30_000 }

let folder: string
let server: BigQueryServer
let bigQuery: QueryEngine
let duckDb: QueryEngine

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bigquery-'))
  await writeSample({ logsFolder: folder, tablesFolder, now: new Date(now), rows: 500 })
  server = await startBigQueryServer({
    logsFolder: folder,
    tables,
    dataset: 'acme-jobs.warehouse',
    now,
    pageRows: 30,
  })
  bigQuery = openBigQuery({
    project: 'acme-jobs',
    dataset: 'warehouse',
    tables: new Map(),
    endpoint: server.url,
    location: 'EU',
    maxBytesBilled: null,
  })
  duckDb = openDuckDb({ logsFolder: folder, tables, now })
}, 60_000)

afterAll(async () => {
  await Promise.all([bigQuery.close(), duckDb.close(), server.close()])
  rmSync(folder, { recursive: true, force: true })
})

const values: Record<string, Value> = { project: projects[0]!.ref, interval: 'daily' }

function bindingsOf({ parameters }: Endpoint): Binding[] {
  return Object.entries(parameters).map(([name, definition]) => ({
    name,
    type: typeOf(definition),
    value: values[name] ?? null,
  }))
}

const statements = endpoints.flatMap(endpoint => [
  { name: endpoint.name, sql: endpoint.sql, bindings: bindingsOf(endpoint) },
  ...tableQueries(endpoint).map(({ name, sql }) => ({
    name: `${endpoint.name}, table ${name}`,
    sql,
    bindings: bindingsOf(endpoint),
  })),
])

describe('the shipped endpoints', () => {
  test.each(statements)('$name gives the same rows through BigQuery’s interface', async statement => {
    const { rows, columns, truncated } = await bigQuery.run(statement, limits)
    const expected = await duckDb.run(statement, limits)
    expect({ ...expected, rows, columns, truncated }).toEqual(expected)
  })

  test('have rows to compare', async () => {
    const { rows } = await bigQuery.run(
      statements.find(({ name }) => name === 'logs.all')!,
      limits,
    )
    expect(rows.length).toBeGreaterThan(30)
  })

  test.each(statements)('$name is described alike', async statement => {
    const { bytes, ...told } = await bigQuery.describe(statement)
    const { bytes: _, ...expected } = await duckDb.describe(statement)
    expect(told).toEqual(expected)
    // The sample has no requests of the service itself.
    expect(bytes! > 0).toBe(!statement.name.startsWith('service.usage'))
  })

  test('run where the settings say', async () => {
    await bigQuery.run({ sql: 'SELECT 1', bindings: [] }, limits)
    expect(server.requests.findLast(({ method }) => method === 'insert')!.body!.jobReference.location).toBe(
      'EU',
    )
  })
})

describe('the server', () => {
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${server.url}/projects/acme-jobs${path}`, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const insert = (job: object) => ask('/jobs', { method: 'POST', body: JSON.stringify(job) })
  const query = (sql: string) => ({ query: { query: sql, useLegacySql: false } })

  test('gives timestamps as float seconds unless microseconds are requested', async () => {
    const jobReference = { projectId: 'acme-jobs', jobId: 'float' }
    await insert({ jobReference, configuration: query("SELECT TIMESTAMP '2026-01-01 00:00:00.5+00' AS t") })
    const { body } = await ask('/queries/float')
    expect(body).toMatchObject({ jobComplete: true, rows: [{ f: [{ v: '1.7672256005e+9' }] }] })
  })

  test('refuses a table that is not named in full, and one that is not there', async () => {
    const jobReference = { projectId: 'acme-jobs' }
    expect(await insert({ jobReference, configuration: query('SELECT 1 FROM edge') })).toMatchObject({
      status: 400,
      body: { error: { errors: [{ reason: 'invalid' }] } },
    })
    expect(await insert({ jobReference, configuration: query('SELECT 1 FROM a.b.c') })).toMatchObject({
      status: 404,
      body: { error: { errors: [{ reason: 'notFound', message: expect.stringContaining('a:b.c') }] } },
    })
  })

  test('has no other addresses', async () => {
    expect(await ask('/datasets')).toMatchObject({ status: 404 })
  })

  test('stops a job that is cancelled', async () => {
    const jobReference = { projectId: 'acme-jobs', jobId: 'long' }
    const endless =
      'SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS a, UNNEST(GENERATE_ARRAY(1, 100000)) AS b'
    await insert({ jobReference, configuration: query(`${endless} WHERE MOD(a * b, 7) = 3`) })
    expect(await ask('/queries/long?timeoutMs=50')).toMatchObject({ body: { jobComplete: false } })
    await ask('/jobs/long/cancel', { method: 'POST' })
    expect(await ask('/queries/long')).toMatchObject({ body: { error: { errors: [{ reason: 'stopped' }] } } })
    expect(await ask('/jobs/long')).toMatchObject({ body: { status: { state: 'DONE' } } })
  })
})

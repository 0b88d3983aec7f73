/** The shipped endpoints on BigQuery's interface, over sample logs: the same rows as straight from the local engine. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Endpoint, typeOf } from '../../../shared/endpoints/definition.ts'
import type { Binding, QueryEngine, Value } from '../../../shared/engines/engine.ts'
import { connect, type Rest } from '../../../shared/engines/bigquery/client.ts'
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
})

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

describe('where callers are checked', () => {
  const project = 'projects/acme-jobs'
  const dataset = `${project}/datasets/warehouse`
  const table = 'acme-jobs:warehouse.postgres_logs'
  const statement = { sql: 'SELECT id FROM `postgres.logs`', bindings: [] }
  const rollup = {
    name: 'a.rollup',
    sql: 'SELECT timestamp, COUNT(*) AS entries FROM `postgres.logs` GROUP BY timestamp',
    partition: 'timestamp',
    cluster: [],
    refreshMinutes: 30,
  }
  const rows = () => Readable.from(['{"id": "a", "timestamp": "2026-03-01T00:00:00Z"}\n'])
  const options = {
    project: 'acme-jobs',
    dataset: 'warehouse',
    tables: new Map<string, string>(),
    location: 'EU',
  }

  /** Permissions by where they are granted; what is granted on a resource counts for what is in it. */
  const editor = {
    [project]: 'jobs.create',
    [dataset]: 'tables.get tables.getData tables.create tables.delete tables.updateData',
  }
  let granted: Record<string, string>
  let checked: BigQueryServer
  let engine: QueryEngine
  let rest: Rest

  beforeAll(async () => {
    const logsFolder = join(folder, 'checked')
    checked = await startBigQueryServer({
      logsFolder,
      tables,
      dataset: 'acme-jobs.warehouse',
      permits: (token, permission, resource) =>
        ['editor', 'other'].includes(token) &&
        Object.entries(granted).some(
          ([on, permissions]) =>
            `${resource}/`.startsWith(`${on}/`) &&
            permissions.split(' ').includes(permission.replace('bigquery.', '')),
        ),
    })
    const endpoint = await checked.urlOf('editor')
    engine = openBigQuery({ ...options, endpoint, maxBytesBilled: null })
    rest = await connect({ ...options, endpoint })
  })
  beforeEach(() => {
    granted = editor
  })
  afterAll(async () => {
    await engine.close()
    await checked.close()
  })

  const acts = {
    'runs a query': () => engine.run(statement, limits),
    'describes one': () => engine.describe(statement),
    'asks for a view': () => engine.rollups.has(rollup),
    'makes a view': () => engine.rollups.create(rollup),
    'loads rows': () => rest.load(randomUUID(), `acme-jobs.warehouse.postgres_logs`, rows()),
  }

  test('who may do everything does', async () => {
    for (const act of Object.values(acts)) await act()
    expect((await engine.run(statement, limits)).rows).toEqual([{ id: 'a' }])
    await engine.rollups.remove(rollup)
    expect(await engine.rollups.has(rollup)).toBe(false)
  })

  const noJob =
    'Access Denied: Project acme-jobs: User does not have bigquery.jobs.create permission in project acme-jobs.'
  const noRows = `Access Denied: Table ${table}: User does not have permission to query table ${table}, or perhaps it does not exist.`
  const noView = expect.stringMatching(
    /^Access Denied: Table (.+): Permission bigquery.tables.get denied on table \1 \(or it may not exist\)\.$/,
  )
  test.each<[keyof typeof acts, string, unknown]>([
    ['runs a query', 'jobs.create', noJob],
    ['runs a query', 'tables.getData', noRows],
    ['describes one', 'jobs.create', noJob],
    ['describes one', 'tables.getData', noRows],
    ['asks for a view', 'tables.get', noView],
    ['makes a view', 'tables.getData', noRows],
    [
      'makes a view',
      'tables.create',
      'Access Denied: Dataset acme-jobs:warehouse: Permission bigquery.tables.create denied on dataset acme-jobs:warehouse (or it may not exist).',
    ],
    ['loads rows', 'jobs.create', noJob],
    [
      'loads rows',
      'tables.updateData',
      `Access Denied: Table ${table}: Permission bigquery.tables.updateData denied on table ${table} (or it may not exist).`,
    ],
  ])('who %s without bigquery.%s is refused in BigQuery’s words', async (what, permission, message) => {
    const without = (permissions: string) => permissions.replace(new RegExp(`${permission}(?= |$)`), '')
    granted = Object.fromEntries(Object.entries(editor).map(([on, all]) => [on, without(all)]))
    const error = await acts[what]().catch((thrown: unknown) => thrown)
    const { cause = error } = error as Error
    expect((cause as Error).message.replace(/^accessDenied: /, '')).toEqual(message)
  })

  test('who may read a view and not its table is refused', async () => {
    await engine.rollups.create(rollup)
    const run = () =>
      engine.run({ sql: 'SELECT entries FROM `a.rollup`', bindings: [], rollups: [rollup] }, limits)
    expect((await run()).rows).toHaveLength(1)
    const sent = JSON.stringify(checked.requests.map(({ body }) => body))
    const [, view] = /VIEW IF NOT EXISTS `acme-jobs.warehouse.(\w+)`/.exec(sent)!
    granted = { [project]: 'jobs.create', [`${dataset}/tables/${view}`]: 'tables.getData' }
    await expect(run()).rejects.toMatchObject({ cause: { message: `accessDenied: ${noRows}` } })
    granted = { ...granted, [`${dataset}/tables/postgres_logs`]: 'tables.getData' }
    expect((await run()).rows).toHaveLength(1)
  })

  test('a load that may make its table needs the right to, also for one that is there', async () => {
    granted = { [project]: 'jobs.create', [dataset]: 'tables.updateData' }
    await acts['loads rows']()
    const destinationTable = { projectId: 'acme-jobs', datasetId: 'warehouse', tableId: 'postgres_logs' }
    const load = {
      destinationTable,
      sourceFormat: 'NEWLINE_DELIMITED_JSON',
      createDisposition: 'CREATE_IF_NEEDED',
    }
    const body = { jobReference: rest.newJob(), configuration: { load } }
    await expect(rest.call({ method: 'POST', path: '/jobs', body })).rejects.toMatchObject({
      code: 403,
      errors: [{ reason: 'accessDenied', message: expect.stringContaining('bigquery.tables.create') }],
    })
  })

  test('a job is its caller’s, and another account that would share it runs its own', async () => {
    const other = openBigQuery({ ...options, endpoint: await checked.urlOf('other'), maxBytesBilled: null })
    const jobsOf = async (jobKey: string) => {
      const before = checked.jobs.count
      for (const each of [engine, other]) await each.run(statement, { ...limits, jobKey })
      return checked.jobs.count - before
    }
    expect(await jobsOf('a')).toBe(2)
    granted = { ...editor, [project]: 'jobs.create jobs.get' }
    expect(await jobsOf('b')).toBe(1)
    await other.close()
  })

  test('who does not say who they are is refused', async () => {
    const response = await fetch(`${checked.url}/projects/acme-jobs/jobs/any`)
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { error: { errors: [{ reason: 'required' }] } },
    ])
  })
})

describe('a load job', () => {
  const id = `id_${Date.now()}`
  const good = { id, timestamp: '2026-03-01T00:00:00Z' }
  const load = async (...rows: object[]) => {
    const rest = await connect({ project: 'acme-jobs', endpoint: server.url, location: 'EU' })
    const lines = rows.map(row => `${JSON.stringify(row)}\n`)
    await rest.load(randomUUID(), 'acme-jobs.warehouse.cloudflare_logs_prod', Readable.from(lines))
  }
  const found = async () => {
    const sql = `SELECT id, event_message FROM \`cloudflare.logs.prod\` WHERE id = '${id}'`
    return (await bigQuery.run({ sql, bindings: [] }, limits)).rows
  }

  test.each<[string, object, string]>([
    ['an unknown column', { colour: 'red' }, 'No such field: colour.'],
    [
      'an unknown field',
      { metadata: [{ request: [{ verb: 'GET' }] }] },
      'No such field: metadata.request.verb.',
    ],
    [
      'a value of another type',
      { event_message: 1 },
      'Could not convert value to string. Field: event_message; Value: 1',
    ],
    [
      'a record for a list of them',
      { metadata: {} },
      'Only optional fields can be set to NULL. Field: metadata',
    ],
    ['no list', { metadata: null }, 'Only optional fields can be set to NULL. Field: metadata'],
    ['no time', { timestamp: null }, 'Missing required field: timestamp.'],
  ])('with a row of %s fails, and brings none', async (_, fault, message) => {
    await expect(load(good, { ...good, ...fault })).rejects.toThrow(`row 2: ${message}`)
    expect(await found()).toEqual([])
  })

  test('brings its rows, and is found by its id', async () => {
    await load({ ...good, event_message: 'loaded' })
    expect(await found()).toEqual([{ id, event_message: 'loaded' }])
  })
})

test('a job is looked for, and finds its tables, in its own location alone', async () => {
  const at = (location: string | null) =>
    openBigQuery({
      project: 'acme-jobs',
      dataset: 'warehouse',
      tables: new Map(),
      endpoint: server.url,
      location,
      maxBytesBilled: null,
    })
  const sql = 'SELECT id FROM `postgres.logs`'
  await at(null).run({ sql, bindings: [] }, limits)
  const error: unknown = await at('US')
    .run({ sql, bindings: [] }, limits)
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    reason: 'misconfigured',
    cause: { message: 'notFound: Not found: Dataset acme-jobs:warehouse was not found in location US' },
  })
  await at('US').run({ sql: 'SELECT 1', bindings: [] }, limits)
  const { jobId } = server.requests.findLast(({ method }) => method === 'insert')!.body!.jobReference
  const { status } = await fetch(`${server.url}/projects/acme-jobs/jobs/${jobId}?location=EU`)
  expect(status).toBe(404)
})

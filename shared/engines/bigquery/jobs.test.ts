/** Requests to BigQuery: real names, parameters, limits, labels, job ids, dry runs. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Column } from '../../sql/types.ts'
import type { RunLimits, Statement } from '../engine.ts'
import { type LocalBigQuery, openLocalBigQuery, project } from '../testing/bigquery.ts'
import type { Job } from './client.ts'

const columns: Column[] = [{ name: 'id', type: { kind: 'STRING' } }]
const limits: RunLimits = { maxRows: 10, timeoutMs: 10_000 }
const statement: Statement = { sql: 'SELECT id FROM `cloudflare.logs.prod` ORDER BY id', bindings: [] }

let local: LocalBigQuery

beforeAll(async () => {
  local = await openLocalBigQuery({ 'cloudflare.logs.prod': columns, 'deno-relay-logs': columns })
  await local.append('cloudflare.logs.prod', [{ id: 'a' }, { id: 'b' }])
})
afterAll(() => local.close())

/** The jobs that `act` starts. */
async function jobsOf(act: () => Promise<unknown>): Promise<Job[]> {
  const before = local.server.requests.length
  await act()
  const asked = local.server.requests.slice(before).filter(({ method }) => method === 'insert')
  return asked.map(({ body }) => body!)
}

const run = (more: Partial<RunLimits> = {}, asked = statement) =>
  local.engine.run(asked, { ...limits, ...more })

describe('the SQL', () => {
  test('has real names where the statement has tables, and only there', async () => {
    const sql = `WITH logs AS (SELECT \`id\` FROM \`deno-relay-logs\`) -- the logs
      SELECT prod.id, 'deno-relay-logs' AS text FROM cloudflare.logs.prod, logs`
    const [job] = await jobsOf(() => run({}, { sql, bindings: [] }))
    expect(job!.configuration!.query.query).toBe(
      `WITH logs AS (SELECT \`id\` FROM \`local-project.app_logs.deno_relay_logs\` AS \`deno-relay-logs\`) SELECT prod.id, 'deno-relay-logs' AS text FROM \`local-project.app_logs.cloudflare_logs_prod\` AS prod, logs`,
    )
  })

  test('takes tables from the dataset of the settings', async () => {
    const engine = local.another({
      dataset: 'elsewhere',
      tables: new Map([['cloudflare.logs.prod', 'local-project.app_logs.cloudflare_logs_prod']]),
    })
    expect(await engine.run(statement, limits)).toMatchObject({ rows: [{ id: 'a' }, { id: 'b' }] })
    const missing = engine.run({ sql: 'SELECT 1 FROM `deno-relay-logs`', bindings: [] }, limits)
    await expect(missing).rejects.toMatchObject({
      reason: 'misconfigured',
      message: 'The table deno-relay-logs is missing, or may not be used',
    })
  })
})

describe('a job', () => {
  test('has limits, labels, a reservation and no default dataset', async () => {
    const labels = { endpoint: 'logs.all', key: 'AbC', team: 'search' }
    const reservation = 'projects/admin/locations/EU/reservations/logs'
    const [job] = await jobsOf(() => run({ maxBytes: 1_000_000, labels, reservation }))
    expect(job).toEqual({
      jobReference: { projectId: project, jobId: expect.stringMatching(/^lqe_[0-9a-f]{40}_0$/) },
      configuration: {
        query: {
          query: expect.any(String),
          useLegacySql: false,
          useQueryCache: true,
          maximumBytesBilled: '1000000',
        },
        jobTimeoutMs: '10000',
        labels: { endpoint: 'logs_all', key: 'abc', team: 'search' },
        reservation,
      },
    })
  })

  test('takes no result that BigQuery has kept where none will do', async () => {
    const [job] = await jobsOf(() => run({ noCache: true }))
    expect(job!.configuration!.query.useQueryCache).toBe(false)
  })

  test('binds values as text under their types, and nothing is put in their place', async () => {
    const sql = 'SELECT @text AS text, @list AS list, @nothing IS NULL AS nothing'
    const bindings: Statement['bindings'] = [
      { name: 'text', type: { kind: 'STRING' }, value: '{{projectId}}' },
      {
        name: 'list',
        type: { kind: 'ARRAY', element: { kind: 'INT64' } },
        value: [1, '9223372036854775807'],
      },
      { name: 'nothing', type: { kind: 'ARRAY', element: { kind: 'STRING' } }, value: null },
    ]
    const [job] = await jobsOf(async () =>
      expect((await run({}, { sql, bindings })).rows).toEqual([
        { text: '{{projectId}}', list: [1, '9223372036854775807'], nothing: true },
      ]),
    )
    expect(job!.configuration!.query.queryParameters).toEqual([
      { name: 'text', parameterType: { type: 'STRING' }, parameterValue: { value: '{{projectId}}' } },
      {
        name: 'list',
        parameterType: { type: 'ARRAY', arrayType: { type: 'INT64' } },
        parameterValue: { arrayValues: [{ value: '1' }, { value: '9223372036854775807' }] },
      },
      {
        name: 'nothing',
        parameterType: { type: 'ARRAY', arrayType: { type: 'STRING' } },
        parameterValue: { value: null },
      },
    ])
  })

  test('does not read more than the lower of the two byte limits', async () => {
    const capped = local.another({ maxBytesBilled: 1 })
    await expect(capped.run(statement, limits)).rejects.toMatchObject({
      reason: 'too_many_bytes',
      message: expect.stringMatching(/^The query would read up to [\d,]+ bytes, and may read 1$/),
    })
    await expect(run({ maxBytes: 1 })).rejects.toMatchObject({ reason: 'too_many_bytes' })
    const roomy = local.another({ maxBytesBilled: 1_000_000 })
    expect(await roomy.run(statement, limits)).toMatchObject({ bytes: expect.any(Number) })
  })
})

describe('a job key', () => {
  const jobs = () => local.server.jobs.count

  test('lets a second process adopt the job of the first', async () => {
    const before = jobs()
    const one = run({ jobKey: 'shared' })
    const two = local.another().run(statement, { ...limits, jobKey: 'shared' })
    expect((await one).rows).toEqual((await two).rows)
    expect(jobs()).toBe(before + 1)
  })

  test('is not enough: another statement is another job', async () => {
    const before = jobs()
    await run({ jobKey: 'same' }, { sql: 'SELECT 1 AS a', bindings: [] })
    expect(await run({ jobKey: 'same' }, { sql: 'SELECT 2 AS a', bindings: [] })).toMatchObject({
      rows: [{ a: 2 }],
    })
    expect(jobs()).toBe(before + 2)
  })

  test('does not bring back the rows of an old job', async () => {
    const before = jobs()
    await run({ jobKey: 'old' })
    local.server.jobs.aheadMs = limits.timeoutMs + 60_000
    await local.append('cloudflare.logs.prod', [{ id: 'c' }])
    expect(await run({ jobKey: 'old' })).toMatchObject({ rows: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
    expect(jobs()).toBe(before + 2)
  })

  test('goes on from a job that has failed', async () => {
    const before = jobs()
    local.server.faults.add({ method: 'insert', effect: { jobReason: 'invalidQuery' } })
    await expect(run({ jobKey: 'failed' })).rejects.toMatchObject({ reason: 'rejected' })
    expect(await run({ jobKey: 'failed' })).toMatchObject({ rows: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
    expect(jobs()).toBe(before + 2)
  })

  test('that is absent leaves every run to itself', async () => {
    const before = jobs()
    await Promise.all([run(), run()])
    expect(jobs()).toBe(before + 2)
  })
})

describe('a dry run', () => {
  test('starts no job, and estimates bytes by the tables', async () => {
    const before = local.server.jobs.count
    await local.append('deno-relay-logs', [{ id: 'a' }])
    const one = await local.engine.describe(statement)
    const both = await local.engine.describe({
      sql: 'SELECT a.id FROM `cloudflare.logs.prod` AS a JOIN `deno-relay-logs` AS b ON a.id = b.id',
      bindings: [],
    })
    expect(one.bytes).toBeGreaterThan(0)
    expect(both.bytes).toBeGreaterThan(one.bytes!)
    expect(both.tables).toEqual(['cloudflare.logs.prod', 'deno-relay-logs'])
    expect(local.server.jobs.count).toBe(before)
  })

  const told = (query: object) => ({
    method: 'insert' as const,
    effect: {
      status: 200,
      text: JSON.stringify({ jobReference: { projectId: project }, statistics: { query } }),
    },
  })

  test('reports tables and routines that the statement does not name, in full', async () => {
    local.server.faults.add(
      told({
        statementType: 'SELECT',
        referencedTables: [
          { projectId: project, datasetId: 'app_logs', tableId: 'cloudflare_logs_prod' },
          { projectId: 'other', datasetId: 'app_logs', tableId: 'cloudflare_logs_prod' },
        ],
        referencedRoutines: [{ projectId: 'other', datasetId: 'd', routineId: 'f' }],
      }),
    )
    expect(await local.engine.describe(statement)).toMatchObject({
      tables: ['cloudflare.logs.prod', 'other.app_logs.cloudflare_logs_prod'],
      routines: ['other.d.f'],
    })
  })

  test('of anything but a SELECT is refused', async () => {
    local.server.faults.add(told({ statementType: 'CREATE_TABLE_AS_SELECT' }))
    await expect(local.engine.describe(statement)).rejects.toMatchObject({ reason: 'rejected' })
  })
})

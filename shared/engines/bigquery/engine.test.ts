/** Failures on the way to BigQuery, by its reasons and by the connection: what they mean, and what is tried again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiMethod, Fault } from '../../../infra/google/bigquery/server.ts'
import type { EngineError, EngineErrorReason, QueryEngine, RunLimits } from '../engine.ts'
import { type LocalBigQuery, openLocalBigQuery } from '../testing/bigquery.ts'

const limits: RunLimits = { maxRows: 10, timeoutMs: 10_000 }
const statement = { sql: 'SELECT x FROM UNNEST([1, 2, 3]) AS x ORDER BY x', bindings: [] }
const rows = [{ x: 1 }, { x: 2 }, { x: 3 }]

const schema = { fields: [{ name: 'x', type: 'INTEGER' }] }
const reference = { projectId: 'p', jobId: 'j', location: 'US' }
const page = { jobReference: reference, jobComplete: true, schema, totalRows: '3' }
const rowsAmiss = JSON.stringify({ ...page, rows: [{}] })
const rowsAbsent = JSON.stringify(page)
const rowsMissing = JSON.stringify({ ...page, rows: [{ f: [{ v: '1' }] }] })

let local: LocalBigQuery
/** A new one for each test: one that met `quotaExceeded` rests. */
let engine: QueryEngine

beforeAll(async () => {
  local = await openLocalBigQuery({}, { pageRows: 2 })
})
afterAll(() => local.close())
afterEach(() => {
  local.server.faults.clear()
  local.server.requests.length = 0
})

function meet(...faults: Fault[]): void {
  engine = local.another()
  for (const fault of faults) local.server.faults.add(fault)
}

const run = (more: Partial<RunLimits> = {}) => engine.run(statement, { ...limits, ...more })
const failure = (more?: Partial<RunLimits>): Promise<EngineError> =>
  run(more).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: EngineError) => error,
  )
const asked = (method: ApiMethod) => local.server.requests.filter(request => request.method === method)

describe('a reason', () => {
  test.each<[reason: string, status: number, means: EngineErrorReason, tries: number]>([
    ['rateLimitExceeded', 403, 'unavailable', 3],
    ['jobRateLimitExceeded', 400, 'unavailable', 3],
    ['backendError', 503, 'failed', 3],
    ['backendError', 500, 'failed', 3],
    ['internalError', 500, 'failed', 3],
    ['jobBackendError', 400, 'failed', 3],
    ['quotaExceeded', 403, 'unavailable', 1],
    ['accessDenied', 403, 'misconfigured', 1],
    ['billingNotEnabled', 403, 'misconfigured', 1],
    ['notFound', 404, 'misconfigured', 1],
    ['bytesBilledLimitExceeded', 500, 'too_many_bytes', 1],
    ['billingTierLimitExceeded', 400, 'too_many_bytes', 1],
    ['resourcesExceeded', 400, 'too_many_bytes', 1],
    ['responseTooLarge', 403, 'result_too_large', 1],
    ['invalidQuery', 400, 'rejected', 1],
    ['timeout', 400, 'timeout', 1],
    ['stopped', 400, 'cancelled', 1],
    ['neverHeardOf', 400, 'failed', 1],
    ['neverHeardOf', 503, 'unavailable', 3],
  ])('%s with status %i is %s after %i tries', async (reason, status, means, tries) => {
    meet({ method: 'insert', effect: { reason, status }, times: 3 })
    expect(await failure()).toMatchObject({ name: 'EngineError', reason: means })
    expect(asked('insert')).toHaveLength(tries)
  })

  test('that passes does not fail the run', async () => {
    meet({ method: 'insert', effect: { reason: 'rateLimitExceeded' }, times: 2 })
    expect(await run()).toMatchObject({ rows })
  })

  test('with which a job ends leads to another job', async () => {
    meet({ method: 'insert', effect: { jobReason: 'jobBackendError' } })
    expect(await run()).toMatchObject({ rows })
    const ids = asked('insert').map(({ body }) => body!.jobReference.jobId)
    expect(ids).toEqual([ids[0], ids[0], expect.not.stringMatching(ids[0]!)])
  })

  test('quotaExceeded keeps the engine from further calls for a while', async () => {
    meet({ method: 'insert', effect: { reason: 'quotaExceeded' } })
    await failure()
    expect(await failure()).toMatchObject({ reason: 'unavailable' })
    expect(asked('insert')).toHaveLength(1)
  })

  test('never brings BigQuery’s own message to callers', async () => {
    meet({ method: 'insert', effect: { reason: 'accessDenied', message: 'Access Denied: Table secret:a.b' } })
    const { message, cause } = await failure()
    expect(message).not.toMatch(/secret|a\.b/)
    expect(cause).toMatchObject({ message: expect.stringContaining('secret:a.b') })
  })
})

describe('a broken response', () => {
  const text = (status: number, text: string, type?: string) => ({ status, text, ...(type ? { type } : {}) })

  test.each<[what: string, method: ApiMethod, effect: Fault['effect'], means: EngineErrorReason]>([
    ['a page of a proxy', 'insert', text(502, '<h1>Bad Gateway</h1>', 'text/html'), 'failed'],
    ['a page of a proxy that is too busy', 'results', text(503, '', 'text/html'), 'unavailable'],
    ['429 without a reason', 'insert', text(429, 'slow down', 'text/plain'), 'unavailable'],
    ['broken JSON', 'results', text(200, '{"jobComplete": tr'), 'failed'],
    ['text', 'insert', text(200, 'fine', 'text/plain'), 'failed'],
    ['JSON of something else', 'insert', text(200, '{"hello": "there"}'), 'failed'],
    ['JSON that has no results', 'results', text(200, '[1, 2]'), 'failed'],
    ['a connection that is cut', 'insert', 'reset', 'unavailable'],
    ['a connection that is cut later', 'results', 'reset', 'unavailable'],
  ])('%s is survived twice, then %j %j is %s', async (_, method, effect, means) => {
    meet({ method, effect, times: 2 })
    expect(await run()).toMatchObject({ rows })
    meet({ method, effect, times: 3 })
    expect(await failure()).toMatchObject({ reason: means })
  })

  test.each([
    ['rows that do not fit the schema', rowsAmiss],
    ['fewer rows than there are', rowsMissing],
    ['no rows where there are some', rowsAbsent],
  ])('%s are survived twice, then the run has failed', async (_, page) => {
    // Each try asks twice: whether the job is complete, then for its rows.
    meet({ method: 'results', effect: text(200, page), times: 4 })
    expect(await run()).toMatchObject({ rows })
    meet({ method: 'results', effect: text(200, page), times: 6 })
    expect(await failure()).toMatchObject({ reason: 'failed' })
  })

  test('no listener is unavailable', async () => {
    engine = local.another({ endpoint: 'http://127.0.0.1:9' })
    expect(await failure()).toMatchObject({ reason: 'unavailable' })
  })

  test('silence lasts until the run’s time limit, and the job is cancelled', async () => {
    meet({ method: 'results', effect: 'silence' })
    expect(await failure({ timeoutMs: 200 })).toMatchObject({ reason: 'timeout' })
    const [insert] = asked('insert')
    await until(() => asked('cancel').length === 1)
    expect(asked('cancel')[0]!.id).toBe(insert!.body!.jobReference.jobId)
  })

  test('silence after the job’s start cancels it, by its id alone', async () => {
    meet({ method: 'insert', effect: 'silence', after: true })
    const abort = new AbortController()
    const stopped = failure({ signal: abort.signal })
    await until(() => asked('insert').length === 1)
    abort.abort()
    expect(await stopped).toMatchObject({ reason: 'cancelled' })
    await until(() => asked('cancel').length === 1)
  })
})

describe('a job', () => {
  test('that was started is found again when the response is lost', async () => {
    meet({ method: 'insert', effect: 'reset', after: true })
    const before = local.server.jobs.count
    expect(await run()).toMatchObject({ rows })
    expect(local.server.jobs.count).toBe(before + 1)
  })

  test('that is running is not started again when a response about it is lost', async () => {
    meet({ method: 'results', effect: 'reset', times: 2 })
    const before = local.server.jobs.count
    expect(await run()).toMatchObject({ rows })
    expect(local.server.jobs.count).toBe(before + 1)
  })

  test('that is not complete is polled', async () => {
    meet({ method: 'results', effect: 'incomplete', times: 3 })
    expect(await run()).toMatchObject({ rows, truncated: false })
    expect(asked('results').length).toBeGreaterThan(3)
  })

  test('that is not complete in time is a timeout', async () => {
    meet({ method: 'results', effect: 'incomplete', times: 1_000 })
    expect(await failure({ timeoutMs: 200 })).toMatchObject({ reason: 'timeout' })
    await until(() => asked('cancel').length === 1) // its last poll would meet the fault of the next test
  })

  test('that BigQuery ends after its own time limit is a timeout', async () => {
    const message = 'Job execution was cancelled: Job timed out after 1 sec'
    meet({ method: 'results', effect: { reason: 'stopped', message, status: 499 } })
    expect(await failure()).toMatchObject({ reason: 'timeout' })
  })

  test('says what it has cost, or nothing of it where BigQuery does not', async () => {
    meet()
    const jobId = () => asked('insert').at(-1)!.body!.jobReference.jobId
    expect(await run()).toMatchObject({ slotMs: expect.any(Number), jobId: jobId() })
    meet({ method: 'get', effect: 'silence' })
    expect(await run()).toMatchObject({ rows, slotMs: null, jobId: jobId() })
    meet({ method: 'get', effect: { reason: 'backendError' } })
    expect(await run()).toMatchObject({ rows, slotMs: null })
  })

  test('is slow, and its rows come', async () => {
    meet({ method: 'results', effect: { delayMs: 100 } })
    expect(await run()).toMatchObject({ rows })
  })
})

describe('pages', () => {
  test('are read until all rows within the limit are there', async () => {
    meet()
    expect(await run()).toMatchObject({ rows, truncated: false })
    expect(await run({ maxRows: 1 })).toMatchObject({ rows: rows.slice(0, 1), truncated: true })
    const sizes = asked('results').map(({ query }) => [query.get('maxResults'), query.get('pageToken')])
    expect(sizes).toEqual([
      ['0', null],
      ['10', null],
      ['8', 'row-2'],
      ['0', null],
      ['1', null],
    ])
  })

  test('ask for as many rows as the limit of bytes leaves room for, by the rows so far', async () => {
    local.server.requests.length = 0
    const sql = `SELECT REPEAT('a', 93) AS x FROM UNNEST(GENERATE_ARRAY(1, 100))`
    engine = local.another()
    await expect(
      engine.run({ sql, bindings: [] }, { maxRows: 5000, timeoutMs: 10_000, maxResultBytes: 550 }),
    ).rejects.toMatchObject({ reason: 'result_too_large' })
    expect(asked('results').map(({ query }) => query.get('maxResults'))).toEqual(['0', '551', '4', '2'])
  })

  test('may hold fewer rows than were asked for', async () => {
    const small = await openLocalBigQuery({}, { pageBytes: 50 })
    expect(await small.engine.run(statement, limits)).toMatchObject({ rows, truncated: false })
    expect(small.server.requests.filter(({ method }) => method === 'results')).toHaveLength(3)
    await small.close()
  })

  test('that get lost are read again, each row once', async () => {
    meet({ method: 'results', effect: { delayMs: 1 } }, { method: 'results', effect: 'reset' })
    expect(await run()).toMatchObject({ rows })
  })
})

describe('a dry run', () => {
  test('is tried again as a run is', async () => {
    meet({ method: 'insert', effect: { reason: 'backendError' }, times: 2 })
    expect(await engine.describe(statement)).toMatchObject({ kind: 'SELECT' })
    meet({ method: 'insert', effect: { reason: 'backendError' }, times: 3 })
    await expect(engine.describe(statement)).rejects.toMatchObject({ reason: 'failed' })
  })
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 5))
}

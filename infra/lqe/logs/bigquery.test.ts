/** Loads into BigQuery, by the real client against the local server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { typeOf } from '../../../shared/endpoints/definition.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { bigQueryOf, openServices, type Services } from '../../../shared/services.ts'
import { type BigQueryServer, startBigQueryServer } from '../../google/bigquery/server.ts'
import { readQueries } from '../apply/read.ts'
import { program, runCommand } from '../testing/command.ts'
import { toBigQuery } from './bigquery.ts'
import { logsCommand } from './command.ts'
import { newFolder, tablesFolder } from './testing/folder.ts'

const edge = 'cloudflare.logs.prod'
const tables = readTableSchemas(tablesFolder)
const limits = { maxRows: 1000, timeoutMs: 30_000 }

const cloud = newFolder()
let server: BigQueryServer
let env: Record<string, string>
let services: Services

beforeAll(async () => {
  const dataset = 'acme-jobs.logs'
  server = await startBigQueryServer({ logsFolder: cloud, tables, dataset })
  env = {
    DATA_DIR: join(newFolder(), 'data'),
    ENGINE: 'bigquery',
    GOOGLE_CLOUD_PROJECT: 'acme-jobs',
    BIGQUERY_DATASET: dataset,
    BIGQUERY_EMULATOR_HOST: server.url,
  }
  services = await openServices(loadConfig(env))
})
afterAll(async () => {
  await services.close()
  await server.close()
})

/** `lqe logs ...` as with ENGINE=bigquery. */
const logs = (...args: string[]) => logsWith({}, ...args)

function logsWith(settings: Record<string, string>, ...args: string[]) {
  const config = loadConfig({ ...env, ...settings })
  const send = toBigQuery(bigQueryOf(config))
  const folders = { logsFolder: join(config.dataDir, 'logs'), tablesFolder, send }
  const command = logsCommand(
    () => folders,
    act => act(services),
  )
  return runCommand(command, args)
}

let files = 0
/** A file with an entry for each text. */
function fileOf(...messages: string[]): string {
  const file = join(newFolder(), `${++files}.ndjson`)
  const entries = messages.map(event_message => ({
    timestamp: '2026-01-31T12:00:00.5Z',
    project: 'p',
    event_message,
    metadata: { request: { method: 'GET', cf: { asn: 13335 } } },
  }))
  writeFileSync(file, entries.map(entry => `${JSON.stringify(entry)}\n`).join(''))
  return file
}

async function messages(like: string, table = edge): Promise<unknown[]> {
  const sql = `SELECT event_message AS m FROM \`${table}\` WHERE STARTS_WITH(event_message, '${like}') ORDER BY m`
  return (await services.engine.run({ sql, bindings: [] }, limits)).rows.map(({ m }) => m)
}

describe('a load', () => {
  test('brings rows that logs.all finds, by one job, and leaves nothing on this machine', async () => {
    const before = server.jobs.count
    expect(await logs('load', edge, fileOf('first a', 'first \u2028b'))).toEqual({
      code: 0,
      out: `${edge}: rows loaded: 2; bad lines: 0; from 2026-01-31T12:00:00.500000Z to 2026-01-31T12:00:00.500000Z\n`,
      err: '',
    })
    expect(server.jobs.count).toBe(before + 1)
    const { endpoint } = readQueries('queries').find(each => each.endpoint.name === 'logs.all')!
    const values: Record<string, string> = { project: 'p', iso_timestamp_start: '2026-01-31T00:00:00Z' }
    const bindings = Object.entries(endpoint.parameters).map(([name, definition]) => ({
      name,
      type: typeOf(definition),
      value: values[name] ?? null,
    }))
    const { rows } = await services.engine.run({ sql: endpoint.sql, bindings }, limits)
    const found = new Set(rows.map(row => row['event_message']))
    expect(found).toEqual(new Set(['first a', 'first \u2028b']))
    expect(existsSync(join(env['DATA_DIR']!, 'logs', edge))).toBe(false)
  })

  test('of the same file again adds no rows, and says so', async () => {
    const file = fileOf('same')
    await logs('load', edge, file)
    const { out, err } = await logs('load', edge, file)
    expect(err).toBe(`${edge}: an earlier load has brought these rows; they are there once\n`)
    expect(out).toContain('rows loaded: 1;')
    expect(await messages('same')).toEqual(['same'])
  })

  test('whose answer was lost has brought its rows', async () => {
    server.faults.add({ method: 'insert', effect: 'reset', after: true })
    expect(await logs('load', edge, fileOf('lost'))).toMatchObject({ code: 0, err: '' })
    expect(await messages('lost')).toEqual(['lost'])
  })

  test('that does not arrive, or whose job fails, brings nothing, and everything when it is repeated', async () => {
    for (const effect of ['reset', { jobReason: 'backendError' }] as const) {
      const file = fileOf(`failed ${files}`, `failed ${files} too`)
      const before = await messages('failed')
      server.faults.add({ method: 'insert', effect })
      expect(await logs('load', edge, file)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/./),
      })
      expect(await messages('failed')).toEqual(before)
      await logs('load', edge, file)
      expect(await messages('failed')).toHaveLength(before.length + 2)
    }
  })

  test('of a field that the table in BigQuery lacks fails in BigQuery’s words', async () => {
    const columns = tables.get(edge)!.filter(({ name }) => name !== 'event_message')
    const logsFolder = newFolder()
    const other = await startBigQueryServer({
      logsFolder,
      tables: new Map([[edge, columns]]),
      dataset: 'acme-jobs.logs',
    })
    const { code, err } = await logsWith({ BIGQUERY_EMULATOR_HOST: other.url }, 'load', edge, fileOf('other'))
    expect([code, err]).toEqual([1, expect.stringMatching(/No such field: event_message\./)])
    expect(existsSync(join(logsFolder, edge))).toBe(false)
    await other.close()
  })

  test('goes to the table that BIGQUERY_TABLES names', async () => {
    const settings = { BIGQUERY_TABLES: `${edge}=acme-jobs.elsewhere.edge` }
    const { code, err } = await logsWith(settings, 'load', edge, fileOf('elsewhere'))
    expect([code, err]).toEqual([1, 'Not found: Table acme-jobs:elsewhere.edge\n'])
  })

  test('moves the newest entry to the present', async () => {
    const started = Date.now()
    await logs('load', edge, fileOf('shifted "timestamp":"2026-01-31T12:00:00.500000Z"}'), '--shift-to-now')
    const sql = `SELECT UNIX_MILLIS(MAX(timestamp)) AS newest FROM \`${edge}\` WHERE STARTS_WITH(event_message, 'shifted "timestamp":"2026-01')`
    const { rows } = await services.engine.run({ sql, bindings: [] }, limits)
    expect(rows[0]!['newest']).toBeGreaterThanOrEqual(started)
  })

  test('that is dry asks BigQuery nothing', async () => {
    const before = server.requests.length
    const { out } = await logs('load', edge, fileOf('dry'), '--dry-run')
    expect(out).toContain('rows to load: 1; bad lines: 0')
    expect(server.requests).toHaveLength(before)
  })
})

describe('a load that does not live to its end', () => {
  const children: ChildProcess[] = []
  afterAll(() => children.forEach(child => child.kill('SIGKILL')))

  const start = (args: string[], more: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [...program, 'logs', ...args], {
      env: { PATH: process.env['PATH'], ...env, ...more },
    })
    children.push(child)
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, err })) }
  }

  test.each([
    ['before its job begins', false, 'killed before'],
    ['when its job is done', true, 'killed after'],
  ])('by a kill %s, brings its rows once when it is repeated', async (_, after, text) => {
    const file = fileOf(text, `${text} too`)
    server.faults.add({ method: 'insert', effect: 'silence', after })
    const before = server.jobs.count
    const inserts = () => server.requests.filter(({ method }) => method === 'insert').length
    const asked = inserts()
    const { child, ended } = start(['load', edge, file])
    const isSeen = () => (after ? server.jobs.count > before : inserts() > asked)
    while (!isSeen()) await new Promise(resolve => setTimeout(resolve, 20))
    child.kill('SIGKILL')
    expect(await ended).toEqual({ code: null, err: '' })
    expect(await logs('load', edge, file)).toMatchObject({ code: 0 })
    expect(await messages(text)).toEqual([text, `${text} too`])
  })

  test('by Ctrl-C while rows are sent, ends at once', async () => {
    const posts: string[] = []
    const deaf = createServer((request, response) => {
      if (request.method === 'GET') response.writeHead(404).end(notFound)
      else posts.push(request.url!) // and reads nothing
    })
    await new Promise<void>(listening => deaf.listen(0, '127.0.0.1', listening))
    const host = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`
    const file = fileOf(...Array.from({ length: 20 }, (_, i) => `${i} `.repeat(500_000)))
    const { child, ended } = start(['load', edge, file], { BIGQUERY_EMULATOR_HOST: host })
    while (posts.length === 0) await new Promise(resolve => setTimeout(resolve, 20))
    child.kill('SIGINT')
    expect(await ended).toEqual({ code: 1, err: 'Stopped. The tables are as they were.\n' })
    deaf.closeAllConnections()
    await new Promise(closed => deaf.close(closed))
  })
})

const notFound = JSON.stringify({
  error: { code: 404, errors: [{ reason: 'notFound', message: 'Not found: Job' }] },
})

test('a sample is added to each table once a day', async () => {
  const first = await logs('sample', '--rows', '50', '--incident')
  expect(first.out).toMatch(/^cloudflare\.logs\.prod: \d+ sample rows$/m)
  const jobs = server.jobs.count
  const { out, err } = await logs('sample', '--rows', '50', '--incident')
  expect(err).toContain(`${edge}: has this sample of today already\n`)
  expect(first.out).toContain('What there is to find')
  expect(out).toBe('')
  expect(server.jobs.count).toBe(jobs)
})

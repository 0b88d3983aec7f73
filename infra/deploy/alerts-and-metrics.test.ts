/** What `alerts-and-metrics.ts` watches against the lines that the service writes, against each other, and against the guide. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { http } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { warmHandler } from '../../functions/warm/handler.ts'
import { loadConfig } from '../../shared/config.ts'
import { openDuckDb } from '../../shared/engines/duckdb/engine.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { columnsOf, type FieldSchema } from '../../shared/engines/schema.ts'
import { addRows } from '../../shared/engines/testing/parquet.ts'
import { readTableSchemas } from '../../shared/engines/duckdb/tables.ts'
import { lineOf, type Log } from '../../shared/log.ts'
import { startBigQueryServer, type BigQueryServer } from '../google/bigquery/server.ts'
import { parseFilter, valueAt } from '../google/testing/log-filter.ts'
import { openProject } from '../google/control/testing/project.ts'
import { watched } from './alerts-and-metrics.ts'
import { requestsView, routedSchema, routedTable } from './tables.ts'
import { connect, setUp } from './testing/client.ts'

type Json = Record<string, unknown>

interface Metric {
  filter: string
  labelExtractors: Record<string, string>
  valueExtractor?: string
}

const site = { project: 'my-project', region: 'europe-west1', prefix: '' }
const { metrics, policies, dashboard } = watched(site, 'my-check')

/** "Structured logging", "Special JSON fields": these leave the payload. */
function entryOf(line: string, service: string): Json {
  const { severity, time: _, ...jsonPayload } = JSON.parse(line) as Json
  const resource = { type: 'cloud_run_revision', labels: { service_name: service } }
  return { severity, resource, jsonPayload }
}

describe('the metrics', () => {
  const endpoint = 'usage.api-counts'
  const path = `/api/endpoints/query/${endpoint}?interval=hourly&project=abcdefgh`
  const env: Record<string, string> = { FROZEN_NOW: '2026-03-10T12:30:30.000Z' }
  const entries: Json[] = []
  let bigQuery: BigQueryServer
  let service: TestService

  /** All that a service writes goes through here, as Cloud Run would collect it. */
  const logOf =
    (name: string): Log =>
    (...line) =>
      void entries.push(entryOf(lineOf(...line), name))

  async function callWarm(query: string): Promise<number> {
    const config = loadConfig({ ...env })
    const name = `warm-${entries.length}`
    http(name, warmHandler({ services: service.services, config, log: logOf('warm') }))
    const server = getTestServer(name)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { status } = await fetch(`http://127.0.0.1:${port}/${query}`, { method: 'POST' })
    server.closeAllConnections()
    server.close()
    return status
  }

  beforeAll(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'monitoring-'))
    const logsFolder = join(dataDir, 'logs')
    const tables = readTableSchemas('infra/tables')
    const entry = { timestamp: '2026-03-10T12:20:00Z', project: 'p', event_message: 'GET' }
    await addRows(logsFolder, 'cloudflare.logs.prod', tables.get('cloudflare.logs.prod')!, [entry])
    bigQuery = await startBigQueryServer({
      logsFolder,
      tables,
      dataset: 'test-project.logs',
      now: env['FROZEN_NOW']!,
    })
    Object.assign(env, {
      DATA_DIR: dataDir,
      ENGINE: 'bigquery',
      GOOGLE_CLOUD_PROJECT: 'test-project',
      BIGQUERY_DATASET: 'test-project.logs',
      BIGQUERY_EMULATOR_HOST: bigQuery.url,
      METADATA_SERVER_DETECTION: 'none',
    })
    const printed = jest.spyOn(process.stdout, 'write').mockImplementation(text => {
      entries.push(entryOf(String(text), 'query'))
      return true
    })
    try {
      service = await startService({ tables: {}, env, bundle: null })
      const newKey = await service.issue({})
      const statuses: number[] = []
      for (const [sent, init] of [[path], [path], [path, { key: 'wrong' }], ['/health']] as const)
        statuses.push((await service.fetch(sent, init)).status)
      statuses.push(await callWarm(`?endpoint=${endpoint}`), await callWarm('?endpoint=logs.all'))
      rmSync(join(dataDir, 'store.sqlite'))
      statuses.push((await service.fetch(path, { key: newKey })).status, await callWarm(''))
      expect(statuses).toEqual([200, 200, 401, 200, 200, 404, 503, 503])
    } finally {
      printed.mockRestore()
    }
    entries.push(
      ...service.logged.map(({ severity, message, details }) =>
        entryOf(lineOf(severity, message, details), 'query'),
      ),
    )
  })

  afterAll(async () => {
    await service.stop()
    await bigQuery.close()
    rmSync(env['DATA_DIR']!, { recursive: true })
  })

  /** As set-up leaves it in a project. */
  async function sinkFilter(): Promise<string> {
    const project = await openProject()
    await setUp(connect(project), ['APIs', 'accounts', 'tables'])
    await project.close()
    return project.plane.state.resources['projects/my-project/sinks/lqe-requests']!['filter'] as string
  }

  test('are beside a sink, whose view has the columns of service.requests for each call and run of the warmer', async () => {
    const matches = parseFilter(await sinkFilter())
    const routed = entries.filter(matches).map(({ jsonPayload }) => jsonPayload as Row)
    const schema = JSON.parse(readFileSync('infra/tables/service.requests.json', 'utf8')) as FieldSchema[]
    const columns = columnsOf(routedSchema(schema), ({ type }) => new Error(type))
    // "BigQuery schema for routed logs": names of a payload's fields in small letters.
    const rows = routed.map(payload => ({
      timestamp: '2026-03-10T12:30:00Z',
      jsonPayload: Object.fromEntries(
        Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    }))
    const logsFolder = join(env['DATA_DIR']!, 'routed')
    const table = `test-project.logs.${routedTable}`
    await addRows(logsFolder, table, columns, rows)
    const engine = openDuckDb({ logsFolder, tables: new Map([[table, columns]]) })
    const limits = { maxRows: 100, timeoutMs: 10_000 }
    const sql = requestsView(schema, 'test-project.logs')
    const result = await engine.run({ sql, bindings: [] }, limits)
    expect(result.columns.map(({ name, type }) => [name, type])).toEqual(
      readTableSchemas('infra/tables')
        .get('service.requests')!
        .map(({ name, type }) => [name, type]),
    )
    const wanted = routed.map(payload =>
      Object.fromEntries(
        schema.map(({ name }) => [name, payload[name === 'id' ? 'requestId' : name] ?? null]),
      ),
    )
    const expected = wanted.map(row => ({ ...row, timestamp: 1773145800000000 }))
    expect(result.rows).toEqual(expect.arrayContaining(expected))
    expect(result.rows).toHaveLength(7)
    await engine.close()
  })

  /** What a metric takes from the lines that its filter matches: labels, and the value of a distribution. */
  function counted(name: string): Json[] {
    const { filter, labelExtractors, valueExtractor } = metrics[name] as unknown as Metric
    const matches = parseFilter(filter)
    const extract = (entry: Json, extractor: string) =>
      valueAt(entry, /^EXTRACT\((.*)\)$/.exec(extractor)![1]!)
    return entries.filter(matches).map(entry => ({
      ...Object.fromEntries(
        Object.entries(labelExtractors).map(([label, extractor]) => [label, extract(entry, extractor)]),
      ),
      ...(valueExtractor ? { value: extract(entry, valueExtractor) } : {}),
    }))
  }

  test('count each answer by what the cache did, and no other request', () => {
    expect(counted('lqe_answers')).toEqual([
      { cache: 'miss', endpoint },
      { cache: 'hit', endpoint },
    ])
  })

  test('count a call of warm that did its work by endpoint, and none that failed', () => {
    expect(entries.filter(entry => valueAt(entry, 'jsonPayload.message') === 'warm')).toHaveLength(3)
    expect(counted('lqe_warmed')).toEqual([{ endpoint }])
  })

  test('have the bytes of each run, of query and of warm', () => {
    const run = entries.find(entry => valueAt(entry, 'jsonPayload.cache') === 'miss')!
    expect(counted('lqe_bytes')).toEqual([{ endpoint, value: valueAt(run, 'jsonPayload.bytes') }])
    const warmed = entries.find(entry => valueAt(entry, 'jsonPayload.message') === 'warm')!
    expect(warmed['jsonPayload']).toHaveProperty('bytes', null) // nothing was to be refreshed
  })

  test('count failures of the store with the reason, and the requests that it cost', () => {
    const failures = counted('lqe_store_failures')
    const messages = entries
      .filter(parseFilter((metrics['lqe_store_failures'] as unknown as Metric).filter))
      .map(entry => valueAt(entry, 'jsonPayload.message'))
    expect(new Set(messages)).toEqual(new Set(['the store failed', 'request', 'warm']))
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(['unavailable']))
  })
})

describe('a filter in the subset', () => {
  test.each(['a="b" AND c="d" OR e="f"', 'a!="b"', '(a="b"', 'a="b" c="d"', 'a=~"b"'])(
    'is not %s, which is refused',
    text => {
      expect(() => parseFilter(text)).toThrow()
    },
  )
})

describe('the policies', () => {
  const guide = readFileSync('infra/docs/operating.md', 'utf8')

  test('are each explained in the guide, in the section that they name', () => {
    const cited = policies.map(
      policy => /"(.*)"\.$/.exec((policy['documentation'] as Json)['content'] as string)![1]!,
    )
    expect(new Set(cited).size).toBe(6)
    const sections = [...guide.matchAll(/^### (.*)$/gm)].map(match => match[1])
    expect(sections).toEqual(expect.arrayContaining(cited))
  })

  test('and the dashboard name no metric of ours that there is not, and use each', () => {
    const text = JSON.stringify([policies, dashboard])
    const named = [
      ...text.matchAll(
        /(?:logging\.googleapis\.com\/user\/|logging_googleapis_com:user_)(lqe_\w+?)(?:_sum)?\b/g,
      ),
    ]
    expect(new Set(named.map(match => match[1]))).toEqual(new Set(Object.keys(metrics)))
  })
})

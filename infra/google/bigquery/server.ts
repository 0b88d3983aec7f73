/**
 * A stand-in for BigQuery on a laptop and in tests: the REST calls of the BigQuery adapter, answered by the local engine.
 */
import { resolve } from 'node:path'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '../../../shared/engines/bigquery/client.ts'
import { type DuckDbOptions, openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { asBigQueryError, BigQueryError } from './errors.ts'
import { type ApiMethod, type Fault, Faults } from './faults.ts'
import { Caller, type Permits } from './access.ts'
import { Jobs, type NewJob } from './jobs.ts'
import { TableCatalog } from './tables.ts'
import type { Views } from './views.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { incompletePage, jobResource, type PageLimits, resultsPage, type RunningJob } from './resources.ts'

export interface BigQueryServerOptions {
  logsFolder: string
  /** Columns by logical table name. */
  tables: ReadonlyMap<string, Column[]>
  /** `project.dataset` of the tables. */
  dataset: string
  /** Where the dataset is; EU by default, as set-up has it. */
  location?: string
  /** Checks who calls; without it everybody may do everything. */
  permits?: Permits
  /** The local engine's current time; the real one by default. */
  now?: DuckDbOptions['now']
  /** How the tables are partitioned, by `timestamp`; `null` = not at all. */
  partition?: PartitionUnit | null
  /** Rows of a page at most. */
  pageRows?: number
  /** Bytes of a page at most, though one row in any case; 20 MB by default (https://cloud.google.com/bigquery/docs/paging-results). */
  pageBytes?: number
}

/** A request to the server. */
interface ApiRequest {
  method: ApiMethod
  jobId: string | null
  body: Job | null
  /** What is uploaded beside the body. */
  media: Buffer | null
  query: URLSearchParams
}

export interface BigQueryServer {
  /** For the client's `apiEndpoint`, or BIGQUERY_EMULATOR_HOST. */
  url: string
  /** Another such address, for a client that sends no credentials to a local server: who calls there has this token. */
  urlOf(token: string): Promise<string>
  faults: Faults
  /** All so far, for tests to look at. */
  requests: ApiRequest[]
  jobs: Jobs
  views: Views
  close(): Promise<void>
}

/** Listens on this machine only. */
export async function startBigQueryServer(options: BigQueryServerOptions): Promise<BigQueryServer> {
  const { tables, dataset, now, permits = null, location = 'EU', partition = 'DAY' } = options
  const { pageRows = 10_000, pageBytes = 20_000_000 } = options
  const logsFolder = resolve(options.logsFolder)
  const engine = openDuckDb({ logsFolder, tables, ...(now === undefined ? {} : { now }) })
  const catalog = new TableCatalog({ tables, dataset, location, logsFolder, partition })
  const jobs = new Jobs(engine, catalog)
  const { answer, faults, requests } = apiOf(jobs, catalog, permits, { pageRows, pageBytes })
  const servers: Server[] = []
  const listen = async (token?: string): Promise<string> => {
    const server = createServer((request, response) => {
      if (token !== undefined) request.headers.authorization = `Bearer ${token}`
      void answer(request, response)
    })
    servers.push(server)
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const close = async () => {
    await jobs.close()
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map(server => new Promise(closed => server.close(closed))))
    await engine.close()
  }
  return { url: await listen(), urlOf: listen, faults, requests, jobs, views: catalog.views, close }
}

/** The client leaves `/bigquery/v2` out where its address comes from BIGQUERY_EMULATOR_HOST. */
const path =
  /^(?:\/upload(?=\/bigquery))?(?:\/bigquery\/v2)?\/projects\/([^/]+)(\/jobs|\/queries|\/datasets\/[^/]+\/tables)(?:\/([^/]+))?(\/cancel)?$/

const routes: Record<string, ApiMethod> = {
  'POST /jobs': 'insert',
  'GET /jobs/': 'get',
  'POST /jobs//cancel': 'cancel',
  'GET /queries/': 'results',
  'GET /datasets//tables/': 'table',
}

function apiOf(jobs: Jobs, catalog: TableCatalog, permits: Permits | null, limits: PageLimits) {
  const faults = new Faults()
  const requests: ApiRequest[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Date', new Date(jobs.now()).toUTCString())
    try {
      const call = await read(request)
      requests.push(call)
      const caller = new Caller(permits, request.headers.authorization)
      const act = (failing?: string) => carryOut(call, caller, failing)
      const fault = faults.next(call.method)
      const done = fault && !fault.after ? null : await act()
      if (fault) await applyFault(fault, { call, caller, done, act }, response)
      else send(response, 200, done)
    } catch (error) {
      const { status, body } = asBigQueryError(error)
      send(response, status, body)
    }
  }

  async function carryOut(call: ApiRequest, caller: Caller, failing?: string): Promise<object> {
    const { method, jobId, body, query, media } = call
    if (method === 'insert') return insert(body!, { caller, media, failing })
    if (method === 'table') return catalog.resource(jobId!, caller)
    const job = jobs.get(jobId!, query.get('location'), caller)
    if (method === 'results') return results(job, query)
    if (method === 'get') return jobResource(job)
    job.stop.abort()
    return { job: jobResource(job) }
  }

  async function insert(
    { jobReference: reference, configuration }: Job,
    more: Omit<NewJob, 'reference' | 'configuration'>,
  ): Promise<Job> {
    if (!configuration) throw new BigQueryError('invalid', 'Required parameter is missing: configuration')
    const asked = { reference, configuration, ...more }
    if (!configuration.dryRun) return jobResource(jobs.start(asked))
    const statistics = (await jobs.describe(asked))!
    return { jobReference: reference, configuration, status: { state: 'DONE' }, statistics }
  }

  /** Waits for the job as long as the request's `timeoutMs`. */
  async function results(job: RunningJob, query: URLSearchParams): Promise<object> {
    const waited = sleep(Number(query.get('timeoutMs') ?? 10_000), null, { ref: false })
    const ended = await Promise.race([job.outcome, waited])
    if (ended === null) return incompletePage(job)
    if (ended instanceof BigQueryError) throw ended
    const from = Number((query.get('pageToken') ?? 'row-0').slice('row-'.length))
    const int64 = query.get('formatOptions.useInt64Timestamp') === 'true'
    const maxResults = Number(query.get('maxResults') ?? limits.pageRows)
    return resultsPage(job, ended, { maxResults, from, int64 }, limits)
  }

  async function applyFault(
    { effect }: Fault,
    { call, caller, done, act }: Faulty,
    response: ServerResponse,
  ) {
    if (effect === 'silence') return
    if (effect === 'reset') return void response.socket?.destroy()
    if (effect === 'incomplete')
      return send(response, 200, incompletePage(jobs.get(call.jobId!, null, caller)))
    if ('jobReason' in effect) return send(response, 200, await act(effect.jobReason))
    if ('delayMs' in effect) {
      await sleep(effect.delayMs, null, { ref: false })
      return send(response, 200, done ?? (await act()))
    }
    if ('text' in effect)
      return sendText(response, effect.status, effect.text, effect.type ?? 'application/json')
    throw new BigQueryError(effect.reason, effect.message ?? `because of ${effect.reason}`, effect.status)
  }

  return { answer, faults, requests }
}

/** A call that meets a fault. */
interface Faulty {
  call: ApiRequest
  caller: Caller
  done: object | null
  act: (failing?: string) => Promise<object>
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [, project, named, item = null, cancel = ''] = path.exec(url.pathname) ?? []
  const [, dataset = null] = /^\/datasets\/(.+)\/tables$/.exec(named ?? '') ?? []
  const collection = dataset === null ? named : '/datasets//tables'
  const jobId = dataset === null ? item : `${project}.${dataset}.${item}`
  const method = routes[`${request.method} ${collection}${item === null ? '' : '/'}${cancel}`]
  if (!method) throw new BigQueryError('notFound', `Not found: ${request.method} ${url.pathname}`)
  const [text, media] = partsOf(await buffer(request), request.headers['content-type'])
  const body = text ? (JSON.parse(text) as Job) : null
  return { method, jobId, body, media, query: url.searchParams }
}

/** A job's resource, and the rows that are uploaded with it as the second part of `multipart/related` (RFC 2387). */
function partsOf(content: Buffer, type = ''): [text: string, media: Buffer | null] {
  const [, boundary] = /^multipart\/related; ?boundary=(.+)$/.exec(type) ?? []
  if (boundary === undefined) return [content.toString(), null]
  const parts = content.toString('latin1').split(`--${boundary}`).slice(1, 3)
  const [job, media] = parts.map(part => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4, -2), 'latin1'))
  return [String(job), media!]
}

function send(response: ServerResponse, status: number, body: object | null): void {
  sendText(response, status, JSON.stringify(body), 'application/json; charset=UTF-8')
}

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'Content-Type': type }).end(text)
}

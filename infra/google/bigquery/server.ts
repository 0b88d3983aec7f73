/**
 * A stand-in for BigQuery on a laptop and in tests: the REST calls of the BigQuery adapter, answered by the local engine.
 */
import { resolve } from 'node:path'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import type { Job } from '../../../shared/engines/bigquery/client.ts'
import { type DuckDbOptions, openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { BigQueryError } from './errors.ts'
import { type ApiMethod, type Fault, Faults } from './faults.ts'
import { Jobs, TableCatalog } from './jobs.ts'
import type { Views } from './views.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { incompletePage, jobResource, type PageLimits, resultsPage, type RunningJob } from './resources.ts'

export interface BigQueryServerOptions {
  logsFolder: string
  /** Columns by logical table name. */
  tables: ReadonlyMap<string, Column[]>
  /** `project.dataset` of the tables. */
  dataset: string
  /** The local engine's current time; the real one by default. */
  now?: DuckDbOptions['now']
  /** How the tables are partitioned, by `timestamp`; `null` = not at all. */
  partition?: PartitionUnit | null
  /** Rows of a page at most. */
  pageRows?: number
  /** Bytes of a page at most, though one row in any case. */
  pageBytes?: number
}

/** https://cloud.google.com/bigquery/docs/paging-results */
const usualPageBytes = 20_000_000

/** A request to the server. */
interface ApiRequest {
  method: ApiMethod
  jobId: string | null
  body: Job | null
  query: URLSearchParams
}

export interface BigQueryServer {
  /** For the client's `apiEndpoint`, or BIGQUERY_EMULATOR_HOST. */
  url: string
  faults: Faults
  /** All so far, for tests to look at. */
  requests: ApiRequest[]
  jobs: Jobs
  views: Views
  close(): Promise<void>
}

/** Listens on this machine only. Takes any credentials, or none. */
export async function startBigQueryServer(options: BigQueryServerOptions): Promise<BigQueryServer> {
  const {
    logsFolder,
    tables,
    dataset,
    now,
    partition = 'DAY',
    pageRows = 10_000,
    pageBytes = usualPageBytes,
  } = options
  const engine = openDuckDb({ logsFolder, tables, ...(now === undefined ? {} : { now }) })
  const catalog = new TableCatalog(tables, dataset, resolve(logsFolder), partition)
  const jobs = new Jobs(engine, catalog)
  const api = new Api(jobs, catalog, { pageRows, pageBytes })
  const server = createServer((request, response) => void api.answer(request, response))
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { views } = catalog
  const { faults, requests } = api
  return { url, faults, requests, jobs, views, close: () => close(server, jobs, engine) }
}

async function close(server: Server, jobs: Jobs, engine: QueryEngine): Promise<void> {
  await jobs.close()
  server.closeAllConnections()
  await new Promise(closed => server.close(closed))
  await engine.close()
}

/** The client leaves `/bigquery/v2` out where its address comes from BIGQUERY_EMULATOR_HOST. */
const path =
  /^(?:\/bigquery\/v2)?\/projects\/([^/]+)(\/jobs|\/queries|\/datasets\/[^/]+\/tables)(?:\/([^/]+))?(\/cancel)?$/

const routes: Record<string, ApiMethod> = {
  'POST /jobs': 'insert',
  'GET /jobs/': 'get',
  'POST /jobs//cancel': 'cancel',
  'GET /queries/': 'results',
  'GET /datasets//tables/': 'table',
}

class Api {
  readonly faults = new Faults()
  readonly requests: ApiRequest[] = []
  private readonly jobs: Jobs
  private readonly catalog: TableCatalog
  private readonly limits: PageLimits

  constructor(jobs: Jobs, catalog: TableCatalog, limits: PageLimits) {
    this.jobs = jobs
    this.catalog = catalog
    this.limits = limits
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Date', new Date(this.jobs.now()).toUTCString())
    try {
      const call = await read(request)
      this.requests.push(call)
      const fault = this.faults.next(call.method)
      const done = fault && !fault.after ? null : await this.carryOut(call)
      if (fault) await this.applyFault(fault, call, done, response)
      else send(response, 200, done)
    } catch (error) {
      const known = error instanceof BigQueryError ? error : new BigQueryError('internalError', String(error))
      send(response, known.status, known.body)
    }
  }

  private async carryOut({ method, jobId, body, query }: ApiRequest, failing?: string): Promise<object> {
    if (method === 'insert') return this.insert(body!, failing)
    if (method === 'table') return this.table(jobId!)
    const job = this.jobs.get(jobId!)
    if (method === 'results') return this.results(job, query)
    if (method === 'get') return jobResource(job)
    job.stop.abort()
    return { job: jobResource(job) }
  }

  private async insert({ jobReference, configuration }: Job, failing?: string): Promise<Job> {
    if (!configuration) throw new BigQueryError('invalid', 'Required parameter is missing: configuration')
    if (!configuration.dryRun) return jobResource(this.jobs.start(jobReference, configuration, failing))
    const query = await this.jobs.describe(configuration)
    return { jobReference, configuration, status: { state: 'DONE' }, statistics: { query } }
  }

  /** @param real `project.dataset.table` */
  private table(real: string): object {
    const resource = this.catalog.resource(real)
    if (resource) return resource
    throw new BigQueryError('notFound', `Not found: Table ${real.replace('.', ':')}`)
  }

  /** Waits for the job as long as the request's `timeoutMs`. */
  private async results(job: RunningJob, query: URLSearchParams): Promise<object> {
    const waited = sleep(Number(query.get('timeoutMs') ?? 10_000), null, { ref: false })
    const ended = await Promise.race([job.outcome, waited])
    if (ended === null) return incompletePage(job)
    if (ended instanceof BigQueryError) throw ended
    const from = Number((query.get('pageToken') ?? 'row-0').slice('row-'.length))
    const int64 = query.get('formatOptions.useInt64Timestamp') === 'true'
    const maxResults = Number(query.get('maxResults') ?? this.limits.pageRows)
    return resultsPage(job, ended, { maxResults, from, int64 }, this.limits)
  }

  private async applyFault(
    { effect }: Fault,
    call: ApiRequest,
    done: object | null,
    response: ServerResponse,
  ) {
    if (effect === 'silence') return
    if (effect === 'reset') return void response.socket?.destroy()
    if (effect === 'incomplete') return send(response, 200, incompletePage(this.jobs.get(call.jobId!)))
    if ('jobReason' in effect) return send(response, 200, await this.carryOut(call, effect.jobReason))
    if ('delayMs' in effect) {
      await sleep(effect.delayMs, null, { ref: false })
      return send(response, 200, done ?? (await this.carryOut(call)))
    }
    if ('text' in effect)
      return sendText(response, effect.status, effect.text, effect.type ?? 'application/json')
    throw new BigQueryError(effect.reason, effect.message ?? `because of ${effect.reason}`, effect.status)
  }
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [, project, named, item = null, cancel = ''] = path.exec(url.pathname) ?? []
  const [, dataset = null] = /^\/datasets\/(.+)\/tables$/.exec(named ?? '') ?? []
  const collection = dataset === null ? named : '/datasets//tables'
  const jobId = dataset === null ? item : `${project}.${dataset}.${item}`
  const method = routes[`${request.method} ${collection}${item === null ? '' : '/'}${cancel}`]
  if (!method) throw new BigQueryError('notFound', `Not found: ${request.method} ${url.pathname}`)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return { method, jobId, body: text ? (JSON.parse(text) as Job) : null, query: url.searchParams }
}

function send(response: ServerResponse, status: number, body: object | null): void {
  sendText(response, status, JSON.stringify(body), 'application/json; charset=UTF-8')
}

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'Content-Type': type }).end(text)
}

/**
 * A stand-in for BigQuery on a laptop and in tests: the REST calls of the BigQuery adapter, answered by the local engine.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '../../../shared/engines/bigquery/client.ts'
import type { DuckDbOptions } from '../../../shared/engines/duckdb/engine.ts'
import { asBigQueryError, BigQueryError, Caller, type Permits } from './errors.ts'
import { Jobs } from './jobs.ts'
import type { CatalogOptions } from './tables.ts'
import { incompletePage, jobResource, type PageLimits, resultsPage, tableResource } from './values.ts'

/** The dataset is in the EU and its tables have partitions of a day by default, as set-up has them. */
export interface BigQueryServerOptions
  extends
    Omit<CatalogOptions, 'location' | 'partition'>,
    Partial<Pick<CatalogOptions, 'location' | 'partition'>> {
  /** Checks who calls; without it everybody may do everything. */
  permits?: Permits
  /** The local engine's current time; the real one by default. */
  now?: DuckDbOptions['now']
  /** Rows of a page at most. */
  pageRows?: number
  /** Bytes of a page at most, though one row in any case; 20 MB by default (https://cloud.google.com/bigquery/docs/paging-results). */
  pageBytes?: number
}

/** A request to the server. */
interface ApiRequest {
  method: ApiMethod
  /** Of the job, or the full name of the table. */
  id: string
  body: Job | null
  /** What is uploaded beside the body. */
  media: Buffer | null
  query: URLSearchParams
}

export type BigQueryServer = Awaited<ReturnType<typeof startBigQueryServer>>

/**
 * Listens on this machine only.
 * @returns `url` for the client's `apiEndpoint`, or BIGQUERY_EMULATOR_HOST; `urlOf` makes another, for a client that sends no
 *   credentials to a local server: who calls there has this token; and all requests so far, for tests to look at
 */
export async function startBigQueryServer(options: BigQueryServerOptions) {
  const {
    permits = null,
    location = 'EU',
    partition = 'DAY',
    pageRows = 10_000,
    pageBytes = 20_000_000,
  } = options
  const jobs = new Jobs({ ...options, location, partition, logsFolder: resolve(options.logsFolder) })
  const [faults, requests, servers] = [new Faults(), [] as ApiRequest[], [] as Server[]]

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Date', new Date(jobs.now()).toUTCString())
    try {
      const call = await read(request)
      requests.push(call)
      const caller = new Caller(permits, request.headers.authorization)
      const limits = { pageRows, pageBytes }
      const act = (failing?: string) => carryOut(call, { jobs, caller, limits, failing })
      const fault = faults.next(call.method)
      if (fault?.after) await act()
      if (fault) await meet(fault, call, act, response)
      else send(response, 200, await act())
    } catch (error) {
      const { status, body } = asBigQueryError(error)
      send(response, status, body)
    }
  }

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
  }
  return { url: await listen(), urlOf: listen, faults, requests, jobs, close }
}

/** @param failing the reason with which a job fails, for a test */
async function carryOut(
  { method, id, body, query, media }: ApiRequest,
  {
    jobs,
    caller,
    limits,
    failing,
  }: { jobs: Jobs; caller: Caller; limits: PageLimits; failing: string | undefined },
) {
  if (method === 'insert') return insert(jobs, body!, { caller, media, failing })
  if (method === 'table') return tableResource(jobs.catalog, id, caller)
  const job = jobs.get(id, query.get('location'), caller)
  if (method === 'cancel') job.stop.abort()
  if (method !== 'results') return method === 'get' ? jobResource(job) : { job: jobResource(job) }
  const waited = sleep(Number(query.get('timeoutMs') ?? 10_000), null, { ref: false })
  const ended = await Promise.race([job.outcome, waited])
  if (ended instanceof BigQueryError) throw ended
  return ended ? resultsPage(job, ended, query, limits) : incompletePage(job.reference)
}

async function insert(
  jobs: Jobs,
  { jobReference, configuration }: Job,
  more: { caller: Caller; media: Buffer | null; failing: string | undefined },
): Promise<Job> {
  if (!configuration) throw new BigQueryError('invalid', 'Required parameter is missing: configuration')
  const asked = { reference: jobReference, configuration, ...more }
  if (!configuration.dryRun) return jobResource(jobs.start(asked))
  const statistics = (await jobs.describe(asked))!
  return { jobReference, configuration, status: { state: 'DONE' }, statistics }
}

/** Answers as a fault has it. */
async function meet(
  { effect }: Fault,
  { id }: ApiRequest,
  act: (failing?: string) => Promise<object>,
  response: ServerResponse,
): Promise<void> {
  if (effect === 'silence') return
  if (effect === 'reset') return void response.socket?.destroy()
  if (effect === 'incomplete') return send(response, 200, incompletePage({ projectId: '', jobId: id }))
  if ('jobReason' in effect) return send(response, 200, await act(effect.jobReason))
  if ('text' in effect)
    return void response.writeHead(effect.status, { 'Content-Type': effect.type ?? json }).end(effect.text)
  if ('reason' in effect)
    throw new BigQueryError(effect.reason, effect.message ?? `because of ${effect.reason}`, effect.status)
  await sleep(effect.delayMs, null, { ref: false })
  send(response, 200, await act())
}

/** The client leaves `/bigquery/v2` out where its address comes from BIGQUERY_EMULATOR_HOST. */
const path =
  /^(?:\/upload(?=\/bigquery))?(?:\/bigquery\/v2)?\/projects\/([^/]+)\/(?:(jobs|queries)|datasets\/([^/]+)\/tables)(?:\/([^/]+))?(\/cancel)?$/

const routes: Record<string, ApiMethod> = {
  'POST jobs': 'insert',
  'GET jobs/': 'get',
  'POST jobs//cancel': 'cancel',
  'GET queries/': 'results',
  'GET tables/': 'table',
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
  const [, project, kind = 'tables', dataset, item, cancel = ''] = path.exec(pathname) ?? []
  const method = routes[`${request.method} ${kind}${item === undefined ? '' : '/'}${cancel}`]
  if (!method) throw new BigQueryError('notFound', `Not found: ${request.method} ${pathname}`)
  const [text, media] = partsOf(await buffer(request), request.headers['content-type'])
  const id = method === 'table' ? `${project}.${dataset}.${item}` : (item ?? '')
  return { method, id, body: text ? (JSON.parse(text) as Job) : null, media, query }
}

/** A job's resource, and the rows that are uploaded with it as the second part of `multipart/related` (RFC 2387). */
function partsOf(content: Buffer, type = ''): [text: string, media: Buffer | null] {
  const [, boundary] = /^multipart\/related; ?boundary=(.+)$/.exec(type) ?? []
  if (boundary === undefined) return [content.toString(), null]
  const parts = content.toString('latin1').split(`--${boundary}`).slice(1, 3)
  const [job, media] = parts.map(part => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4, -2), 'latin1'))
  return [String(job), media!]
}

const json = 'application/json; charset=UTF-8'

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': json }).end(JSON.stringify(body))
}

/** jobs.insert, jobs.get, jobs.getQueryResults, jobs.cancel, tables.get. */
export type ApiMethod = 'insert' | 'get' | 'results' | 'cancel' | 'table'

type FaultEffect =
  /** The connection breaks without a response. */
  | 'reset'
  /** The connection stays open without a response. */
  | 'silence'
  /** `jobComplete: false` at once. */
  | 'incomplete'
  /** An error in BigQuery's form. */
  | { reason: string; message?: string; status?: number }
  /** Any response. */
  | { status: number; text: string; type?: string }
  /** The job fails with this error as soon as it begins. */
  | { jobReason: string }
  | { delayMs: number }

export interface Fault {
  method: ApiMethod
  effect: FaultEffect
  /** Calls that it meets; 1 by default. */
  times?: number
  /** The call is carried out first: only its response is lost. */
  after?: boolean
}

/** For the next calls of a method, in the order in which they are added. */
class Faults {
  private waiting: Fault[] = []

  add(fault: Fault): void {
    this.waiting.push({ ...fault })
  }

  /** The fault that a call meets, counted down. */
  next(method: ApiMethod): Fault | undefined {
    const fault = this.waiting.find(one => one.method === method)
    if (fault && (fault.times = (fault.times ?? 1) - 1) <= 0)
      this.waiting.splice(this.waiting.indexOf(fault), 1)
    return fault
  }

  clear(): void {
    this.waiting = []
  }
}

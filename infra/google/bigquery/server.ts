/**
 * A BigQuery for a laptop and for tests: the REST calls that our adapter makes, over HTTP, answered by the local engine.
 * `node infra/google/bigquery/server.ts --help`
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import type { Job } from '../../../shared/engines/bigquery/rest.ts'
import { openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { Complaint } from './errors.ts'
import { type Fault, Faults, type Step } from './faults.ts'
import { Jobs } from './jobs.ts'
import { incompletePage, jobResource, resultsPage } from './results.ts'
import { ServerTables } from './tables.ts'

export interface BigQueryServerOptions {
  logsFolder: string
  /** Columns by logical table name. */
  tables: ReadonlyMap<string, Column[]>
  /** `project.dataset` in which the tables are. */
  dataset: string
  /** 0 = any that is free. */
  port?: number
  /** The present, as for the local engine. */
  now?: string
  /** Most rows on a page. */
  pageRows?: number
}

/** One request that the server got. */
export interface Asked {
  step: Step
  jobId: string | null
  body: Job | null
  query: URLSearchParams
}

export interface BigQueryServer {
  /** For the client's `apiEndpoint`, or BIGQUERY_EMULATOR_HOST. */
  url: string
  faults: Faults
  /** Every request so far. */
  asked: Asked[]
  jobs: Jobs
  close(): Promise<void>
}

/** Listens on this machine only. Takes any credentials, or none. */
export async function startBigQueryServer(options: BigQueryServerOptions): Promise<BigQueryServer> {
  const { logsFolder, tables, dataset, now, port = 0, pageRows = 10_000 } = options
  const engine = openDuckDb({ logsFolder, tables, ...(now === undefined ? {} : { now }) })
  const jobs = new Jobs(engine, new ServerTables(tables.keys(), dataset, logsFolder))
  const face = new Face(jobs, pageRows)
  const server = createServer((request, response) => void face.answer(request, response))
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, faults: face.faults, asked: face.asked, jobs, close: () => close(server, jobs, engine) }
}

async function close(server: Server, jobs: Jobs, engine: QueryEngine): Promise<void> {
  jobs.stopAll()
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await engine.close()
}

/** `/bigquery/v2` is not there where the client has its address from BIGQUERY_EMULATOR_HOST. */
const path = /^(?:\/bigquery\/v2)?\/projects\/[^/]+(\/jobs|\/queries)(?:\/([^/]+))?(\/cancel)?$/

const routes: Record<string, Step> = {
  'POST /jobs': 'insert',
  'GET /jobs/': 'get',
  'POST /jobs//cancel': 'cancel',
  'GET /queries/': 'results',
}

class Face {
  readonly faults = new Faults()
  readonly asked: Asked[] = []
  private readonly jobs: Jobs
  private readonly pageRows: number

  constructor(jobs: Jobs, pageRows: number) {
    this.jobs = jobs
    this.pageRows = pageRows
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Date', new Date(this.jobs.now()).toUTCString())
    try {
      const asked = await read(request)
      this.asked.push(asked)
      const fault = this.faults.next(asked.step)
      const done = fault && !fault.after ? null : await this.carryOut(asked, null)
      if (fault) await this.harm(fault, asked, done, response)
      else send(response, 200, done)
    } catch (error) {
      const complaint = error instanceof Complaint ? error : new Complaint('internalError', String(error))
      send(response, complaint.status, complaint.body)
    }
  }

  private async carryOut(asked: Asked, failing: string | null): Promise<object> {
    switch (asked.step) {
      case 'insert':
        return this.insert(asked.body!, failing)
      case 'get':
        return jobResource(this.jobs.get(asked.jobId!))
      case 'cancel': {
        const job = this.jobs.get(asked.jobId!)
        job.stop.abort()
        return { job: jobResource(job) }
      }
      case 'results':
        return this.results(asked)
    }
  }

  private async insert({ jobReference, configuration }: Job, failing: string | null): Promise<Job> {
    if (!configuration) throw new Complaint('invalid', 'Required parameter is missing: configuration')
    if (!configuration.dryRun) return jobResource(this.jobs.start(jobReference, configuration, failing))
    const query = await this.jobs.describe(configuration)
    return {
      jobReference,
      configuration,
      status: { state: 'DONE' },
      ...(query ? { statistics: { query } } : {}),
    }
  }

  /** Waits for the job as long as the client wants to. */
  private async results({ jobId, query }: Asked): Promise<object> {
    const job = this.jobs.get(jobId!)
    const waited = sleep(Number(query.get('timeoutMs') ?? 10_000), null, { ref: false })
    const ended = await Promise.race([job.outcome, waited])
    if (ended === null) return incompletePage(job)
    if (ended instanceof Complaint) throw ended
    const from = Number((query.get('pageToken') ?? 'row-0').slice('row-'.length))
    const int64 = query.get('formatOptions.useInt64Timestamp') === 'true'
    const maxResults = Number(query.get('maxResults') ?? this.pageRows)
    return resultsPage(job, ended, { maxResults, from, int64 }, this.pageRows)
  }

  private async harm(
    { harm }: Fault,
    asked: Asked,
    done: object | null,
    response: ServerResponse,
  ): Promise<void> {
    if (harm === 'silence') return
    if (harm === 'reset') {
      response.socket?.destroy()
      return
    }
    if (harm === 'incomplete') return send(response, 200, incompletePage(this.jobs.get(asked.jobId!)))
    if ('jobReason' in harm) return send(response, 200, await this.carryOut(asked, harm.jobReason))
    if ('delayMs' in harm) {
      await sleep(harm.delayMs, null, { ref: false })
      return send(response, 200, done ?? (await this.carryOut(asked, null)))
    }
    if ('text' in harm) return sendText(response, harm.status, harm.text, harm.type ?? 'application/json')
    throw new Complaint(harm.reason, harm.message ?? `because of ${harm.reason}`, harm.status)
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [, collection, jobId = null, cancel = ''] = path.exec(url.pathname) ?? []
  const step = routes[`${request.method} ${collection}${jobId === null ? '' : '/'}${cancel}`]
  if (!step) throw new Complaint('notFound', `Not found: ${request.method} ${url.pathname}`)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return { step, jobId, body: text ? (JSON.parse(text) as Job) : null, query: url.searchParams }
}

function send(response: ServerResponse, status: number, body: object | null): void {
  sendText(response, status, JSON.stringify(body), 'application/json; charset=UTF-8')
}

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'Content-Type': type }).end(text)
}

if (import.meta.main)
  await new Command('bigquery-server')
    .description('a BigQuery for this machine, over folders of Parquet files')
    .option('--logs <folder>', 'a folder <table>/ of Parquet files for each table', '.data/logs')
    .option('--tables <folder>', 'schema files of the tables', 'infra/tables')
    .option('--dataset <project.dataset>', 'where the tables are said to be', 'local.logs')
    .option('--port <number>', 'port on 127.0.0.1', '9050')
    .action(async (options: { logs: string; tables: string; dataset: string; port: string }) => {
      const { url } = await startBigQueryServer({
        logsFolder: options.logs,
        tables: readTableSchemas(options.tables),
        dataset: options.dataset,
        port: Number(options.port),
      })
      console.log(`BIGQUERY_EMULATOR_HOST=${url} BIGQUERY_DATASET=${options.dataset}`)
    })
    .parseAsync()

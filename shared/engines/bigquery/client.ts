/**
 * REST calls through Google's client, which brings credentials, the project and connections. Its own methods for
 * queries are not used: they send their own options to the server, cannot bind a NULL array, and hide the job until
 * the first response.
 */
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BigQuery } from '@google-cloud/bigquery'
import type { FieldSchema } from '../schema.ts'
import { partsOf } from './tables.ts'

export interface ClientOptions {
  /** Project in which jobs run and are billed; `null` = that of the credentials, or `local` on a local server. */
  project: string | null
  /** Base URL of a local server in place of Google's; it gets no credentials. */
  endpoint: string | null
  /** Where the datasets are, `EU` for one; `null` = BigQuery finds it out. */
  location: string | null
}

export interface RestCall {
  method: 'GET' | 'POST'
  /** By default the one in which jobs run. */
  project?: string
  /** Below `/projects/<project>`. */
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: object
}

export interface Reply<T> {
  body: T
  /** When the server answered, by its own clock, milliseconds since 1970 UTC. */
  at: number
}

/** A 2xx response that is not the JSON expected. */
export class UnreadableReply extends Error {}

/** Loads the client: 110 ms of CPU that a process without a query does not pay. */
export async function connect({ project, endpoint, location }: ClientOptions): Promise<Rest> {
  const { BigQuery } = await import('@google-cloud/bigquery')
  const projectId = project ?? (endpoint === null ? null : 'local')
  const client = new BigQuery({
    // The client would retry by status; failures.ts decides by reason.
    retryOptions: { autoRetry: false },
    ...(projectId === null ? {} : { projectId }),
    ...(endpoint === null ? {} : { apiEndpoint: endpoint }),
  })
  if (endpoint !== null) client.authClient.cachedCredential = client.authClient.fromAPIKey('none')
  return new Rest(client, projectId ?? (await client.getProjectId()), location)
}

/** BigQuery's REST interface, for jobs in one project and location. */
export class Rest {
  readonly project: string
  private readonly client: BigQuery
  private readonly location: string | null

  constructor(client: BigQuery, project: string, location: string | null) {
    this.client = client
    this.project = project
    this.location = location
  }

  /** Of a new job; without an id BigQuery chooses one. */
  newJob(jobId?: string): JobReference {
    const { project: projectId, location } = this
    return {
      projectId,
      ...(jobId === undefined ? {} : { jobId }),
      ...(location === null ? {} : { location }),
    }
  }

  /**
   * Appends rows of newline-delimited JSON to a table that is there, by one job: all of them, or none. There is no job unless
   * the stream is read to its end. Returns when the job has ended. Throws the client's errors, and those of the stream.
   * @param real `project.dataset.table`
   */
  async load(jobId: string, real: string, rows: Readable): Promise<void> {
    const [projectId, datasetId, tableId] = partsOf(real)
    const table = this.client
      .dataset(datasetId, this.location === null ? {} : { location: this.location })
      .table(tableId)
    const load = {
      destinationTable: { projectId, datasetId, tableId },
      sourceFormat: 'NEWLINE_DELIMITED_JSON',
      // Needs no right to make tables, and a mistyped name makes none.
      createDisposition: 'CREATE_NEVER',
    }
    await pipeline(rows, table.createWriteStream({ ...load, jobId }))
  }

  /**
   * One call, tried once, for as long as it takes: the client has no time limit and cannot be interrupted.
   * Throws the client's errors, which failures.ts reads, and UnreadableReply.
   */
  call<T extends object>({
    method,
    project = this.project,
    path,
    query = {},
    body,
  }: RestCall): Promise<Reply<T>> {
    const request = {
      method,
      ...(project === this.project ? {} : { projectId: project }),
      uri: path,
      qs: Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
      // As text: in an object the client would put the project's id in place of `{{projectId}}`, in a value of a
      // parameter too.
      ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}),
    }
    return new Promise((resolve, reject) => {
      this.client.request(request, (error, body: unknown, response) => {
        if (error) reject(error)
        else if (typeof body !== 'object' || body === null) reject(new UnreadableReply('not JSON'))
        else resolve({ body: body as T, at: Date.parse(String(response?.headers['date'])) || Date.now() })
      })
    })
  }
}

/**
 * BigQuery's REST resources, as far as they are used here. In JSON every 64-bit integer is text.
 * Reference: https://cloud.google.com/bigquery/docs/reference/rest/v2
 */

export interface Job {
  jobReference: JobReference
  configuration?: JobConfiguration
  status?: { state: 'PENDING' | 'RUNNING' | 'DONE'; errorResult?: ErrorProto; errors?: ErrorProto[] }
  statistics?: { creationTime?: string; totalSlotMs?: string; query?: QueryStatistics }
}

/** A table, or a view of one. */
export interface Table {
  timePartitioning?: { type: 'HOUR' | 'DAY' | 'MONTH' | 'YEAR'; field?: string }
}

export interface JobReference {
  projectId: string
  /** Absent in the request for a dry run, which makes no job. */
  jobId?: string
  location?: string
}

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/Job#JobConfigurationLoad */
interface LoadConfiguration {
  destinationTable: { projectId: string; datasetId: string; tableId: string }
  sourceFormat: string
  createDisposition: string
}

export interface JobConfiguration {
  /** Of a load job alone, in place of the query. */
  load?: LoadConfiguration
  query: {
    query: string
    useLegacySql: boolean
    useQueryCache?: boolean
    parameterMode?: 'NAMED'
    queryParameters?: QueryParameter[]
    maximumBytesBilled?: string
  }
  dryRun?: boolean
  jobTimeoutMs?: string
  labels?: Record<string, string>
  /** https://cloud.google.com/bigquery/docs/reference/rest/v2/Job#JobConfiguration */
  reservation?: string
}

export interface QueryParameter {
  name: string
  parameterType: ParameterType
  parameterValue: ParameterValue
}

export interface ParameterType {
  type: string
  arrayType?: ParameterType
  structTypes?: { name?: string; type: ParameterType }[]
}

export interface ParameterValue {
  value?: string | null
  arrayValues?: ParameterValue[]
  structValues?: Record<string, ParameterValue>
}

/** The result of a dry run. */
interface QueryStatistics {
  statementType?: string
  totalBytesProcessed?: string
  referencedTables?: { projectId: string; datasetId: string; tableId: string }[]
  referencedRoutines?: { projectId: string; datasetId: string; routineId: string }[]
  schema?: { fields?: FieldSchema[] }
}

/** A page of `jobs.getQueryResults`. */
export interface ResultsPage {
  jobReference: JobReference
  jobComplete?: boolean
  schema?: { fields?: FieldSchema[] }
  rows?: { f: Cell[] }[]
  totalRows?: string
  pageToken?: string
  totalBytesProcessed?: string
}

export interface Cell {
  v: Wire
}

/** A value: text for every scalar, cells for an array, a record's cells under `f`. */
export type Wire = null | string | Cell[] | { f: Cell[] }

export interface ErrorProto {
  reason?: string
  message?: string
  location?: string
}

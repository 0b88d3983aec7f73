/** Jobs of the server, in memory: each runs on the local engine, or adds rows to a table's files, at once. */
import type { Job, JobConfiguration, JobReference } from '../../../shared/engines/bigquery/client.ts'
import { partsOf } from '../../../shared/engines/bigquery/tables.ts'
import { type DuckDbOptions, openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import {
  EngineError,
  type QueryEngine,
  type RunResult,
  type Statement,
} from '../../../shared/engines/engine.ts'
import { SqlError } from '../../../shared/sql/error.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { inTemporaryFolder } from '../../lqe/temporary-folder.ts'
import { asBigQueryError, asSent, BigQueryError, Caller, toBigQueryError } from './errors.ts'
import { Files } from './files.ts'
import { type CatalogOptions, type Resolved, TableCatalog } from './tables.ts'
import { type RunningJob, schemaOf, toBinding } from './values.ts'

/** Rows of a result at most; a longer one is cut and says so by `totalRows`. */
const mostRows = 50_000
const longestJobMs = 600_000

/** A job that is to start. */
interface NewJob {
  reference: JobReference
  configuration: JobConfiguration
  caller: Caller
  /** The rows of a load job. */
  media?: Buffer | null
  /** The reason with which the job fails, for a test. */
  failing?: string | undefined
}

/** Jobs are kept until the server is closed. Methods throw BigQueryError, which the client gets as the response. */
export class Jobs {
  readonly catalog: TableCatalog
  private readonly engine: QueryEngine
  private readonly files = new Files()
  private readonly running = new Map<string, RunningJob>()
  /** Milliseconds that the server's clock is ahead, to make jobs older. */
  aheadMs = 0

  constructor({ now, ...options }: CatalogOptions & { now?: DuckDbOptions['now'] | undefined }) {
    const { logsFolder, tables } = options
    const readTables = () => this.catalog.columns
    this.engine = openDuckDb({ logsFolder, tables, readTables, ...(now === undefined ? {} : { now }) })
    this.catalog = new TableCatalog(options)
  }

  /**
   * A job for who has started it, and for who may see those of others ("Access control", `bigquery.jobs.get`).
   * @param location as the request has it: only in the multi-regions US and EU a job is found without it
   */
  get(jobId: string, location: string | null, caller: Caller): RunningJob {
    const job = this.running.get(jobId)
    const isThere = new RegExp(`^(${location ?? 'US|EU'})$`, 'i')
    if (!job || !isThere.test(job.reference.location))
      throw new BigQueryError('notFound', `Not found: Job ${jobId}`)
    if (job.token !== caller.token) caller.demand('bigquery.jobs.get', job.reference.projectId)
    return job
  }

  start(asked: NewJob): RunningJob {
    const { configuration, caller } = asked
    const { projectId, jobId = `job_${this.count}`, location = this.catalog.location } = asked.reference
    caller.demand('bigquery.jobs.create', projectId)
    if (this.running.has(jobId))
      throw new BigQueryError('duplicate', `Already Exists: Job ${projectId}:${location}.${jobId}`)
    const job = {
      reference: { projectId, jobId, location },
      configuration,
      token: caller.token,
      createdAt: this.now(),
      bytes: 0,
      ended: null,
      endedAt: null,
      stop: new AbortController(),
    }
    const begin = configuration.load ? this.load(asked, jobId) : this.query(asked, job)
    const outcome = asked.failing
      ? Promise.resolve(new BigQueryError(asked.failing, 'The job has failed'))
      : begin().catch((error: unknown) => asBigQueryError(error))
    const started: RunningJob = Object.assign(job, { outcome })
    void outcome.then(ended => Object.assign(started, { ended, endedAt: this.now() }))
    this.running.set(jobId, started)
    return started
  }

  /** The statistics of a dry run. */
  async describe(asked: NewJob): Promise<Job['statistics']> {
    const { reference, configuration, caller } = asked
    caller.demand('bigquery.jobs.create', reference.projectId)
    const { tables, ...statement } = this.resolve(asked)
    await this.files.prepare(tables)
    const { columns } = await this.engine
      .describe(statement)
      .catch((error: unknown) => Promise.reject(asSent(error, statement.sql, configuration.query.query)))
    const totalBytesProcessed = String(await this.files.bytesOf(statement.sql, tables))
    const referencedTables = tables.map(({ real }) => {
      const [projectId, datasetId, tableId] = partsOf(real)
      return { projectId, datasetId, tableId }
    })
    return {
      query: { statementType: 'SELECT', totalBytesProcessed, referencedTables, schema: schemaOf(columns) },
    }
  }

  now(): number {
    return Date.now() + this.aheadMs
  }

  /** Jobs started so far. */
  get count(): number {
    return this.running.size
  }

  async close(): Promise<void> {
    for (const { stop } of this.running.values()) stop.abort()
    await this.files.close()
    await this.engine.close()
  }

  /** Checks a query, and returns what runs it. */
  private query(asked: NewJob, job: Pick<RunningJob, 'bytes' | 'stop'>): () => RunningJob['outcome'] {
    const { configuration, caller } = asked
    const { query, maximumBytesBilled: most = Infinity } = configuration.query
    if (this.catalog.define(query, caller)) return () => Promise.resolve(nothing)
    const { tables, ...statement } = this.resolve(asked)
    return async () => {
      await this.files.prepare(tables)
      job.bytes = await this.files.bytesOf(statement.sql, tables)
      if (job.bytes > Number(most)) {
        const message = `Query exceeded limit for bytes billed: ${most}. ${job.bytes} or higher required.`
        return new BigQueryError('bytesBilledLimitExceeded', message)
      }
      const timeoutMs = Number(configuration.jobTimeoutMs ?? longestJobMs)
      return this.engine
        .run(statement, { maxRows: mostRows, timeoutMs, signal: job.stop.signal })
        .catch((error: unknown) => asSent(error, statement.sql, query))
    }
  }

  /**
   * Checks a load job, and returns what adds its rows. With CREATE_IF_NEEDED, the default, it needs the right to make a table
   * that is there, too (googleapis/python-bigquery-pandas, issue 538).
   */
  private load(
    { configuration, reference, caller, media }: NewJob,
    jobId: string,
  ): () => RunningJob['outcome'] {
    const { destinationTable, sourceFormat, createDisposition } = configuration.load!
    const { projectId, datasetId, tableId } = destinationTable
    const dataset = `${projectId}.${datasetId}`
    if (createDisposition !== 'CREATE_NEVER') caller.demand('bigquery.tables.create', dataset)
    caller.demand('bigquery.tables.updateData', `${dataset}.${tableId}`)
    if (sourceFormat !== 'NEWLINE_DELIMITED_JSON' || !media)
      throw new BigQueryError('notImplemented', 'The stand-in loads NEWLINE_DELIMITED_JSON that is uploaded')
    const table = this.catalog.find(`${dataset}.${tableId}`)
    this.catalog.checkLocation(reference.location, [table])
    return async () => {
      await this.files.load(table, jobId, media)
      return nothing
    }
  }

  private resolve({ reference, configuration: { query }, caller }: NewJob): Resolved & Statement {
    try {
      const found = this.catalog.resolve(query.query, caller)
      this.catalog.checkLocation(reference.location, found.tables)
      return { ...found, bindings: (query.queryParameters ?? []).map(toBinding) }
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      throw toBigQueryError(new EngineError('rejected', `Syntax error: ${error.message}`), error.place)
    }
  }
}

const nothing: RunResult = { columns: [], rows: [], truncated: false, bytes: 0, slotMs: null, jobId: null }

/**
 * Checks the query of a view, and tells its columns.
 * @param tables columns by the name in the dataset, which is `project.dataset`
 * @throws BigQueryError for one that is not valid over these tables
 */
export async function checkQuery(query: string, tables: ReadonlyMap<string, Column[]>, dataset: string) {
  const configuration = { query: { query, useLegacySql: false }, dryRun: true }
  const asked = { reference: { projectId: '' }, configuration, caller: new Caller(null) }
  return inTemporaryFolder('view', async logsFolder => {
    const jobs = new Jobs({ tables, dataset, location: 'EU', logsFolder, partition: null })
    try {
      return (await jobs.describe(asked))!.query!.schema
    } finally {
      await jobs.close()
    }
  })
}

/** Jobs of the server, in memory: each runs on the local engine, or adds rows to a table's files, at once. */
import {
  type Binding,
  EngineError,
  type QueryEngine,
  type RunResult,
  type Statement,
} from '../../../shared/engines/engine.ts'
import type { Job, JobConfiguration, JobReference } from '../../../shared/engines/bigquery/client.ts'
import { partsOf } from '../../../shared/engines/bigquery/tables.ts'
import { SqlError } from '../../../shared/sql/error.ts'
import { placeInOther } from '../../../shared/sql/places.ts'
import type { Caller } from './access.ts'
import { asBigQueryError, BigQueryError, toBigQueryError } from './errors.ts'
import { Files, type ServerTable } from './files.ts'
import { type RunningJob, schemaOf, toBinding } from './resources.ts'
import type { TableCatalog } from './tables.ts'

/** Rows of a result at most; a longer one is cut and says so by `totalRows`. */
const mostRows = 50_000
const longestJobMs = 600_000

/** A job that is to start. */
export interface NewJob {
  reference: JobReference
  configuration: JobConfiguration
  caller: Caller
  /** The rows of a load job. */
  media: Buffer | null
  /** The reason with which the job fails, for a test. */
  failing?: string | undefined
}

type Outcome = RunningJob['outcome']
type Resolved = { statement: Statement; tables: ServerTable[] }

/** Jobs are kept until the server is closed. Methods throw BigQueryError, which the client gets as the response. */
export class Jobs {
  private readonly engine: QueryEngine
  private readonly catalog: TableCatalog
  private readonly files = new Files()
  private readonly running = new Map<string, RunningJob>()
  /** Milliseconds that the server's clock is ahead, to make jobs older. */
  aheadMs = 0

  constructor(engine: QueryEngine, catalog: TableCatalog) {
    this.engine = engine
    this.catalog = catalog
  }

  /**
   * A job for who has started it, and for who may see those of others ("Access control", `bigquery.jobs.get`).
   * @param location as the request has it: only in the multi-regions US and EU a job is found without it
   */
  get(jobId: string, location: string | null, caller: Caller): RunningJob {
    const job = this.running.get(jobId)
    const isThere = location === null ? /^(US|EU)$/i : new RegExp(`^${location}$`, 'i')
    if (!job || !isThere.test(job.reference.location))
      throw new BigQueryError('notFound', `Not found: Job ${jobId}`)
    if (job.token !== caller.token) caller.demand('bigquery.jobs.get', job.reference.projectId)
    return job
  }

  start(asked: NewJob): RunningJob {
    const { reference, configuration, caller } = asked
    const { projectId, jobId = `job_${this.running.size}` } = reference
    caller.demand('bigquery.jobs.create', projectId)
    const stop = new AbortController()
    const job: Omit<RunningJob, 'outcome'> = {
      reference: { projectId, jobId, location: reference.location ?? this.catalog.location },
      configuration,
      token: caller.token,
      createdAt: this.now(),
      bytes: 0,
      ended: null,
      endedAt: null,
      stop,
    }
    const { location } = job.reference
    if (this.running.has(jobId))
      throw new BigQueryError('duplicate', `Already Exists: Job ${projectId}:${location}.${jobId}`)
    const begin = configuration.load ? this.load(asked, jobId) : this.query(asked, job)
    const outcome = asked.failing
      ? Promise.resolve(new BigQueryError(asked.failing, 'The job has failed'))
      : begin().catch((error: unknown) => asBigQueryError(error))
    const started = Object.assign(job, { outcome })
    void outcome.then(ended => Object.assign(started, { ended, endedAt: this.now() }))
    this.running.set(jobId, started)
    return started
  }

  /** The statistics of a dry run. */
  async describe(asked: NewJob): Promise<Job['statistics']> {
    const { reference, configuration, caller } = asked
    caller.demand('bigquery.jobs.create', reference.projectId)
    const { statement, tables } = this.resolve(asked)
    const { columns } = await this.engine.describe(statement).catch((error: unknown) => {
      throw this.atPlaceSent(error, statement.sql, configuration)
    })
    const totalBytesProcessed = String(await this.files.bytesOf(statement.sql, tables))
    const referencedTables = tables.map(({ real }) => {
      const [projectId, datasetId, tableId] = partsOf(real)
      return { projectId, datasetId, tableId }
    })
    const schema = schemaOf(columns)
    return { query: { statementType: 'SELECT', totalBytesProcessed, referencedTables, schema } }
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
  }

  /** Checks a query, and returns what runs it. */
  private query(asked: NewJob, job: Pick<RunningJob, 'bytes' | 'stop'>): () => Outcome {
    const { configuration, caller } = asked
    const isDefinition = this.catalog.define(configuration.query.query, caller)
    const { statement, tables } = isDefinition ? nothing : this.resolve(asked)
    return async () => {
      job.bytes = await this.files.bytesOf(statement.sql, tables)
      return this.outcome(statement, configuration, job)
    }
  }

  /**
   * Checks a load job, and returns what adds its rows. With CREATE_IF_NEEDED, the default, it needs the right to make a table
   * that is there, too (googleapis/python-bigquery-pandas, issue 538).
   */
  private load({ configuration, reference, caller, media }: NewJob, jobId: string): () => Outcome {
    const { destinationTable, sourceFormat, createDisposition } = configuration.load!
    const { projectId, datasetId, tableId } = destinationTable
    const dataset = `${projectId}.${datasetId}`
    if (createDisposition !== 'CREATE_NEVER') caller.demand('bigquery.tables.create', dataset)
    caller.demand('bigquery.tables.updateData', `${dataset}.${tableId}`)
    if (sourceFormat !== 'NEWLINE_DELIMITED_JSON' || !media)
      throw new BigQueryError('notImplemented', 'The stand-in loads NEWLINE_DELIMITED_JSON that is uploaded')
    const table = this.catalog.written(`${dataset}.${tableId}`)
    this.catalog.checkLocation(reference.location, [table])
    return async () => {
      await this.files.load(table, jobId, media)
      return { columns: [], rows: [], truncated: false, bytes: 0, slotMs: null, jobId }
    }
  }

  private resolve({ reference, configuration: { query }, caller }: NewJob): Resolved {
    try {
      const { sql, tables, rollups } = this.catalog.resolve(query.query, caller)
      this.catalog.checkLocation(reference.location, tables)
      const bindings: Binding[] = (query.queryParameters ?? []).map(toBinding)
      return { statement: { sql, bindings, rollups }, tables }
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      throw toBigQueryError(new EngineError('rejected', `Syntax error: ${error.message}`), error.place)
    }
  }

  private async outcome(
    statement: Statement,
    configuration: JobConfiguration,
    { bytes, stop }: Pick<RunningJob, 'bytes' | 'stop'>,
  ): Promise<RunResult | BigQueryError> {
    const { maximumBytesBilled } = configuration.query
    if (maximumBytesBilled !== undefined && bytes > Number(maximumBytesBilled))
      return new BigQueryError(
        'bytesBilledLimitExceeded',
        `Query exceeded limit for bytes billed: ${maximumBytesBilled}. ${bytes} or higher required.`,
      )
    const timeoutMs = Number(configuration.jobTimeoutMs ?? longestJobMs)
    try {
      return await this.engine.run(statement, { maxRows: mostRows, timeoutMs, signal: stop.signal })
    } catch (error) {
      return this.atPlaceSent(error, statement.sql, configuration)
    }
  }

  /** The local engine's error, with its place in the SQL that the client sent. */
  private atPlaceSent(error: unknown, localSql: string, { query }: JobConfiguration): BigQueryError {
    if (!(error instanceof EngineError)) return asBigQueryError(error)
    return toBigQueryError(error, error.place && placeInOther(localSql, error.place, query.query))
  }
}

/** What runs for a statement that makes or removes a view: it has no rows. */
const nothing = { statement: { sql: 'SELECT 1 AS done LIMIT 0', bindings: [] }, tables: [] }

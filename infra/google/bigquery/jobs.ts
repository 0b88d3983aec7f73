/** Jobs of the server, in memory: each runs on the local engine at once. */
import {
  type Binding,
  EngineError,
  type QueryEngine,
  type RunResult,
  type Statement,
} from '../../../shared/engines/engine.ts'
import { placeInOther } from '../../../shared/sql/places.ts'
import type { Job, JobConfiguration, JobReference } from '../../../shared/engines/bigquery/rest.ts'
import { SqlError } from '../../../shared/sql/error.ts'
import { Complaint, complaintOf } from './errors.ts'
import { bytesOf, type ServerTable, type ServerTables } from './tables.ts'
import { bindingOf, schemaOf } from './resources.ts'

/** No result has more rows than this; one that would tells that it has. */
const mostRows = 50_000
const longestJobMs = 600_000

export interface RunningJob {
  reference: Required<JobReference>
  configuration: JobConfiguration
  createdAt: number
  bytes: number
  outcome: Promise<RunResult | Complaint>
  /** What came of it, once it is done. */
  ended: RunResult | Complaint | null
  stop: AbortController
}

export class Jobs {
  private readonly engine: QueryEngine
  private readonly tables: ServerTables
  private readonly running = new Map<string, RunningJob>()
  /** How much the server's clock is ahead, milliseconds: to make jobs older. */
  aheadMs = 0

  constructor(engine: QueryEngine, tables: ServerTables) {
    this.engine = engine
    this.tables = tables
  }

  get(jobId: string): RunningJob {
    const job = this.running.get(jobId)
    if (!job) throw new Complaint('notFound', `Not found: Job ${jobId}`)
    return job
  }

  /** @param failing the reason with which the job is to end */
  start(reference: JobReference, configuration: JobConfiguration, failing: string | null): RunningJob {
    const { projectId, jobId = `job_${this.running.size}`, location = 'US' } = reference
    if (this.running.has(jobId))
      throw new Complaint('duplicate', `Already Exists: Job ${projectId}:${location}.${jobId}`)
    const { statement, tables } = this.localised(configuration)
    const stop = new AbortController()
    const bytes = bytesOf(tables)
    const outcome = failing
      ? Promise.resolve(new Complaint(failing, 'The job has failed'))
      : this.outcome(statement, configuration, bytes, stop)
    const job: RunningJob = {
      reference: { projectId, jobId, location },
      configuration,
      createdAt: this.now(),
      bytes,
      outcome,
      ended: null,
      stop,
    }
    void outcome.then(ended => (job.ended = ended))
    this.running.set(jobId, job)
    return job
  }

  /** The statistics of a dry run. */
  async describe(configuration: JobConfiguration): Promise<NonNullable<Job['statistics']>['query']> {
    const { statement, tables } = this.localised(configuration)
    const { columns } = await this.engine.describe(statement).catch((error: unknown) => {
      throw this.inSentText(error, statement.sql, configuration)
    })
    return {
      statementType: 'SELECT',
      totalBytesProcessed: String(bytesOf(tables)),
      referencedTables: tables.map(({ projectId, datasetId, tableId }) => ({
        projectId,
        datasetId,
        tableId,
      })),
      schema: schemaOf(columns),
    }
  }

  now(): number {
    return Date.now() + this.aheadMs
  }

  /** How many there were. */
  get count(): number {
    return this.running.size
  }

  stopAll(): void {
    for (const { stop } of this.running.values()) stop.abort()
  }

  private localised({ query }: JobConfiguration): { statement: Statement; tables: ServerTable[] } {
    try {
      const { sql, tables } = this.tables.localised(query.query)
      const bindings: Binding[] = (query.queryParameters ?? []).map(bindingOf)
      return { statement: { sql, bindings }, tables }
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      throw complaintOf(new EngineError('rejected', `Syntax error: ${error.message}`), error.place)
    }
  }

  private async outcome(
    statement: Statement,
    configuration: JobConfiguration,
    bytes: number,
    stop: AbortController,
  ): Promise<RunResult | Complaint> {
    const { maximumBytesBilled } = configuration.query
    if (maximumBytesBilled !== undefined && bytes > Number(maximumBytesBilled))
      return new Complaint(
        'bytesBilledLimitExceeded',
        `Query exceeded limit for bytes billed: ${maximumBytesBilled}. ${bytes} or higher required.`,
      )
    const timeoutMs = Number(configuration.jobTimeoutMs ?? longestJobMs)
    try {
      return await this.engine.run(statement, { maxRows: mostRows, timeoutMs, signal: stop.signal })
    } catch (error) {
      return this.inSentText(error, statement.sql, configuration)
    }
  }

  /** The local engine's error, with its place in the SQL that the client sent. */
  private inSentText(error: unknown, localSql: string, { query }: JobConfiguration): Complaint {
    if (!(error instanceof EngineError)) return new Complaint('internalError', String(error))
    return complaintOf(error, error.place && placeInOther(localSql, error.place, query.query))
  }
}

/** Jobs of the server, in memory: each runs on the local engine at once. And the tables that they read. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Binding,
  EngineError,
  type QueryEngine,
  type Rollup,
  type RunResult,
  type Statement,
} from '../../../shared/engines/engine.ts'
import type { Job, JobConfiguration, JobReference, Table } from '../../../shared/engines/bigquery/client.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { nameOf } from '../../../shared/engines/bigquery/statement.ts'
import { RollupParts } from '../../../shared/engines/duckdb/rollups.ts'
import { logFiles } from '../../../shared/engines/duckdb/loads.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { TableNames } from '../../../shared/engines/bigquery/tables.ts'
import { type Place, placeOf, SqlError } from '../../../shared/sql/error.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { placeInOther } from '../../../shared/sql/places.ts'
import { print } from '../../../shared/sql/printer.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import type { TableReference } from '../../../shared/sql/tree.ts'
import { Scans } from './bytes.ts'
import { BigQueryError, toBigQueryError } from './errors.ts'
import { type RunningJob, schemaOf, toBinding } from './resources.ts'
import { type View, Views } from './views.ts'

/** Rows of a result at most; a longer one is cut and says so by `totalRows`. */
const mostRows = 50_000
const longestJobMs = 600_000

/** Jobs are kept until the server is closed. Methods throw BigQueryError, which the client gets as the response. */
export class Jobs {
  private readonly engine: QueryEngine
  private readonly catalog: TableCatalog
  private readonly scans: Scans
  private readonly running = new Map<string, RunningJob>()
  /** Milliseconds that the server's clock is ahead, to make jobs older. */
  aheadMs = 0

  constructor(engine: QueryEngine, catalog: TableCatalog) {
    this.engine = engine
    this.catalog = catalog
    this.scans = new Scans(engine)
  }

  get(jobId: string): RunningJob {
    const job = this.running.get(jobId)
    if (!job) throw new BigQueryError('notFound', `Not found: Job ${jobId}`)
    return job
  }

  /** @param failing the reason with which the job fails, for a test */
  start(reference: JobReference, configuration: JobConfiguration, failing?: string): RunningJob {
    const { projectId, jobId = `job_${this.running.size}`, location = 'US' } = reference
    if (this.running.has(jobId))
      throw new BigQueryError('duplicate', `Already Exists: Job ${projectId}:${location}.${jobId}`)
    const stop = new AbortController()
    const isDefinition = this.catalog.define(configuration.query.query)
    const { statement, tables } = isDefinition ? nothing : this.resolve(configuration)
    const counted = failing ? Promise.resolve(0) : this.scans.bytesOf(statement, tables)
    const outcome = counted.then(async bytes => {
      job.bytes = bytes
      if (failing) return new BigQueryError(failing, 'The job has failed')
      return this.outcome(statement, configuration, bytes, stop)
    })
    const job: RunningJob = {
      reference: { projectId, jobId, location },
      configuration,
      createdAt: this.now(),
      bytes: 0,
      outcome,
      ended: null,
      endedAt: null,
      stop,
    }
    void outcome.then(ended => Object.assign(job, { ended, endedAt: this.now() }))
    this.running.set(jobId, job)
    return job
  }

  /** The statistics of a dry run. */
  async describe(
    configuration: JobConfiguration,
  ): Promise<NonNullable<NonNullable<Job['statistics']>['query']>> {
    const { statement, tables } = this.resolve(configuration)
    const { columns } = await this.engine.describe(statement).catch((error: unknown) => {
      throw this.atPlaceSent(error, statement.sql, configuration)
    })
    return {
      statementType: 'SELECT',
      totalBytesProcessed: String(await this.scans.bytesOf(statement, tables)),
      referencedTables: tables.map(({ reference }) => reference),
      schema: schemaOf(columns),
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
    await this.scans.close()
  }

  private resolve({ query }: JobConfiguration): { statement: Statement; tables: ServerTable[] } {
    try {
      const { sql, tables, rollups } = this.catalog.resolve(query.query)
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
    bytes: number,
    stop: AbortController,
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
    if (!(error instanceof EngineError)) return new BigQueryError('internalError', String(error))
    return toBigQueryError(error, error.place && placeInOther(localSql, error.place, query.query))
  }
}

/** What runs for a statement that makes or removes a view: it has no rows. */
const nothing = { statement: { sql: 'SELECT 1 AS done LIMIT 0', bindings: [] }, tables: [] }

interface ServerTable {
  logical: string
  columns: Column[]
  /** Its Parquet files. */
  files: () => string[]
  /** The column that it is partitioned by, and how; `null` = it is not. */
  time: string | null
  unit: PartitionUnit | null
  reference: { projectId: string; datasetId: string; tableId: string }
}

function filesIn(folder: string): () => string[] {
  return () => (existsSync(folder) ? logFiles(folder) : [])
}

/** Real names and files for the logical names of the local engine. */
export class TableCatalog {
  readonly views = new Views()
  private readonly byRealName: ReadonlyMap<string, ServerTable>
  private readonly parts: RollupParts

  /**
   * @param dataset `project.dataset`
   * @param unit of the tables' partitions; `null` = they have none
   */
  constructor(
    tables: ReadonlyMap<string, Column[]>,
    dataset: string,
    logsFolder: string,
    unit: PartitionUnit | null,
  ) {
    this.parts = new RollupParts(logsFolder, tables)
    this.byRealName = this.tablesOf(tables, dataset, logsFolder, unit)
  }

  /** A table or view as the REST interface describes it; `undefined` = there is none. @param real its full name */
  resource(real: string): (Table & { id: string; type: string }) | undefined {
    const view = this.views.get(real)
    const found = view ?? this.byRealName.get(real)
    if (!found) return undefined
    const { time, unit } = found
    return {
      id: real.replace('.', ':'),
      type: view ? 'MATERIALIZED_VIEW' : 'TABLE',
      ...(time === null || unit === null ? {} : { timePartitioning: { type: unit, field: time } }),
    }
  }

  /** Whether the statement makes or removes a view, which is then done. Throws BigQueryError for one that is refused. */
  define(sql: string): boolean {
    return this.views.define(sql, query => this.resolve(query))
  }

  private tablesOf(
    columnsByName: ReadonlyMap<string, Column[]>,
    dataset: string,
    logsFolder: string,
    unit: PartitionUnit | null,
  ): ReadonlyMap<string, ServerTable> {
    const [projectId = '', datasetId = ''] = dataset.split('.')
    const names = new TableNames({ dataset, tables: new Map() }, projectId)
    const time = unit === null ? null : 'timestamp'
    const tables = [...columnsByName].map(([logical, columns]) => {
      const real = names.real(logical)
      const reference = { projectId, datasetId, tableId: real.slice(dataset.length + 1) }
      const files = filesIn(join(logsFolder, logical))
      return [real, { logical, columns, files, time, unit, reference }] as const
    })
    return new Map(tables)
  }

  /**
   * The query with logical names, the tables that it reads, and the roll-ups of the views among them.
   * @throws SqlError; BigQueryError `notFound` for an unknown table, `invalid` for one without its dataset
   */
  resolve(sql: string): { sql: string; tables: ServerTable[]; rollups: Rollup[] } {
    const tree = parse(sql, { ...statementLimits, bytes: 1_000_000 })
    const found = new Map(
      tablesOf(tree).map(reference => [reference, this.find(nameOf(reference), placeOf(sql, reference.at))]),
    )
    const table = (reference: TableReference) => {
      const logical = found.get(reference)?.logical
      return logical === undefined ? null : `\`${logical}\``
    }
    const tables = [...new Map([...found.values()].map(each => [each.logical, each])).values()]
    const rollups = tables.flatMap(({ logical }) => this.views.find(logical)?.rollup ?? [])
    return { sql: print(tree, { table }), tables, rollups }
  }

  /** A view's bytes are those of its parts. */
  private tableOf({ real, rollup, time, unit }: View): ServerTable {
    const [projectId = '', datasetId = '', tableId = ''] = real.split('.')
    return {
      logical: real,
      columns: this.parts.columnsOf(rollup),
      files: filesIn(this.parts.folderOf(rollup)),
      time,
      unit,
      reference: { projectId, datasetId, tableId },
    }
  }

  private find(real: string, { line, column }: Place): ServerTable {
    const view = this.views.find(real)
    const table = view ? this.tableOf(view) : this.byRealName.get(real)
    if (table) return table
    const [reason, message] = real.includes('.')
      ? ['notFound', `Not found: Table ${real.replace('.', ':')} was not found in location US`]
      : ['invalid', `Table "${real}" must be qualified with a dataset (e.g. dataset.table)`]
    throw new BigQueryError(reason, `${message} at [${line}:${column}]`)
  }
}

/**
 * The port QueryEngine on BigQuery, and its roll-ups: materialized views, which BigQuery keeps up to date by itself
 * (https://cloud.google.com/bigquery/docs/materialized-views-intro).
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type ClientOptions, connect, type Job, type Rest, type Table } from './client.ts'
import { errorDetails, failureOf, forOperators } from './failures.ts'
import { configurationOf, JobRun, limited, throwIfFailed } from './jobs.ts'
import {
  baseTable,
  createStatement,
  dropStatement,
  type PartitionUnit,
  sentStatement,
  type SentStatement,
  viewName,
} from './statement.ts'
import { partsOf, type TableMapping, TableNames } from './tables.ts'
import { resultColumns } from './values.ts'
import { Deadline } from '../deadline.ts'
import {
  describeMs,
  type Description,
  EngineError,
  type QueryEngine,
  type Rollup,
  type Rollups,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engine.ts'

export interface BigQueryOptions extends ClientOptions, TableMapping {
  /** The most bytes that a job may bill; `null` = no limit of the service. */
  maxBytesBilled: number | null
  /** The longest wait before the first retry, milliseconds; doubled for the second. */
  retryMs?: number
}

const retries = 2
/** No run is tried for so long after `quotaExceeded`, which does not pass in seconds. */
const pauseMs = 120_000

/** Runs GoogleSQL on BigQuery. The client is loaded, and credentials are looked for, in the first call. */
export function openBigQuery(options: BigQueryOptions): QueryEngine {
  return new BigQueryEngine(options)
}

interface Opened {
  rest: Rest
  names: TableNames
}

class BigQueryEngine implements QueryEngine {
  readonly rollups: Rollups = {
    has: rollup => this.keeping(({ rest, names }) => hasView(rest, rollup, names)),
    create: rollup =>
      this.define(async ({ rest, names }) =>
        createStatement(rollup, names, await partitionsOfBase(rest, rollup, names)),
      ),
    remove: rollup => this.define(({ names }) => dropStatement(rollup, names)),
  }
  private readonly options: BigQueryOptions
  private opening: Promise<Opened> | null = null
  private pausedUntil = 0

  constructor(options: BigQueryOptions) {
    this.options = options
  }

  async run(statement: Statement, limits: RunLimits): Promise<RunResult> {
    if (performance.now() < this.pausedUntil)
      throw new EngineError('unavailable', 'The BigQuery quota is used up')
    return this.withDeadline(statement, limits, async (rest, sent, deadline) => {
      const job = new JobRun(rest, deadline, {
        configuration: limited(configurationOf(sent), limits, this.options.maxBytesBilled),
        key: jobKeyOf(sent, limits),
        limits,
      })
      try {
        return await this.retrying(sent, deadline, () => job.result())
      } catch (error) {
        if (error instanceof EngineError) {
          if (['timeout', 'cancelled'].includes(error.reason)) job.cancel()
          error.cost = job.cost
        }
        throw error
      }
    })
  }

  async describe(statement: Statement): Promise<Description> {
    return this.withDeadline(
      statement,
      { timeoutMs: describeMs, rollupAs: 'query' },
      (rest, sent, deadline) =>
        this.retrying(sent, deadline, () => deadline.race(() => describeByDryRun(rest, sent))),
    )
  }

  async close(): Promise<void> {
    this.opening = null
  }

  /** Calls `act` with the statement as it is sent. Throws EngineError, and nothing else. */
  private async withDeadline<T>(
    statement: Statement,
    limits: Pick<RunLimits, 'timeoutMs' | 'signal'> & { rollupAs?: 'query' },
    act: (rest: Rest, sent: SentStatement, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const deadline = new Deadline(limits)
    try {
      const { rest, names } = await deadline.race(() => this.open())
      return await act(rest, sentStatement(statement, names, limits.rollupAs), deadline)
    } catch (error) {
      throw failureOf(error, null).error
    }
  }

  private define(statement: (opened: Opened) => string | Promise<string>): Promise<void> {
    return this.keeping(async opened => runDefinition(opened.rest, await statement(opened)))
  }

  /** For the operator, who gets BigQuery's own messages. */
  private async keeping<T>(act: (opened: Opened) => Promise<T>): Promise<T> {
    try {
      return await act(await this.open())
    } catch (error) {
      throw forOperators(error)
    }
  }

  private async retrying<T>(sent: SentStatement, deadline: Deadline, act: () => Promise<T>): Promise<T> {
    const { retryMs = 500 } = this.options
    for (let tries = 0; ; tries++) {
      try {
        return await act()
      } catch (thrown) {
        const { error, retry, pause } = failureOf(thrown, sent)
        if (pause) this.pausedUntil = performance.now() + pauseMs
        if (!retry || tries === retries) throw error
        await deadline.sleep(Math.random() * retryMs * 2 ** tries)
      }
    }
  }

  private open(): Promise<Opened> {
    this.opening ??= connect(this.options).then(
      rest => ({ rest, names: new TableNames(this.options, rest.project) }),
      (error: unknown) => {
        this.opening = null
        throw error
      },
    )
    return this.opening
  }
}

/** Holds the statement besides the caller's key, so that a job of another statement is never adopted. */
function jobKeyOf({ sql, parameters }: SentStatement, { jobKey }: RunLimits): string {
  return jobKey === undefined ? randomUUID() : JSON.stringify([jobKey, sql, parameters])
}

/** Describes a statement. A table that it does not name itself, behind a view for one, has its full real name. */
async function describeByDryRun(rest: Rest, sent: SentStatement): Promise<Description> {
  const body = { jobReference: rest.newJob(), configuration: { ...configurationOf(sent), dryRun: true } }
  const { body: job } = await rest.call<Job>({ method: 'POST', path: '/jobs', body })
  throwIfFailed(job)
  const {
    statementType,
    referencedTables = [],
    referencedRoutines = [],
    ...told
  } = job.statistics?.query ?? {}
  if (statementType !== 'SELECT') throw new EngineError('rejected', 'Only a single query can run')
  const tables = referencedTables
    .map(({ projectId, datasetId, tableId }) => `${projectId}.${datasetId}.${tableId}`)
    .map(real => sent.logical.get(real) ?? real)
  const routines = referencedRoutines.map(
    ({ projectId, datasetId, routineId }) => `${projectId}.${datasetId}.${routineId}`,
  )
  return {
    kind: 'SELECT',
    tables: [...new Set(tables)].sort(),
    ...(routines.length > 0 ? { routines: [...new Set(routines)].sort() } : {}),
    columns: resultColumns(told.schema?.fields),
    bytes: told.totalBytesProcessed === undefined ? null : Number(told.totalBytesProcessed),
  }
}

/** Between two looks at a job that makes a view. */
const pollMs = 500

/** Whether the view is there. Throws the client's errors. */
async function hasView(rest: Rest, rollup: Rollup, names: TableNames): Promise<boolean> {
  try {
    await getTable(rest, viewName(rollup, names))
    return true
  } catch (error) {
    if (errorDetails(error).reason === 'notFound') return false
    throw error
  }
}

/** The unit of the partitions of the roll-up's log table; `null` = not partitioned. Throws the client's errors. */
async function partitionsOfBase(
  rest: Rest,
  rollup: Rollup,
  names: TableNames,
): Promise<PartitionUnit | null> {
  const base = baseTable(rollup, names)
  return base === null ? null : ((await getTable(rest, base)).timePartitioning?.type ?? null)
}

/** @param real `project.dataset.table` */
async function getTable(rest: Rest, real: string): Promise<Table> {
  const [project, dataset, table] = partsOf(real)
  const path = `/datasets/${dataset}/tables/${table}`
  return (await rest.call<Table>({ method: 'GET', project, path })).body
}

/** Runs a statement that makes or removes a view, to its end. Throws the client's errors, and JobError. */
async function runDefinition(rest: Rest, sql: string): Promise<void> {
  const body = { jobReference: rest.newJob(), configuration: { query: { query: sql, useLegacySql: false } } }
  let { body: job } = await rest.call<Job>({ method: 'POST', path: '/jobs', body })
  while (job.status?.state !== 'DONE') {
    await pause(pollMs)
    const { jobId, location } = job.jobReference
    job = (await rest.call<Job>({ method: 'GET', path: `/jobs/${jobId}`, query: { location } })).body
  }
  throwIfFailed(job)
}

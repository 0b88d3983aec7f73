/**
 * Roll-ups on BigQuery: materialized views, which BigQuery keeps up to date by itself, and which are consistent with the
 * log table whether or not they are (https://cloud.google.com/bigquery/docs/materialized-views-intro).
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Rollup } from '../engine.ts'
import type { Job, Rest, Table } from './client.ts'
import { errorDetails } from './failures.ts'
import { throwIfFailed } from './jobs.ts'
import { partsOf, type TableNames } from './tables.ts'
import { baseTable, type PartitionUnit, viewName } from './views.ts'

/** Between two looks at a job that makes a view. */
const pollMs = 500

/** Whether the view is there. Throws the client's errors. */
export async function hasView(rest: Rest, rollup: Rollup, names: TableNames): Promise<boolean> {
  try {
    await tableNamed(rest, viewName(rollup, names))
    return true
  } catch (error) {
    if (errorDetails(error).reason === 'notFound') return false
    throw error
  }
}

/** The unit of the partitions of the roll-up's log table; `null` = it has none. Throws the client's errors. */
export async function partitionsOfBase(
  rest: Rest,
  rollup: Rollup,
  names: TableNames,
): Promise<PartitionUnit | null> {
  const base = baseTable(rollup, names)
  return base === null ? null : ((await tableNamed(rest, base)).timePartitioning?.type ?? null)
}

/** @param real `project.dataset.table` */
async function tableNamed(rest: Rest, real: string): Promise<Table> {
  const [project, dataset, table] = partsOf(real)
  const path = `/datasets/${dataset}/tables/${table}`
  return (await rest.call<Table>({ method: 'GET', project, path })).body
}

/** Runs a statement that makes or removes a view, to its end. Throws the client's errors, and JobError. */
export async function runDefinition(rest: Rest, sql: string): Promise<void> {
  const body = { jobReference: rest.newJob(), configuration: { query: { query: sql, useLegacySql: false } } }
  let { body: job } = await rest.call<Job>({ method: 'POST', path: '/jobs', body })
  while (job.status?.state !== 'DONE') {
    await pause(pollMs)
    const { jobId, location } = job.jobReference
    job = (await rest.call<Job>({ method: 'GET', path: `/jobs/${jobId}`, query: { location } })).body
  }
  throwIfFailed(job)
}

import { type Description, EngineError } from '../engine.ts'
import type { Rest } from './client.ts'
import { configurationOf } from './configuration.ts'
import { throwIfFailed } from './jobs.ts'
import type { Job } from './rest.ts'
import { columnsOf } from './schema.ts'
import type { SentStatement } from './statement.ts'

/**
 * What BigQuery says that a statement would do. A table that it does not name itself, behind a view for one, is
 * reported under its full real name.
 */
export async function describeByDryRun(
  rest: Rest,
  sent: SentStatement,
  location: string | null,
): Promise<Description> {
  const jobReference = { projectId: rest.project, ...(location === null ? {} : { location }) }
  const body = { jobReference, configuration: { ...configurationOf(sent), dryRun: true } }
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
    columns: columnsOf(told.schema?.fields),
    bytes: told.totalBytesProcessed === undefined ? null : Number(told.totalBytesProcessed),
  }
}

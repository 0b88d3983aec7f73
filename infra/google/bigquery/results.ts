/** Resources as they are answered. */
import type { RunResult } from '../../../shared/engines/engine.ts'
import type { Job, ResultsPage } from '../../../shared/engines/bigquery/rest.ts'
import { Complaint } from './errors.ts'
import type { RunningJob } from './jobs.ts'
import { schemaOf, wireRow } from './resources.ts'

export function jobResource({ reference, configuration, createdAt, ended }: RunningJob): Job {
  const error = ended instanceof Complaint ? { reason: ended.reason, message: ended.message } : null
  return {
    jobReference: reference,
    configuration,
    status: {
      state: ended ? 'DONE' : 'RUNNING',
      ...(error ? { errorResult: error, errors: [error] } : {}),
    },
    statistics: { creationTime: String(createdAt) },
  }
}

export interface PageAsked {
  maxResults: number
  /** Row number at which the page begins. */
  from: number
  int64: boolean
}

export function incompletePage({ reference }: RunningJob): ResultsPage {
  return { jobReference: reference, jobComplete: false }
}

/** @param pageRows the most rows that the server puts on a page, whatever is asked */
export function resultsPage(
  job: RunningJob,
  result: RunResult,
  asked: PageAsked,
  pageRows: number,
): ResultsPage {
  const { columns, rows, truncated } = result
  const to = Math.min(asked.from + Math.min(asked.maxResults, pageRows), rows.length)
  return {
    jobReference: job.reference,
    jobComplete: true,
    schema: schemaOf(columns),
    totalRows: String(rows.length + (truncated ? 1 : 0)),
    totalBytesProcessed: String(job.bytes),
    rows: rows.slice(asked.from, to).map(row => wireRow(row, columns, asked.int64)),
    ...(to < rows.length ? { pageToken: `row-${to}` } : {}),
  }
}

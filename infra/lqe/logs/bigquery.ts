/** Rows for the log tables of BigQuery: one load job for each table, which adds all of them or none. */
import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { addAbortSignal, Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type ClientOptions, connect, type Job, type Rest } from '../../../shared/engines/bigquery/client.ts'
import { errorDetails, forOperators } from '../../../shared/engines/bigquery/failures.ts'
import { type TableMapping, TableNames } from '../../../shared/engines/bigquery/tables.ts'
import { Deadline } from '../../../shared/engines/deadline.ts'
import { fromMicros, toMicros } from '../../../shared/endpoints/timestamps.ts'
import type { ParquetWriter, Send, Sent } from './parquet.ts'

/** Between two looks at a job. */
const pollMs = 500
/** No load takes a day. */
const longestMs = 86_400_000

/**
 * The client is loaded with the first rows. A job's id is made of its content, and BigQuery takes an id once: whoever cannot
 * know whether a load has come to its end, repeats it (https://cloud.google.com/bigquery/docs/running-jobs#generate-jobid).
 * @throws EngineError with BigQuery's own message; the signal's reason
 */
export function toBigQuery(options: ClientOptions & TableMapping): Send {
  return async ({ signal, ...sent }) => {
    try {
      const rest = await connect(options)
      const real = new TableNames(options, rest.project).real(sent.writers[0]!.table)
      return await add(rest, real, { ...sent, signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw forOperators(error)
    }
  }
}

async function add(
  rest: Rest,
  real: string,
  { writers, content, shift = 0n, signal }: Sent,
): Promise<boolean> {
  const deadline = new Deadline({ timeoutMs: longestMs, ...(signal ? { signal } : {}) })
  const id = `lqe_load_${hash('sha256', JSON.stringify([real, content])).slice(0, 40)}`
  for (let number = 0; ; number++) {
    const jobId = `${id}_${number}`
    const earlier = await deadline.race(() => ended(rest, jobId))
    if (earlier?.status?.errorResult) continue
    if (earlier) return false
    const rows = Readable.from(linesOf(writers, shift))
    if (signal) addAbortSignal(signal, rows)
    try {
      await rest.load(jobId, real, rows)
      return true
    } catch (error) {
      if (signal?.aborted && !rows.readableEnded) throw error
      // The answer may have been lost, not the job; and another process may have begun the same.
      const job = await ended(rest, jobId)
      if (!job || job.status?.errorResult) throw error
      return errorDetails(error).reason !== 'duplicate'
    }
  }
}

/** The job at its end; `null` = there is none, or another account's, which cannot be seen. */
async function ended(rest: Rest, jobId: string): Promise<Job | null> {
  const { location } = rest.newJob(jobId)
  try {
    for (;;) {
      const request = { method: 'GET', path: `/jobs/${jobId}`, query: { location } } as const
      const { body: job } = await rest.call<Job>(request)
      if (job.status?.state === 'DONE') return job
      await pause(pollMs)
    }
  } catch (error) {
    if (['notFound', 'accessDenied'].includes(errorDetails(error).reason ?? '')) return null
    throw error
  }
}

/** The time is the last field of a line. */
const timeAtEnd = /(?<="timestamp":")[^"]+(?="\}\n)/g

async function* linesOf(writers: ParquetWriter[], shift: bigint): AsyncGenerator<string> {
  const later = (time: string) => fromMicros(toMicros(time) + shift)!
  for (const file of writers.flatMap(({ lines }) => lines)) {
    let rest = ''
    for await (const piece of createReadStream(file, { encoding: 'utf8', highWaterMark: 1_000_000 })) {
      rest += piece
      const end = rest.lastIndexOf('\n') + 1
      yield shift === 0n ? rest.slice(0, end) : rest.slice(0, end).replaceAll(timeAtEnd, later)
      rest = rest.slice(end)
    }
  }
}

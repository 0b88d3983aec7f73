/** One run as a BigQuery job: started under an id of our own or adopted, read page by page, cancelled. */
import { hash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Deadline } from '../deadline.ts'
import type { RunCost, RunLimits, RunResult } from '../engine.ts'
import { ResultRows } from '../rows.ts'
import {
  type RestCall,
  type Job,
  type JobConfiguration,
  type JobReference,
  type Reply,
  type Rest,
  type ResultsPage,
  UnreadableReply,
} from './client.ts'
import { errorDetails, JobError } from './failures.ts'
import type { SentStatement } from './statement.ts'
import { Scheduler } from '../scheduler.ts'
import { resultColumns, rowReader } from './values.ts'

/** The longest that one request for results waits for the job: BigQuery's own default. */
const longestPollMs = 10_000
/** The pause between two of them, for a server that answers sooner. */
const pauseMs = 50
/** How much older than the run's time limit an adopted job may be: the lease of a process that died, and some more. */
const adoptionMs = 10_000
/** Rows of the first page at most; by then their size is known. BigQuery itself ends a page at about 20 MB. */
const firstPageRows = 1000
/** Of this process: a page holds several times its 20 MB while it is parsed, and its size is known only then. */
const pageReads = new Scheduler(4)
/** How much longer than its rows a run waits for what the job has cost. */
const statisticsMs = 250
/** Job ids of one key; a run that finds all of them taken uses a random one. */
const idsOfKey = 3

interface JobOptions {
  configuration: JobConfiguration
  /** Equal for runs that may share a job. */
  key: string
  limits: RunLimits
}

/** The job of one run. */
export class JobRun {
  private readonly rest: Rest
  private readonly deadline: Deadline
  private readonly options: JobOptions
  private job: JobReference | null = null
  private bytes: number | null = null

  constructor(rest: Rest, deadline: Deadline, options: JobOptions) {
    this.rest = rest
    this.deadline = deadline
    this.options = options
  }

  /**
   * Starts the job and waits for its rows. May be called again after a failure: a job that is still running is found
   * by its id and not paid for twice, one that has failed is followed by the next.
   */
  async result(): Promise<RunResult> {
    for (let number = 0; number < idsOfKey; number++)
      if (await this.start(jobId(this.options.key, number))) return this.read()
    await this.start(jobId(randomUUID(), 0))
    return this.read()
  }

  /** As far as it is known by now. */
  get cost(): RunCost {
    return { bytes: this.bytes, slotMs: null, jobId: this.job?.jobId ?? null }
  }

  /** Cancels the job without waiting for it. */
  cancel(): void {
    if (!this.job) return
    const { jobId, location } = this.job
    const request = { method: 'POST', path: `/jobs/${jobId}/cancel`, query: { location } } as const
    this.rest.call(request).catch(() => {}) // `jobTimeoutMs` ends it too
  }

  /** `false` if the id is taken by a job that cannot be adopted. */
  private async start(jobId: string): Promise<boolean> {
    const { configuration } = this.options
    const jobReference = this.rest.newJob(jobId)
    this.job = jobReference
    try {
      const body = { jobReference, configuration }
      const { body: job } = await this.call<Job>({ method: 'POST', path: '/jobs', body })
      this.job = referenceOf(job)
      throwIfFailed(job)
      return true
    } catch (error) {
      if (errorDetails(error).reason !== 'duplicate') throw error
      return this.adopt(jobReference)
    }
  }

  /**
   * Whether the job that has this id can be used: it has not failed, and is hardly older than a run may last. An older
   * one has old rows: a key comes back when its answer was not stored. One of another account, as the warmer's, may not be
   * seen (https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/get).
   */
  private async adopt(reference: JobReference): Promise<boolean> {
    this.job = null
    const { jobId, location } = reference
    const asked = { method: 'GET', path: `/jobs/${jobId}`, query: { location } } as const
    const found = await this.call<Job>(asked).catch((error: unknown) => {
      if (errorDetails(error).reason === 'accessDenied') return null
      throw error
    })
    if (found === null) return false
    const { body: job, at } = found
    const age = at - Number(job.statistics?.creationTime)
    if (job.status?.errorResult || !(age < this.options.limits.timeoutMs + adoptionMs)) return false
    this.job = referenceOf(job)
    return true
  }

  /** Waits for the job without its rows, then reads them and, at the same time, what the job has cost. */
  private async read(): Promise<RunResult> {
    const { limits } = this.options
    const { schema, totalRows, totalBytesProcessed } = await this.page(0)
    this.bytes = totalBytesProcessed === undefined ? null : Number(totalBytesProcessed)
    const slotMs = this.slotMs()
    const columns = resultColumns(schema?.fields)
    const row = rowReader(columns)
    const total = Number(totalRows ?? 0)
    const found = new ResultRows(limits)
    const wanted = Math.min(total, limits.maxRows)
    let pageToken: string | undefined
    for (let most = firstPageRows; found.count < wanted; most = Infinity) {
      const maxResults = Math.min(found.room, most)
      pageToken = await pageReads.with(limits.labels?.key ?? '', this.deadline, async () => {
        const page = await this.page(maxResults, pageToken)
        for (const cells of page.rows ?? []) found.add(row(cells))
        return page.pageToken
      })
      if (!pageToken && found.count < wanted) throw new UnreadableReply('rows are missing')
    }
    const cost = {
      ...this.cost,
      slotMs: await Promise.race([slotMs, pause(statisticsMs, null, { ref: false })]),
    }
    return { columns, ...found.result, truncated: total > limits.maxRows, ...cost }
  }

  /** `jobs.get` alone has it. `null` where it does not answer: the rows are worth more. */
  private async slotMs(): Promise<number | null> {
    const { jobId, location } = this.job!
    const query = { location, fields: 'statistics(totalSlotMs)' }
    const job = await this.rest
      .call<Pick<Job, 'statistics'>>({ method: 'GET', path: `/jobs/${jobId}`, query })
      .catch(() => null)
    const told = job?.body.statistics?.totalSlotMs
    return told === undefined ? null : Number(told)
  }

  /** Waits until the job is complete. */
  private async page(maxResults: number, pageToken?: string): Promise<ResultsPage> {
    const { jobId, location } = this.job!
    for (;;) {
      const timeoutMs = Math.min(this.deadline.leftMs, longestPollMs)
      const format = { 'formatOptions.useInt64Timestamp': true }
      const query = { maxResults, timeoutMs, location, pageToken, ...format }
      const { body } = await this.call<ResultsPage>({ method: 'GET', path: `/queries/${jobId}`, query })
      if (body.jobComplete) return body
      if (body.jobComplete === undefined) throw new UnreadableReply('no results')
      await this.deadline.sleep(pauseMs)
    }
  }

  private call<T extends object>(request: RestCall): Promise<Reply<T>> {
    return this.deadline.race(() => this.rest.call<T>(request))
  }
}

/** Throws the error with which a job has ended. */
export function throwIfFailed({ status }: Job): void {
  if (status?.errorResult) throw new JobError(status.errorResult)
}

/** An id that is the same in every process. */
function jobId(key: string, number: number): string {
  return `lqe_${hash('sha256', key).slice(0, 40)}_${number}`
}

function referenceOf({ jobReference }: Job): JobReference {
  if (!jobReference?.jobId) throw new UnreadableReply('no job')
  return jobReference
}

/** Without a default dataset: an incomplete table name finds no table. */
export function configurationOf({ sql, parameters }: SentStatement): JobConfiguration {
  return {
    query: {
      query: sql,
      useLegacySql: false,
      // BigQuery keeps results for a day, free of charge, until a table changes.
      useQueryCache: true,
      ...(parameters.length > 0 ? { parameterMode: 'NAMED', queryParameters: parameters } : {}),
    },
  }
}

/** @param maxBytes the most bytes that any job may bill, `null` = no limit of the service */
export function limited(
  { query, ...job }: JobConfiguration,
  limits: RunLimits,
  maxBytes: number | null,
): JobConfiguration {
  const bytes = Math.min(limits.maxBytes ?? Infinity, maxBytes ?? Infinity)
  return {
    ...job,
    query: {
      ...query,
      ...(bytes === Infinity ? {} : { maximumBytesBilled: String(bytes) }),
      ...(limits.noCache ? { useQueryCache: false } : {}),
    },
    // Ends the job even if this process dies.
    jobTimeoutMs: String(limits.timeoutMs),
    labels: Object.fromEntries(Object.entries(limits.labels ?? {}).map(pair => pair.map(labelText))),
    ...(limits.reservation === undefined ? {} : { reservation: limits.reservation }),
  }
}

/** A label has at most 63 lower-case letters, digits, `_` and `-`. */
function labelText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '_')
    .slice(0, 63)
}

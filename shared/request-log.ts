/**
 * The log of a process on a laptop, whose lines are also the rows of the log table `service.requests`: all processes append
 * to one file of each day in the table's folder (`shared/engines/duckdb/tables.ts` reads them), as a query opens every
 * file. In the cloud a log sink does that (`infra/deploy/tables.ts`).
 *
 * Lines are written in batches, off the path of an answer: the same bytes first to the file, then to standard output. So a
 * line that was printed is in the table, however the process ends; of one that is killed, the lines of the last moments are in
 * neither, and only a kill between the two writes leaves a batch that the table has and standard output has not.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AnswerResult } from './run/query-request.ts'
import type { Config } from './config.ts'
import { requestsTable } from './engines/schema.ts'
import { type Details, lineOf, type Log, log, occasionally } from './log.ts'

/**
 * The fields of a request's line, which each step of the request adds to: names, codes and counts, never a value. The columns
 * of `service.requests` are among them (`infra/tables/service.requests.json`); infra/docs/operating.md, "Logs".
 */
export type RequestLine = Details & {
  requestId: string
  /** Of HTTP. */
  method: string
  /** Of the program that answered (`version.ts`). */
  serviceVersion: string
  /** What was asked: rows over HTTP, a tool of MCP, a run of the warmer, rows for an alert; none for other routes. */
  how?: 'http' | 'mcp' | 'warm' | 'alert'
  /** Id of the API key, name of a token's issuer, `warm`, or `alert:` with the alert's name. */
  key?: string
  /** Hash of a token's subject; `key` is the name of its issuer. */
  subject?: string
  endpoint?: string
  /** The endpoint's. */
  version?: string
  /** Whether the caller sent SQL. */
  sql?: boolean
  /** How the cache answered. */
  cache?: AnswerResult['status']
  rows?: number
  /** Bytes that the engine read, over all runs of the request. */
  bytes?: number | null
  slotMs?: number | null
  /** The job of the last run. */
  job?: string | null
  /** The code of an error that was sent. */
  error?: string
  /** The code of one that a stale copy covers. */
  failure?: string
}

/** A batch is written when its first line is so old, or when it is so long. */
const batchMs = 50
const batchLength = 32_768

const dayMs = 86_400_000

/** Of one day, `2026-01-31.ndjson`; earlier versions had one of each process, `2026-01-31.<UUID>.ndjson`. */
const fileName = /^(\d{4}-\d\d-\d\d)\.(?:.+\.)?ndjson$/

/** The log for the lines of requests, which end with this process. */
export function openRequestLog({ engine, dataDir, requestsDays }: Config): Log {
  if (engine !== 'duckdb' || requestsDays === 0) return log // a laptop's table, or none
  const file = new RequestFile(join(dataDir, 'logs', requestsTable), requestsDays)
  let batch = ''
  const flush = () => {
    if (batch === '') return
    const bytes = Buffer.from(`\n${batch}`)
    batch = ''
    file.append(bytes)
    process.stdout.write(bytes.subarray(1))
  }
  process.once('exit', flush)
  return (...line) => {
    if (batch === '') setTimeout(flush, batchMs).unref()
    batch += `${lineOf(...line)}\n`
    if (batch.length >= batchLength) flush()
  }
}

class RequestFile {
  private readonly folder: string
  private readonly days: number
  /** Day of the last batch. */
  private day = ''
  private readonly log = occasionally(log)

  constructor(folder: string, days: number) {
    this.folder = folder
    this.days = days
  }

  /**
   * By one write, so that processes do not mix their lines. Begins with a line end, as a killed process may have left half a
   * line.
   */
  append(bytes: Buffer): void {
    try {
      const day = new Date().toISOString().slice(0, 10)
      if (day !== this.day) this.removeOld(day)
      this.day = day
      appendFileSync(join(this.folder, `${day}.ndjson`), bytes)
    } catch (error) {
      // The folder may have been removed: the next batch finds it.
      this.day = ''
      const { code = null } = error as NodeJS.ErrnoException
      this.log('WARNING', 'requests are missing in the table', { code })
    }
  }

  /** Makes the folder, too. */
  private removeOld(today: string): void {
    mkdirSync(this.folder, { recursive: true })
    const oldest = new Date(Date.parse(today) - this.days * dayMs).toISOString().slice(0, 10)
    for (const name of readdirSync(this.folder)) {
      const [, day = oldest] = fileName.exec(name) ?? []
      if (day < oldest) rmSync(join(this.folder, name), { force: true })
    }
  }
}

/** A request for an endpoint's rows, and its result. */
import type { CacheResult } from '../cache/cache.ts'
import type { CacheKeyFields } from '../cache/head.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import type { RunCost, RunLabels, Statement } from '../engines/engine.ts'
import type { ByteLimit } from '../keys/limits.ts'
import type { Page } from '../pages/page.ts'
import type { NameKind } from '../redact/names.ts'
import type { Column } from '../sql/types.ts'
import type { Timing } from '../timing.ts'

export interface QueryRequest {
  endpoint: Endpoint
  statement: Statement
  /** For when the statement's roll-up cannot be read: the endpoint's own query. */
  instead?: Statement | null
  /** Canonical parameters. */
  parameters: string
  /** Normal form of the caller's SQL, `null` for the endpoint's own query. */
  sql: string | null
  /** Names that the caller's SQL gives to values of another kind than they say; absent = none. */
  names?: ReadonlyMap<string, NameKind>
  /** Parameters whose values are the caller's own: neither defaults nor pins. */
  sent: readonly string[]
  /** `null` where the endpoint has no pages, and for a caller's own SQL. */
  page: Page | null
  /** The requests for the rows that the statement reads as tables; absent = none. */
  upstream?: UpstreamRequest[]
  /** What decides the answer, where it is known already. */
  keyFields?: CacheKeyFields
  /** An older answer will not do, though it is fresh; absent = it will. */
  maxAgeSeconds?: number
  /** Whether another request's run waits for its rows. */
  isWithin?: boolean
  /** Whether personal data is removed. */
  redacted: boolean
  /** Whether a fresh copy is not enough. */
  bypass: boolean
  /** Bytes that runs for the caller's key may still read, `null` for any amount. */
  byteLimit: ByteLimit | null
  /** Labels of the engine's job. */
  labels: RunLabels
  /** A signal that aborts when the client has gone; made only where it is asked for. */
  gone: () => AbortSignal
  /** Takes what the engine says of a run for this request, also of one that fails. */
  onRun: (cost: RunCost) => void
  timing: Timing
}

/** The request for the rows of one table. */
export interface UpstreamRequest {
  /** Its name in the statement, and that of the binding that holds its rows. */
  table: string
  columns: Column[]
  request: QueryRequest
}

export type AnswerResult = Omit<CacheResult, 'status'> & { status: CacheResult['status'] | 'uncached' }

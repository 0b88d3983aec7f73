/** The port to the engines that run SQL. `engines.test.ts` is the suite that every adapter passes. */
import { PortError } from '../errors.ts'
import type { Place } from '../sql/error.ts'
import type { Column, SqlType } from '../sql/types.ts'

/**
 * A value in a result, fit for JSON and the same from every engine:
 * - TIMESTAMP: integer microseconds since 1970 UTC; DATETIME, DATE, TIME: ISO text as BigQuery's API writes it
 * - INT64: a number, or digits beyond +-(2^53 - 1); NUMERIC, BIGNUMERIC: decimal text
 * - FLOAT64: a number, or "NaN", "Infinity", "-Infinity"; BOOL, STRING: as they are; BYTES: base64
 * - JSON: parsed, with large integers as digits; INTERVAL: text as BigQuery prints it
 * - STRUCT: an object; ARRAY: an array, and [] for a NULL array; NULL: null
 */
export type Value = null | boolean | number | string | Value[] | { [field: string]: Value }

export type Row = Record<string, Value>

/** A named, typed binding. The value is in its JSON form: TIMESTAMP as ISO text, INT64 as number or digits. */
export interface Binding {
  name: string
  type: SqlType
  value: Value
}

/** One GoogleSQL query over logical table names, with every `@name` bound. */
export interface Statement {
  sql: string
  bindings: Binding[]
  /** Roll-ups that the query may read beside the log tables: all that it reads are as of one moment. */
  rollups?: Rollup[]
}

/** A table of sums over one log table, which the engine keeps up to date by itself. */
export interface Rollup {
  /** Its logical name in statements: `usage.api-counts.rollup`. */
  name: string
  /** The GoogleSQL query that makes it: `rollup-rules.ts` says what it may hold. */
  sql: string
  /** The column that it is partitioned by, as its log table is by the time, where the engine has partitions. */
  partition: string
  /** Columns by which rows are sorted within a partition. */
  cluster: string[]
  /** It is brought up to date at most so often; a statement still sees every row. */
  refreshMinutes: number
}

export interface RunLimits {
  /** Rows beyond this are cut and `truncated` is set. */
  maxRows: number
  /** Milliseconds until the run is cancelled and fails with `timeout`. */
  timeoutMs: number
  /** The most bytes of JSON text that the rows may be; a larger result fails while it is read. Absent = no limit. */
  maxResultBytes?: number
  /**
   * Called with the bytes of JSON text of rows that were read, and with a negative number where rows are thrown away. An
   * EngineError that it throws ends the run.
   */
  onBytes?: (bytes: number) => void
  /** Rows come as JSON text (`Result.text`) in place of objects: whoever only passes them on need not read them. */
  asText?: boolean
  /** The most bytes the engine may scan (billed bytes on BigQuery); absent = no limit for this run. */
  maxBytes?: number
  /** Whether the engine must not answer from its own cache of results. */
  noCache?: boolean
  /** Cancels the run; it then fails with `cancelled`. */
  signal?: AbortSignal
  /** For the engine's own records. Of runs of one key, some wait, so that runs of others need not. */
  labels?: RunLabels
  /** The reservation whose slots the run uses, by BigQuery's name, or `none`; absent = as the project is assigned. */
  reservation?: string
  /**
   * Equal for runs that may share one result until it is stored: a run can adopt the job that a process which died
   * started under the same key.
   */
  jobKey?: string
}

/** Of an engine that plans by itself. Without a time limit it is `describeMs`. */
export type DescribeLimits = Partial<Pick<RunLimits, 'timeoutMs' | 'signal' | 'labels'>>

/** Milliseconds for a dry run, which only plans. */
export const describeMs = 30_000

/** The endpoint's name, the id of the API key that the run is for, and labels of the endpoint and its caller. */
export type RunLabels = { endpoint: string; key: string; [name: string]: string }

export interface Result {
  columns: Column[]
  rows: Row[]
  /** Where the limits ask for text, in place of rows. */
  text?: RowsText
  truncated: boolean
}

/** Rows as JSON, one a line, and their number. */
export interface RowsText {
  ndjson: string
  count: number
}

/** What the engine says of a run; `null` for what it does not say. */
export interface RunCost {
  /** Bytes scanned. */
  bytes: number | null
  /** Milliseconds of work, of all the engine's workers together. */
  slotMs: number | null
  /** The engine's own name for the run. */
  jobId: string | null
}

export interface RunResult extends Result, RunCost {}

/** The result of a dry run. */
export interface Description {
  /** BigQuery's name for the type of the statement: `SELECT` for a query. */
  kind: string
  /** Logical names of the tables read, sorted; the full real name of one that the statement does not name. */
  tables: string[]
  /** Full names of the routines called that are not built in; absent where there are none. */
  routines?: string[]
  columns: Column[]
  /** Estimate of the bytes to scan, where the engine gives one. */
  bytes: number | null
}

export interface QueryEngine {
  /** Runs one query. Throws EngineError, and nothing else. */
  run(statement: Statement, limits: RunLimits): Promise<RunResult>
  /** A dry run: nothing is read. Bindings may be of the right type with value null. Throws EngineError. */
  describe(statement: Statement, limits?: DescribeLimits): Promise<Description>
  readonly rollups: Rollups
  close(): Promise<void>
}

/** An engine's store of roll-ups. A changed definition is a new roll-up. Calls throw EngineError only. */
export interface Rollups {
  has(rollup: Rollup): Promise<boolean>
  /** Does nothing where it is there. */
  create(rollup: Rollup): Promise<void>
  /** Statements over it then fail with `no_rollup`, or make it again. */
  remove(rollup: Rollup): Promise<void>
}

/**
 * Why a run failed:
 * - `rejected`: the engine refuses the statement or a value in it (the SQL's or a parameter's fault)
 * - `unsupported`: correct GoogleSQL that this engine cannot run
 * - `misconfigured`: a missing table or right; the operator's fault, its message is not for callers
 * - `no_rollup`: the statement's roll-ups are missing or cannot be read; another statement has to answer
 * - `too_many_bytes`, `result_too_large`: a limit, which the message names
 * - `overloaded`: this process has no room for the result at the moment (thrown by `onBytes`)
 * - `timeout`, `cancelled`
 * - `failed`: the engine or a log file is broken; its message is for the operator, and holds no value
 * - `unavailable`: the engine cannot be reached or is overloaded; like `failed`, it may be tried again
 */
export type EngineErrorReason =
  | 'rejected'
  | 'unsupported'
  | 'misconfigured'
  | 'no_rollup'
  | 'too_many_bytes'
  | 'result_too_large'
  | 'overloaded'
  | 'timeout'
  | 'cancelled'
  | 'failed'
  | 'unavailable'

/** The only error of an engine. `apiErrorOf` in `shared/run/blame.ts` says what a caller gets. */
export class EngineError extends PortError<EngineErrorReason> {
  override readonly name = 'EngineError'
  /** Where in the statement's SQL, when known. */
  readonly place: Place | null
  /** For `too_many_bytes`, when known: an upper bound of what the run would read, and the limit that it is over. */
  readonly bytes: { estimate: number; limit: number } | null
  /** Of a run that has begun: one that fails costs, too. */
  cost: RunCost | null = null

  constructor(
    reason: EngineErrorReason,
    message: string,
    options: { place?: Place | null; bytes?: EngineError['bytes']; cause?: unknown } = {},
  ) {
    super(reason, message, options.cause)
    this.place = options.place ?? null
    this.bytes = options.bytes ?? null
  }

  /**
   * The message for a misconfiguration names the table or right that the operator has to correct, one for a failure the log
   * file, and they hold nothing else.
   */
  get logged(): Record<string, string> {
    const { reason, message } = this
    return ['misconfigured', 'failed', 'no_rollup'].includes(reason)
      ? { reason, engine: message }
      : { reason }
  }
}

/** Errors in BigQuery's form: a reason, a message that may hold real names and values, and an HTTP status. */
import { EngineError, type EngineErrorReason } from '../../../shared/engines/engine.ts'
import type { Place } from '../../../shared/sql/error.ts'

/** An error to send to the client. */
export class BigQueryError extends Error {
  readonly reason: string
  readonly status: number

  constructor(reason: string, message: string, status = statuses[reason] ?? 400) {
    super(message)
    this.reason = reason
    this.status = status
  }

  get body() {
    const { reason, message, status: code } = this
    return { error: { code, message, status: 'ERROR', errors: [{ domain: 'global', reason, message }] } }
  }
}

/** Any error that a call ends with. */
export function asBigQueryError(error: unknown): BigQueryError {
  return error instanceof BigQueryError ? error : new BigQueryError('internalError', String(error))
}

/** Statuses by reason, as seen from BigQuery; 400 for all others. */
const statuses: Record<string, number> = {
  accessDenied: 403,
  backendError: 503,
  bytesBilledLimitExceeded: 500,
  duplicate: 409,
  internalError: 500,
  notFound: 404,
  notImplemented: 501,
  quotaExceeded: 403,
  rateLimitExceeded: 403,
  required: 401,
  responseTooLarge: 403,
}

const reasons: Record<EngineErrorReason, string> = {
  rejected: 'invalidQuery',
  unsupported: 'notImplemented',
  misconfigured: 'notFound',
  no_rollup: 'notFound',
  too_many_bytes: 'bytesBilledLimitExceeded',
  result_too_large: 'responseTooLarge',
  timeout: 'stopped',
  cancelled: 'stopped',
  overloaded: 'backendError',
  failed: 'jobBackendError',
  unavailable: 'backendError',
}

/** Messages of the local engine, and those of BigQuery, which quotes values. */
const messages: [local: RegExp, bigQuery: string][] = [
  [/^The query took too long$/, 'Job execution was cancelled: Job timed out after 1 sec'],
  [/^The query was cancelled$/, 'Job execution was cancelled: User requested cancellation'],
  [/^Bad regular expression: (.*)$/, 'Cannot parse regular expression: $1: quoted'],
  [
    /^The value of parameter @(\w+) is not a valid (\w+).*$/,
    "Unparseable query parameter `$1` in type `TYPE_$2`, Bad value: quoted value: 'quoted'",
  ],
  [/^Division by zero$/, 'division by zero: 1 / 0'],
  [/^Array index is out of bounds$/, 'Array index 5 is out of bounds'],
  [/^A scalar subquery returned more than one row$/, 'Scalar subquery produced more than one element'],
  [/^Unknown time zone$/, 'Invalid time zone: quoted'],
  [/^A value is not JSON$/, "syntax error while parsing value - invalid literal; last read: 'quoted'"],
  [/^A date or time does not have the format given$/, 'Failed to parse input string "quoted"'],
  [/^A (number or date|date or time) is out of range$/, 'int64 overflow: 1 + 2'],
  [/^(A value cannot be converted to the type asked for|Bad value for a cast)$/, 'Bad int64 value: quoted'],
]

/**
 * The local engine's error as BigQuery words it.
 * @param place in the SQL that the client sent
 */
export function toBigQueryError(error: EngineError, place: Place | null): BigQueryError {
  const [pattern, text] = messages.find(([local]) => local.test(error.message)) ?? []
  const message = pattern ? error.message.replace(pattern, text!) : error.message
  return new BigQueryError(
    reasons[error.reason],
    place ? `${message} at [${place.line}:${place.column}]` : message,
  )
}

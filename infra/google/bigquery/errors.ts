/** Errors in BigQuery's form: a reason, a message that may hold real names and values, and an HTTP status; who may do what. */
import { EngineError, type EngineErrorReason } from '../../../shared/engines/engine.ts'
import { type Place, SqlError } from '../../../shared/sql/error.ts'
import { placeInOther } from '../../../shared/sql/places.ts'

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
  [/^(Unrecognized name: [^;]+);.*$/s, '$1'],
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

/**
 * An error of the local engine or of its front end, with its place in what the client sent.
 * @param column at which the SQL `sent` begins in that, where it begins in the first line
 */
export function asSent(error: unknown, localSql: string, sent: string, column = 0): BigQueryError {
  if (error instanceof SqlError)
    return asSent(new EngineError('rejected', error.message, { place: error.place }), localSql, sent, column)
  if (!(error instanceof EngineError)) return asBigQueryError(error)
  const place = error.place && placeInOther(localSql, error.place, sent)
  return toBigQueryError(error, place && { ...place, column: place.column + (place.line === 1 ? column : 0) })
}

/**
 * @param token the caller's bearer token
 * @param permission such as `bigquery.tables.getData`
 * @param resource its name in IAM: `projects/p`, `projects/p/datasets/d` or `projects/p/datasets/d/tables/t`. What is granted
 *   on what it is in counts for it.
 */
export type Permits = (token: string, permission: string, resource: string) => boolean

/** Of one call. */
export class Caller {
  /** `null` = nobody is asked who they are. */
  readonly token: string | null
  private readonly permits: Permits | null

  /** @throws BigQueryError without a token, where callers are checked */
  constructor(permits: Permits | null, authorization = '') {
    this.permits = permits
    this.token = permits && (/^Bearer (.+)$/.exec(authorization)?.[1] ?? null)
    if (permits && this.token === null)
      throw new BigQueryError('required', 'Request is missing required authentication credential.')
  }

  /**
   * @param name `project`, `project.dataset` or `project.dataset.table`
   * @throws BigQueryError in the words that `googleapis/python-bigquery` and others quote in issues
   */
  demand(permission: string, name: string): void {
    const parts = name.split('.')
    const kinds = ['projects', 'datasets', 'tables']
    const resource = parts.map((part, at) => `${kinds[at]}/${part}`).join('/')
    if (this.permits?.(this.token!, permission, resource) !== false) return
    const what = `${['Project', 'Dataset', 'Table'][parts.length - 1]} ${name.replace('.', ':')}`
    const why =
      parts.length === 1
        ? `User does not have ${permission} permission in project ${name}.`
        : permission === 'bigquery.tables.getData'
          ? `User does not have permission to query table ${name.replace('.', ':')}, or perhaps it does not exist.`
          : `Permission ${permission} denied on ${what.replace(/^./, first => first.toLowerCase())} (or it may not exist).`
    throw new BigQueryError('accessDenied', `Access Denied: ${what}: ${why}`)
  }
}

/**
 * BigQuery's errors as the port's, by `reason` (https://cloud.google.com/bigquery/docs/error-messages). The HTTP status
 * misleads: a reached byte limit is a 500, a rate limit a 403 or 400. Messages quote values and resources, so only words
 * listed here, or checked here, reach callers.
 */
import { type Place, SqlError } from '../../sql/error.ts'
import { placeInOther } from '../../sql/places.ts'
import { locate } from '../error-location.ts'
import { EngineError, type EngineErrorReason } from '../engine.ts'
import { patterns } from '../../sql/hints.ts'
import { timestampOfInteger } from '../../sql/resolve/messages.ts'
import type { ErrorProto } from './client.ts'
import type { SentStatement } from './statement.ts'

export interface Failure {
  error: EngineError
  /** Whether another try, with another job, may succeed at once. */
  retry: boolean
  /** Whether every try is pointless for some minutes. */
  pause: boolean
}

/** A job that has ended with an error. */
export class JobError extends Error {
  readonly errors: ErrorProto[]

  constructor(error: ErrorProto) {
    super(error.message ?? 'the job has failed')
    this.errors = [error]
  }
}

interface Meaning {
  reason: EngineErrorReason
  retry?: boolean
  pause?: boolean
}

const busy: Meaning = { reason: 'unavailable', retry: true }
const broken: Meaning = { reason: 'failed', retry: true }

/** By BigQuery's reason, and by the status of a response without one, from a proxy for one. */
const meanings: [Meaning, words: string][] = [
  [{ reason: 'cancelled' }, 'stopped'],
  [broken, 'backendError internalError jobBackendError jobInternalError 500 502 504'],
  [{ reason: 'misconfigured' }, 'accessDenied billingNotEnabled notFound 401 403 404'],
  [{ reason: 'rejected' }, 'invalid invalidQuery'],
  [{ reason: 'result_too_large' }, 'responseTooLarge'],
  [{ reason: 'timeout' }, 'timeout'],
  [{ reason: 'too_many_bytes' }, 'billingTierLimitExceeded bytesBilledLimitExceeded resourcesExceeded'],
  [busy, 'jobRateLimitExceeded rateLimitExceeded tableUnavailable userRateLimitExceeded 408 429 503'],
  [{ reason: 'unavailable', pause: true }, 'blocked quotaExceeded'],
  [{ reason: 'unsupported' }, 'notImplemented'],
]
const byWord = new Map(
  meanings.flatMap(([meaning, words]) => words.split(' ').map(word => [word, meaning] as const)),
)

/** The reasons for which BigQuery's own message helps. */
const wordings: Partial<Record<EngineErrorReason, typeof rejection>> = {
  rejected: rejection,
  unsupported: rejection,
  misconfigured: misconfiguration,
  too_many_bytes: message => ({ message: bytesMessage(message), place: null }),
}

/** In place of BigQuery's own messages. */
const messages: Record<EngineErrorReason, string> = {
  rejected: 'The query is not valid',
  unsupported: 'The query asks for something that is not supported',
  misconfigured: 'BigQuery cannot be used: look at credentials, project and billing',
  no_rollup: 'The roll-up cannot be read',
  too_many_bytes: 'The query would read too much',
  result_too_large: 'The result is too large',
  overloaded: 'There is no room for the result',
  timeout: 'The query took too long',
  cancelled: 'The query was cancelled',
  failed: 'BigQuery failed',
  unavailable: 'BigQuery is not available',
}

/** Any error of a run or a dry run. `sent` is `null` if it came before there was a statement to send. */
export function failureOf(thrown: unknown, sent: SentStatement | null): Failure {
  if (thrown instanceof EngineError) return { error: thrown, retry: false, pause: false }
  if (sent && isOfRollup(thrown, sent)) {
    const message = `${messages.no_rollup}: ${errorDetails(thrown).reason}`
    const error = new EngineError('no_rollup', message, { cause: causeOf(thrown) })
    return { error, retry: false, pause: false }
  }
  const { reason, retry = false, pause = false } = meaningOf(thrown)
  const { message, place } = wording(thrown, reason, sent)
  const bytes = bytesIn(errorDetails(thrown).message)
  const error = new EngineError(reason, message, { place, bytes, cause: causeOf(thrown) })
  return { error: sent ? locate(error, sent.own) : error, retry, pause }
}

/**
 * Whether a view of the statement's is missing, may not be read, or is out of order: a view stays behind when its table is
 * deleted and made again (https://cloud.google.com/bigquery/docs/materialized-views-use).
 */
function isOfRollup(thrown: unknown, { views }: SentStatement): boolean {
  const { reason, message } = errorDetails(thrown)
  if (views.length === 0 || reason === null || !ofResources.has(reason)) return false
  return /materialized view/i.test(message) || views.some(view => holds(message.replaceAll(':', '.'), view))
}

const ofResources = new Set(['accessDenied', 'invalid', 'invalidQuery', 'notFound'])

/** The error of a call for an operator, with BigQuery's own message. */
export function forOperators(thrown: unknown): EngineError {
  const { error } = failureOf(thrown, null)
  const { reason, message } = errorDetails(thrown)
  return reason === null ? error : new EngineError(error.reason, message, { cause: error.cause })
}

/**
 * The estimate and the limit, where BigQuery gives them: "Query exceeded limit for bytes billed: 1000000. 10485760 or
 * higher required." The estimate is an upper bound, which ignores clustering.
 */
function bytesIn(message: string): EngineError['bytes'] {
  const [, limit, estimate] = /bytes billed: (\d+)\. (\d+) or higher/.exec(message) ?? []
  return limit && estimate ? { limit: Number(limit), estimate: Number(estimate) } : null
}

/** The client's own errors hold the whole exchange, with the Authorization header: of them only reason and message. */
function causeOf(thrown: unknown): unknown {
  const { reason, status, message } = errorDetails(thrown)
  return reason === null && status === null ? thrown : new Error(`${reason ?? status}: ${message}`)
}

function wording(thrown: unknown, reason: EngineErrorReason, sent: SentStatement | null) {
  if (thrown instanceof SqlError) return thrown
  const write = sent && wordings[reason]
  if (write) return write(errorDetails(thrown).message, sent)
  return { message: messages[reason], place: null }
}

/** BigQuery's reason and message, and the HTTP status, where there are any. */
interface ErrorDetails {
  reason: string | null
  message: string
  status: number | null
}

/** Reads the client's errors by their shape: their classes are the client's own. */
export function errorDetails(thrown: unknown): ErrorDetails {
  const {
    message = '',
    code,
    errors,
  } = (thrown ?? {}) as { message?: string; code?: unknown; errors?: ErrorProto[] }
  const first = Array.isArray(errors) ? errors[0] : undefined
  return {
    reason: first?.reason ?? (code === 409 ? 'duplicate' : null),
    message: first?.message ?? message,
    status: typeof code === 'number' ? code : null,
  }
}

/** After `jobTimeoutMs` a job has the reason of one that was cancelled (dbt-labs/dbt-adapters#1974 quotes the error). */
const timedOut = /job timed out/i

function meaningOf(thrown: unknown): Meaning {
  if (thrown instanceof SqlError) return { reason: 'rejected' }
  const { reason, status, message } = errorDetails(thrown)
  if (reason === 'stopped' && timedOut.test(message)) return { reason: 'timeout' }
  const known = byWord.get(reason ?? '') ?? byWord.get(String(status))
  if (known) return known
  if (status !== null) return { reason: 'failed' }
  if (/credential|project id/i.test(message)) return { reason: 'misconfigured' }
  // No connection, or a broken one, is an error of Node's, which has a code such as ECONNRESET; else a response cannot be read.
  return typeof (thrown as { code?: unknown } | null)?.code === 'string' ? busy : broken
}

interface Wording {
  message: string
  /** In the statement's own SQL. */
  place: Place | null
}

/** Words of errors come in either case, and quote values that may have lines. */
const anyCase = 'is'

/**
 * Errors about values while a query runs. BigQuery quotes the values, and they may be of columns that the caller does not
 * see. The messages are those of the local engine.
 */
const aboutValues = patterns(
  String.raw`
  Cannot parse regular expression: ([^:]+) => Bad regular expression: $1
  query parameter \W?(\w+)\W? in type \W?(?:TYPE_)?(\w+) => The value of parameter @$1 is not a valid $2
  division by zero|step cannot be 0 => Division by zero
  Array index .*out of bounds|element of an empty array => Array index is out of bounds
  recursive CTE has reached the maximum number of iterations: (\d+) => A recursive CTE has reached the maximum number of iterations: $1
  Invalid REGEXP_REPLACE pattern => The replacement names a group that the regular expression does not have
  More than one element|produced more than one element => A scalar subquery returned more than one row
  (invalid|unknown|unrecognized)( empty)? time ?zone => Unknown time zone
  input to PARSE_(BIG)?NUMERIC => A text is not a number
  (syntax error while parsing|parsing JSON|invalid JSON|JSON text) => A value is not JSON
  round-trip through string => A number in JSON has too many digits
  in JSONPath|JSONPath (must|cannot) => A JSON path is not valid
  JSON_OBJECT: A key => A key of JSON_OBJECT is NULL
  JSON input is not an? |JSON number\b.* cannot be converted|structurally valid ASCII => Bad value for a cast
  ^(Unsupported f|F)ormat element|ISO parse elements|format specifier|Invalid FORMAT => A format has an element that is not supported
  to FORMAT(?: for pattern .*)?; Expected (\w+); Got (\w+)$ => The values of FORMAT do not go with its format: expected $1, got $2
  Failed to parse input|Mismatch between format|string has been parsed|result from parsing|matched format element => A date or time does not have the format given
  null element => An array in the result has a NULL element
  has maximum length => Text is too long for its type
  pattern ends with a backslash => A LIKE pattern ends with a backslash
  shift by negative => Bitwise shifts take no negative number
  \w argument .*(cannot|must not) be negative => Length must not be negative
  unparseable IP|invalid IP address => Text is not an IP address
  NET\.IP_\w+\(\) => A mask has 4 or 16 bytes, and no more bits
  bytes to UTF8|not valid UTF-8 => Bytes are not UTF-8
  BYTES requires equal length => Bitwise operators take BYTES of the same length
  arrays with more than => Array is too large: use larger steps or a shorter range
  exceeds max\w* allowed output size => Text is too long
  decode invalid (\w+) string => Text is not $1
  overflow|underflow|out[- ]of[- ](the allowed )?range|not in range|range is -?\d|Floating point error|negative value|SQRT cannot be|to invalid (date|time)|extracted from timestamp|^Cannot convert date|^Invalid (codepoint|ASCII value)|must be (positive|non-zero|in ascending order) => A number or date is out of range
  ^(Bad|Invalid) \w+( value)?: |^Invalid \w+ string |Could not (cast|convert)|^Cannot (cast|convert) value|non-finite|^Timezone is not allowed => A value cannot be converted to the type asked for
`,
  anyCase,
)

/** Errors about types, in words that say what to write. Objects in the logs are arrays of one record, whose types are too long to show. */
const aboutTypes: [RegExp, string][] = [
  [
    /^Cannot access field (\S+) on a value with type ARRAY<.*$/s,
    'An array of records has no field $1: add CROSS JOIN UNNEST(...) AS x with the array to FROM, and write x.$1',
  ],
  [/^Field name (\S+) does not exist in STRUCT<.*$/s, 'The record has no field $1'],
  // A time of an answer, in SQL.
  [
    /^(No matching signature for operator \S+ for argument types: (?:TIMESTAMP, INT64|INT64, TIMESTAMP)\b).*$/s,
    `$1; for the INT64 write ${timestampOfInteger}`,
  ],
]

const aboutResources =
  /access denied|permission|not found: (table|dataset|project|routine|job)|[\w-]+:[\w-]+\.\w/i

/**
 * The message and place, fit for callers, of an error in a statement or a value.
 * @param message BigQuery's, with ` at [line:column]` at its end where it is about the text
 */
export function rejection(message: string, sent: SentStatement): Wording {
  const { text, place } = splitPlace(message, sent)
  const known = [...aboutValues, ...aboutTypes].find(([pattern]) => pattern.test(text))
  if (known) return { message: replacement(text, known), place }
  if (!place) return { message: 'A function refuses a value that it is given', place }
  // An error with a place is about the text: names and types, not values.
  const fit = !aboutResources.test(text) && !sent.hidden.some(word => holds(text, word))
  return { message: fit ? withoutFields(text) : 'The query is not valid', place }
}

/** A message without what stands in `STRUCT<...>`: the type of a log row has hundreds of fields. */
function withoutFields(text: string): string {
  let [kept, depth] = ['', 0]
  for (const piece of text.split(/(STRUCT<|<|>)/)) {
    if (depth === 0) kept += piece === 'STRUCT<' ? 'STRUCT' : piece
    if (piece === 'STRUCT<' || (piece === '<' && depth > 0)) depth++
    else if (piece === '>' && depth > 0) depth--
  }
  return kept
}

/** What else than bytes a query may have too many of. */
const aboutResourceLimits = patterns(
  String.raw`
  planning|too complex => The query is too complex for BigQuery: use fewer subqueries, or split it into several queries
  CPU seconds => The query computes too much for what it reads: join or match fewer rows with each other
  memory|shuffle|resources exceeded => The query needs more memory than BigQuery has for it: filter before it sorts, groups or joins
`,
  anyCase,
)

/** Says by how much a limit of bytes is passed, where BigQuery does. */
function bytesMessage(message: string): string {
  const bytes = bytesIn(message)
  if (!bytes)
    return aboutResourceLimits.find(([pattern]) => pattern.test(message))?.[1] ?? messages.too_many_bytes
  const [estimate, limit] = [bytes.estimate, bytes.limit].map(count => count.toLocaleString('en'))
  return `The query would read up to ${estimate} bytes, and may read ${limit}`
}

/** A missing table, under its name in the statement, or a missing right; for the operator. */
export function misconfiguration(message: string, sent: SentStatement): Wording {
  const { text, place } = splitPlace(message, sent)
  const real = [...sent.logical.keys()].find(name => holds(text.replaceAll(':', '.'), name))
  const what = real === undefined ? 'What the query needs' : `The table ${sent.logical.get(real)}`
  const [right] = /\bbigquery\.\w+\.\w+/.exec(text) ?? []
  return { message: `${what} is missing, or may not be used${right ? ` without ${right}` : ''}`, place }
}

/** A message without the place at its end, and that place in the statement's own SQL. */
function splitPlace(message: string, { sql, own }: SentStatement): { text: string; place: Place | null } {
  const [, text = message, line, column] = /^(.*?)\s+at \[(\d+):(\d+)\]/s.exec(message) ?? []
  if (line === undefined) return { text, place: null }
  return { text, place: placeInOther(sql, { line: Number(line), column: Number(column) }, own) }
}

function replacement(text: string, [pattern, message]: [RegExp, string]): string {
  const groups = pattern.exec(text) ?? []
  return message.replaceAll(/\$(\d)/g, (_, number: string) => groups[Number(number)]?.trim() ?? '')
}

/** Whole words only, in any case. */
function holds(text: string, word: string): boolean {
  const escaped = word.replaceAll(/[^\w]/g, '\\$&')
  return new RegExp(`(?<!\\w)${escaped}(?!\\w)`, 'i').test(text)
}

/**
 * What a failure means, by BigQuery's `reason`: the HTTP status misleads, since a reached byte limit is a 500 and a
 * rate limit a 403 or 400. Reasons: https://cloud.google.com/bigquery/docs/error-messages
 */
import { type Place, SqlError } from '../../sql/error.ts'
import { placeInOther } from '../../sql/places.ts'
import { EngineError, type EngineErrorReason } from '../engine.ts'
import type { ErrorProto } from './client.ts'
import type { SentStatement } from './statement.ts'

export interface Failure {
  error: EngineError
  /** Whether another try, of another job, may succeed at once. */
  again: boolean
  /** Whether nobody should try for some minutes. */
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
  again?: boolean
  pause?: boolean
}

const misconfigured: Meaning = { reason: 'misconfigured' }
const busy: Meaning = { reason: 'unavailable', again: true }
const broken: Meaning = { reason: 'failed', again: true }
const tooManyBytes: Meaning = { reason: 'too_many_bytes' }

const byReason: Record<string, Meaning> = {
  accessDenied: misconfigured,
  backendError: broken,
  billingNotEnabled: misconfigured,
  billingTierLimitExceeded: tooManyBytes,
  blocked: { reason: 'unavailable', pause: true },
  bytesBilledLimitExceeded: tooManyBytes,
  internalError: broken,
  invalid: { reason: 'rejected' },
  invalidQuery: { reason: 'rejected' },
  jobBackendError: broken,
  jobInternalError: broken,
  jobRateLimitExceeded: busy,
  notFound: misconfigured,
  notImplemented: { reason: 'unsupported' },
  quotaExceeded: { reason: 'unavailable', pause: true },
  rateLimitExceeded: busy,
  resourcesExceeded: tooManyBytes,
  responseTooLarge: { reason: 'result_too_large' },
  stopped: { reason: 'cancelled' },
  tableUnavailable: busy,
  timeout: { reason: 'timeout' },
  userRateLimitExceeded: busy,
}

/** For an answer without a reason, from a proxy for one. */
const byStatus: Record<number, Meaning> = {
  400: { reason: 'failed' },
  401: misconfigured,
  403: misconfigured,
  404: misconfigured,
  408: busy,
  429: busy,
  500: broken,
  502: broken,
  503: busy,
  504: broken,
}

/** Where BigQuery's own sentence tells something that is of use. */
const wordings: Partial<Record<EngineErrorReason, typeof rejection>> = {
  rejected: rejection,
  unsupported: rejection,
  misconfigured: refusal,
}

/** Nothing of BigQuery's own words, but what `rejection` lets pass. */
const messages: Record<EngineErrorReason, string> = {
  rejected: 'The query is not valid',
  unsupported: 'The query asks for something that is not supported',
  misconfigured: 'BigQuery cannot be used: look at credentials, project and billing',
  too_many_bytes: 'The query would read too much',
  result_too_large: 'The result is too large',
  timeout: 'The query took too long',
  cancelled: 'The query was cancelled',
  failed: 'BigQuery failed',
  unavailable: 'BigQuery is not available',
}

/** @param sent `null` where it failed before there was one */
export function failureOf(thrown: unknown, sent: SentStatement | null): Failure {
  if (thrown instanceof EngineError) return { error: thrown, again: false, pause: false }
  const { reason, again = false, pause = false } = meaningOf(thrown)
  const { message, place } = wording(thrown, reason, sent)
  return { error: new EngineError(reason, message, { place, cause: causeOf(thrown) }), again, pause }
}

/** The client's own errors hold the whole exchange, with the Authorization header. */
function causeOf(thrown: unknown): unknown {
  const { reason, status, message } = complaintOf(thrown)
  return reason === null && status === null ? thrown : new Error(`${reason ?? status}: ${message}`)
}

function wording(thrown: unknown, reason: EngineErrorReason, sent: SentStatement | null) {
  if (thrown instanceof SqlError) return thrown
  const write = sent && wordings[reason]
  if (write) return write(complaintOf(thrown).message, sent)
  return { message: messages[reason], place: null }
}

/** BigQuery's word for what went wrong, its sentence and the HTTP status, as far as there are any. */
export interface Complaint {
  reason: string | null
  message: string
  status: number | null
}

/** Reads the client's errors by their shape: their classes are the client's own. */
export function complaintOf(thrown: unknown): Complaint {
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

function meaningOf(thrown: unknown): Meaning {
  if (thrown instanceof SqlError) return { reason: 'rejected' }
  const { reason, status, message } = complaintOf(thrown)
  if (reason !== null && Object.hasOwn(byReason, reason)) return byReason[reason]!
  if (status !== null) return byStatus[status] ?? { reason: 'failed' }
  if (/credential|project id/i.test(message)) return misconfigured
  // Without an answer: the connection could not be made, or broke. The rest is an answer that cannot be read.
  return hasCode(thrown) ? busy : broken
}

/** As Node's errors have: ECONNRESET. */
function hasCode(thrown: unknown): boolean {
  return typeof (thrown as { code?: unknown } | null)?.code === 'string'
}

/** BigQuery's complaint about a statement, in words that are fit for whoever asked for it. */

export interface Wording {
  message: string
  /** In the statement's own SQL. */
  place: Place | null
}

/**
 * What goes wrong with values while a query runs. BigQuery quotes them, and they may be of columns that the caller does
 * not see. The words are those of the local engine.
 */
const aboutValues: [pattern: RegExp, message: string][] = [
  [/Cannot parse regular expression: ([^:]+)/, 'Bad regular expression: $1'],
  [/query parameter \W?(\w+)\W? in type \W?(?:TYPE_)?(\w+)/, 'The value of parameter @$1 is not a valid $2'],
  [/division by zero/i, 'Division by zero'],
  [/Array index .*out of bounds/, 'Array index is out of bounds'],
  [/Scalar subquery produced more than one element/, 'A scalar subquery returned more than one row'],
  [/(invalid|unknown|unrecognized) time ?zone/i, 'Unknown time zone'],
  [/(syntax error while parsing|parsing JSON|invalid JSON|JSON text)/i, 'A value is not JSON'],
  [/Failed to parse input string|Mismatch between format/, 'A date or time does not have the format given'],
  [/null element/i, 'An array in the result has a NULL element'],
  [/overflow|out of range/i, 'A number or date is out of range'],
  [
    /^(Bad|Invalid) \w+( value)?: |Could not (cast|convert)|^Cannot (cast|convert) value/i,
    'A value cannot be converted to the type asked for',
  ],
]

/** Resources, whatever they are called. */
const aboutResources =
  /access denied|permission|not found: (table|dataset|project|routine|job)|[\w-]+:[\w-]+\.\w/i

/** @param complaint BigQuery's sentence, with ` at [line:column]` at its end where it is about the text */
export function rejection(complaint: string, sent: SentStatement): Wording {
  const { text, place } = parted(complaint, sent)
  const known = aboutValues.find(([pattern]) => pattern.test(text))
  if (known) return { message: replacement(text, known), place }
  if (!place) return { message: 'A function refuses a value that it is given', place }
  // What has a place is about the text: names and types, not values.
  const fit = !aboutResources.test(text) && !sent.hidden.some(word => holds(text, word))
  return { message: fit ? text : 'The query is not valid', place }
}

/** A table that is missing, under the name that the statement has for it, or a right that is: words for the operator. */
export function refusal(complaint: string, sent: SentStatement): Wording {
  const { text, place } = parted(complaint, sent)
  const real = [...sent.logical.keys()].find(name => holds(text.replaceAll(':', '.'), name))
  const what = real === undefined ? 'What the query needs' : `The table ${sent.logical.get(real)}`
  const [right] = /\bbigquery\.\w+\.\w+/.exec(text) ?? []
  return { message: `${what} is missing, or may not be used${right ? ` without ${right}` : ''}`, place }
}

/** The sentence, and the place that stands at its end, in the statement's own SQL. */
function parted(complaint: string, { sql, own }: SentStatement): { text: string; place: Place | null } {
  const [, text = complaint, line, column] = /^(.*?)\s+at \[(\d+):(\d+)\]/s.exec(complaint) ?? []
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

/**
 * Every error of the API by its code: the HTTP status, the title, and after how many seconds a client may try again
 * (`Retry-After`), unless the error says otherwise. infra/docs/reference.md, "Statuses", says when each occurs.
 */
export const errorCodes = {
  invalid_parameter: { status: 400, title: 'A parameter or header is not valid' },
  invalid_query: { status: 400, title: 'The query is not valid' },
  invalid_request: { status: 400, title: 'The request could not be read' },
  sandbox_disabled: { status: 400, title: 'This endpoint takes no SQL' },
  unauthenticated: { status: 401, title: 'A valid API key is needed' },
  insufficient_scope: { status: 403, title: 'The token lacks a scope' },
  forbidden_origin: { status: 403, title: 'Pages of this origin may not call' },
  sandbox_violation: { status: 403, title: 'The query does what this endpoint does not allow' },
  pinned_parameter: { status: 403, title: 'The API key fixes this parameter' },
  right_missing: { status: 403, title: 'The API key lacks a right' },
  redaction_locked: { status: 403, title: 'The API key may not lift redaction' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_acceptable: { status: 406, title: 'None of the accepted formats is available' },
  conflict: { status: 409, title: 'Another change came first' },
  payload_too_large: { status: 413, title: 'The request body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  bytes_limit_exceeded: { status: 422, title: 'The query would read too much' },
  result_too_large: { status: 422, title: 'The result is too large' },
  rate_limited: { status: 429, title: 'Too many requests' },
  budget_exhausted: { status: 429, title: 'The budget is used up' },
  client_closed_request: { status: 499, title: 'The client has gone' },
  internal: { status: 500, title: 'Internal error' },
  engine_error: { status: 502, title: 'The query engine failed', retrySeconds: 5 },
  overloaded: { status: 503, title: 'The service is busy with other work', retrySeconds: 5 },
  engine_unavailable: { status: 503, title: 'The service is not available at the moment', retrySeconds: 5 },
  store_unavailable: { status: 503, title: 'The store is not available at the moment', retrySeconds: 2 },
  issuer_unavailable: {
    status: 503,
    title: 'The issuer’s keys cannot be read at the moment',
    retrySeconds: 5,
  },
  query_timeout: { status: 504, title: 'The query took too long' },
} satisfies Record<string, CodeMeaning>

interface CodeMeaning {
  status: number
  title: string
  retrySeconds?: number
}

export type ErrorCode = keyof typeof errorCodes

/** What is wrong with one parameter, header or claim of a token, at one place in the SQL, or in another endpoint. */
export interface Problem {
  parameter?: string
  header?: string
  claim?: string
  line?: number
  column?: number
  /** The endpoint that failed, where the one that was called reads its rows. */
  endpoint?: string
  /** Tables that may be read, where another was named; apart from the text, in which clients look for the one that is missing. */
  tables?: string[]
  detail: string
}

/** The tables of a problem in words. */
export function tablesText({ tables = [] }: Problem): string {
  return tables.length > 0 ? `The query may read ${tables.join(', ')}.` : ''
}

/** The error of a port, by its reason; what a caller gets of it is an ApiError. */
export abstract class PortError<Reason extends string> extends Error {
  readonly reason: Reason

  constructor(reason: Reason, message: string, cause: unknown) {
    super(message, { cause })
    this.reason = reason
  }

  /** What an operator needs of it in a log: nothing that quotes a value or a caller's text. */
  abstract get logged(): Record<string, string | number>
}

interface ErrorOptions {
  problems?: Problem[]
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * The only error that reaches a caller: thrown anywhere, caught once, in the HTTP handler. `detail` and `problems` are sent
 * as they are and never hold a key, a row or a table's real name.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly problems: Problem[]
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, detail: string, { problems = [], headers = {}, cause }: ErrorOptions = {}) {
    super(detail, { cause })
    const { retrySeconds }: CodeMeaning = errorCodes[code]
    this.code = code
    this.problems = problems
    this.headers = { ...(retrySeconds ? { 'Retry-After': String(retrySeconds) } : {}), ...headers }
  }

  /** An error whose detail is its problems, each after the name of what is wrong: `limit must be a number`. */
  static of(code: ErrorCode, ...problems: Problem[]): ApiError {
    const details = problems.map(
      ({ parameter, header, claim, detail }) => `${parameter ?? header ?? claim} ${detail}`,
    )
    return new ApiError(code, details.join('; '), { problems })
  }

  get status(): number {
    return errorCodes[this.code].status
  }

  /** The same error with another detail, other problems or other headers. */
  with({ detail = this.message, ...others }: Omit<ErrorOptions, 'cause'> & { detail?: string }): ApiError {
    const { problems, headers, cause } = this
    return new ApiError(this.code, detail, { problems, headers, cause, ...others })
  }
}

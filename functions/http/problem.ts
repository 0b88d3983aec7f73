/** Errors as callers get them: problem documents (RFC 9457), with the members that Logflare's clients read. */
import type { ServerResponse } from 'node:http'
import { ApiError, errorCodes, type ErrorCode, type Problem } from '../../shared/errors.ts'
import { withoutKeys } from '../../shared/key-text.ts'
import { redactSent } from '../../shared/redact/redact.ts'

export interface ProblemDocument {
  type: string
  title: string
  status: number
  detail: string
  /** Path of the request, redacted and without its query string. */
  instance: string
  code: ErrorCode
  requestId: string
  /** Each parameter, header or place in the SQL that is wrong, and why. */
  errors: Problem[]
  error: { code: ErrorCode; message: string }
  message: string
}

interface ProblemContext {
  path: string
  requestId?: string
}

/** The part of an error that a caller may see. Anything but an ApiError is a bug: the request's id, nothing else. */
export function problemDocument(error: unknown, { path, requestId = '' }: ProblemContext): ProblemDocument {
  const known = error instanceof ApiError ? error : new ApiError('internal', 'An internal error.')
  const { code, message, problems, status } = known
  return {
    type: `urn:lqe:problem:${code}`,
    title: errorCodes[code].title,
    status,
    detail: message,
    instance: redactSent(path),
    code,
    requestId,
    errors: problems,
    error: { code, message },
    message,
  }
}

/** Sends the problem document of an error, with the error's own headers. */
export function sendProblem(res: ServerResponse, error: unknown, context: ProblemContext): void {
  const document = problemDocument(error, context)
  const body = Buffer.from(withoutKeys(JSON.stringify(document)))
  res.writeHead(document.status, {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    ...(error instanceof ApiError ? error.headers : {}),
  })
  res.end(body)
}

/** For an address without a route or a file. */
export function nothingHere(): ApiError {
  return new ApiError(
    'not_found',
    'There is nothing at this address. Endpoints are at /api/endpoints/query/<name>.',
  )
}

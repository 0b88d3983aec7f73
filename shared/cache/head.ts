/** The key of a cached answer, its head document, `answers/{key}`, and the failures in it. shared/cache/README.md, "Documents". */
import { hash } from 'node:crypto'
import type { Summary } from '../answers/answer.ts'
import { leasedUntil } from './lease.ts'
import { mistakeMs } from './durations.ts'
import { EngineError } from '../engines/engine.ts'
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'
import { isReadable } from '../stores/format.ts'
import type { Document, Fields, Plain, Reference } from '../stores/store.ts'

/** Everything that decides an answer. The caller's API key is absent: its pins and rights have been applied before. */
export interface CacheKeyFields {
  endpointId: string
  /** Hash of the definition: a changed definition has other keys. */
  version: string
  /** Canonical parameters, from the very object that is bound. */
  parameters: string
  /** Normal form of the caller's SQL; `null` for the endpoint's own query. */
  sql: string | null
  /** The cursor of a page; absent for the first one, and without pages. */
  cursor?: string
  /** Of the endpoints that this one reads: their versions and parameters; absent where it reads none. */
  upstream?: string
  /** `clear`, or the version of the redaction policy that was applied. */
  variant: string
}

const keys = new WeakMap<CacheKeyFields, string>()

/** The cache key, 64 hex digits. @param fields never change after it */
export function cacheKey(fields: Readonly<CacheKeyFields>): string {
  const known = keys.get(fields)
  if (known !== undefined) return known
  const key = hashOf(fields)
  keys.set(fields, key)
  return key
}

/** JSON separates the fields, so that two different lists never run into one text. */
function hashOf(fields: CacheKeyFields): string {
  const { endpointId, version, parameters, sql, cursor, variant, upstream } = fields
  const own = [endpointId, version, parameters, sql, variant]
  // Fields that were added later are left out where absent, so that keys of before stay the same.
  const rest = upstream === undefined ? [cursor].slice(0, cursor ? 1 : 0) : [cursor ?? null, upstream]
  return hash('sha256', JSON.stringify([...own, ...rest]))
}

export const answersCollection = 'answers'
export const chunksCollection = 'answerChunks'

/** Where the bytes of a stored answer are, and what proves that they are whole. */
export interface Stored extends Summary {
  /** Absent = 1. */
  format?: number
  generation: string
  /** 0 = inline in the head. */
  chunks: number
  bytes: number
  rawBytes: number
  /** Of the gzip bytes. */
  sha256: string
  /** SHA-256 of the identity bytes, for the ETag. */
  etag: string
  /** Store time at which the engine began. */
  madeAt: number
}

export interface Head {
  version: string
  keyFields: CacheKeyFields
  stored: Stored | null
  inline: Buffer | null
  /** Store time at which the lease ends; 0 = there is none. */
  leasedUntil: number
  failure: Failure | null
  usedAt: number
  uses: number
  /** The generation before this one, whose chunks a reader may still be reading. */
  previous: { generation: string; chunks: number } | null
}

/** Where the head of a cache key is. */
export function headAt(key: string): Reference {
  return { collection: answersCollection, id: key }
}

/** Every field but the payload: enough to wait, to judge and to lease. */
export const lightFields = ['question', 'stored', 'lease', 'failure', 'usedAt', 'uses', 'previous']

/** Reads a head, without an answer in a newer format; `null` for an invalid document (edited by hand, or of another layout). */
export function headOf(document: Document): Head | null {
  const { fields, version } = document
  const keyFields = fields['question'] as unknown as CacheKeyFields | undefined
  if (typeof keyFields?.endpointId !== 'string') return null
  const inline = fields['inline']
  const stored = fields['stored'] as unknown as Stored | undefined
  return {
    version,
    keyFields,
    stored: stored && isReadable('answer', stored.format) ? stored : null,
    inline:
      inline instanceof Uint8Array ? Buffer.from(inline.buffer, inline.byteOffset, inline.byteLength) : null,
    leasedUntil: leasedUntil(document),
    failure: failureOf(fields['failure']),
    usedAt: Number(fields['usedAt'] ?? 0),
    uses: Number(fields['uses'] ?? 0),
    previous: (fields['previous'] as unknown as Head['previous'] | undefined) ?? null,
  }
}

/** Whether a head belongs to these key fields: a key is a hash, and is never trusted alone. */
export function belongsTo(head: Head, keyFields: CacheKeyFields): boolean {
  return (Object.keys(keyFields) as (keyof CacheKeyFields)[]).every(
    name => head.keyFields[name] === keyFields[name],
  )
}

/** The first fields of every new head. The warmer searches by `endpoint` and `version`. */
export function firstFields(keyFields: CacheKeyFields, usedAt: number): Fields {
  return {
    question: { ...keyFields },
    endpoint: keyFields.endpointId,
    version: keyFields.version,
    usedAt,
    uses: 1,
  }
}

// ---- failed runs: what is recorded of them, and for how long. shared/cache/README.md, "Failures".

/** A failed run, as the head holds it. Times are store time. */
export interface Failure {
  at: number
  /** The engine does not run again before `at + ms`. */
  ms: number
  /** Consecutive failures of the engine; 0 for a caller's own mistake. */
  count: number
  error: ApiError
}

/** The back-off doubles with each failure of the engine, up to this factor. */
const maxBackOffFactor = 8

/** Whether the caller has to change the request; a stale copy never covers such an answer. */
export function isMistake(error: ApiError): boolean {
  return error.status < 500
}

/** Whether the error is about the budget of one caller; it says nothing of the query, and nothing to other callers. */
export function isOfCaller(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'budget_exhausted'
}

/** Whether the error says something of the query, and not of one caller's budget or of one process: its memory or end. */
export function isOfQuery(error: ApiError): boolean {
  const isInterrupted = error.cause instanceof EngineError && error.cause.reason === 'cancelled'
  return !isOfCaller(error) && !isInterrupted && error.code !== 'overloaded'
}

/** Any other error is a bug: `internal`. */
export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal', 'An internal error.', { cause: error })
}

/**
 * The record of a failed run.
 * @param now store time, milliseconds since 1970 UTC
 * @param backOffMs how long the engine rests after its first failure
 */
export function nextFailure(
  previous: Failure | null,
  error: ApiError,
  { now, backOffMs }: { now: number; backOffMs: number },
): Failure {
  if (isMistake(error)) return { at: now, ms: mistakeMs, count: 0, error }
  const count = (previous?.count ?? 0) + 1
  return { at: now, ms: backOffMs * Math.min(2 ** (count - 1), maxBackOffFactor), count, error }
}

/** The recorded error; a failure of the engine with the time that is left as `Retry-After`. */
export function recordedError({ at, ms, error }: Failure, now: number): ApiError {
  if (isMistake(error)) return error
  const seconds = Math.max(1, Math.ceil((at + ms - now) / 1000))
  return error.with({ headers: { ...error.headers, 'Retry-After': String(seconds) } })
}

interface FailureFields {
  at: number
  ms: number
  count: number
  code: ErrorCode
  detail: string
  problems: Plain[]
}

/** The head's field `failure`. */
export function failureFields({ at, ms, count, error }: Failure): Plain {
  const problems = error.problems.map(problem => ({ ...problem }))
  return { at, ms, count, code: error.code, detail: error.message, problems }
}

/** Reads what `failureFields` made. */
function failureOf(fields: unknown): Failure | null {
  if (!fields) return null
  const { at, ms, count, code, detail, problems } = fields as FailureFields
  return { at, ms, count, error: new ApiError(code, detail, { problems: problems as unknown as Problem[] }) }
}

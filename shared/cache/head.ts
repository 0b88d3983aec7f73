/** The head document of a cached answer: `answers/{key}`. cache.md, "Documents". */
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'
import type { Document, Fields, Plain, Reference } from '../stores/store.ts'
import type { Summary } from '../answers/answer.ts'
import type { CacheKeyFields } from './key.ts'

export const answersCollection = 'answers'
export const chunksCollection = 'answerChunks'

/** Where the bytes of a stored answer are, and how to know that they are whole. */
export interface Stored extends Summary {
  generation: string
  /** 0 = inline in the head. */
  chunks: number
  bytes: number
  rawBytes: number
  /** Of the gzip bytes. */
  sha256: string
  /** Of the identity bytes; the ETag is made of it. */
  etag: string
  /** Store time at which the engine began. */
  madeAt: number
}

export interface Failure {
  at: number
  /** Nobody tries again before `at + ms`. */
  ms: number
  count: number
  error: ApiError
}

export interface Head {
  version: string
  keyFields: CacheKeyFields
  stored: Stored | null
  inline: Buffer | null
  /** Store time at which the lease ends; 0 = there is none. */
  leasedUntil: number
  leaseNonce: string | null
  failure: Failure | null
  usedAt: number
  uses: number
  /** Generation before this one, whose chunks readers may still be reading. */
  previous: { generation: string; chunks: number } | null
}

export function headAt(key: string): Reference {
  return { collection: answersCollection, id: key }
}

/** Every field but the payload: enough to wait, to judge and to lease. */
export const lightFields = ['question', 'stored', 'lease', 'failure', 'usedAt', 'uses', 'previous']

/** Reads a head; a document that is none (hand-edited, or of another layout) is `null` and will be written over. */
export function headOf({ fields, version, writtenAt }: Document): Head | null {
  const keyFields = fields['question'] as unknown as CacheKeyFields | undefined
  if (typeof keyFields !== 'object' || keyFields === null) return null
  const lease = fields['lease'] as { nonce: string; ms: number } | undefined
  const inline = fields['inline']
  return {
    version,
    keyFields,
    stored: (fields['stored'] as unknown as Stored | undefined) ?? null,
    inline:
      inline instanceof Uint8Array ? Buffer.from(inline.buffer, inline.byteOffset, inline.byteLength) : null,
    leasedUntil: lease ? writtenAt + lease.ms : 0,
    leaseNonce: lease?.nonce ?? null,
    failure: failureOf(fields['failure'] as FailureFields | undefined),
    usedAt: Number(fields['usedAt'] ?? 0),
    uses: Number(fields['uses'] ?? 0),
    previous: (fields['previous'] as unknown as Head['previous'] | undefined) ?? null,
  }
}

/** Whether a head is for this very question: a key is a hash, and is never trusted alone. */
export function answers(head: Head, keyFields: CacheKeyFields): boolean {
  return (Object.keys(keyFields) as (keyof CacheKeyFields)[]).every(
    part => head.keyFields[part] === keyFields[part],
  )
}

/** What a new head begins with, whoever makes it. `endpoint` and `version` stand apart for the warmer's search. */
export function firstFields(keyFields: CacheKeyFields, usedAt: number): Fields {
  return {
    question: { ...keyFields },
    endpoint: keyFields.endpointId,
    version: keyFields.version,
    usedAt,
    uses: 1,
  }
}

interface FailureFields {
  at: number
  ms: number
  count: number
  code: ErrorCode
  detail: string
  problems: Plain[]
}

export function failureFields({ at, ms, count, error }: Failure): Plain {
  const problems = error.problems.map(problem => ({ ...problem }))
  return { at, ms, count, code: error.code, detail: error.message, problems }
}

function failureOf(fields: FailureFields | undefined): Failure | null {
  if (!fields) return null
  const { at, ms, count, code, detail, problems } = fields
  return { at, ms, count, error: new ApiError(code, detail, { problems: problems as unknown as Problem[] }) }
}

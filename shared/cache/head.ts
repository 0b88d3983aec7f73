/** The key of a cached answer, and its head document, `answers/{key}`. shared/cache/README.md, "Documents". */
import { hash } from 'node:crypto'
import type { Summary } from '../answers/answer.ts'
import { type Failure, failureOf } from './failures.ts'
import { leasedUntil } from './lease.ts'
import { isReadable } from '../stores/format.ts'
import type { Document, Fields, Reference } from '../stores/store.ts'

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
  // What most keys do not have is left out, so that their answers stay in use.
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

/** Reads a head, without an answer that a later version stored; `null` for a document that is none (edited by hand, or of another layout). */
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

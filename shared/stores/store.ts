/**
 * The port to the document store: endpoint definitions, keys and cached answers. It has the operations that leases need
 * and no others. Every adapter passes the suites `store.*.test.ts` in this folder.
 */

import { PortError } from '../errors.ts'

/** A value of a document. Bytes and dates are at the top level only. */
export type Plain = null | boolean | number | string | Plain[] | { [field: string]: Plain }
export type Fields = { [field: string]: Plain | Uint8Array | Date }
export interface Reference {
  collection: string
  /** 1 to 1,000 characters of A-Z a-z 0-9 . _ - : */
  id: string
}

export interface Document {
  id: string
  fields: Fields
  /** Opaque; differs after every write of the document, never comes back. */
  version: string
  /** The store's time of the last write, milliseconds since 1970 UTC (may have a fraction). */
  writtenAt: number
}

export interface Reading {
  /** `null` where there is no such document. */
  document: Document | null
  /** The store's time of this read, by the same clock as `writtenAt`. */
  readAt: number
}

export interface Writing {
  version: string
  writtenAt: number
}

export type Write =
  | { type: 'create'; at: Reference; fields: Fields }
  /** Without `ifVersion` the document may have any version, or be missing. */
  | { type: 'replace'; at: Reference; fields: Fields; ifVersion?: string }
  /** Sets and removes these fields and leaves the others; the document must exist. */
  | { type: 'update'; at: Reference; set: Fields; unset?: string[]; ifVersion?: string }
  /**
   * Adds to fields, each 0 where it is missing or no number, and sets others; creates the document where it is missing.
   * Any number of them at once lose nothing; one whose acknowledgement is lost may count twice.
   */
  | { type: 'add'; at: Reference; amounts: { [field: string]: number }; set?: Fields }
  /** Removing a missing document succeeds, unless `ifVersion` is given. */
  | { type: 'remove'; at: Reference; ifVersion?: string }

export interface Filter {
  field: string
  operator: '==' | '<' | '<=' | '>' | '>='
  value: string | number | boolean | Date
}

export interface Search {
  collection: string
  where?: Filter[]
  /** As in Firestore: documents without this field are left out, values of other types go by type, text by its UTF-8 bytes. */
  orderBy?: { field: string; direction: 'asc' | 'desc' }
  /** 1 to 1,000. */
  limit: number
  /** Only these fields are read and returned. */
  fields?: string[]
}

export interface Store {
  /** With `fields`, only these are read and returned. */
  get(at: Reference, fields?: string[]): Promise<Reading>
  /** Fails with `conflict` if the document exists. */
  create(at: Reference, fields: Fields): Promise<Writing>
  /** Replaces all fields. Fails with `conflict` if the version is another one, or the document is gone. */
  replace(at: Reference, fields: Fields, ifVersion?: string): Promise<Writing>
  /**
   * Sets and removes top-level fields and leaves the others as they are, so that a lease costs no rewrite of a payload.
   * Fails with `conflict` if the version is another one, or the document is gone.
   */
  update(at: Reference, change: { set: Fields; unset?: string[] }, ifVersion?: string): Promise<Writing>
  remove(at: Reference, ifVersion?: string): Promise<void>
  /** Documents in the order asked for; without one, by id. */
  query(search: Search): Promise<{ documents: Document[]; readAt: number }>
  /** All or nothing, at most 500 writes. Fails with `conflict` if any precondition does not hold. */
  batch(writes: Write[]): Promise<Writing[]>
  close(): Promise<void>
}

/**
 * - `conflict`: a precondition does not hold, nothing was written
 * - `too_large`: a document or a batch over the store's limit, nothing was written
 * - `invalid`: the call breaks a rule of this port, which is a bug of this service
 * - `unavailable`: the store cannot be reached, is busy or did not answer in time; the write may have happened
 * - `newer_format`: a document has the form of a later version of this program (`format.ts`)
 */
export type StoreErrorReason = 'conflict' | 'too_large' | 'invalid' | 'unavailable' | 'newer_format'

/** The only error of a store. */
export class StoreError extends PortError<StoreErrorReason> {
  override readonly name = 'StoreError'

  constructor(reason: StoreErrorReason, message: string, options: { cause?: unknown } = {}) {
    super(reason, message, options.cause)
  }

  /** With the status code of gRPC or the error code of Node that the store's client gives. */
  get logged(): Record<string, string | number> {
    const { code } = (this.cause ?? {}) as { code?: unknown }
    return { reason: this.reason, ...(typeof code === 'number' || typeof code === 'string' ? { code } : {}) }
  }
}

/** For `catch`, where the program goes on without the store. Throws any other error. */
export function ignoreStoreError(error: unknown): undefined {
  if (!(error instanceof StoreError)) throw error
}

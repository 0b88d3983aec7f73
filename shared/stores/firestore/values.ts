/** Firestore's times and values in the port's form. */
import type { DocumentData, Timestamp } from '@google-cloud/firestore'
import { StoreError, type Document, type Fields } from '../store.ts'
import { markField } from '../limits.ts'
import type { Sdk } from './connection.ts'

/** With all digits of Firestore's time: two writes of a document never have the same. */
export function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${String(nanoseconds).padStart(9, '0')}`
}

/** @throws StoreError `invalid` for a malformed version */
export function updateTimeOf(version: string, { Timestamp }: Sdk): Timestamp {
  const [, seconds, nanoseconds] = /^(\d{1,12})\.(\d{9})$/.exec(version) ?? []
  if (seconds === undefined) throw new StoreError('invalid', `not a version: ${JSON.stringify(version)}`)
  return new Timestamp(Number(seconds), Number(nanoseconds))
}

/** Milliseconds since 1970 UTC, with a fraction. */
export function millisecondsOf({ seconds, nanoseconds }: Timestamp): number {
  return seconds * 1000 + nanoseconds / 1_000_000
}

/** A document of Firestore, without the mark of its write. */
export function toDocument(id: string, data: DocumentData, updateTime: Timestamp): Document {
  const { [markField]: _, ...values } = data
  const fields = Object.entries(values).map(([name, value]) => [name, toField(value)])
  return {
    id,
    fields: Object.fromEntries(fields) as Fields,
    version: versionOf(updateTime),
    writtenAt: millisecondsOf(updateTime),
  }
}

/** Bytes come as a Buffer, times as Timestamps, anything else as it was written. */
function toField(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return isTimestamp(value) ? value.toDate() : value
}

/** By its method, as no other value has functions; the class itself is loaded with the SDK only. */
function isTimestamp(value: unknown): value is Timestamp {
  return typeof (value as Timestamp | null)?.toDate === 'function'
}

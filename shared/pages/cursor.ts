/**
 * Cursors: the position of a row as text that tells a caller nothing, and that only the service can make. A position has the
 * row's tie-breaker before redaction: were it readable, it would leak; were it free to choose, asking for the rows behind it
 * would be a search for a hidden value.
 *
 * AES-256-GCM under a key that the store holds. The nonce is a hash of the content under a key of its own (as in RFC 8452),
 * so that equal positions are equal texts, and equal rows make equal answers.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { PageStart } from './statement.ts'
import { assertReadable, formats, isReadable } from '../stores/format.ts'
import { rememberRead } from '../stores/remember-reads.ts'
import { type Document, type Store, StoreError } from '../stores/store.ts'

export interface Cursor extends PageStart {
  endpointId: string
  /** Hash of the parameters that it goes with. */
  parameters: string
  /** What relative times in those count from, milliseconds since 1970; `null` where there are none. */
  now: number | null
}

export interface Cursors {
  /** @throws ApiError `store_unavailable` */
  seal(cursor: Cursor): Promise<string>
  /** `null` for a text that was not sealed here, or before the secret was rotated, or by a later version. @throws ApiError `store_unavailable` */
  open(text: string): Promise<Cursor | null>
}

interface Options {
  /** How long the secret is used without another read, milliseconds. */
  rememberMs?: number
  /** Milliseconds from any start but 0. */
  clock?: { now(): number }
}

/** Cursors under the secret in the store. */
export function openCursors(store: Store, { rememberMs = 0, clock = performance }: Options = {}): Cursors {
  const keys = rememberRead({
    rememberMs,
    clock,
    async read() {
      const { value, validMs } = await readSecret(store)
      return { value: [value.current, ...value.others].map(keysOf), validMs }
    },
    unavailable: 'Pages cannot be had at the moment.',
  })
  return {
    seal: async cursor => seal((await keys())[0]!, textOf(cursor)),
    async open(text) {
      for (const each of await keys()) {
        const content = unseal(each, text)
        if (content !== null) return cursorOf(content)
      }
      return null
    },
  }
}

interface Keys {
  content: Buffer
  nonce: Buffer
}

function keysOf(secret: Uint8Array): Keys {
  const derived = (use: string) => Buffer.from(hkdfSync('sha256', secret, '', `cursor ${use}`, 32))
  return { content: derived('content'), nonce: derived('nonce') }
}

const nonceBytes = 12
const tagBytes = 16

function seal({ content, nonce: nonceKey }: Keys, text: string): string {
  const nonce = createHmac('sha256', nonceKey).update(text).digest().subarray(0, nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', content, nonce)
  const bytes = [nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(bytes).toString('base64url')
}

function unseal({ content }: Keys, text: string): string | null {
  const bytes = Buffer.from(text, 'base64url')
  // Base64 has several texts for the same bytes; only the canonical one is taken.
  if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== text) return null
  const decipher = createDecipheriv('aes-256-gcm', content, bytes.subarray(0, nonceBytes))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([text, decipher.final()]).toString()
  } catch {
    return null
  }
}

type Content = [string, string, PageStart['direction'], string, string, number | null, format?: number]

function textOf({ endpointId, parameters, direction, after: { time, tie }, now }: Cursor): string {
  const content: Content = [endpointId, parameters, direction, time, tie, now, formats.cursor]
  return JSON.stringify(content)
}

function cursorOf(text: string): Cursor | null {
  const [endpointId, parameters, direction, time, tie, now, format] = JSON.parse(text) as Content
  if (!isReadable('cursor', format)) return null
  return { endpointId, parameters, direction, after: { time, tie }, now }
}

const at = { collection: 'secrets', id: 'cursors' }

/** 32 bytes each. */
interface Secret {
  /** Of the cursors that are made now. */
  current: Uint8Array
  /** Also of cursors that are taken. */
  others: Uint8Array[]
}

/** After so long every process has read a new secret, as it has keys and definitions (`REMEMBER_MS`). */
const settleMs = 30_000

/** Why an operator's command is refused, in words for the operator. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

/**
 * Reads the secret, and makes it where there is none.
 * @returns it as it is now, and for how many milliseconds it is so, by the store's clock
 * @throws StoreError, and ApiError for one of a later version
 */
async function readSecret(store: Store): Promise<{ value: Secret; validMs: number }> {
  const { document, readAt } = await store.get(at)
  if (!document) {
    await store.create(at, { format: formats.secret, key: newKey() }).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.reason === 'conflict')) throw error
    })
    return readSecret(store)
  }
  const { key, usedFrom, previous, previousUntil } = secretIn(document)
  if (!previous || readAt >= previousUntil) return { value: { current: key, others: [] }, validMs: Infinity }
  return readAt < usedFrom
    ? { value: { current: previous, others: [key] }, validMs: usedFrom - readAt }
    : { value: { current: key, others: [previous] }, validMs: previousUntil - readAt }
}

/**
 * Replaces the secret. Cursors are made with the new one once every process has it, so that none meets one that it does not know.
 * @param overlapMs how long cursors under the old secret stay valid; 0 = no longer
 * @returns when they are not any more
 * @throws StoreError, and SecretError where the last rotation is not over
 */
export async function rotateSecret(store: Store, overlapMs: number): Promise<Date> {
  const { document, readAt } = await store.get(at)
  const usedFrom = new Date(readAt + settleMs)
  const previousUntil = new Date(readAt + Math.max(overlapMs, settleMs))
  const fields = { format: formats.secret, key: newKey(), usedFrom }
  if (!document) {
    await store.create(at, fields)
    return usedFrom
  }
  const known = secretIn(document)
  const over = overlapMs === 0 ? known.usedFrom : known.previousUntil
  if (over > readAt)
    throw new SecretError(
      `The secret was rotated before, and cursors from before that lead on until ${new Date(known.previousUntil).toISOString()}. ` +
        (known.usedFrom > readAt ? 'Try again in 30 seconds.' : '--at-once ends them.'),
    )
  await store.replace(at, { ...fields, previous: known.key, previousUntil }, document.version)
  return previousUntil
}

function newKey(): Uint8Array {
  return new Uint8Array(randomBytes(32))
}

/** Times in milliseconds since 1970 UTC; 0 = long ago. */
function secretIn({ fields }: Document) {
  assertReadable('secret', fields, 'The secret of cursors')
  const time = (name: string) => (fields[name] instanceof Date ? fields[name].getTime() : 0)
  return {
    key: fields['key'] as Uint8Array,
    usedFrom: time('usedFrom'),
    previous: fields['previous'] as Uint8Array | undefined,
    previousUntil: time('previousUntil'),
  }
}

/**
 * Cursors: the position of a row as text that tells a caller nothing, and that only the service can make. A position has the
 * row's tie-breaker before redaction: were it readable, it would leak; were it free to choose, asking for the rows behind it
 * would be a search for a hidden value.
 *
 * AES-256-GCM under a key that the store holds. The nonce is a hash of the content under a key of its own (as in RFC 8452),
 * so that equal positions are equal texts, and equal rows make equal answers.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { formats, isReadable } from '../stores/format.ts'
import { rememberReads } from '../stores/remember-reads.ts'
import type { Store } from '../stores/store.ts'
import { readSecret } from './secret.ts'
import type { Place } from './statement.ts'

export interface Cursor extends Place {
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

/** Cursors under the secret in the store (`secret.ts`). */
export function openCursors(store: Store, { rememberMs = 0, clock = performance }: Options = {}): Cursors {
  const remembered = rememberReads({
    max: 1,
    rememberMs,
    clock,
    async read() {
      const { value, validMs } = await readSecret(store)
      return { value: [value.current, ...value.others].map(keysOf), validMs }
    },
    unavailable: 'Pages cannot be had at the moment.',
  })
  const keys = () => remembered('all', undefined)
  return {
    seal: async cursor => sealed((await keys())[0]!, textOf(cursor)),
    async open(text) {
      for (const each of await keys()) {
        const content = opened(each, text)
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

function sealed({ content, nonce: nonceKey }: Keys, text: string): string {
  const nonce = createHmac('sha256', nonceKey).update(text).digest().subarray(0, nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', content, nonce)
  const bytes = [nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(bytes).toString('base64url')
}

function opened({ content }: Keys, text: string): string | null {
  const bytes = Buffer.from(text, 'base64url')
  // Base64 has several texts for the same bytes; only the one that was given counts.
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

type Content = [string, string, Place['direction'], string, string, number | null, format?: number]

function textOf({ endpointId, parameters, direction, after: { time, tie }, now }: Cursor): string {
  const content: Content = [endpointId, parameters, direction, time, tie, now, formats.cursor]
  return JSON.stringify(content)
}

function cursorOf(text: string): Cursor | null {
  const [endpointId, parameters, direction, time, tie, now, format] = JSON.parse(text) as Content
  if (!isReadable('cursor', format)) return null
  return { endpointId, parameters, direction, after: { time, tie }, now }
}

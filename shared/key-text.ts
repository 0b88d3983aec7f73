/**
 * The text of an API key: `lqe_<id>_<secret><checksum>`, in digits and letters only.
 * The checksum refuses a mistyped key without a read of the store; it protects nothing.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export interface KeyText {
  /** Names the key; no secret. 11 characters. */
  id: string
  /** 256 random bits. 43 characters. */
  secret: string
}

export const keyPrefix = 'lqe_'

const pattern = new RegExp(`^${keyPrefix}([0-9A-Za-z]{11})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$`)
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new id (64 bits) and a new secret. */
export function makeKey(): KeyText {
  return { id: base62(randomBytes(8), 11), secret: base62(randomBytes(32), 43) }
}

/** The text that the caller gets. */
export function writeKey(key: KeyText): string {
  return `${keyPrefix}${key.id}_${key.secret}${checksum(key)}`
}

/** Whether it has the form of a JWT, which no key has: three parts in Base64 for URLs, the last of which may be empty. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)
}

/** `undefined` for a text that `writeKey` cannot have written. */
export function readKey(text: string | undefined): KeyText | undefined {
  const [, id, secret, check] = pattern.exec(text ?? '') ?? []
  if (id === undefined || secret === undefined) return undefined
  return check === checksum({ id, secret }) ? { id, secret } : undefined
}

/**
 * The text with the secret of each key in it left out: callers put keys in wrong places, such as the name of an endpoint.
 * One whose underscores are percent-escaped, or of which the end is missing, is taken for a key as well.
 */
export function withoutKeys(text: string): string {
  return text.includes('lqe') ? text.replace(keys, '$1REDACTED') : text
}

const keys = /(lqe(?:_|%5[Ff])[0-9A-Za-z]{11}(?:_|%5[Ff]))[0-9A-Za-z]+/g

/**
 * SHA-256 as hexadecimal. A slow hash would add nothing to a secret that cannot be guessed, and would let anyone
 * keep the processor busy with invented keys.
 */
export function sha256(text: string): string {
  return hash('sha256', text)
}

/** CRC-32, which finds every change of one character and is cheap enough for each request, as 6 digits. */
function checksum({ id, secret }: KeyText): string {
  let rest = crc32(`${id}_${secret}`)
  let text = ''
  for (; text.length < 6; rest = Math.floor(rest / 62)) text = digits.charAt(rest % 62) + text
  return text
}

/** A number of `bytes` as `width` digits, the highest first. */
function base62(bytes: Buffer, width: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (; text.length < width; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text
}

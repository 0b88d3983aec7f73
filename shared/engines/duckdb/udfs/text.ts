/** Functions of strings and bytes. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { fingerprint64 } from './fingerprint.ts'
import { scalar, type ScalarFunction, ValueError } from './udf.ts'

/** The code points of a text, which are GoogleSQL's characters. */
const characters = (text: string) => Array.from(text)

/** Unicode's full case folding, which is that of each character alone. */
function caseFolded(text: string): string {
  return characters(text)
    .map(character => (character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase()))
    .join('')
}

function normalizedAndFolded(text: string, form: string): string {
  return normalized(caseFolded(normalized(text, form)), form)
}

/** Marks on one letter are put in order in a time that grows with their square; those of no language are 30 (UAX #15, 13). */
const mostMarks = 100

function normalized(text: string, form: string): string {
  if (text.match(/\p{M}+/gu)?.some(marks => marks.length > mostMarks))
    throw new ValueError(`NORMALIZE takes at most ${mostMarks} marks on a letter`)
  return text.normalize(form)
}

/** As a literal of GoogleSQL: in double quotes, or in single ones where there are only double ones inside. */
function stringLiteral(text: string): string {
  const quote = text.includes('"') && !text.includes("'") ? "'" : '"'
  // oxlint-disable-next-line no-control-regex -- those have escapes
  return quote + text.replace(/[\0-\u001f\u007f\\"']/g, sign => escaped(sign, quote)) + quote
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }

function escaped(sign: string, quote: string): string {
  if (sign === '"' || sign === "'") return sign === quote ? `\\${sign}` : sign
  return escapes[sign] ?? `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`
}

/** ASCII as it is, other bytes as `\xff`; and `literal` with quotes around. */
function bytesText(bytes: Uint8Array, literal: boolean): string {
  const text = Buffer.from(bytes).toString('latin1')
  const hex = (sign: string) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`
  const inner = (quotes: string) =>
    text
      .replace(/[\\"']/g, sign => (sign === '\\' || quotes.includes(sign) ? `\\${sign}` : sign))
      .replace(/[^ -~]/g, hex)
  if (!literal) return inner(`"'`)
  const quote = text.includes('"') && !text.includes("'") ? "'" : '"'
  return `b${quote}${inner(quote)}${quote}`
}

/** Bytes as UTF-8; each one that is part of no character becomes U+FFFD, where a TextDecoder makes one of several. */
function decoded(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString()
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const length = [1, 2, 3, 4].find(length => isUtf8(bytes.subarray(at, at + length))) ?? 0
    text += length ? Buffer.from(bytes.subarray(at, at + length)).toString() : '\ufffd'
    at += length || 1
  }
  return text
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** Two digits at a time take a fifth of the time. */
const base32Pairs = Array.from({ length: 1024 }, (_, bits) => base32[bits >> 5]! + base32[bits & 31]!)

/** After RFC 4648, with padding. */
function toBase32(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 5) {
    let five = 0
    for (let i = at; i < at + 5; i++) five = five * 256 + (bytes[i] ?? 0)
    for (let place = 1024 ** 3; place >= 1; place /= 1024)
      text += base32Pairs[Math.floor(five / place) % 1024]
  }
  return text.slice(0, Math.ceil((bytes.length * 8) / 5)).padEnd(text.length, '=')
}

function fromBase32(text: string): Uint8Array {
  const digits = text.replace(/=+$/, '')
  if (text.length % 8 !== 0 || !/^[A-Z2-7]*$/.test(digits) || [1, 3, 6].includes(digits.length % 8))
    throw new ValueError('A text is not BASE32')
  const bits = Array.from(digits, digit => base32.indexOf(digit).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], byte => parseInt(byte, 2))
}

const ofBytes = (compute: (bytes: Uint8Array) => Uint8Array) => scalar(['BLOB'], 'BLOB', compute)

/** A FLOAT64 in hexadecimal digits, such as `0x1F` and `0x1.8p3`. */
function hexadecimal(text: string): number {
  const match = /^\s*([-+]?)0x([\da-f]*)\.?([\da-f]*)(?:p([-+]?\d{1,4}))?\s*$/i.exec(text)
  const [, sign, whole = '', fraction = '', power = '0'] = match ?? []
  if (!match || whole + fraction === '')
    throw new ValueError('A value cannot be converted to the type asked for')
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(power) - 4 * fraction.length)
  return sign === '-' ? -value : value
}

/** ASCII letters only. */
const mapped = (bytes: Uint8Array, from: number, shift: number) =>
  bytes.map(value => (value >= from && value < from + 26 ? value + shift : value))

/**
 * Where a part stands for the n-th time, from a position on, or for a negative one from that position from the end backwards;
 * 0 for nowhere. Places may overlap, and are counted in characters; an empty part is at each, and behind the last.
 */
function placeOf(text: string, part: string, position: bigint, occurrence: bigint): bigint {
  if (position === 0n || occurrence < 1n) throw new ValueError('A number is out of range')
  const units = unitsOf(text)
  const [length, from, times] = [units ? units.length : text.length, Number(position), Number(occurrence)]
  const first = from > 0 ? from - 1 : length + from + (part === '' ? 1 : 0)
  if (first < 0 || first > length) return 0n
  if (part === '') {
    const place = from > 0 ? first + times : first - times + 2
    return BigInt(place < 1 || place > length + 1 ? 0 : place)
  }
  const begin = units ? (units[first] ?? text.length) : first
  const places = placesOf(text, part).filter(at => (from > 0 ? at >= begin : at <= begin))
  const at = places.at(from > 0 ? times - 1 : -times)
  if (at === undefined) return 0n
  return BigInt(units ? units.indexOf(at) + 1 : at + 1)
}

/** All places, which may overlap. */
function placesOf(text: string, part: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push(at)
  return places
}

/** Where each character begins, where some take two units of UTF-16; else `null`. */
function unitsOf(text: string): number[] | null {
  if (!/[\ud800-\udbff]/.test(text)) return null
  let at = 0
  return Array.from(text, character => (at += character.length) - character.length)
}

export const textFunctions: Record<string, ScalarFunction> = {
  gsql_string_literal: scalar(['VARCHAR'], 'VARCHAR', stringLiteral),
  gsql_bytes_text: scalar(['BLOB', 'BOOLEAN'], 'VARCHAR', bytesText),
  gsql_upper: scalar(['VARCHAR'], 'VARCHAR', text => text.toUpperCase()),
  gsql_lower: scalar(['VARCHAR'], 'VARCHAR', text => text.toLowerCase()),
  gsql_hexadecimal: scalar(['VARCHAR'], 'DOUBLE', hexadecimal),
  gsql_instr: scalar(['VARCHAR', 'VARCHAR', 'BIGINT', 'BIGINT'], 'BIGINT', placeOf),
  gsql_normalize: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', normalized),
  gsql_normalize_and_casefold: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', normalizedAndFolded),
  gsql_decode: scalar(['BLOB'], 'VARCHAR', decoded),
  gsql_to_base32: scalar(['BLOB'], 'VARCHAR', toBase32),
  gsql_from_base32: scalar(['VARCHAR'], 'BLOB', fromBase32),
  gsql_fingerprint: scalar(['BLOB'], 'BIGINT', fingerprint64),
  gsql_sha512: ofBytes(bytes => createHash('sha512').update(bytes).digest()),
  /** Each byte as the character of that number, on which string functions work as on bytes; and back. */
  gsql_characters: scalar(['BLOB'], 'VARCHAR', bytes => Buffer.from(bytes).toString('latin1')),
  gsql_bytes: scalar(['VARCHAR'], 'BLOB', text => Buffer.from(text, 'latin1')),
  gsql_upper_bytes: ofBytes(bytes => mapped(bytes, 0x61, -32)),
  gsql_lower_bytes: ofBytes(bytes => mapped(bytes, 0x41, 32)),
}

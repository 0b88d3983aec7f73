/** Functions of strings and bytes. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { scalar, type ScalarFunction, ValueError } from './udf.ts'

/** The code points of a text, which are GoogleSQL's characters. */
const characters = (text: string) => Array.from(text)

/** Unicode's full case folding, which is that of each character alone. */
function foldCase(text: string): string {
  return characters(text)
    .map(character => (character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase()))
    .join('')
}

function normalizeAndFold(text: string, form: string): string {
  return normalize(foldCase(normalize(text, form)), form)
}

/** Marks on one letter are put in order in a time that grows with their square; those of no language are 30 (UAX #15, 13). */
const mostMarks = 100

function normalize(text: string, form: string): string {
  if (text.match(/\p{M}+/gu)?.some(marks => marks.length > mostMarks))
    throw new ValueError(`NORMALIZE takes at most ${mostMarks} marks on a letter`)
  return text.normalize(form)
}

/** As a literal of GoogleSQL: in double quotes, or in single ones where there are only double ones inside. */
function stringLiteral(text: string): string {
  const quote = text.includes('"') && !text.includes("'") ? "'" : '"'
  // oxlint-disable-next-line no-control-regex -- those have escapes
  return quote + text.replace(/[\0-\u001f\u007f\\"']/g, sign => escapeSign(sign, quote)) + quote
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }

function escapeSign(sign: string, quote: string): string {
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
function decode(bytes: Uint8Array): string {
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
  gsql_normalize: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', normalize),
  gsql_normalize_and_casefold: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', normalizeAndFold),
  gsql_decode: scalar(['BLOB'], 'VARCHAR', decode),
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

// FarmHash Fingerprint64 (https://github.com/google/farmhash, "farmhashna"), which FARM_FINGERPRINT is.

const k0 = 0xc3a5c85c97cb3127n
const k1 = 0xb492b66fbe98f273n
const k2 = 0x9ae16a3b2f90404fn

// Sums and products are cut to 64 bits where their upper bits would count: before a rotation, a shift and an exclusive or.
const u64 = (value: bigint) => BigInt.asUintN(64, value)
const rotated = (value: bigint, by: bigint) => (u64(value) >> by) | u64(value << (64n - by))
const mixed = (value: bigint) => u64(value) ^ (u64(value) >> 47n)

function hash16(u: bigint, v: bigint, multiplier: bigint): bigint {
  const a = mixed((u64(u) ^ u64(v)) * multiplier)
  return mixed((u64(v) ^ a) * multiplier) * multiplier
}

function fingerprint64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (at: number) => view.getBigUint64(at, true)
  if (bytes.length > 64) return BigInt.asIntN(64, hashLong(bytes.length, word))
  return BigInt.asIntN(64, bytes.length > 16 ? hashTo64(bytes.length, word) : hashTo16(view, word))
}

type Word = (at: number) => bigint

function hashTo16(view: DataView, word: Word): bigint {
  const length = view.byteLength
  const multiplier = k2 + BigInt(length) * 2n
  if (length >= 8) {
    const [a, b] = [word(0) + k2, word(length - 8)]
    return hash16(rotated(b, 37n) * multiplier + a, (rotated(a, 25n) + b) * multiplier, multiplier)
  }
  const half = (at: number) => BigInt(view.getUint32(at, true))
  if (length >= 4) return hash16(BigInt(length) + (half(0) << 3n), half(length - 4), multiplier)
  if (length === 0) return k2
  const y = BigInt(view.getUint8(0) + (view.getUint8(length >> 1) << 8))
  const z = BigInt(length + (view.getUint8(length - 1) << 2))
  return mixed(u64(y * k2) ^ u64(z * k0)) * k2
}

function hashTo64(length: number, word: Word): bigint {
  const multiplier = k2 + BigInt(length) * 2n
  const four = (a: bigint, b: bigint, c: bigint, d: bigint, added: bigint): Pair => [
    rotated(a + b, 43n) + rotated(c, 30n) + d,
    a + rotated(b + added, 18n) + c,
  ]
  const first = u64(word(0) * (length > 32 ? k2 : k1))
  const [y, v] = four(first, word(8), word(length - 8) * multiplier, word(length - 16) * k2, k2)
  const z = hash16(y, v, multiplier)
  if (length <= 32) return z
  const [g, h] = [(y + word(length - 32)) * multiplier, (z + word(length - 24)) * multiplier]
  return hash16(...four(word(16) * multiplier, word(24), g, h, first), multiplier)
}

type Pair = [bigint, bigint]

function weak(word: Word, at: number, first: bigint, second: bigint): Pair {
  const z = word(at + 24)
  const c = first + word(at)
  const a = c + word(at + 8) + word(at + 16)
  return [u64(a + z), u64(rotated(second + c + z, 21n) + rotated(a, 44n) + c)]
}

/** In blocks of 64 bytes; the last one ends with the text, and so overlaps the one before it. */
function hashLong(length: number, word: Word): bigint {
  const seed = 81n
  let y = u64(seed * k1 + 113n)
  let z = u64(mixed(y * k2 + 113n) * k2)
  let v: Pair = [0n, 0n]
  let w: Pair = [0n, 0n]
  let x = u64(seed * k2 + word(0))
  const block = (at: number, multiplier: bigint, nine: bigint) => {
    x = u64(rotated(x + y + v[0] + word(at + 8), 37n) * multiplier) ^ u64(w[1] * nine)
    y = u64(rotated(y + v[1] + word(at + 48), 42n) * multiplier + v[0] * nine + word(at + 40))
    z = u64(rotated(z + w[0], 33n) * multiplier)
    v = weak(word, at, v[1] * multiplier, x + w[0])
    w = weak(word, at + 32, z + w[1], y + word(at + 16))
    ;[x, z] = [z, x]
  }
  for (let at = 0; at < length - 64; at += 64) block(at, k1, 1n)
  const multiplier = k1 + ((z & 0xffn) << 1n)
  w = [u64(w[0] + BigInt((length - 1) & 63)), w[1]]
  v = [u64(v[0] + w[0]), v[1]]
  w = [u64(w[0] + v[0]), w[1]]
  block(length - 64, multiplier, 9n)
  const first = hash16(v[0], w[0], multiplier) + mixed(y) * k0 + z
  return hash16(first, hash16(v[1], w[1], multiplier) + x, multiplier)
}

/** More than any public suffix has. */
const mostLabels = 8

/**
 * The end of a host that has so many labels more than its public suffix; null where there is none. Only suffixes of ICANN's
 * count, a host may end with a dot, and labels before two dots do not count
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/net_functions#netpublic_suffix).
 */
function endOfHost(host: string, more: 0 | 1): string | null {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  const labels = name
    .slice(name.lastIndexOf('..') + 1)
    .split('.')
    .filter(Boolean)
  // Without tldts's own check of a host's letters, which a name with `_` fails.
  const { isIcann, publicSuffix } = parse(labels.slice(-mostLabels).map(asciiLabel).join('.'), {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
  })
  if (!isIcann || !publicSuffix) return null
  const wanted = publicSuffix.split('.').length + more
  return wanted > labels.length ? null : labels.slice(-wanted).join('.') + host.slice(name.length)
}

/** A label of DNS has at most 63 letters; Punycode takes a time that grows with their square. */
function asciiLabel(label: string): string {
  return (label.length <= 63 && domainToASCII(label)) || label.toLowerCase()
}

export const netFunctions: Record<string, ScalarFunction> = {
  gsql_public_suffix: scalar(['VARCHAR'], 'VARCHAR', host => endOfHost(host, 0)),
  gsql_reg_domain: scalar(['VARCHAR'], 'VARCHAR', host => endOfHost(host, 1)),
}

/**
 * The cheap test before the patterns: the marks that a text must have to hold data of a class. Most marks take one pass
 * over the characters; two plain patterns find those that no single character shows.
 */

import { hasAlike, shellQuote, unmarked } from './escapes.ts'
import { keyForm, refreshPrefix } from './key-forms.ts'

/** One bit for each. */
export const mark = {
  at: 1,
  /** An equals sign, or a colon other than those of a URL's scheme, a time and an address: logs are full of them. */
  assignment: 2,
  /** A plus sign and a digit: the beginning of a phone number. */
  plus: 4,
  /** A percent sign, a backslash, or a character that may pass for another one. */
  escape: 8,
  /** Two colons together, or six: the least of an IPv6 address. */
  colons: 16,
  /** Three dots between digits, with at most three characters between them: the least of an IPv4 address. */
  dots: 32,
  /** Three hyphens between digits: the least of an IPv4 address in a host name. */
  dashes: 64,
  /** Five colons, or hyphens with two characters between all of them: the least of a MAC address. */
  pairs: 128,
  /** Two dots with four characters around each. */
  fours: 256,
  /** Twelve digits and gaps: the beginning of a card's number. */
  card: 512,
  /** The beginning of a credential. */
  credential: 1024,
  /** Two hyphens, or one between a blank or a quotation mark and a letter. */
  option: 2048,
  /** A quotation mark: the end of a literal, whose name stands before or behind it. */
  literal: 4096,
  /** The beginning of an IBAN. */
  iban: 8192,
} as const

/** Intermediate flags, from which marks follow. */
const [digit, inId, joint, rare] = [1 << 14, 1 << 15, 1 << 16, 1 << 17]
const allMarks = (1 << 14) - 1
const sign = /[^ -~]|["$%'+.:=@\\`-]/

/** Three digits and a dot. */
const mostOfOctet = 4
const [apostrophe, plus, dash, dot, slash, colon] = [0x27, 0x2b, 0x2d, 0x2e, 0x2f, 0x3a]
const cardStart =
  /(?<!\d)[2-6]\d\d(?:(?:[\t +%./_\u00b7\u00a0-]{0,3}\d){10}|\d[,;|\r\n][ \n]?\d{4,6}[,;|\r\n][ \n]?\d{4})|\d\.\d{1,15}e\+?1[2-5]/i
/** The edge is looked at behind the letters and digits, which takes half the time of looking at it first. */
const ibanStart =
  /[A-Za-z][A-Za-z]\d\d(?<=(?:^|[^A-Za-z0-9]|%[0-9A-F]{2}|\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|[Ii][Bb][Aa][Nn])....)[A-Za-z0-9\t +%./_\u00b7\u00a0-]{11}/
const credentialStart = new RegExp(
  String.raw`ey(?:[i-l][\w-]{5}|a[gi][\w-]{8})|ew(?:o[gij]|k[ij]|0k)[\w-]{8}|bearer|basic|${keyForm}`,
  'i',
)

const marksOfCharacters: [string, number][] = [
  ['0123456789', digit | inId],
  ['abcdefABCDEF-', inId],
  [':.-+', joint],
  ['=', mark.assignment],
  ['@', mark.at],
  ['%\\\u001b', mark.escape],
  ['&#^', rare],
  ['\'"`$', mark.literal],
]

const marksByCode = new Int32Array(256)
for (const [characters, marks] of marksOfCharacters)
  for (const character of characters) marksByCode[character.charCodeAt(0)]! |= marks

/** The text with zeros around it. Bytes are read three times as fast as the characters of a string. */
const usual = Buffer.alloc(16_384)
const [before, after] = [1, 9]

/** A character beyond Latin-1 may pass for another one, which costs only a run of patterns that find nothing. */
export function marksOf(text: string): number {
  const { length } = text
  if (length < leastWithoutSign && !sign.test(text)) return 0
  const bytes = before + length + after <= usual.length ? usual : Buffer.alloc(before + length + after)
  const isAscii = bytes.write(text, before, length + after - 1) === length
  if (!isAscii) bytes.write(text, before, 'latin1')
  const alike = !isAscii && hasAlike(text) ? mark.escape : 0
  const end = before + length
  for (let past = end; past < end + after; past++) bytes[past] = 0
  let marks: number = alike
  let common = inId
  let digits = 0
  let colons = 0
  let dots = 0
  let lastDot = -mostOfOctet
  let dashes = 0
  let [pairsOfColons, pairsOfDashes] = [0, 0]
  for (let at = before; at < end; at++) {
    const code = bytes[at]!
    const found = marksByCode[code]!
    marks |= found
    common &= found
    digits += found & digit
    if ((found & joint) === 0) continue
    const next = bytes[at + 1]!
    const numbers = marksByCode[bytes[at - 1]!]! & marksByCode[next]! & digit
    if (code === dot) {
      if (numbers !== 0) {
        dots = at - lastDot > mostOfOctet ? 1 : dots + 1
        lastDot = at
        if (dots === 3) marks |= mark.dots
      }
      if (bytes[at + 5] === dot && (marksByCode[bytes[at + 9]!]! & inId) !== 0) marks |= mark.fours
      continue
    }
    if (code === plus) {
      if ((marksByCode[next]! & digit) !== 0) marks |= mark.plus
      continue
    }
    if (code === dash) {
      if (bytes[at + 3] === dash) pairsOfDashes++
      if (numbers !== 0) dashes++
      else if (next === dash || (bytes[at - 1]! <= apostrophe && next > 0x40)) marks |= mark.option
      continue
    }
    colons++
    if (bytes[at + 3] === colon) pairsOfColons++
    if (next === colon) marks |= mark.colons
    else if (numbers === 0 && at + 1 < end && !(next === slash && bytes[at + 2] === slash))
      marks |= mark.assignment
  }
  if (common !== 0 && alike === 0 && lengthsOfIds.has(length)) return 0
  if (dashes >= 3) marks |= mark.dashes
  if (colons >= 6) marks |= mark.colons
  if ((colons >= 5 && pairsOfColons >= 2) || pairsOfDashes >= 4) marks |= mark.pairs
  if ((marks & rare) !== 0 && unmarked.test(text)) marks |= mark.escape
  if ((marks & mark.literal) !== 0 && text.includes(shellQuote)) marks |= mark.escape
  if (digits >= 7 * digit && length >= 15 && ibanStart.test(text)) marks |= mark.iban
  if (digits >= 13 * digit && cardStart.test(text)) marks |= mark.card
  if (
    length >= leastWithoutSign &&
    (credentialStart.test(text) || (length >= 24 && text.includes(refreshPrefix)))
  )
    marks |= mark.credential
  return marks & allMarks
}

/** Of a credential, a card or an IBAN. */
const leastWithoutSign = 10

/**
 * Lengths of UUIDs and hashes. Texts of them in hexadecimal, of which logs are full, need no further look: cards, and IBANs of
 * these letters alone, are shorter.
 */
const lengthsOfIds = new Set([32, 36, 40, 64])

/**
 * The cheap test before the patterns: the marks that a text must have to hold data of a class. Most marks take one pass
 * over the characters; two plain patterns find those that no single character shows.
 */

/** One bit for each. A percent sign stands for every character that it can encode. */
export const mark = {
  at: 1,
  assignment: 2,
  plus: 4,
  percent: 8,
  /** Two colons: the least of an IPv6 address. */
  colons: 16,
  /** Three dots between four digits: the least of an IPv4 address. */
  dots: 32,
  /** The beginning of a card's number or an IBAN. */
  account: 64,
  /** The beginning of a credential. */
  credential: 128,
} as const

const [digit, colon, dot, hexadecimal, credentialLetter] = [1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16]
const slash = '/'.charCodeAt(0)
const allMarks = (1 << 12) - 1
const accountStart = /\d\d\d\d[\d +%\u00a0-]{8}|[A-Za-z][A-Za-z]\d\d[A-Za-z0-9 +%\u00a0-]{11}/
const credentialStart = /eyJ[\w-]{9}|[Bb]earer|[Bb]asic|BEARER|BASIC|_\w{20}/

const marksOfCharacters: [string, number][] = [
  ['0123456789', digit | hexadecimal],
  ['abcdef-', hexadecimal],
  [':', colon],
  ['.', dot],
  ['=', mark.assignment],
  ['@', mark.at],
  ['+', mark.plus],
  ['BbJ_', credentialLetter],
  ['%', mark.percent | mark.at | mark.assignment | mark.plus],
]

const marksByCode = new Int32Array(128)
for (const [characters, marks] of marksOfCharacters)
  for (const character of characters) marksByCode[character.charCodeAt(0)]! |= marks

/** A character beyond ASCII may pass for one of ASCII, which costs only a run of patterns that find nothing. */
export function marksOf(text: string): number {
  if (isId(text)) return 0
  let marks = 0
  let digits = 0
  let colons = 0
  let dots = 0
  for (let at = 0; at < text.length; at++) {
    const found = marksByCode[text.charCodeAt(at) & 127]!
    marks |= found
    digits += found & digit
    dots += found & dot
    if ((found & colon) === 0) continue
    colons += colon
    if (!isBeforeSlashes(text, at)) marks |= mark.assignment
  }
  if (digits >= 4 * digit && dots >= 3 * dot) marks |= mark.dots
  if (colons >= 2 * colon) marks |= mark.colons
  if (digits >= 7 * digit && accountStart.test(text)) marks |= mark.account
  if ((marks & credentialLetter) !== 0 && text.length >= 10 && credentialStart.test(text))
    marks |= mark.credential
  return marks & allMarks
}

/** The colon of a URL's scheme assigns no value, and logs are full of URLs. */
function isBeforeSlashes(text: string, at: number): boolean {
  return text.charCodeAt(at + 1) === slash && text.charCodeAt(at + 2) === slash
}

/**
 * A UUID or a hash in hexadecimal, by its length: logs are full of them. No card is so long, nor an IBAN of these letters.
 */
function isId(text: string): boolean {
  const { length } = text
  if (length !== 36 && length !== 32 && length !== 40 && length !== 64) return false
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127 || (marksByCode[code]! & hexadecimal) === 0) return false
  }
  return true
}

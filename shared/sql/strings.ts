/**
 * String and bytes literals: '..', "..", three quotes of either, each with r (raw), b (bytes) or both before it.
 */
import { placeOf, SqlError } from './error.ts'

/** A string or bytes literal from `at` to `end`, with its text decoded. */
export interface StringLiteral {
  bytes: boolean
  value: string
  end: number
}

const opening = /([rR]?[bB]?|[bB][rR])('''|"""|'|")/y
const escape =
  /\\(?:[xX](?<byte>[\dA-Fa-f]{2})|(?<octal>[0-3][0-7]{2})|u(?<unit>[\dA-Fa-f]{4})|U(?<point>[\dA-Fa-f]{8})|(?<plain>[abfnrtv\\?"'`]))/y
const control: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Reads the literal that begins at `at`; `null` if none does. Throws SqlError for one that is malformed. */
export function readString(sql: string, at: number): StringLiteral | null {
  opening.lastIndex = at
  const match = opening.exec(sql)
  if (!match) return null
  const prefix = match[1]!.toLowerCase()
  const quotes = match[2]!
  const bytes = prefix.includes('b')
  const start = opening.lastIndex
  const end = closing(sql, at, start, quotes)
  const value = decode(sql, start, end, { bytes, raw: prefix.includes('r') })
  return { bytes, value, end: end + quotes.length }
}

/** Where the closing quotes stand. A backslash guards the next character, in raw strings too. */
function closing(sql: string, at: number, start: number, quotes: string): number {
  const multiline = quotes.length === 3
  for (let i = start; i < sql.length; i++) {
    if (sql.startsWith(quotes, i)) return i
    if (sql[i] === '\\') i++
    if (!multiline && (sql[i] === '\n' || sql[i] === '\r')) {
      throw new SqlError('a string in single quotes ends on its own line', placeOf(sql, i))
    }
  }
  throw new SqlError('this string is not closed', placeOf(sql, at))
}

/** The text between two offsets with its escapes resolved; a line break is always LF. */
function decode(sql: string, start: number, end: number, form: { bytes: boolean; raw: boolean }): string {
  let value = ''
  for (let i = start; i < end;) {
    const character = sql[i]!
    if (form.bytes && character > '\x7f') {
      throw new SqlError('a bytes literal holds ASCII only: write other bytes as \\x..', placeOf(sql, i))
    }
    if (character === '\\' && !form.raw) {
      value += unescape(sql, i, form.bytes)
      i = escape.lastIndex
    } else if (character === '\r') {
      value += '\n'
      i += sql[i + 1] === '\n' ? 2 : 1
    } else {
      value += character
      i++
    }
  }
  return value
}

/** The character that the escape at `at` stands for; leaves `escape.lastIndex` behind it. */
function unescape(sql: string, at: number, bytes: boolean): string {
  escape.lastIndex = at
  const groups = escape.exec(sql)?.groups
  if (groups) {
    const { byte, octal, unit, point, plain } = groups
    if (plain) return control[plain] ?? plain
    const code = octal ? parseInt(octal, 8) : parseInt((byte ?? unit ?? point)!, 16)
    if (bytes ? !unit && !point : isCharacter(code, Boolean(unit ?? point))) return String.fromCodePoint(code)
  }
  throw new SqlError(`${sql.slice(at, at + 2)} is not an escape that can stand here`, placeOf(sql, at))
}

/** \x and octal escapes reach ASCII only; none makes half a surrogate pair or a NUL, which engines cut text at. */
function isCharacter(code: number, unicode: boolean): boolean {
  const surrogate = code >= 0xd800 && code <= 0xdfff
  return code > 0 && code <= (unicode ? 0x10ffff : 0x7f) && !surrogate
}

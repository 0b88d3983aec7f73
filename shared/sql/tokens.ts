/**
 * GoogleSQL text to tokens. Outside literals, comments and backticks only ASCII and GoogleSQL's blanks are accepted, and
 * nothing that two readers could split in two ways.
 */
import { placeOf, SqlError } from './error.ts'
import { characters, hintFor } from './hints.ts'
import { defaultLimits } from './limits.ts'

type TokenKind = 'word' | 'quoted' | 'string' | 'bytes' | 'integer' | 'float' | 'parameter' | 'symbol' | 'end'

export interface Token {
  kind: TokenKind
  /** As written. */
  text: string
  /** A word in capitals, a name without its backticks, a parameter without its @, a string decoded, or ''. */
  value: string
  at: number
  end: number
}

type Reader = (sql: string, at: number) => Token | null

/** Of the blanks beyond ASCII those that GoogleSQL takes, such as the no-break space of text from a web page. */
const blank = /[ \t\n\r\f\v\u00a0\u2000-\u200a\u202f\u205f\u3000]+|(?:--|#)[^\n\r]*|\/\*[^]*?\*\//y
const words = /[A-Za-z_]\w*/y
const backticks = /`([^`\\\p{Cc}]+)`/uy
const parameters = /@([A-Za-z_]\w*)/y
const numbers = /0[xX][\dA-Fa-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
/** In `my-project-12.dataset` the 12 belongs to the name, and is not the number `12.` */
const dashedNumbers = /(?<=\w-)\d+(?=\.(?![eE][+-]?\d)[A-Za-z_`])/y
const integers = /^(?:0[xX][\dA-Fa-f]+|\d+)$/
const symbols = /::|<=|>=|<>|!=|\|\||\|>|=>|->|<<|[()[\]{},.;+\-*/~&|^=<>:?]/y
const wordCharacter = /\w/
const wordOrDot = /[\w.]/

/** In this order: r'..' is a string before it is a word, and .5 a number before it is a dot. */
const readers: Reader[] = [
  readLiteral,
  reader('word', words, text => text.toUpperCase()),
  reader('quoted', backticks, text => text.slice(1, -1)),
  reader('parameter', parameters, text => text.slice(1)),
  readNumber,
  reader('symbol', symbols, () => ''),
]

/** All tokens of the text, and one of kind `end`. Throws SqlError at the first character that begins none. */
export function tokenize(sql: string, limits: { bytes: number; tokens: number } = defaultLimits): Token[] {
  checkText(sql, limits.bytes)
  const tokens: Token[] = []
  for (let at = skipBlank(sql, 0); at < sql.length;) {
    if (tokens.length === limits.tokens) throw refusal(sql, at, `the query has over ${limits.tokens} tokens`)
    const token = readToken(sql, at)
    if (isText(token) && isText(tokens.at(-1))) {
      throw refusal(
        sql,
        at,
        "two strings stand side by side: join them with ||, or write a quote inside a string as \\'",
      )
    }
    tokens.push(token)
    at = skipBlank(sql, token.end)
  }
  tokens.push({ kind: 'end', text: '', value: '', at: sql.length, end: sql.length })
  return tokens
}

function checkText(sql: string, bytes: number): void {
  if (Buffer.byteLength(sql) > bytes) throw new SqlError(`the query is longer than ${bytes} bytes`)
  const nul = sql.indexOf('\0')
  if (nul >= 0) throw refusal(sql, nul, 'the query holds a NUL character')
  if (!sql.isWellFormed()) throw new SqlError('the query is not valid Unicode')
}

/** A comment ends with its line: at LF and, for GoogleSQL, at CR too. */
function skipBlank(sql: string, at: number): number {
  blank.lastIndex = at
  while (blank.test(sql)) at = blank.lastIndex
  if (sql.startsWith('/*', at)) throw refusal(sql, at, 'this comment is not closed')
  return at
}

function readToken(sql: string, at: number): Token {
  for (const read of readers) {
    const token = read(sql, at)
    if (token) return token
  }
  throw refusal(sql, at, unreadable(sql, at))
}

function unreadable(sql: string, at: number): string {
  const character = String.fromCodePoint(sql.codePointAt(at)!)
  if (character === '`')
    return 'a name in backticks holds no backslash or line break, is not empty, and is closed'
  if (sql.startsWith('@@', at)) return 'system variables are not supported'
  if (sql.startsWith('@{', at)) return 'hints are not supported'
  if (character === '@') return 'a parameter is written @name'
  const hint = hintFor(characters, character)
  if (/[\p{C}\p{M}\p{Z}]/u.test(character)) return `${codePoint(character)} is not allowed here: delete it`
  return `${JSON.stringify(character)} is not allowed here${hint ? `: ${hint}` : ''}`
}

/** Of a character that cannot be seen. */
function codePoint(character: string): string {
  return `the character U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

function readLiteral(sql: string, at: number): Token | null {
  const literal = readString(sql, at)
  if (!literal) return null
  if (wordCharacter.test(sql[literal.end] ?? ''))
    throw refusal(
      sql,
      literal.end,
      "a string ends here, and a space is missing: a quote inside a string is written \\'",
    )
  return token(literal.bytes ? 'bytes' : 'string', sql, at, literal.end, literal.value)
}

function reader(kind: TokenKind, pattern: RegExp, valueOf: (text: string) => string): Reader {
  return (sql, at) => {
    const text = matchAt(pattern, sql, at)
    return text === null ? null : token(kind, sql, at, pattern.lastIndex, valueOf(text))
  }
}

function readNumber(sql: string, at: number): Token | null {
  const dashed = matchAt(dashedNumbers, sql, at)
  if (dashed !== null) return token('integer', sql, at, dashedNumbers.lastIndex)
  const text = matchAt(numbers, sql, at)
  if (text === null) return null
  const end = numbers.lastIndex
  if (wordOrDot.test(sql[end] ?? '')) throw refusal(sql, end, 'a number ends before a letter or a dot')
  return token(integers.test(text) ? 'integer' : 'float', sql, at, end)
}

function matchAt(pattern: RegExp, sql: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(sql)?.[0] ?? null
}

function token(kind: TokenKind, sql: string, at: number, end: number, value = ''): Token {
  return { kind, text: sql.slice(at, end), value, at, end }
}

function isText(token: Token | undefined): boolean {
  return token?.kind === 'string' || token?.kind === 'bytes'
}

function refusal(sql: string, at: number, message: string): SqlError {
  return new SqlError(message, placeOf(sql, at))
}

// ---- string and bytes literals: '..', "..", three quotes of either, each with r (raw), b (bytes) or both before it

/** A string or bytes literal from `at` to `end`, with its text decoded. */
interface StringLiteral {
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
function readString(sql: string, at: number): StringLiteral | null {
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

/** The offset of the closing quotes. A backslash escapes the next character, in raw strings too. */
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
    const character = String.fromCodePoint(sql.codePointAt(i)!)
    if (character === '\\' && !form.raw) {
      value += unescape(sql, i, form.bytes)
      i = escape.lastIndex
    } else if (character === '\r') {
      value += '\n'
      i += sql[i + 1] === '\n' ? 2 : 1
    } else {
      // Bytes are those of UTF-8, each as the character of that number.
      value += form.bytes ? Buffer.from(character).toString('latin1') : character
      i += character.length
    }
  }
  return value
}

/** What the escapes with a number are followed by. */
const escapeForms: [letter: RegExp, form: string][] = [
  [/[xX]/, 'it takes two hexadecimal digits, as in \\x41'],
  [/[0-7]/, 'it takes three octal digits up to \\377, as in \\101'],
  [/u/, 'it takes four hexadecimal digits that are no half of a pair, as in \\u00e9; bytes take \\x'],
  [/U/, 'it takes eight hexadecimal digits up to \\U0010ffff, as in \\U0001f600; bytes take \\x'],
  [/[dwsDWSpPB.*+?()[\]{}|^$-]/, "a regular expression is written r'...'"],
]

/** The character that the escape at `at` stands for; leaves `escape.lastIndex` after it. */
function unescape(sql: string, at: number, bytes: boolean): string {
  escape.lastIndex = at
  const groups = escape.exec(sql)?.groups
  if (groups) {
    const { byte, octal, unit, point, plain } = groups
    if (plain) return control[plain] ?? plain
    const code = octal ? parseInt(octal, 8) : parseInt((byte ?? unit ?? point)!, 16)
    if (bytes ? !unit && !point : isCharacter(code)) return String.fromCodePoint(code)
  }
  const [backslash, letter = ''] = sql.slice(at, at + 2)
  const form = escapeForms.find(([letters]) => letters.test(letter))?.[1]
  throw new SqlError(`${backslash}${letter} is not an escape${form ? `: ${form}` : ''}`, placeOf(sql, at))
}

/** In a text, \x and octal escapes are code points, as \u is; none makes half of a surrogate pair. */
function isCharacter(code: number): boolean {
  return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
}

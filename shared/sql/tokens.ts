/**
 * GoogleSQL text to tokens. What is not understood is refused: outside literals, comments and backticks there is
 * only ASCII, and nothing that two readers could split in two ways.
 */
import { placeOf, SqlError } from './error.ts'
import { defaultLimits } from './limits.ts'
import { readString } from './strings.ts'

export type TokenKind =
  'word' | 'quoted' | 'string' | 'bytes' | 'integer' | 'float' | 'parameter' | 'symbol' | 'end'

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

const blank = /[ \t\n\r\f\v]+|(?:--|#)[^\n\r]*|\/\*[^]*?\*\//y
const words = /[A-Za-z_]\w*/y
const backticks = /`([^`\\\p{Cc}]+)`/uy
const parameters = /@([A-Za-z_]\w*)/y
const numbers = /0[xX][\dA-Fa-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
/** In `my-project-12.dataset` the 12 belongs to the name: no `12.` may come of it. */
const dashedNumbers = /(?<=\w-)\d+(?=\.(?![eE][+-]?\d)[A-Za-z_`])/y
const integers = /^(?:0[xX][\dA-Fa-f]+|\d+)$/
const symbols = /<=|>=|<>|!=|\|\||\|>|=>|->|<<|[()[\]{},.;+\-*/~&|^=<>:?]/y
const wordCharacter = /\w/
const wordOrDot = /[\w.]/

/** In this order: r'..' is a string before it is a word, and .5 a number before it is a dot. */
const readers: Reader[] = [readLiteral, readWord, readName, readParameter, readNumber, readSymbol]

/** All tokens of the text, and one of kind `end`. Throws SqlError at the first that is not GoogleSQL. */
export function tokenize(sql: string, limits: { bytes: number; tokens: number } = defaultLimits): Token[] {
  checkText(sql, limits.bytes)
  const tokens: Token[] = []
  for (let at = skipBlank(sql, 0); at < sql.length;) {
    if (tokens.length === limits.tokens) throw refusal(sql, at, `the query has over ${limits.tokens} tokens`)
    const token = readToken(sql, at)
    if (isText(token) && isText(tokens.at(-1))) {
      throw refusal(sql, at, 'two strings stand side by side: join them with ||')
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
  return `${JSON.stringify(character)} is not allowed here`
}

function readLiteral(sql: string, at: number): Token | null {
  const literal = readString(sql, at)
  if (!literal) return null
  if (wordCharacter.test(sql[literal.end] ?? ''))
    throw refusal(sql, literal.end, 'a space is missing after a string')
  return token(literal.bytes ? 'bytes' : 'string', sql, at, literal.end, literal.value)
}

function readWord(sql: string, at: number): Token | null {
  const text = matchAt(words, sql, at)
  return text === null ? null : token('word', sql, at, words.lastIndex, text.toUpperCase())
}

function readName(sql: string, at: number): Token | null {
  const text = matchAt(backticks, sql, at)
  return text === null ? null : token('quoted', sql, at, backticks.lastIndex, text.slice(1, -1))
}

function readParameter(sql: string, at: number): Token | null {
  const text = matchAt(parameters, sql, at)
  return text === null ? null : token('parameter', sql, at, parameters.lastIndex, text.slice(1))
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

function readSymbol(sql: string, at: number): Token | null {
  return matchAt(symbols, sql, at) === null ? null : token('symbol', sql, at, symbols.lastIndex)
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

/**
 * Named values in running text: header dumps, query strings, connection strings, log lines, and JSON, CSV or SQL in a
 * string. The name decides that the value is personal; its quotation marks and the patterns here decide where it ends.
 */
import { mark } from './prefilter.ts'
import { endOf, escape, type PersonalClass, type Span } from './personal-class.ts'
import { kindOf, type NameKind } from './names.ts'

/** The source of a pattern for a quotation mark: escaped any number of times, or doubled as in CSV. */
const quoteMark = String.raw`\\{0,31}["'\`]{1,2}`

const quote = new RegExp(quoteMark, 'y')
const empty = /(?=[\s&;,)\]}]|$)/y
const comma = /\s{0,9},\s{0,9}/y
const blank = /\s{0,9}/y

const assignment = '(?:(?<!:):(?!:(?!:)|\\/\\/)|=|%3[AD])'
const name = String.raw`(?:(?<=${escape})|(?<![\w-]))[\w-]{2,100}?`

/** `name=`, `name: `, `"name":`, `:name => `, `name%3D`: found by the sign behind the name, which is rarer than words. */
export const field: PersonalClass = {
  name: 'value of a personal name',
  marks: mark.assignment,
  pattern: new RegExp(
    String.raw`${assignment}(?<=(["'\`])?(${name})(${quoteMark})?\s?(${assignment}))[=>]?\s{0,2}`,
    'gi',
  ),
  part(hit) {
    const [, before, named, after, sign] = hit
    const kind = kindOf(named!)
    if (kind === 'other' || kind === 'version') return null
    return valueAt(hit.input, endOf(hit), { kind, before, after, sign: sign! })
  },
}

interface Naming {
  kind: NameKind
  /** The quotation mark before the name, with or without one after it. */
  before: string | undefined
  after: string | undefined
  sign: string
}

/** An object as value has names of its own; only strings are replaced in a list. */
function valueAt(text: string, at: number, naming: Naming): Span | null {
  if (text.charAt(at) === '[') return quotedList(text, at + 1, naming.after)
  const quote = openingQuote(text, at, naming.after)
  if (quote !== null) return quotedText(text, at, quote)
  const value = endingFor(naming)
  value.lastIndex = at
  const found = value.exec(text)?.[0] ?? ''
  if (found === '' || placeholder.test(found)) return null
  if (naming.kind === 'datum' && naming.sign === ':' && prose.test(found)) return null
  // A bare value behind a quoted name is a number in JSON, and a bare word would make the text unreadable.
  const quotes = naming.sign === ':' && doubleQuote.test(naming.after ?? '') ? naming.after! : ''
  return [at, at + found.length, quotes]
}

/** Placeholders and empty values, which are not personal: also a parameter in SQL. */
const placeholder = /^(?:\$\d+|\?|null|nil|none|undefined|true|false|\*+|REDACTED\W*)$/i
const doubleQuote = /^\\*"{1,2}$/
const prose = /^[A-Za-z]?[a-z]{1,19}[.!?]?$/

/** Values that no quotation marks hold. Each pattern is sticky. */
const word = /(?:[^\s&;,"'`<>()[\]{}|\\]|\\(?![nrtu"'`\\]))+/y
const encodedWord = /(?:[^\s&;,"'`<>()[\]{}|\\%]|%(?!2[026C]|3B|0[AD])[0-9A-F]{2})+/iy
const assignedLine = /[^"'`&,}\\\r\n]+/y
/** Ends where the JSON string around it does; other quotation marks are the value's own. */
const line = /(?:[^"\\\r\n]|\\+(?![rn"\\])|\\*"(?!\s{0,3}(?:,\s{0,3}\\*"|[}\]])))+/y
const quotedLines: Record<string, RegExp> = {
  '"': /(?:[^"\\\r\n]|\\(?![rn"]))+/y,
  "'": /(?:[^'\\\r\n]|\\(?![rn']))+/y,
  '`': /(?:[^`\\\r\n]|\\(?![rn`]))+/y,
}

function endingFor({ kind, before, after, sign }: Naming): RegExp {
  if (sign.startsWith('%')) return encodedWord
  if (kind !== 'line' || after !== undefined) return word
  if (sign === '=') return assignedLine
  return quotedLines[before ?? ''] ?? line
}

// ---- quoted text at any depth of quoting: JSON in a string in JSON, doubled marks in CSV and SQL

/**
 * The quotation mark that opens a value at `at`, or `null`.
 * @param around the one around the value's name, by which a doubled mark differs from an empty value
 */
function openingQuote(text: string, at: number, around: string | undefined): string | null {
  if (around !== undefined && text.startsWith(around, at)) return around
  const found = matchAt(quote, text, at)
  if (found === null) return null
  const doubled = /(["'`])\1$/.test(found) && matchAt(empty, text, at + found.length) === null
  return doubled ? found : found.replace(/(["'`])["'`]$/, '$1')
}

/** The text between `opening`, which stands at `at`, and its partner, or to the end of a text cut short. */
function quotedText(text: string, at: number, opening: string): Span | null {
  const start = at + opening.length
  const end = closingQuote(text, start, opening)
  return end > start ? [start, end] : null
}

/** From the first to the last of the strings in a list that has been opened before `at`. */
function quotedList(text: string, at: number, around: string | undefined): Span | null {
  const first = at + matchAt(blank, text, at)!.length
  const opening = openingQuote(text, first, around)
  if (opening === null) return null
  let end = closingQuote(text, first + opening.length, opening)
  for (;;) {
    const next = end + opening.length
    const between = matchAt(comma, text, next)
    if (between === null || !text.startsWith(opening, next + between.length)) break
    end = closingQuote(text, next + between.length + opening.length, opening)
  }
  return end > first + opening.length ? [first + opening.length, end] : null
}

/** Where the next `opening` stands that closes and is not part of the text, or the end of `text`. */
function closingQuote(text: string, from: number, opening: string): number {
  const sign = opening.at(-1)!
  const doubled = opening.at(-2) === sign
  const escapes = doubled ? 0 : opening.length - 1
  for (let at = text.indexOf(sign, from); at >= 0; at = text.indexOf(sign, at + 1)) {
    const before = backslashesBefore(text, at, from)
    const pair = before === 0 && text.charAt(at + 1) === sign
    if (doubled && pair) return at
    // SQL doubles a quotation mark that is part of the text.
    if (opening === "'" && pair) at++
    else if (!doubled && closes(before, escapes)) return at - Math.min(before, escapes)
  }
  return text.length
}

/**
 * A mark quoted k times has 2^k - 1 backslashes, and a backslash of the text has 2^(k+1): by this a closing
 * mark differs from one in the text. With fewer than at the opening, the string around the whole text ends here.
 */
function closes(backslashes: number, escapes: number): boolean {
  return backslashes < escapes || backslashes % (2 * (escapes + 1)) === escapes
}

function backslashesBefore(text: string, at: number, from: number): number {
  let count = 0
  while (at - count > from && text.charAt(at - count - 1) === '\\') count++
  return count
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}

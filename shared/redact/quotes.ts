/** Quoted text at any depth of quoting: JSON in a string in JSON, doubled marks in CSV and SQL. */
import type { Span } from './personal-class.ts'

/** The source of a pattern for a quotation mark: escaped any number of times, or doubled as in CSV. */
export const quoteMark = String.raw`\\{0,31}["'\`]{1,2}`

const quote = new RegExp(quoteMark, 'y')
const empty = /(?=[\s&;,)\]}]|$)/y
const comma = /\s{0,9},\s{0,9}/y
const blank = /\s{0,9}/y

/**
 * The quotation mark that opens a value at `at`, or `null`.
 * @param around the one around the value's name: it tells a doubled mark from an empty value
 */
export function openingQuote(text: string, at: number, around: string | undefined): string | null {
  if (around !== undefined && text.startsWith(around, at)) return around
  const found = matchAt(quote, text, at)
  if (found === null) return null
  const doubled = /(["'`])\1$/.test(found) && matchAt(empty, text, at + found.length) === null
  return doubled ? found : found.replace(/(["'`])["'`]$/, '$1')
}

/** The text between `opening`, which stands at `at`, and its partner, or to the end of a text cut short. */
export function quotedText(text: string, at: number, opening: string): Span | null {
  const start = at + opening.length
  const end = closingQuote(text, start, opening)
  return end > start ? [start, end] : null
}

/** From the first to the last of the strings in a list that has been opened before `at`. */
export function quotedList(text: string, at: number, around: string | undefined): Span | null {
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
 * A mark quoted k times has 2^k - 1 backslashes, and a backslash of the text has 2^(k+1): so much tells a closing mark
 * from one in the text. Fewer than at the opening: what holds the whole text ends here.
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

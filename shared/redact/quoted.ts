/** Quoted text at any depth of quoting: JSON in a string in JSON, doubled marks in CSV and SQL, literals of languages. */
import { matchAt, type Span } from './personal-class.ts'

const aMark = String.raw`\\{0,31}["'\`]{1,2}`
/** The source of a pattern for a quotation mark: escaped any number of times, or doubled as in CSV, also of CSV in a string or in CSV. */
export const quoteMark = String.raw`(?:\\"\\"|\\{3}"\\{3}"|"{4}|${aMark})`

/**
 * What may stand before the mark of a literal: `E'...'` in SQL, `$'...'` in a shell, `b'...'`, `('...',)` and `<SecretStr '...'>` in Python, `&"..."` and
 * `Ok(Some("..."))` in Rust, `Just "..."` in Haskell, `string("...")` and `(string) (len=3) "..."` in Go, `string(3) "..."` in PHP.
 */
const literal =
  /(?:[BEFNRUXbefnrux$]|[Uu]&|&|<<|(?:(?:(?:\w{1,40}\.){0,3}[A-Z]\w{0,40}|(?:\w{1,40}::){1,3}\w{1,40}|bytes|str(?:ing)?)?\(){1,4}|(?:Just|Left|Ok|Right|Some) |<\w{1,40} |string\(\d{1,9}\) |\(\*?[\w.]{1,40}\) \(len=\d{1,9}\) )(?=\\{0,31}["'`])/y
const dollarQuote = /\$(?:[A-Za-z_]\w{0,62})?\$/y

const quote = new RegExp(aMark, 'y')
const empty = /(?=[\s&;,)\]}]|$)/y
/** The mark of a string in JSON that ends here: behind `{"url":"/reset?token=` none opens a value. */
const endOfString = /\\{0,31}"(?=\s{0,9}(?:[}\]]{1,9}(?:[,\s]|$)|,\s{0,9}(?:\\{0,31}"|[{[\d])))/y
const comma = /\s{0,9},\s{0,9}/y
const blank = /\s{0,9}/y

/**
 * The text of a literal at `at`, without its marks.
 * @param around the quotation mark around the value's name, by which a doubled mark differs from an empty value
 * @returns `null` where no literal stands; an empty span for one without text
 */
export function literalText(text: string, at: number, around?: string): [start: number, end: number] | null {
  const from = at + (matchAt(literal, text, at)?.length ?? 0)
  if (around === undefined && matchAt(endOfString, text, from) !== null) return null
  const mark = openingQuote(text, from, around)
  const tripled = mark !== null && mark.length > 1 && text.startsWith(mark.repeat(3), from)
  if (tripled) return between(text, from, mark.repeat(3))
  if (mark !== null) return [from + mark.length, closingQuote(text, from + mark.length, mark)]
  const dollars = matchAt(dollarQuote, text, at)
  if (dollars === null) return null
  return between(text, at, dollars)
}

function between(text: string, at: number, mark: string): [start: number, end: number] {
  const end = text.indexOf(mark, at + mark.length)
  return [at + mark.length, end < 0 ? text.length : end]
}

/** With the literals that a `joint` ties to it, whose last group is the mark that opens the next. */
export function withFurther(text: string, [start, end]: Span, joint: RegExp): Span {
  for (let last = end; ;) {
    joint.lastIndex = last
    const opening = joint.exec(text)?.at(-1)
    if (opening === undefined) return [start, last]
    last = closingQuote(text, joint.lastIndex, opening)
  }
}

/**
 * From the first to the last of the strings in a list that has been opened before `at`.
 * @returns `null` where no string stands
 */
export function quotedList(text: string, at: number, around?: string): Span | null {
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

/** The quotation mark that opens a value at `at`, or `null`. */
function openingQuote(text: string, at: number, around: string | undefined): string | null {
  if (around !== undefined && text.startsWith(around, at)) return around
  const found = matchAt(quote, text, at)
  if (found === null) return null
  const doubled =
    /(["'`])\1$/.test(found) &&
    matchAt(empty, text, at + found.length) === null &&
    !isOther(text, at + found.length)
  return doubled ? found : found.replace(/(["'`])["'`]$/, '$1')
}

/** Whether another mark than the one before ends the string around: `{"msg":"token: ''"}`. */
function isOther(text: string, at: number): boolean {
  const mark = matchAt(/\\{0,31}["'`]/y, text, at)?.at(-1)
  return mark !== undefined && mark !== text.charAt(at - 1)
}

/** Where the next `opening` stands that closes and is not part of the text, or the end of `text`. */
export function closingQuote(text: string, from: number, opening: string): number {
  const sign = opening.at(-1)!
  const half = opening.at(-2) === sign ? sign : opening.slice(opening.length / 2)
  const doubled = opening.endsWith(half + half)
  const escapes = (doubled ? half : opening).length - 1
  for (let at = text.indexOf(sign, from); at >= 0; at = text.indexOf(sign, at + 1)) {
    const before = backslashesBefore(text, at, from)
    // SQL doubles a quotation mark that is part of the text.
    if (opening === "'" && before === 0 && text.charAt(at + 1) === sign) at++
    else if (closes(before, escapes) && (!doubled || before < escapes || text.startsWith(half, at + 1)))
      return at - Math.min(before, escapes)
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

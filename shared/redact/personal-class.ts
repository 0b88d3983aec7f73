/** A class of personal data, its replacement in a text, and the pieces of patterns that classes share. */

/** Stands in place of personal data. No class finds it again, so redacting twice changes nothing. */
export const replacement = 'REDACTED'

/** From the first character to the one after the last; the replacement gets these quotation marks. */
export type Span = readonly [start: number, end: number, quotes?: string]

export interface PersonalClass {
  name: string
  /** Marks of `prefilter.ts`, all of which a text that holds such data has. */
  marks: number
  /** Finds candidates; global. Linear: no two of its repetitions can share out one run of characters in two ways. */
  pattern: RegExp
  /** The validator: which part of a candidate is personal, `null` for none. Without it, all of it is. */
  part?: (hit: RegExpExecArray) => Span | null
}

/** @returns `text` with every member of the class replaced; the same string when there is none */
export function takeOut({ pattern, part }: PersonalClass, text: string): string {
  let kept = ''
  let from = 0
  pattern.lastIndex = 0
  for (let hit = pattern.exec(text); hit; hit = pattern.exec(text)) {
    const span: Span | null = part ? part(hit) : [hit.index, endOf(hit)]
    if (!span) continue
    const [start, end, quotes = ''] = span
    if (start >= from) kept += text.slice(from, start) + quotes + replacement + quotes
    from = end
    pattern.lastIndex = end
  }
  return from === 0 ? text : kept + text.slice(from)
}

/** The end of a hit. */
export function endOf(hit: RegExpExecArray): number {
  return hit.index + hit[0].length
}

/** The span of the hit's last group, when the pattern ends with it. */
export function lastGroup(hit: RegExpExecArray): Span {
  return [endOf(hit) - hit.at(-1)!.length, endOf(hit)]
}

// ---- edges of words
/*
 * Where a word may begin and how its parts may be joined. Log texts are often quoted inside others, so an escape is an
 * edge as a space is: in `\n203.0.113.7` and `ip%3D203.0.113.7` no letter touches the address.
 */

/** The escapes of JSON, of URLs and of a terminal's colours. */
export const escape = String.raw`\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m`

/** The source of a pattern for a place with none of `characters` before it, except as the end of an escape. */
export function startOf(characters: string): string {
  const outside = String.raw`(?!(?<=%)[0-9A-Fa-f]{2}|(?<=%[0-9A-Fa-f])[0-9A-Fa-f]|(?<=\\)(?:[nrtbfv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}))`
  return `(?:(?<![${characters}])|(?<=${escape}))${outside}`
}

const escapeAtEnd = new RegExp(`(?:${escape})$`)

/** Whether an escape ends right before `at`. */
export function endsEscape(text: string, at: number): boolean {
  return escapeAtEnd.test(text.slice(Math.max(0, at - 12), at))
}

/** Between words; an underscore joins none, as in `ip_203.0.113.7_hits`. */
export const wordStart = startOf('A-Za-z0-9')
export const wordEnd = '(?![A-Za-z0-9])'

/** Spaces in prose and in URLs; `gap` separates groups of digits. */
export const space = String.raw`(?:\s|%20|\+)`
export const gap = String.raw`(?:[ \u00a0+-]|%20)`

/** A character as itself or as its percent escape, once or twice encoded. */
export function encodable(character: string, hex: string): string {
  return `(?:${character}|%(?:25)?${hex})`
}

/**
 * Where a word may begin and how its parts may be joined. Log texts are often quoted inside others, so an escape is an
 * edge as a space is: in `\n203.0.113.7` and `ip%3D203.0.113.7` no letter touches the address.
 */

/** The escapes of JSON, of URLs and of a terminal's colours. */
export const escape = String.raw`\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m`

/** The source of a pattern for a place before which there is none of `characters`, save as the end of an escape. */
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

/** Spaces as they are in prose and in URLs; `gap` is what sets groups of digits apart. */
export const space = String.raw`(?:\s|%20|\+)`
export const gap = String.raw`(?:[ \u00a0+-]|%20)`

/** A character as itself or as its percent escape, once or twice encoded. */
export function encodable(character: string, hex: string): string {
  return `(?:${character}|%(?:25)?${hex})`
}

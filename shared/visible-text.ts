/**
 * What is stored may hold characters that are not seen, or that change what is seen: a terminal obeys them, and a model reads
 * instructions in them. Neither gets them, in names as in values.
 */

/**
 * By the properties of Unicode: control, format and private characters, lone surrogates and what is not assigned (C); the
 * separators of lines and paragraphs; what is ignorable by default, such as variation selectors, joiners, tags and fillers;
 * the spaces that no text needs (all but the plain, the no-break and the ideographic ones); and the letters, signs and joiners
 * that are drawn as a blank or not at all. Joiners of living scripts, such as U+17D2 of Khmer, are a part of its words.
 */
const hidden = new RegExp(
  String.raw`(?![\t\n \u00a0\u202f\u3000])` +
    String.raw`[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u2d7f\u{1107f}\u{13441}\u{13442}\u{16fe4}\u{1d159}]`,
  'gu',
)

/**
 * Shows hidden characters as `\u{202e}`. Tabs and line feeds stay; letters of all scripts do, too. Joined emoji fall apart.
 * @returns the same text where it hides nothing
 */
export function visible(text: string): string {
  return isAscii.test(text) ? text : text.replaceAll(hidden, show)
}

function show(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}

/** The beginning of a text, so many UTF-16 units at most; a character of two is not halved. */
export function beginning(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** The same for all text in a value, names of fields included. */
export function allVisible<T>(value: T): T {
  if (typeof value === 'string') return visible(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(allVisible) as T
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [visible(name), allVisible(item)]),
  ) as T
}

/** The same JSON with its hidden characters as JSON's own escapes: it reads back as the same value. */
export function visibleJson(json: string): string {
  return isAscii.test(json) ? json : json.replaceAll(hidden, escapeCharacter)
}

/** Most is, and this is ten times as fast to see. */
const isAscii = /^[\t\n -~]*$/

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** For people: `4.1 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const unit = ['bytes', 'kB', 'MB', 'GB', 'TB'][power]!
  return `${(bytes / 1000 ** power).toLocaleString('en', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${unit}`
}

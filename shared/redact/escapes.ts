/**
 * The escapes of URLs, JSON and terminals: as edges of words, and a text with them decoded. Characters that Unicode has for
 * others, such as a full-width at sign, are decoded as escapes are.
 */

/** A percent escape of a character that is neither letter nor digit: nothing else needs one. */
const percented = String.raw`(?:25)?(?:2[0-9A-Fa-f]|3[A-Fa-f]|40|5[B-Fb-f]|60|7[B-Eb-e]|0[9ADad])`

/**
 * An escape in front of a word is an edge as a space is: in `\n203.0.113.7` and `ip%3D203.0.113.7` no letter touches the
 * address. In SQL, `LIKE '%20...` begins with a wildcard.
 */
export const escape = String.raw`\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|(?<!')%${percented}|\[[0-9;]{0,9}m`

/** The source of a pattern for a place that is not within a percent escape, nor within one of JSON. */
export const outsideEscape =
  String.raw`(?!(?<=(?<!')%)${percented}|(?<=(?<!')%(?=${percented}).)|` +
  String.raw`(?<=\\)(?:[nrtbfv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}))`

const escapeAtEnd = new RegExp(`(?:${escape})$`)

/** Whether an escape ends right before `at`. */
export function endsEscape(text: string, at: number): boolean {
  return escapeAtEnd.test(text.slice(Math.max(0, at - 12), at))
}

/**
 * Escapes of printable ASCII and of line ends: of URLs, encoded any number of times, and of JSON, quoted any number of
 * times. A backslash before a quotation mark is not decoded: `quoted.ts` tells the marks of nested JSON apart by it.
 */
/** What a terminal colours with (ECMA-48, SGR), also as JSON and URLs write it: it is not seen. */
const colour = String.raw`(?:\x1b|\\{1,32}(?:(?:u001|x1)[bB]|0?33|e)|%(?:25)*1[bB])(?:\[|%(?:25)*5[bB])[0-9;:]{0,32}m`

/** Entities of HTML for what is printable, encoded up to ten times. */
const entity = String.raw`&(?:amp;){0,9}(#\d{2,4}|#[xX][0-9a-fA-F]{2,4}|quot|apos|amp|lt|gt|commat|colon|equals|period|nbsp);`
const named: Record<string, string> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  commat: '@',
  colon: ':',
  equals: '=',
  period: '.',
  nbsp: ' ',
}

const encoded = String.raw`%(?:25)*([2-7][0-9A-Fa-f]|0[9ADad])|(?<!\\)\\{1,32}(?:[Uu]00|[Xx])([2-6][0-9A-Fa-f]|7[0-9A-Ea-e])`

/** What may pass for a character of ASCII, and what is not seen: spaces, dashes, digits, forms by width and by style. */
const alike = String.raw`(?![\0-\x7f])[\p{Zs}\p{Pd}\p{Nd}\p{No}\p{Default_Ignorable_Code_Point}\p{Cf}\u2024\u2044\u2060-\u206f\u2212\u2215\u2236\u3002\ufe50-\ufe6b\uff01-\uff61\u{1d400}-\u{1d7ff}]`
/** A full-width form in UTF-8, as URLs escape it: `%EF%BC%A0`. */
const wide = '%(?:25)*[Ee][Ff]%(?:25)*[Bb][CcDd]%(?:25)*[89ABab][0-9A-Fa-f]'
const sources = new RegExp(`${colour}|${wide}|${encoded}|${entity}|${alike}`, 'gu')
const anyWide = new RegExp(`^${wide}$`)
const anyAlike = new RegExp(alike, 'u')

/** Whether a character in the text may pass for another one. */
export function hasAlike(text: string): boolean {
  return anyAlike.test(text)
}

/** @returns the text with its escapes decoded */
export function decode(source: string): string {
  return source.replace(sources, decodedOf)
}

function decodedOf(found: string, ofUrl?: string, ofJson?: string, ofHtml?: string): string {
  if (ofHtml !== undefined) return characterOf(ofHtml) ?? found
  const code = ofUrl ?? ofJson
  if (code === undefined && anyWide.test(found))
    return plainOf(decodeURIComponent(found.replaceAll(/%(?:25)*/g, '%')))
  if (code === undefined && found.endsWith('m') && found.length > 2) return ''
  return code === undefined ? plainOf(found) : String.fromCharCode(Number.parseInt(code, 16))
}

/** @param entity without its signs: `quot`, `#64`, `#x40` */
function characterOf(entity: string): string | undefined {
  if (!entity.startsWith('#')) return named[entity]
  const code = Number(entity.replace('#', '').replace(/^[xX]/, '0x'))
  return code >= 32 && code < 127 ? String.fromCharCode(code) : undefined
}

/** As one character of ASCII, or none; itself where it is neither. */
function plainOf(character: string): string {
  const known = plain.get(character)
  if (known !== undefined) return known
  const compatible = character.normalize('NFKC')
  if (/^[ -~]$/.test(compatible)) return compatible
  if (/\p{Pd}/u.test(compatible)) return '-'
  if (/\p{Nd}/u.test(character)) return String(digitOf(character.codePointAt(0)!))
  return /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u.test(character) ? '' : character
}

const plain = new Map([
  ['\u2212', '-'],
  ['\u2044', '/'],
  ['\u2215', '/'],
  ['\u2236', ':'],
  ['\u3002', '.'],
  ['\uff61', '.'],
])

/** The digits of each script stand together, from 0 to 9. */
function digitOf(code: number): number {
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++
  return before % 10
}

/** @returns where the given places of `decode(source)`, in ascending order, stand in the source */
export function placesInSource(source: string, places: number[]): number[] {
  const escapes = source.matchAll(sources)
  let escape = escapes.next().value
  let longer = 0
  return places.map(place => {
    for (; escape && escape.index - longer < place; escape = escapes.next().value)
      longer += escape[0].length - decodedOf(escape[0], escape[1], escape[2], escape[3]).length
    return place + longer
  })
}

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
export const escape = String.raw`\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|(?<!')%${percented}|\[[0-9;]{1,9}m`

/** The source of a pattern for a place that is not within a percent escape, nor within one of JSON. */
export const outsideEscape =
  String.raw`(?!(?<=(?<!')%)${percented}|(?<=(?<!')%(?=${percented}).)|` +
  String.raw`(?<=\\)(?:[nrtbfv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}))`

const escapeAtEnd = new RegExp(`(?:${escape})$`)

/** Whether an escape ends right before `at`. */
export function endsEscape(text: string, at: number): boolean {
  return escapeAtEnd.test(text.slice(Math.max(0, at - 12), at))
}

/** What a terminal colours and clears with (ECMA-48), also as JSON, URLs and syslog write it: it is not seen. */
const colour = String.raw`(?:\x1b|\\{1,32}(?:(?:u00|x)1[bB]|0?33|e)|#033|\^\[|%(?:25)*1[bB])(?:\[|%(?:25)*5[bB])[0-9;:?]{0,32}[A-Za-z]`
const hex = '[0-9A-Fa-f]'
const byte = `%[89ABab]${hex}`
/** Of a URL, one level in a pass, so that each is looked at: printable ASCII and line ends, and a character in UTF-8. */
const ofUrl = `%(?:[2-7]${hex}|0[9ADad]|[CDcd]${hex}${byte}|[Ee]${hex}(?:${byte}){2}|[Ff][0-4](?:${byte}){3})`
/** A sign of JSON, of a regular expression or of Java's properties: `203\.0\.113\.7`. None is a quotation mark: `quoted.ts` tells the marks of nested JSON apart by their backslashes. */
const ofSign = String.raw`(?<!\\)\\{1,32}[-./:=@]`
/** Of JSON and of languages, and `%u0040`. */
const ofString = String.raw`(?:(?<!\\)\\{1,32}|%(?:25)*(?=u))(?:U${hex}{8}|[Uu]${hex}{4}|[Uu]\{${hex}{1,6}\}|[Xx]${hex}{2})`
const named = new Map(
  `quot" apos' amp& lt< gt> commat@ colon: equals= percnt% period. plus+`
    .split(' ')
    .map(entity => [entity.slice(0, -1), entity.slice(-1)]),
)
const ofHtml = String.raw`&(?:amp;){0,9}(?:#\d{2,7}|#[xX]${hex}{2,6}|nbsp|thinsp|shy|zwnj|${[...named.keys()].join('|')});`
/** A blank of a form beside a sign: `%22a%22%3A+%22b%22`. */
const ofForm = String.raw`\+(?=%(?:25)*(?:3[ADad]|2[27]))|(?<=%(?:25)*(?:3[ADad]|2[Cc]))\+(?!\d)`
/** A quotation mark within those of a shell: decoded to a doubled one, as in SQL, which ends no text around it. */
export const shellQuote = `'"'"'`
const ofShell = String.raw`'\\{1,8}''|'\\{0,8}"'\\{0,8}"'`

/** What may pass for a character of ASCII, and what is not seen: spaces, dashes, digits, forms by width and by style. */
const alike = String.raw`(?![\0-\x7f])[\u017f\u02b0-\u02b8\u1d2c-\u1d6a\p{Zs}\p{Pd}\p{Nd}\p{No}\p{Default_Ignorable_Code_Point}\p{Cf}\u00ab\u00bb\u2018-\u201f\u2024\u2044\u2060-\u206f\u2212\u2215\u2236\u3002\ufe50-\ufe6b\uff01-\uff61\u{1d400}-\u{1d7ff}]`
const anyAlike = new RegExp(alike, 'u')

/** Whether a character in the text may pass for another one. */
export function hasAlike(text: string): boolean {
  return anyAlike.test(text)
}

const escapes: [source: string, decode: (found: string) => string][] = [
  [colour, () => ''],
  [ofUrl, decodedUrl],
  [ofSign, found => found.at(-1)!],
  [ofString, found => characterOf(found, found.replace(/^.*[UuXx]\{?|\}$/g, ''))],
  [ofHtml, decodedEntity],
  [ofForm, () => ' '],
  [ofShell, () => "''"],
  [alike, plainOf],
]
/** Those without a percent sign, a backslash or a control character. */
export const unmarked = /&(?:#[\dxX]|[a-zA-Z]{2,8};)|#033\[|\^\[/
const sources = new RegExp(escapes.map(([source]) => `(${source})`).join('|'), 'gu')

/** A text with its escapes decoded, and of each its place in the source, its length and that of what it stands for. */
export interface Decoding {
  source: string
  text: string
  escapes: [at: number, length: number, decoded: number][]
}

/** @returns the text with its escapes decoded, once */
export function decode(source: string): string {
  return decoding(source).text
}

function decoding(source: string): Decoding {
  const found: Decoding['escapes'] = []
  const text = source.replace(sources, (escape: string, ...kinds: (string | number)[]) => {
    const decoded = escapes[kinds.findIndex(kind => kind !== undefined)]![1](escape)
    found.push([kinds[escapes.length] as number, escape.length, decoded.length])
    return decoded
  })
  return { source, text, escapes: found }
}

function decodedUrl(found: string): string {
  const character = Buffer.from(found.replaceAll('%', ''), 'hex').toString()
  return character.startsWith('\ufffd') ? found : plainOf(character)
}

function decodedEntity(found: string): string {
  const [, hexadecimal, decimal, name = ''] = /(?:#[xX](\w+)|#(\d+)|(\w+));$/.exec(found)!
  if (name === '') return characterOf(found, hexadecimal ?? Number(decimal).toString(16))
  return named.get(name) ?? (name.endsWith('sp') ? ' ' : '')
}

/** A control character stays as it is written. */
function characterOf(found: string, hexadecimal: string): string {
  const code = Number.parseInt(hexadecimal, 16)
  return code < 32 || (code > 126 && code < 160) || code > 0x10ffff
    ? found
    : plainOf(String.fromCodePoint(code))
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

const [marks, theirPlain] = [
  '\u00ab\u00bb\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u2212\u2044\u2215\u2236\u3002\uff61',
  `""""""''''-//:..`,
]
const plain = new Map(Array.from(marks, (mark, at) => [mark, theirPlain.charAt(at)]))

/** The digits of each script stand together, from 0 to 9. */
function digitOf(code: number): number {
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++
  return before % 10
}

/** An escape may be one of an escape, `%5Cu0040`; a text that takes as many passes goes whole. */
export const mostPasses = 5

/** Whether the text may have escapes, also such of one character for another. */
export function hasEscapes(text: string): boolean {
  return /[%\\]|[^ -~]/.test(text) || unmarked.test(text) || text.includes(shellQuote)
}

/** @returns the text decoded once, and as long as that changes it, once more; empty when it has no escapes */
export function decodings(source: string): Decoding[] {
  const passes: Decoding[] = []
  for (let text = source; passes.length < mostPasses; text = passes.at(-1)!.text) {
    if (passes.length > 0 && !hasEscapes(text)) break
    const pass = decoding(text)
    if (pass.text === text) break
    passes.push(pass)
  }
  return passes
}

/** Of beginnings and ends by turns: what is not seen stays before a beginning and behind an end. */
export function placesInSource(places: number[], { escapes }: Decoding): number[] {
  let [next, longer] = [0, 0]
  return places.map((place, at) => {
    for (; next < escapes.length; next++) {
      const [index, length, decoded] = escapes[next]!
      const before = index - longer - place
      if (before > 0 || (before === 0 && (decoded > 0 || at % 2 === 1))) break
      longer += length - decoded
    }
    return place + longer
  })
}

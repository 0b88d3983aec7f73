/** The escapes of URLs, JSON and terminals: as edges of words, and a text with them decoded. */

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
const encoded = /%(?:25)*([2-7][0-9A-F]|0[9AD])|(?<!\\)\\{1,32}(?:u00|x)([2-6][0-9A-F]|7[0-9A-E])/gi

/** @returns the text with its escapes decoded */
export function decode(source: string): string {
  return source.replace(encoded, (_, ofUrl?: string, ofJson?: string) =>
    String.fromCharCode(Number.parseInt(ofUrl ?? ofJson!, 16)),
  )
}

/** @returns where the given places of `decode(source)`, in ascending order, stand in the source */
export function placesInSource(source: string, places: number[]): number[] {
  const escapes = source.matchAll(encoded)
  let escape = escapes.next().value
  let longer = 0
  return places.map(place => {
    for (; escape && escape.index - longer < place; escape = escapes.next().value)
      longer += escape[0].length - 1
    return place + longer
  })
}

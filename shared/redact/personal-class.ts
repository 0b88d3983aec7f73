/** A class of personal data, its replacement in a text, and the pieces of patterns that classes share. */
import { type Decoding, escape, placesInSource } from './escapes.ts'

/** Stands in place of personal data. No class finds it again, so redacting twice changes nothing. */
export const replacement = 'REDACTED'

/** From the first character to the one after the last; the replacement gets these quotation marks. */
export type Span = readonly [start: number, end: number, quotes?: string]

/**
 * How many words and signs of records may yet be read in a text. Each name may begin one that ends far behind it, or nowhere, and
 * another class or round shows them anew. Ordinary texts take up to one for two characters.
 */
export class Steps {
  left: number
  constructor(text: string) {
    this.left = 4 * text.length + 256
  }

  take(): boolean {
    return --this.left >= 0
  }
}

export interface PersonalClass {
  name: string
  /** Marks of `prefilter.ts`, all of which a text that holds such data has. */
  marks: number
  /** Finds candidates; global. Linear: no two of its repetitions can share out one run of characters in two ways. */
  pattern: RegExp
  /** The validator: which part of a candidate is personal, `null` for none. Without it, all of it is. */
  part?: (hit: RegExpExecArray, steps: Steps) => Span | null
}

/** @returns the members of the class in `text`, in order and apart from each other */
export function spansIn({ pattern, part }: PersonalClass, text: string, steps: Steps): Span[] {
  const spans: Span[] = []
  pattern.lastIndex = 0
  for (let hit = pattern.exec(text); hit; hit = pattern.exec(text)) {
    const span: Span | null = part ? part(hit, steps) : [hit.index, endOf(hit)]
    if (!span) continue
    spans.push(span)
    pattern.lastIndex = Math.max(span[1], hit.index + 1)
  }
  return unite(spans)
}

/** @returns the spans in order and apart from each other: those that overlap are one */
export function unite(spans: Span[]): Span[] {
  if (spans.length < 2) return spans
  const apart: Span[] = []
  for (const span of spans.toSorted((one, other) => one[0] - other[0] || other[1] - one[1])) {
    const last = apart.at(-1)
    if (!last || span[0] >= last[1]) apart.push(span)
    else if (span[1] > last[1]) apart[apart.length - 1] = [last[0], span[1]]
  }
  return apart
}

/** @returns `text` with every span replaced; the same string when there is none */
export function replaceSpans(text: string, spans: Span[]): string {
  let replaced = ''
  let from = 0
  for (const [start, end, quotes = ''] of spans) {
    replaced += text.slice(from, start) + quotes + replacement + quotes
    from = end
  }
  return from === 0 ? text : replaced + text.slice(from)
}

/** The end of a hit. */
export function endOf(hit: RegExpExecArray): number {
  return hit.index + hit[0].length
}

/** Whether `sticky` matches at `at`; a lookbehind tests what stands before. */
export function isAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at
  return sticky.test(text)
}

/** What `sticky` matches at `at`, `null` where it does not. */
export function matchAt(sticky: RegExp, text: string, at: number): string | null {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0] ?? null
}

// ---- edges of words

/** The source of a pattern for a place with none of `characters` before it, except as the end of an escape. */
export function startOf(characters: string): string {
  return `(?:(?<![${characters}])|(?<=${escape}))`
}

/** Between words; an underscore joins none, as in `ip_203.0.113.7_hits`. */
export const wordStart = startOf('A-Za-z0-9')

/** Spaces in prose and in URLs; `gap` separates groups of digits. A plus before a digit is a blank only behind a group, and else begins a number. */
export const space = String.raw`(?:\s|%20|\+|\\{1,8}t)`
export const gap = String.raw`(?:[ \u00a0\u2000-\u200a\u2010-\u2015\u202f\u2212-]|(?<=[A-Za-z0-9)])\+|\+(?!\d)|%20)`

/** @returns where spans of the last of `passes`, in ascending order, begin and end in the first source */
export function spansInSource(passes: Decoding[], spans: Span[]): Span[] {
  const places = passes.reduceRight(
    placesInSource,
    spans.flatMap(([start, end]) => [start, end]),
  )
  return spans.map((_, at): Span => [places[2 * at]!, places[2 * at + 1]!])
}

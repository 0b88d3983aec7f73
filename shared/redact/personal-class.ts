/** What a class of personal data is, and taking one class out of a text. */

/** What stands in place of personal data. No class finds it again, so that redacting twice changes nothing. */
export const replacement = 'REDACTED'

/** From the first character to the one after the last; what is put there gets these quotation marks. */
export type Span = readonly [start: number, end: number, quotes?: string]

export interface PersonalClass {
  name: string
  /** The cheap test: marks (see `marks.ts`) that a text holding such data has, all of them. */
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

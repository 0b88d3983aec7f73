/** Where a search is found in the texts that are shown. */
import type { Row } from '../../../shared/engines/engine.ts'
import { gist } from '../value.ts'
import { escaped, patternIn } from './conditions.ts'

/** A repetition of what repeats, for which this browser's engine, unlike RE2, may take exponential time. */
const nested = /[*+}][^()]*\)[*+{]/

/** Longer texts are searched for an expression in their first characters alone. */
const most = 4000

/** @returns `null` where nothing is to be marked: no search, or an expression that this browser cannot take */
export function hitsOf(search: string): RegExp | null {
  if (search === '') return null
  const { pattern, anyCase } = patternIn(search) ?? { pattern: null, anyCase: true }
  if (pattern === null) return new RegExp(escaped(search), 'giu')
  if (nested.test(pattern)) return null
  // As RE2 writes flags and names of groups.
  const [, flags = '', body = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(pattern)!
  try {
    return new RegExp(body.replaceAll('(?P<', '(?<'), [...new Set(`g${anyCase ? 'i' : ''}${flags}`)].join(''))
  } catch {
    return null
  }
}

/** The text in parts, of which every second one is a hit: the first is none. */
export function partsOf(text: string, hits: RegExp): string[] {
  const parts: string[] = []
  let end = 0
  for (const { 0: hit, index } of text.slice(0, most).matchAll(hits)) {
    if (hit === '') continue
    parts.push(text.slice(end, index), hit)
    end = index + hit.length
  }
  return [...parts, text.slice(end)]
}

/** @param names of the columns that are searched */
export function countHits(rows: Row[], names: string[], hits: RegExp): number {
  const texts = rows.flatMap(row => names.map(name => gist(row[name] ?? '')))
  return texts.reduce((sum, text) => sum + (partsOf(text, hits).length - 1) / 2, 0)
}

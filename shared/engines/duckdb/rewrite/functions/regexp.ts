/** Regular expressions: BigQuery and DuckDB both use RE2. */
import { quoteText } from '../../syntax.ts'
import { nullWhere, once } from '../repeats.ts'
import { raise } from '../context.ts'
import type { CallSite, Rules } from './signature.ts'

export const regexpFunctions: Rules = {
  REGEXP_CONTAINS: (_, text, pattern) => `regexp_matches(${text}, ${pattern})`,
  REGEXP_EXTRACT: extract,
  REGEXP_EXTRACT_ALL: extractAll,
  REGEXP_INSTR: position,
  REGEXP_REPLACE: replace,
  REGEXP_SUBSTR: extract,
}

function replace(site: CallSite, text: string, pattern: string, replacement: string): string {
  const nodes = site.call.arguments
  const [written, by] = [site.literal(1), site.literal(2)]
  if (written !== null && by !== null) {
    const used = [...by.matchAll(/\\(.)/gs)].map(([, what]) => (what === '\\' ? 0 : Number(what)))
    // NaN for what is no digit.
    if (used.some(group => !(group <= countGroups(written))))
      throw site.invalid('The replacement names a group that the regular expression does not have', nodes[2])
  }
  return `regexp_replace(${text}, ${pattern}, ${replacement}, 'g')`
}

/** The match, or its group if the pattern has one; NULL, not an empty string, where nothing matches. */
function extract(site: CallSite, text: string, pattern: string, from?: string, number?: string): string {
  const { take, neverEmpty } = patternArguments(site, pattern)
  if (from !== undefined) return nthMatch(text, pattern, take(String), positive(from), positive(number))
  const found = take(group => `regexp_extract(${text}, ${pattern}, ${group})`)
  // An empty string shows that nothing matches, or that the group takes no part in the match.
  if (neverEmpty) return nullWhere(found, `''`)
  return `(CASE WHEN regexp_matches(${text}, ${pattern}) THEN ${found} END)`
}

function nthMatch(
  text: string,
  pattern: string,
  group: string,
  position: string,
  occurrence: string,
): string {
  const all = allMatches(`substr(${text}, ${position})`, pattern, group)
  return `(CASE WHEN ${position} <= greatest(length(${text}), 1) THEN ${all}[${occurrence}] END)`
}

/** An argument that counts from 1, by default 1. */
function positive(number?: string): string {
  if (number === undefined) return '1'
  return `(CASE WHEN ${number} < 1 THEN ${raise('A number is out of range')} ELSE ${number} END)`
}

function extractAll(site: CallSite, text: string, pattern: string): string {
  const { take, neverEmpty, partial } = patternArguments(site, pattern)
  const found = take(group =>
    neverEmpty === 'match'
      ? `regexp_extract_all(${text}, ${pattern}, ${group})`
      : allMatches(text, pattern, `${group}`),
  )
  // A group that takes no part in a match is an empty string here.
  return partial ? `list_transform(${found}, lambda m: COALESCE(m, ''))` : found
}

/** All matches without one that DuckDB adds: an empty one at the end of a text that is not. */
function allMatches(text: string, pattern: string, group: string): string {
  return once([text, pattern], (text, pattern) => {
    const all = `regexp_extract_all(${text}, ${pattern}, ${group})`
    const atEnd = `'(?s:^.*)((?:' || ${pattern} || '))\\z'`
    const extra = `${text} <> '' AND regexp_matches(${text}, ${atEnd}) AND regexp_extract(${text}, ${atEnd}, 1) = ''`
    return `(CASE WHEN ${extra} THEN ${all}[:-2] ELSE ${all} END)`
  })
}

/** Where a match, or its group, begins or ends: `REGEXP_INSTR(text, pattern, position, occurrence, after)`. */
function position(site: CallSite, ...[text, pattern, position, occurrence, after = '0']: string[]): string {
  const { split } = patternArguments(site, pattern!)
  if (site.isNull(1)) return 'CAST(NULL AS BIGINT)'
  if (!split)
    throw site.unsupported('REGEXP_INSTR with a group inside a group, or beside |', site.call.arguments[1])
  const [from, number] = [positive(position), positive(occurrence)]
  const ends = `(CASE WHEN ${after} IN (0, 1) THEN ${after} ELSE ${raise('A number is out of range')} END)`
  const rest = position === undefined ? text! : `substr(${text}, ${from})`
  // Each match with all that stands before it, and that much up to where what counts begins.
  const lazy = `'((?s:.*?)' || ${split.before} || ')' || ${split.group} || ${split.behind}`
  const matches = (group: number) => `regexp_extract_all(${rest}, ${lazy}, ${group})`
  const sql = once(
    [matches(0), matches(1), matches(2), from, number],
    (whole, before, found, from, number) => {
      const passed = `list_sum(list_transform(${whole}[:${number} - 1], lambda m: length(m)))`
      const start = `${from} + COALESCE(${passed}, 0) + length(${before}[${number}])`
      const match = `${found}[${number}]`
      // Of an empty match GoogleSQL tells the place behind it.
      const empty = split.optional ? '0' : `least(${start} + 1, length(${text}) + 1)`
      return `CAST(CASE WHEN ${match} IS NULL THEN 0 WHEN ${match} = '' THEN ${empty} ELSE ${start} + ${ends} * length(${match}) END AS BIGINT)`
    },
  )
  const known = [text, pattern, from, number, after].map(sql => `${sql} IS NOT NULL`).join(' AND ')
  return `(CASE WHEN (${pattern} = '' OR ${from} > length(${text})) AND ${text} IS NOT NULL AND ${pattern} IS NOT NULL AND ${number} IS NOT NULL THEN 0 WHEN ${known} THEN ${sql} END)`
}

interface PatternArguments {
  /** SQL for the pattern's group, from SQL for a group's number; 0 is the whole match. */
  take(sql: (group: 0 | 1) => string): string
  /** Of a literal pattern, what cannot be empty: a match, or its group only. */
  neverEmpty: 'match' | 'group' | null
  /** Whether the pattern may match without its group. */
  partial: boolean
  /** The pattern's parts around what REGEXP_INSTR looks for, as SQL; `null` where they cannot be told apart. */
  split: Split | null
}

interface Split {
  before: string
  group: string
  behind: string
  /** The group may take no part in a match, and is then an empty string. */
  optional: boolean
}

function patternArguments(site: CallSite, pattern: string): PatternArguments {
  const { arguments: nodes } = site.call
  const all = site.name === 'REGEXP_EXTRACT_ALL'
  // A position or an occurrence makes a list of matches.
  const literal = site.literal(1)
  const group = literal === null ? null : groupIn(literal)
  if (literal !== null && (all || nodes.length > 2) && between(literal) && mayBeEmpty(literal))
    throw site.unsupported(`${site.name} with an empty match at \\b, or at ^ or $ of a line`, nodes[1])
  return {
    take: groupOf(site, literal, pattern),
    neverEmpty:
      literal === null || mayBeEmpty(group?.inside ?? literal)
        ? null
        : mayBeEmpty(literal)
          ? 'group'
          : 'match',
    partial: group !== null && /[|?*]|\{0?,|\{0\}/.test(literal!.replaceAll(/\(\?(?:P?<\w+>|\w*:)?/g, '(')),
    split: splitOf(pattern, literal, group),
  }
}

/** Matches a pattern that has a group: `(` that is not escaped and not `(?:`. For patterns that are not literals. */
const hasGroup = String.raw`'(^|[^\\])(\\\\)*\((\?P?<\w|[^?])'`

function groupOf(site: CallSite, literal: string | null, pattern: string): PatternArguments['take'] {
  if (literal === null)
    return sql => `(CASE WHEN regexp_matches(${pattern}, ${hasGroup}) THEN ${sql(1)} ELSE ${sql(0)} END)`
  const groups = countGroups(literal)
  if (groups > 1)
    throw site.invalid(
      `${site.name} takes a regular expression with at most one group`,
      site.call.arguments[1],
    )
  return sql => sql(groups === 1 ? 1 : 0)
}

/** Escapes, quotes, classes and opening parentheses of an RE2 pattern; all else is one character. */
const token = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]])*\]|\((?:\?(?:P?<\w+>|[\w-]*[:)])?)?|[^]/gsu

const isGroup = (piece: string) => piece === '(' || /^\(\?P?</.test(piece)

/** Capturing groups of an RE2 pattern: `(`, `(?P<name>` and `(?<name>`, but not in a class or behind a backslash. */
function countGroups(pattern: string): number {
  return (pattern.match(token) ?? []).filter(isGroup).length
}

/** The only group of a pattern: what is before it, in it and behind it. */
interface Group {
  before: string
  inside: string
  behind: string
}

function groupIn(pattern: string): Group | null {
  const pieces = pattern.match(token) ?? []
  const start = pieces.findIndex(isGroup)
  if (start < 0) return null
  let depth = 0
  const end = pieces.findIndex((piece, at) => {
    if (at < start) return false
    if (piece.startsWith('(') && !piece.endsWith(')')) depth++
    return piece === ')' && --depth === 0
  })
  if (end < 0) return null
  const part = (from: number, to?: number) => pieces.slice(from, to).join('')
  return { before: part(0, start), inside: part(start + 1, end), behind: part(end + 1) }
}

/** Whether a pattern stands for itself wherever it is put: no parenthesis without its other, no | outside all of them. */
function isWhole(pattern: string): boolean {
  let depth = 0
  for (const piece of pattern.match(token) ?? []) {
    if (piece.startsWith('(') && !piece.endsWith(')')) depth++
    if (piece === ')' && --depth < 0) return false
    if (piece === '|' && depth === 0) return false
  }
  return depth === 0
}

function splitOf(pattern: string, literal: string | null, group: Group | null): Split | null {
  const counted =
    literal === null
      ? `(CASE WHEN regexp_matches(${pattern}, ${hasGroup}) THEN CAST(${raise('REGEXP_INSTR takes a group in a literal pattern only')} AS VARCHAR) ELSE ${pattern} END)`
      : pattern
  const whole = { before: `''`, group: `'(' || ${counted} || ')'`, behind: `''`, optional: false }
  if (!group) return whole
  const { before, inside, behind } = group
  // With a count behind it, the group is its last repetition.
  const [, count = '', rest = ''] = /^(\?\??|[*+]\??|\{[\d,]+\}\??)?(.*)$/s.exec(behind)!
  if (!isWhole(before) || !isWhole(rest) || !/^(\?\??)?$/.test(count) || (count && mayBeEmpty(inside)))
    return null
  return {
    before: quoteText(before),
    group: quoteText(`(${inside})${count}`),
    behind: quoteText(rest),
    optional: count !== '',
  }
}

/** Whether a pattern looks for a place inside a text, where DuckDB finds an empty match as often as it takes steps to it. */
function between(pattern: string): boolean {
  const pieces = pattern.match(token) ?? []
  const ofLines = pieces.some(piece => /^\(\?[a-zA-Z]*m/.test(piece))
  return pieces.some(piece => /^\\[bB]$/.test(piece) || (ofLines && /^[$^]$/.test(piece)))
}

/** Whether a pattern may match an empty string; also where that cannot be told. */
function mayBeEmpty(pattern: string): boolean {
  if (pattern.includes('\\Q')) return true
  const pieces = (pattern.match(token) ?? []).map(piece => {
    if (/^(\^|\$|\\[bBAz])$/.test(piece)) return '(?:)'
    return /^\(\?[\w-]+\)$/.test(piece) ? '' : piece.replace(/^\(\?(?:P?<\w+>|[\w-]*:)/, '(?:')
  })
  try {
    return new RegExp(`^(?:${pieces.join('')})$`, 's').test('')
  } catch {
    return true
  }
}

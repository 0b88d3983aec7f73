/** Regular expressions: BigQuery and DuckDB both use RE2. */
import type { Expression } from '../../../../sql/tree.ts'
import { quoteText } from '../../syntax.ts'
import { literalBytes, nullWhere, once } from '../bounds.ts'
import { arrayOf, raise, type Typed, typed } from '../context.ts'
import { ofBytesToo } from './bytes.ts'
import { applyRule, bounded, type CallSite, type FunctionTable, named, signature } from './signature.ts'

export const regexpFunctions: FunctionTable = ofBytesToo({
  REGEXP_CONTAINS: bounded(0, steps, named('regexp_matches', ['STRING', 'STRING'], 'BOOL')),
  REGEXP_EXTRACT: extract,
  REGEXP_EXTRACT_ALL: extractAll,
  REGEXP_INSTR: position,
  REGEXP_REPLACE: replace,
  REGEXP_SUBSTR: extract,
})

function replace(site: CallSite): Typed {
  const [, pattern, replacement] = site.call.arguments
  if (pattern?.kind === 'Literal' && replacement?.kind === 'Literal') {
    const used = [...replacement.value.matchAll(/\\(.)/gs)].map(([, what]) =>
      what === '\\' ? 0 : Number(what),
    )
    // NaN for what is no digit.
    if (used.some(group => !(group <= countGroups(pattern.value))))
      throw site.invalid(
        'The replacement names a group that the regular expression does not have',
        replacement,
      )
  }
  return applyRule(site, replacing)
}

const replacing = bounded(
  0,
  matchesToEnd,
  bounded(
    2,
    (text, pattern, replacement) => {
      const added = literalBytes(replacement)
      const least =
        literalBytes(pattern) === null ? 0 : leastLength(pattern.sql.slice(1, -1).replaceAll(`''`, `'`))
      // One group, which is a part of the text, or no more than what it takes the place of.
      if (
        added !== null &&
        (/^'\\\d'$/.test(replacement.sql) || (added <= least && !/\\\d/.test(replacement.sql)))
      )
        return null
      return `(strlen(${text.sql}) / ${Math.max(least, 1)} + 1.0) * strlen(${replacement.sql})`
    },
    signature(
      ['STRING', 'STRING', 'STRING'],
      'STRING',
      (text, pattern, replacement) => `regexp_replace(${text}, ${pattern}, ${replacement}, 'g')`,
    ),
  ),
  'steps',
)

/** The match, or its group if the pattern has one; NULL, not an empty string, where nothing matches. */
function extract(site: CallSite): Typed {
  const { text, pattern, take, neverEmpty } = patternArguments(site)
  if (site.call.arguments.length > 2) return typed(nthMatch(site, text, take(String), pattern), 'STRING')
  const found = take(group => `regexp_extract(${text}, ${pattern}, ${group})`)
  // An empty string shows that nothing matches, or that the group takes no part in the match.
  if (neverEmpty) return typed(nullWhere(found, `''`), 'STRING')
  return typed(`(CASE WHEN regexp_matches(${text}, ${pattern}) THEN ${found} END)`, 'STRING')
}

/** The n-th match from a position on; the arguments after the pattern are both. */
function nthMatch(site: CallSite, text: string, group: string, pattern: string): string {
  const [position, occurrence] = [positive(site, 2), positive(site, 3)]
  const all = allMatches(`substr(${text}, ${position})`, pattern, group)
  return `(CASE WHEN ${position} <= greatest(length(${text}), 1) THEN ${all}[${occurrence}] END)`
}

/** An argument that counts from 1, by default 1. */
function positive(site: CallSite, at: number): string {
  if (site.call.arguments.length <= at) return '1'
  const { sql, type } = site.argument(at)
  if (type && type.kind !== 'INT64') throw site.noMatch([site.argument(at)])
  return `(CASE WHEN ${sql} < 1 THEN ${raise('A number is out of range')} ELSE ${sql} END)`
}

function extractAll(site: CallSite): Typed {
  if (site.call.arguments.length > 2) throw site.noMatch(site.allArguments())
  const { text, pattern, take, neverEmpty, partial } = patternArguments(site)
  const found = take(group =>
    neverEmpty === 'match'
      ? `regexp_extract_all(${text}, ${pattern}, ${group})`
      : allMatches(text, pattern, `${group}`),
  )
  // A group that takes no part in a match is an empty string here.
  const whole = partial ? `list_transform(${found}, lambda m: COALESCE(m, ''))` : found
  return typed(whole, arrayOf({ kind: 'STRING' }))
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
function position(site: CallSite): Typed {
  const { text, pattern, split } = patternArguments(site)
  if (pattern === 'NULL') return typed('CAST(NULL AS BIGINT)', 'INT64')
  if (!split)
    throw site.unsupported(
      'REGEXP_INSTR with this group',
      site.call.arguments[1],
      'the group must stand outside other groups, with no | beside it',
    )
  const from = positive(site, 2)
  const number = positive(site, 3)
  const after = site.call.arguments.length > 4 ? site.argument(4).sql : '0'
  const ends = `(CASE WHEN ${after} IN (0, 1) THEN ${after} ELSE ${raise('A number is out of range')} END)`
  const rest = site.call.arguments.length > 2 ? `substr(${text}, ${from})` : text
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
  return typed(
    `(CASE WHEN (${pattern} = '' OR ${from} > length(${text})) AND ${text} IS NOT NULL AND ${pattern} IS NOT NULL AND ${number} IS NOT NULL THEN 0 WHEN ${known} THEN ${sql} END)`,
    'INT64',
  )
}

interface PatternArguments {
  text: string
  pattern: string
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

function patternArguments(site: CallSite): PatternArguments {
  const { arguments: nodes } = site.call
  const [text, pattern] = [site.argument(0), site.argument(1)]
  if ([text, pattern].some(({ type }) => type !== null && type.kind !== 'STRING'))
    throw site.noMatch([text, pattern])
  const all = site.name === 'REGEXP_EXTRACT_ALL'
  // A position or an occurrence makes a list of matches.
  const literal = site.literal(nodes[1]!)
  const cost = all || nodes.length > 2 ? listed(text, literal, all ? 1 : 8) : steps(text, pattern)
  const group = literal === null ? null : groupIn(literal)
  if (literal !== null && (all || nodes.length > 2) && between(literal) && mayBeEmpty(literal))
    throw site.unsupported(
      `${site.name} with an empty match at \\b, or at ^ or $ of a line,`,
      nodes[1],
      'add to the pattern what it is to match there',
    )
  const toEnd = all || nodes.length > 2 ? matchesToEnd(text, pattern) : null
  const bounded = cost === null ? text.sql : site.within(cost, text.sql)
  return {
    text: toEnd === null ? bounded : site.within(toEnd, bounded, 'steps'),
    pattern: pattern.sql,
    take: groupOf(site, nodes[1]!, pattern.sql),
    neverEmpty:
      literal === null || mayBeEmpty(group?.inside ?? literal)
        ? null
        : mayBeEmpty(literal)
          ? 'group'
          : 'match',
    partial: group !== null && /[|?*]|\{0?,|\{0\}/.test(literal!.replaceAll(/\(\?(?:P?<\w+>|\w*:)?/g, '(')),
    split: splitOf(pattern.sql, literal, group),
  }
}

/** How much a list of matches takes: none where it is no larger than the text, as an element takes 16 bytes. */
function listed(text: Typed, pattern: string | null, each: number): string | null {
  const least = pattern === null ? 0 : leastLength(pattern)
  return least < 16 ? `${each}.0 * strlen(${text.sql}) / ${Math.max(least, 1)}` : null
}

/**
 * To find all matches RE2 may read on from each to the text's end, as in a*b|a: it knows only there that the longer one
 * fails.
 */
function matchesToEnd(text: Typed, pattern: Typed): string | null {
  if (literalBytes(pattern) !== null && isReadOnce(pattern.sql.slice(1, -1).replaceAll(`''`, `'`)))
    return null
  return `CAST(strlen(${text.sql}) AS DOUBLE) * strlen(${text.sql})`
}

/**
 * Whether all matches are found in one reading: where nothing is repeated without end in a repeated group, or in an alternative
 * but as the last of one that stands in no group. What reads on in one of these would take in the match after this one, too,
 * and so takes what it has read.
 */
function isReadOnce(pattern: string): boolean {
  if (pattern.includes('\\Q')) return false
  // `endless`: something is repeated without end; `last`: nothing stands behind it; `inside`: something does, in an alternative.
  const group = () => ({ alternates: false, endless: false, last: false, inside: false })
  let now = group()
  let closed: typeof now | null = null
  const around: (typeof now)[] = []
  for (const piece of pattern.match(tokenOrCount) ?? []) {
    const isEndless = /^(?:[*+]|\{\d+,\})$/.test(piece)
    if (isEndless || /^(?:\?|\{\d.*)$/.test(piece)) {
      // A group of a fixed count is as if written so often.
      if (closed && (isEndless || (closed.endless && !/^\{\d+\}$/.test(piece)))) return false
      if (isEndless) Object.assign(now, { endless: true, last: true })
      closed = null
      continue
    }
    closed = null
    if (piece === ')') {
      if (now.alternates && now.endless) return false
      closed = now
      now = around.pop() ?? group()
      // As if it stood within the group: what follows is for the next piece to see.
      Object.assign(now, {
        endless: now.endless || closed.endless,
        inside: now.inside || now.last || closed.inside,
      })
      now.last = closed.last
    } else if (piece === '|') Object.assign(now, { alternates: true, last: false })
    else {
      Object.assign(now, { inside: now.inside || now.last, last: false })
      if (piece.startsWith('(') && !piece.endsWith(')')) {
        around.push(now)
        now = group()
      }
    }
  }
  return !(now.alternates && now.inside)
}

/**
 * RE2 reads a byte in some nanoseconds, but in 10 for each place of the pattern where counts make many, as in (a?){1000}b; and
 * it makes a pattern of rows ready for each row, as long as for 1,000 bytes.
 */
function steps(text: Typed, pattern: Typed): string | null {
  const literal = literalBytes(pattern)
  const isLiteral = literal !== null
  if (isLiteral && literal < longPattern && !/\{\d/.test(pattern.sql)) return null
  // Counts of a character or a class add up, those of groups multiply; RE2 refuses more than 1,000 inside one another.
  const bare = `regexp_replace(${pattern.sql}, '${noCount}', 'x', 'g')`
  const counts = (of: string) =>
    `list_transform(regexp_extract_all(${bare}, '${of}\\{(?:\\d*,)?(\\d+)', 1), lambda c: TRY_CAST(c AS DOUBLE))`
  const sum = `COALESCE(list_aggr(${counts('[^)]')}, 'sum'), 0)`
  const product = `least(COALESCE(list_aggr(${counts('\\)')}, 'product'), 1), 1000)`
  const least = isLiteral || pattern.origin === 'parameter' ? 0 : 1000
  const bytes = `(CASE WHEN (${sum} + 1) * ${product} < ${fewPlaces} AND strlen(${pattern.sql}) < ${longPattern} THEN 0 ELSE strlen(${text.sql}) END)`
  return `greatest(${bytes}, ${least}) * (strlen(${pattern.sql}) + ${sum}) * ${product}`
}

/** Bytes from which on the places that are written out are as many as counts make. */
const longPattern = 1_000

/** By counts; the work for these hardly depends on the pattern. */
const fewPlaces = 100

/** Escapes, of which some have braces. */
const noCount = String.raw`\\(?:x\{[0-9A-Fa-f]+\}|[pP]\{\^?\w+\}|(?s:.))`

/** Matches a pattern that has a group: `(` that is not escaped and not `(?:`. For patterns that are not literals. */
const hasGroup = String.raw`'(^|[^\\])(\\\\)*\((\?P?<\w|[^?])'`

function groupOf(site: CallSite, node: Expression, pattern: string): PatternArguments['take'] {
  const literal = site.literal(node)
  if (literal === null)
    return sql => `(CASE WHEN regexp_matches(${pattern}, ${hasGroup}) THEN ${sql(1)} ELSE ${sql(0)} END)`
  const groups = countGroups(literal)
  if (groups > 1) throw site.invalid(`${site.name} takes a regular expression with at most one group`, node)
  return sql => sql(groups === 1 ? 1 : 0)
}

/** Escapes, quotes, classes and opening parentheses of an RE2 pattern; all else is one character. */
const token = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]])*\]|\((?:\?(?:P?<\w+>|[\w-]*[:)])?)?|[^]/gsu

const tokenOrCount = new RegExp(String.raw`\{\d+(?:,\d*)?\}|${token.source}`, token.flags)

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

/** Bytes of the shortest text that a pattern matches, or fewer where that cannot be told. */
function leastLength(pattern: string): number {
  if (/\\[xpPQ\d]/.test(pattern)) return 0
  const group = () => ({ least: Infinity, before: 0, last: 0 })
  const shortest = ({ least, before, last }: ReturnType<typeof group>) => Math.min(least, before + last)
  let now = group()
  const around: (typeof now)[] = []
  for (const piece of pattern.match(tokenOrCount) ?? []) {
    if (piece.startsWith('(') && !piece.endsWith(')')) {
      around.push(now)
      now = group()
    } else if (piece === '|') now = { ...group(), least: shortest(now) }
    else if (/^(?:[?*]|\{\d.*)$/.test(piece)) now.last *= Number.parseInt(piece.slice(1)) || 0
    else if (piece !== '+') {
      const last = piece === ')' ? shortest(now) : /^(?:[$^]|\\[bBAz]|\(.*)$/.test(piece) ? 0 : 1
      if (piece === ')') now = around.pop() ?? group()
      now = { ...now, before: now.before + now.last, last }
    }
  }
  return shortest(now)
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

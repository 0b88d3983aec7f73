/** Regular expressions: BigQuery and DuckDB both use RE2. */
import type { Expression } from '../../../../sql/tree.ts'
import { quoteText } from '../../syntax.ts'
import { literalBytes } from '../bounds.ts'
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
  2,
  (text, _, replacement) => {
    const added = literalBytes(replacement)
    // Nothing, or one group, which is a part of the text.
    if (added === 0 || (added !== null && /^'\\\d'$/.test(replacement.sql))) return null
    return `(strlen(${text.sql}) + 1.0) * strlen(${replacement.sql})`
  },
  signature(
    ['STRING', 'STRING', 'STRING'],
    'STRING',
    (text, pattern, replacement) => `regexp_replace(${text}, ${pattern}, ${replacement}, 'g')`,
  ),
)

/** The match, or its group if the pattern has one; NULL, not an empty string, where nothing matches. */
function extract(site: CallSite): Typed {
  const { text, pattern, take } = patternArguments(site)
  if (site.call.arguments.length > 2) return typed(nthMatch(site, text, take(String), pattern), 'STRING')
  const found = take(group => `regexp_extract(${text}, ${pattern}, ${group})`)
  return typed(`(CASE WHEN regexp_matches(${text}, ${pattern}) THEN ${found} END)`, 'STRING')
}

/** The n-th match from a position on; the arguments after the pattern are both. */
function nthMatch(site: CallSite, text: string, group: string, pattern: string): string {
  const [position, occurrence] = [positive(site, 2), positive(site, 3)]
  const rest = `substr(${text}, ${position})`
  return `(CASE WHEN ${position} <= length(${text}) + 1 THEN regexp_extract_all(${rest}, ${pattern}, ${group})[${occurrence}] END)`
}

/** An argument that counts from 1, by default 1. */
function positive(site: CallSite, at: number): string {
  if (site.call.arguments.length <= at) return '1'
  const { sql, type } = site.argument(at)
  if (type?.kind !== 'INT64') throw site.noMatch([site.argument(at)])
  return `(CASE WHEN ${sql} < 1 THEN ${raise('A number is out of range')} ELSE ${sql} END)`
}

function extractAll(site: CallSite): Typed {
  if (site.call.arguments.length > 2) throw site.noMatch(site.allArguments())
  const { text, pattern, take } = patternArguments(site)
  const found = take(group => `regexp_extract_all(${text}, ${pattern}, ${group})`)
  return typed(found, arrayOf({ kind: 'STRING' }))
}

/** One more than the characters before the leftmost match. */
function position(site: CallSite): Typed {
  if (site.call.arguments.length > 2) throw site.unsupported('REGEXP_INSTR with a position')
  const { text, pattern, take } = patternArguments(site)
  if (take(String) !== '0') throw site.unsupported('REGEXP_INSTR with a group')
  const before = `regexp_extract(${text}, '^((?s:.*?))(?:' || ${pattern} || ')', 1)`
  return typed(
    `(CASE WHEN NOT regexp_matches(${text}, ${pattern}) OR ${pattern} = '' THEN 0 WHEN ${pattern} IS NOT NULL THEN length(${before}) + 1 END)`,
    'INT64',
  )
}

interface PatternArguments {
  text: string
  pattern: string
  /** SQL for the pattern's group, from SQL for a group's number; 0 is the whole match. */
  take(sql: (group: 0 | 1) => string): string
}

function patternArguments(site: CallSite): PatternArguments {
  const { arguments: nodes } = site.call
  const [text, pattern] = [site.argument(0), site.argument(1)]
  if ([text, pattern].some(({ type }) => type !== null && type.kind !== 'STRING'))
    throw site.noMatch([text, pattern])
  const cost = site.name === 'REGEXP_EXTRACT_ALL' ? `strlen(${text.sql})` : steps(text, pattern)
  return {
    text: cost === null ? text.sql : site.within(cost, text.sql),
    pattern: pattern.sql,
    take: groupOf(site, nodes[1]!, pattern.sql),
  }
}

/**
 * RE2 takes a step for each byte, but as many as the pattern has places where counts multiply these; and it makes a pattern of
 * rows ready for each row.
 */
function steps(text: Typed, pattern: Typed): string | null {
  if (literalBytes(pattern) !== null)
    return largeCount.test(pattern.sql) ? `strlen(${text.sql}) * 1000.0 * strlen(${pattern.sql})` : null
  const count = `CASE WHEN regexp_matches(${pattern.sql}, ${quoteText(largeCount.source)}) THEN 1000.0 WHEN contains(${pattern.sql}, '{') THEN 100 ELSE 1 END`
  const least = pattern.origin === 'parameter' ? 0 : 1000
  return `greatest(strlen(${text.sql}), ${least}) * strlen(${pattern.sql}) * (${count})`
}

/** RE2 takes counts up to 1,000. */
const largeCount = /\{(\d*,)?\d{3}/

/** Matches a pattern that has a group: `(` that is not escaped and not `(?:`. For patterns that are not literals. */
const hasGroup = String.raw`'(^|[^\\])(\\\\)*\((\?P?<\w|[^?])'`

function groupOf(site: CallSite, node: Expression, pattern: string): PatternArguments['take'] {
  if (node.kind !== 'Literal')
    return sql => `(CASE WHEN regexp_matches(${pattern}, ${hasGroup}) THEN ${sql(1)} ELSE ${sql(0)} END)`
  const groups = countGroups(node.value)
  if (groups > 1) throw site.invalid(`${site.name} takes a regular expression with at most one group`, node)
  return sql => sql(groups === 1 ? 1 : 0)
}

/** Capturing groups of an RE2 pattern: `(`, `(?P<name>` and `(?<name>`, but not in a class or behind a backslash. */
function countGroups(pattern: string): number {
  const pieces =
    pattern.match(/\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]])*\]|\((?:\?(?:P?<\w+>)?)?/gs) ?? []
  return pieces.filter(piece => piece.startsWith('(') && piece !== '(?').length
}

/**
 * Replaces personal data in an answer by `REDACTED`, before the answer is stored.
 *
 * `infra/docs/reference.md`, "Redaction", has the classes: what is in, what is out, and why.
 *
 * A leak is worse than a replacement too many. Versions, times, UUIDs, hashes and ordinary numbers stay: logs are
 * read for them. Keys and numbers of JSON values are the subject of `rows.ts`.
 */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Row } from '../engines/engine.ts'
import { card, iban } from './accounts.ts'
import {
  type PersonalClass,
  replacement,
  replaceSpans,
  spansIn,
  spansInSource,
  Steps,
  unite,
} from './personal-class.ts'
import { email, phone } from './contacts.ts'
import { credentials, passwords } from './secrets.ts'
import { decodings, hasEscapes, mostPasses } from './escapes.ts'
import { field } from './fields.ts'
import { ipv4, ipv4InHostName, ipv6, ipv6InHostName, mac } from './addresses.ts'
import { kindOf, type NameKind, names } from './names.ts'
import { mark, marksOf } from './prefilter.ts'
import { redactJson } from './json.ts'
import { freeNames, rowWalk } from './rows.ts'

/** In the order of work: a class whose members may hold members of another comes before it. */
export const classes: PersonalClass[] = [
  field,
  ...passwords,
  ...credentials,
  email,
  iban,
  card,
  phone,
  ipv6,
  ipv6InHostName,
  ...mac,
  ipv4,
  ipv4InHostName,
]

/** Raise it with each change of the rules that shows neither in the names nor in a pattern of a class. */
const revision = 14

/** The policy's name in the cache key, so that an answer redacted under another policy is never served. */
export const redactionVersion: string = versionOf(classes, names)

/**
 * @returns `text` with all personal data replaced by `REDACTED`, and all of it where that takes more than a bounded work for each
 *   character; linear in its length, and the same when done twice
 */
export function redactText(text: string): string {
  const marks = marksOf(text)
  if (marks === 0) return text
  const json = redactJson(text, policy)
  if (json !== null) return json
  const steps = new Steps(text)
  const redacted = takeOutAll(text, marks, steps)
  if (steps.left < 0) return replacement
  if (redacted === text) return text
  return touched.test(redacted) || bracketed.test(redacted) ? redactAgain(redacted, steps) : redacted
}
const policy = { redact: redactText, kindOf, names: Infinity }

/** A name or a path that a caller sent. One longer than any goes whole: it may cost nothing else, and needs no key. */
export function redactSent(name: string): string {
  return name.length > longestName ? replacement : redactText(name)
}
const longestName = 500

/** Of data run together, as in `203.0.113.7::1::`, one part may be found only once another is replaced; and the text may be JSON then. */
function redactAgain(text: string, steps: Steps): string {
  let redacted = text
  for (let round = 1; round < mostRounds; round++) {
    const again = redactJson(redacted, policy) ?? takeOutAll(redacted, marksOf(redacted), steps)
    if (steps.left < 0) return replacement
    if (again === redacted) break
    redacted = again
  }
  return redacted
}

const touched = /REDACTED(?:(?<=[^\s"'=]REDACTED)|["'][^\s,;:&|)\]}]|[^\s"',;&])/
/** It may be JSON now. */
const bracketed = /^\s*[{[][^]*[}\]]\s*$/
const mostRounds = 8

/** Each class is looked for in the text as it is and with its escapes decoded, at each depth, and what any shows goes. */
function takeOutAll(text: string, marks: number, steps: Steps): string {
  let redacted = text
  let view: ReturnType<typeof viewOf> | null | undefined = (marks & mark.escape) === 0 ? null : undefined
  for (const personal of view === null ? classesOf(marks) : classes) {
    const spans = isPossible(personal, marks) ? spansIn(personal, redacted, steps) : []
    // Most often all escapes are within such a span.
    if (view !== null && spans.length > 0 && !hasEscapes(replaceSpans(redacted, spans))) view = null
    if (view !== null) {
      if (!view || (view.source !== redacted && isPossible(personal, view.marks))) view = viewOf(redacted)
      if (view.passes.length === mostPasses) return replacement
      for (const [at, { text }] of isPossible(personal, view.marks) ? view.passes.entries() : [])
        spans.push(...spansInSource(view.passes.slice(0, at + 1), spansIn(personal, text, steps)))
    }
    if (spans.length > 0) redacted = replaceSpans(redacted, unite(spans))
  }
  return redacted
}

/** The classes whose data a text with these marks can hold. */
function classesOf(marks: number): PersonalClass[] {
  const known = classesByMarks.get(marks)
  if (known) return known
  const possible = classes.filter(personal => isPossible(personal, marks))
  classesByMarks.set(marks, possible)
  return possible
}
const classesByMarks = new Map<number, PersonalClass[]>()

function viewOf(source: string) {
  const passes = decodings(source)
  return { source, passes, marks: passes.reduce((marks, { text }) => marks | marksOf(text), 0) }
}

function isPossible(personal: PersonalClass, marks: number): boolean {
  return (marks & personal.marks) === personal.marks
}

/**
 * Every string of every row, at any depth; `rows.ts` has the rules for keys and numbers.
 * @param given the kinds of names, by `nameKey`, that a caller's SQL gave to values of that kind
 * @returns new rows that share with the given ones the parts in which nothing was found; the given ones do not change
 */
export function redactRows(rows: Row[], given?: ReadonlyMap<string, NameKind>): Row[] {
  return rows.map(rowWalk(redactText, given))
}

/** The same, while others are served: the longest piece of work is one row. */
export async function redactInTurns(rows: Row[], given?: ReadonlyMap<string, NameKind>): Promise<Row[]> {
  const redact = rowWalk(redactText, given)
  const redacted: Row[] = []
  let began = performance.now()
  for (const row of rows) {
    redacted.push(redact(row))
    if (performance.now() - began < turnMs) continue
    await nextTurn()
    began = performance.now()
  }
  return redacted
}

const turnMs = 20

/** The names of an answer's columns: a caller's SQL gives them, and may write a value there. */
export function redactNames(names: string[]): string[] {
  return freeNames(names.map(name => ({ name, redactedName: redactText(name) })))
}

/**
 * The source of a pattern is the same in the sources and in a bundle, which that of a function is not.
 * @returns a hash of the classes' patterns, of the names and of the revision
 */
export function versionOf(classes: PersonalClass[], names: Record<string, string>): string {
  const table = classes.map(({ name, marks, pattern }) => [name, marks, String(pattern)])
  return createHash('sha256')
    .update(JSON.stringify([revision, table, names]))
    .digest('hex')
    .slice(0, 16)
}

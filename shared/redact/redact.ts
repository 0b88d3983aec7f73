/**
 * What counts as personal data, and taking it out of an answer before it is stored. To leak is worse than to take out too
 * much; but versions, times, UUIDs, hashes and ordinary numbers are what logs are read for, and stay.
 */
import { createHash } from 'node:crypto'
import type { Row, Value } from '../engines/engine.ts'
import { card, iban } from './accounts.ts'
import { takeOut, type PersonalClass } from './personal-class.ts'
import { email, phone } from './contacts.ts'
import { credentials } from './credentials.ts'
import { field } from './fields.ts'
import { ipv4 } from './ipv4.ts'
import { ipv6 } from './ipv6.ts'
import { marksOf } from './prefilter.ts'
import { names } from './names.ts'
import { walkRows, walkValue } from './rows.ts'

/** In the order of work: what may hold a member of another class comes before it. */
const classes: PersonalClass[] = [field, ...credentials, email, iban, card, phone, ...ipv6, ipv4]

/** Raise it with a change of the rules that neither the table of classes nor the names show. */
const edition = 1

/** Names the policy in the cache key, so that an answer made under another is never served. */
export const redactionVersion: string = versionOf(classes, names)

/** @returns `text` with all personal data replaced by `REDACTED`; linear in its length, and the same when done twice */
export function redactText(text: string): string {
  const redacted = takeOutAll(marksOf(text), text)
  return redacted !== text && touched.test(redacted) ? redactAgain(redacted) : redacted
}

/** Data run together, as in `203.0.113.7::1::`, may be told apart only when a part of it is out. */
function redactAgain(text: string): string {
  let redacted = text
  for (let round = 1; round < mostRounds; round++) {
    const again = takeOutAll(marksOf(redacted), redacted)
    if (again === redacted) break
    redacted = again
  }
  return redacted
}

const touched = /[^\s"'=]REDACTED|REDACTED[^\s"',;]/
const mostRounds = 8

function takeOutAll(marks: number, text: string): string {
  if (marks === 0) return text
  let redacted = text
  for (const personal of classes)
    if ((marks & personal.marks) === personal.marks) redacted = takeOut(personal, redacted)
  return redacted
}

/** As `redactRows`, for one value of any form. */
export function redactValue(value: Value): Value {
  return walkValue(value, redactText)
}

/**
 * Every string of every row, at any depth; `redact/walk.ts` says what becomes of keys and numbers.
 * @returns new rows that share with the old ones the parts in which nothing was found; the old ones stay as they are
 */
export function redactRows(rows: Row[]): Row[] {
  return walkRows(rows, redactText)
}

/** @returns a hash of all that decides what is found, as far as it is in the two tables, and of the edition */
export function versionOf(classes: PersonalClass[], names: Record<string, string>): string {
  const table = classes.map(({ name, marks, pattern, part }) => [name, marks, String(pattern), String(part)])
  return createHash('sha256')
    .update(JSON.stringify([edition, table, names]))
    .digest('hex')
    .slice(0, 16)
}

/**
 * Replaces personal data in an answer by `REDACTED`, before the answer is stored.
 *
 * The classes, in the order of work:
 * - value of a personal name: `cookie: ...`, `password=...`, `"x-real-ip":"..."` (`fields.ts`, `names.ts`)
 * - user information of a URL: `postgres://user:password@host` (`credentials.ts`)
 * - JWT: `eyJ...`; API key: `lqe_...`, `github_pat_...`, `sk_live_...` (`credentials.ts`)
 * - bearer token and Basic credentials: `Bearer ...`, `Basic dXNlcjpwYXNz` (`credentials.ts`)
 * - e-mail address: `tom@example.com`, `tom%40example.com` (`contacts.ts`)
 * - IBAN and payment card, by country or issuer, length and check digits (`accounts.ts`)
 * - phone number in E.164: `+31612345678`, `+1 (415) 555-0132` (`contacts.ts`)
 * - IPv6 and IPv4 address, with range, zone or brackets, also encoded in a URL (`ipv6.ts`, `ipv4.ts`)
 *
 * A leak is worse than a replacement too many. Versions, times, UUIDs, hashes and ordinary numbers stay: logs are
 * read for them. Keys and numbers of JSON values are the subject of `rows.ts`.
 */
import { createHash } from 'node:crypto'
import type { Row } from '../engines/engine.ts'
import { card, iban } from './accounts.ts'
import { takeOut, type PersonalClass } from './personal-class.ts'
import { email, phone } from './contacts.ts'
import { credentials } from './credentials.ts'
import { field } from './fields.ts'
import { ipv4 } from './ipv4.ts'
import { ipv6 } from './ipv6.ts'
import { marksOf } from './prefilter.ts'
import { names } from './names.ts'
import { walkRows } from './rows.ts'

/** In the order of work: a class whose members may hold members of another comes before it. */
const classes: PersonalClass[] = [field, ...credentials, email, iban, card, phone, ...ipv6, ipv4]

/** Raise it with each change of the rules that shows neither in the table of classes nor in the names. */
const edition = 1

/** The policy's name in the cache key, so that an answer redacted under another policy is never served. */
export const redactionVersion: string = versionOf(classes, names)

/** @returns `text` with all personal data replaced by `REDACTED`; linear in its length, and the same when done twice */
export function redactText(text: string): string {
  const redacted = takeOutAll(marksOf(text), text)
  return redacted !== text && touched.test(redacted) ? redactAgain(redacted) : redacted
}

/** Of data run together, as in `203.0.113.7::1::`, one part may be found only once another is replaced. */
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

/**
 * Every string of every row, at any depth; `rows.ts` has the rules for keys and numbers.
 * @returns new rows that share with the given ones the parts in which nothing was found; the given ones do not change
 */
export function redactRows(rows: Row[]): Row[] {
  return walkRows(rows, redactText)
}

/** @returns a hash of the table of classes, of the names and of the edition */
export function versionOf(classes: PersonalClass[], names: Record<string, string>): string {
  const table = classes.map(({ name, marks, pattern, part }) => [name, marks, String(pattern), String(part)])
  return createHash('sha256')
    .update(JSON.stringify([edition, table, names]))
    .digest('hex')
    .slice(0, 16)
}

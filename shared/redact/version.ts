/** The name of a policy, so that an answer made under another is never served. */
import { createHash } from 'node:crypto'
import type { PersonalClass } from './personal-class.ts'

/** Raise it with a change of the rules that neither the table of classes nor the names show. */
const edition = 1

/** @returns a hash of all that decides what is found, as far as it is in the two tables, and of the edition */
export function versionOf(classes: PersonalClass[], names: Record<string, string>): string {
  const table = classes.map(({ name, marks, pattern, part }) => [name, marks, String(pattern), String(part)])
  return createHash('sha256')
    .update(JSON.stringify([edition, table, names]))
    .digest('hex')
    .slice(0, 16)
}

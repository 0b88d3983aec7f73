/**
 * The corpus: queries in the files `corpus/*.sql`, and beside each file what the reference makes of them.
 *
 * A line `--- each row of GRID` opens a list of expressions, one in a line, each computed for every row of that grid.
 * A line `--- queries` opens whole queries, each ended by a semicolon at the end of a line; `--- queries to 14 digits`
 * those whose FLOAT64s depend on the order of additions, which GoogleSQL leaves open. Other comments are for readers. `«a¦b»` stands for each of its alternatives in turn: `ROUND(x«¦, 1¦, 2»)` is three expressions.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Value } from '../../engine.ts'

/** One query, or one expression over the rows of a grid. */
export interface Question {
  /** The text, with `over GRID` before an expression: it names the question in its file. */
  id: string
  sql: string
  /** The grid whose rows an expression is computed for. */
  grid: string | null
  /** The digits to which FLOAT64s are equal; `null` for all of them. */
  digits: number | null
}

export interface Failed {
  error: string
}

/** The answer to a question: an error, the rows of a query, or for each row of a grid a value or an error. */
export type Answer = Failed | (Value | Failed)[]

export function isFailed(value: unknown): value is Failed {
  return typeof value === 'object' && value !== null && 'error' in value && Object.keys(value).length === 1
}

const folder = join(import.meta.dirname, 'corpus')

/** The names of the files, without their ends. */
export const subjects: string[] = readdirSync(folder)
  .filter(file => file.endsWith('.sql'))
  .map(file => basename(file, '.sql'))
  .sort()

/** The questions of a file. Throws Error for one that is there twice. */
export function questionsOf(subject: string): Question[] {
  const questions: Question[] = []
  for (const { grid, digits, text } of sections(readFileSync(join(folder, `${subject}.sql`), 'utf8')))
    for (const sql of (grid ? text.split('\n') : text.split(/;$/m)).flatMap(alternatives))
      if (sql) questions.push({ id: grid ? `over ${grid}: ${sql}` : sql, sql, grid, digits })
  const ids = questions.map(({ id }) => id)
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at)
  if (twice.length > 0) throw new Error(`${subject}.sql has twice: ${twice.join('; ')}`)
  return questions
}

interface Section extends Pick<Question, 'grid' | 'digits'> {
  text: string
}

function sections(text: string): Section[] {
  return text
    .split(/^--- /m)
    .slice(1)
    .map(section => {
      const [title, ...lines] = section.split('\n')
      const [, grid = null, digits = null] =
        /^(?:each row of (\w+)|queries(?: to (\d+) digits)?)$/.exec(title!) ?? refused(title!)
      return {
        grid,
        digits: digits === null ? null : Number(digits),
        text: withoutComments(lines.join('\n')),
      }
    })
}

function refused(title: string): never {
  throw new Error(`not a section: ${title}`)
}

function withoutComments(text: string): string {
  return text.replace(/^-- .*\n/gm, '')
}

/** A text for each choice among the alternatives in guillemets, with one line of each. */
function alternatives(text: string): string[] {
  const [choice, inner] = /«([^«»]*)»/.exec(text) ?? []
  if (choice === undefined) return [text.trim().replace(/\s*\n\s*/g, ' ')]
  return inner!.split('¦').flatMap(part => alternatives(text.replace(choice, () => part)))
}

/** The recorded answers by id. Throws Error for a file that is not there. */
export function recordedAnswers(subject: string): Map<string, Answer> {
  const lines = readFileSync(answersFile(subject), 'utf8').split('\n').filter(Boolean)
  return new Map(lines.map(line => JSON.parse(line) as [string, Answer]))
}

export function writeAnswers(subject: string, answers: Map<string, Answer>): void {
  writeFileSync(answersFile(subject), [...answers].map(entry => `${JSON.stringify(entry)}\n`).join(''))
}

function answersFile(subject: string): string {
  return join(folder, `${subject}.ndjson`)
}

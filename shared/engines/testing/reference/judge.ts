/** An engine's answers to the corpus, beside those of the reference. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pMap from 'p-map'
import { defaultLimits } from '../../../sql/limits.ts'
import { parse } from '../../../sql/parser.ts'
import { EngineError, type QueryEngine, type Row, type Value } from '../../engine.ts'
import { type Answer, type Failed, isFailed, type Question, questionsOf, recordedAnswers } from './corpus.ts'

/**
 * What an engine gives in place of the right answer: for a query its rows or error, for an expression its values or
 * errors by the number of the grid's row. An error is told by its reason.
 */
export type Difference = Value | Failed | Record<string, Value | Failed>

const limits = { maxRows: 10_000, timeoutMs: 20_000 }

/** The differences of a subject, by question. Throws Error for a question that has no recorded answer. */
export async function differencesOf(engine: QueryEngine, subject: string): Promise<Map<string, Difference>> {
  const recorded = recordedAnswers(subject)
  const found = await pMap(
    questionsOf(subject),
    async question => {
      const right = recorded.get(question.id)
      if (right === undefined) throw new Error(`no recorded answer to ${question.id}: see record.ts`)
      const difference = question.grid
        ? await differenceOverGrid(engine, question, right)
        : await differenceOfQuery(engine, question, right)
      // As the file holds it: JSON has one zero.
      return [question.id, JSON.parse(text(difference)) as Difference] as const
    },
    { concurrency: 4 },
  )
  return new Map(found.filter(([, difference]) => difference !== null))
}

export const differencesFolder = join(import.meta.dirname, 'differences')

/** Those of DuckDB that `shared/engines/reference.test.ts` holds it to. */
export function knownDifferences(subject: string): Map<string, Difference> {
  const lines = readFileSync(join(differencesFolder, `${subject}.ndjson`), 'utf8')
    .split('\n')
    .filter(Boolean)
  return new Map(lines.map(line => JSON.parse(line) as [string, Difference]))
}

async function differenceOfQuery(
  engine: QueryEngine,
  { sql, digits }: Question,
  right: Answer,
): Promise<Difference | null> {
  const given = await run(engine, sql)
  if (isFailed(given)) return isFailed(right) ? null : given
  if (isFailed(right)) return given
  const comparable = (rows: Value) => rounded(inOrder(sql, rows as Row[]), digits)
  return equal(comparable(given), comparable(right as Row[])) ? null : given
}

function rounded(value: Value, digits: number | null): Value {
  if (digits === null) return value
  if (typeof value === 'number') return Number(value.toPrecision(digits))
  if (Array.isArray(value)) return value.map(item => rounded(item, digits))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item, digits)]))
}

/** Rows that no ORDER BY of the query puts in order are sorted. */
function inOrder(sql: string, rows: Row[]): Value[] {
  const ordered = parse(sql, defaultLimits).orderBy.length > 0
  return ordered ? rows : rows.toSorted((one, other) => (text(one) < text(other) ? -1 : 1))
}

async function differenceOverGrid(
  engine: QueryEngine,
  { sql, grid }: Question,
  right: Answer,
): Promise<Difference | null> {
  if ('error' in right) {
    const given = await run(engine, `SELECT ${sql} AS value FROM ${grid} ORDER BY n`)
    return 'error' in given ? null : byNumber(given.map(row => row['value']!))
  }
  const good = right.flatMap((value, at) => (isFailed(value) ? [] : [at + 1]))
  const where = good.length === right.length ? '' : `WHERE n IN (${good.join(', ')})`
  const all = await run(engine, `SELECT ${sql} AS value FROM ${grid} ${where} ORDER BY n`)
  const found: Record<string, Value | Failed> = {}
  for (const [at, expected] of right.entries()) {
    const given =
      !isFailed(expected) && !('error' in all)
        ? all[good.indexOf(at + 1)]!['value']!
        : await valueOf(engine, sql, grid!, at + 1)
    if (!(isFailed(expected) && isFailed(given)) && !equal(given, expected)) found[at + 1] = given
  }
  return Object.keys(found).length > 0 ? found : null
}

async function valueOf(engine: QueryEngine, sql: string, grid: string, n: number): Promise<Value | Failed> {
  const given = await run(engine, `SELECT ${sql} AS value FROM ${grid} WHERE n = ${n}`)
  return 'error' in given ? given : given[0]!['value']!
}

async function run(engine: QueryEngine, sql: string): Promise<Row[] | Failed> {
  try {
    return (await engine.run({ sql, bindings: [] }, limits)).rows
  } catch (error) {
    if (error instanceof EngineError) return { error: error.reason }
    throw error
  }
}

const byNumber = (values: Value[]) => Object.fromEntries(values.map((value, at) => [String(at + 1), value]))

const text = (value: unknown) => JSON.stringify(value)

/** As JSON, which has one zero. */
function equal(one: unknown, other: unknown): boolean {
  return text(one) === text(other)
}

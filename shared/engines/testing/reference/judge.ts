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

interface Judged extends Question {
  right: Answer
}

/**
 * The differences of a subject, by question. Throws Error for a question that has no recorded answer.
 * @param asked its questions, or some of them
 */
export async function differencesOf(
  engine: QueryEngine,
  subject: string,
  asked: Question[] = questionsOf(subject),
): Promise<Map<string, Difference>> {
  const recorded = recordedAnswers(subject)
  const judged = asked.map(question => {
    const right = recorded.get(question.id)
    if (right === undefined) throw new Error(`no recorded answer to ${question.id}: see record.ts`)
    return { ...question, right }
  })
  const columns = await columnsOf(
    engine,
    judged.filter(({ grid, right }) => grid && Array.isArray(right)),
  )
  const found = await pMap(
    judged,
    async question => {
      const difference = question.grid
        ? await differenceOverGrid(engine, question, columns.get(question.id))
        : await differenceOfQuery(engine, question)
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
  { sql, digits, right }: Judged,
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

/** Expressions in one statement, as a statement costs more than what it computes. */
const together = 16

/** The values of expressions in the rows of their grid that have one, by question. Where one fails, each is computed alone. */
async function columnsOf(engine: QueryEngine, expressions: Judged[]): Promise<Map<string, Value[] | Failed>> {
  const groups = [...Map.groupBy(expressions, goodRows)].flatMap(([from, all]) =>
    Array.from({ length: Math.ceil(all.length / together) }, (_, at) => ({
      from,
      group: all.slice(at * together, (at + 1) * together),
    })),
  )
  const found = await pMap(
    groups,
    async ({ from, group }) => {
      const all = await compute(engine, group, from)
      if (!isFailed(all)) return group.map(({ id }, at) => [id, all[at]!] as const)
      return Promise.all(
        group.map(async one => {
          const alone = await compute(engine, [one], from)
          return [one.id, isFailed(alone) ? alone : alone[0]!] as const
        }),
      )
    },
    { concurrency: 4 },
  )
  return new Map(found.flat())
}

async function compute(engine: QueryEngine, group: Judged[], from: string): Promise<Value[][] | Failed> {
  const items = group.map(({ sql }, at) => `${sql} AS value${at}`)
  const rows = await run(engine, `SELECT ${items.join(', ')} FROM ${from} ORDER BY n`)
  return isFailed(rows) ? rows : items.map((_, at) => rows.map(row => row[`value${at}`]!))
}

const goodNumbers = (right: Answer) =>
  (right as (Value | Failed)[]).flatMap((value, at) => (isFailed(value) ? [] : [at + 1]))

function goodRows({ grid, right }: Judged): string {
  const good = goodNumbers(right)
  return good.length === (right as unknown[]).length ? `${grid}` : `${grid} WHERE n IN (${good.join(', ')})`
}

/** @param column what the engine computes where the right answer has values */
async function differenceOverGrid(
  engine: QueryEngine,
  { sql, grid, right }: Judged,
  column: Value[] | Failed | undefined,
): Promise<Difference | null> {
  if ('error' in right) {
    const given = await run(engine, `SELECT ${sql} AS value FROM ${grid} ORDER BY n`)
    return 'error' in given ? null : byNumber(given.map(row => row['value']!))
  }
  const good = goodNumbers(right)
  const found: Record<string, Value | Failed> = {}
  for (const [at, expected] of right.entries()) {
    const given =
      !isFailed(expected) && Array.isArray(column)
        ? column[good.indexOf(at + 1)]!
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

/**
 * DuckDB answers the corpus as Google's reference evaluator does (`testing/reference/corpus.ts`), but for the known
 * differences in `testing/reference/differences/`. Here to every tenth question, to all of them in its soak.
 * `UPDATE_DIFFERENCES=1` asks all, and writes the differences down as they are.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { duckDb, type OpenEngine } from './testing/adapters.ts'
import { questionsOf, subjects } from './testing/reference/corpus.ts'
import {
  type Difference,
  differencesFolder,
  differencesOf,
  knownDifferences,
} from './testing/reference/judge.ts'
import { tables } from './testing/reference/tables.ts'
import { rounds } from '../testing/rounds.ts'

/** One of so many questions is asked: a statement takes milliseconds, and there are thousands. */
const oneOf = process.env['UPDATE_DIFFERENCES'] ? 1 : rounds(10, 1)

let open: OpenEngine

beforeAll(async () => {
  open = await duckDb.open(
    Object.fromEntries(Object.entries(tables).map(([name, { columns }]) => [name, columns])),
  )
  for (const [name, { rows }] of Object.entries(tables)) await open.append(name, rows)
})

afterAll(() => open.close())

describe('the answers of DuckDB', () => {
  test.each(subjects)('to %s are those of the reference, but for the known differences', async subject => {
    const asked = questionsOf(subject).filter((_, at) => at % oneOf === 0)
    const ids = new Set(asked.map(({ id }) => id))
    const found = await differencesOf(open.engine, subject, asked)
    if (process.env['UPDATE_DIFFERENCES']) writeKnown(subject, found)
    const known = [...knownDifferences(subject)].filter(([id]) => oneOf === 1 || ids.has(id))
    expect(found).toEqual(new Map(known))
  })
})

test('there are at least 2,000 questions', () => {
  expect(subjects.flatMap(questionsOf).length).toBeGreaterThanOrEqual(2_000)
})

function writeKnown(subject: string, found: Map<string, Difference>): void {
  mkdirSync(differencesFolder, { recursive: true })
  const lines = [...found].map(entry => `${JSON.stringify(entry)}\n`)
  writeFileSync(join(differencesFolder, `${subject}.ndjson`), lines.join(''))
}

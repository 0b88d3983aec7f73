/** What is made of random queries for many sets of parameters: the rows are those of each set alone, cell by cell and in order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isoTimestamp } from '../endpoints/timestamps.ts'
import type { QueryEngine, Result, Row } from '../engines/engine.ts'
import { openDuckDb } from '../engines/duckdb/engine.ts'
import { addRows } from '../engines/testing/parquet.ts'
import { Random } from '../sandbox/testing/random.ts'
import { setColumn } from '../sql/batch/sets.ts'
import { SqlError } from '../sql/error.ts'
import { parse } from '../sql/parser.ts'
import { parameterNames } from '../sql/walk.ts'
import { rounds } from '../testing/rounds.ts'
import { batchFor, type ParameterSet, splitRows } from './batch.ts'
import { bindingsOf, endpointOf, randomQuery, randomRows, shown, tables } from './testing/random-queries.ts'

const count = rounds(20, 10_000)
const limits = { maxRows: 100_000, timeoutMs: 60_000 }
const logsFolder = mkdtempSync(join(tmpdir(), 'batch-'))
let engine: QueryEngine

beforeAll(async () => {
  engine = openDuckDb({
    logsFolder,
    tables: new Map(Object.entries(tables)),
    now: '2026-01-07T12:34:56.789Z',
  })
  const rows = randomRows(new Random(1))
  for (const [table, columns] of Object.entries(tables))
    await addRows(logsFolder, table, columns, rows[table]!)
})

afterAll(async () => {
  await engine.close()
  rmSync(logsFolder, { recursive: true, force: true })
})

/** What is made of a query: rows for each set, or why there is no batch. */
async function together(sql: string, sets: ParameterSet[]): Promise<Result[] | string> {
  const endpoint = endpointOf(sets)
  try {
    const batch = await batchFor(engine, endpoint, { sql, rollups: [] })
    return splitRows(endpoint, sets.length, await engine.run(batch(sets), limits))
  } catch (error) {
    if (error instanceof SqlError) return error.message
    throw new Error(`${sql}\n${(error as Error).message}`, { cause: error })
  }
}

async function alone(sql: string, sets: ParameterSet[]): Promise<Result[] | null> {
  const results: Result[] = []
  try {
    for (const bindings of sets) results.push(await engine.run({ sql, bindings }, limits))
  } catch {
    return null
  }
  return results
}

const since = (times: (string | null)[]): ParameterSet[] =>
  times.map(time => [{ name: 'since', type: { kind: 'TIMESTAMP' }, value: time && isoTimestamp(time) }])
const manyTimes = Array.from(
  { length: 40 },
  (_, i) => `2026-01-0${1 + (i % 3)}T${String(i % 24).padStart(2, '0')}:00:00Z`,
)

test('a regular expression finds what it finds alone, with all of its quantifiers, groups and escapes', async () => {
  const texts = ['https://api.test/a', 'https://api', 'abc', 'ab', 'Ab|c', '', 'a.c', 'aac', '(?i)ab']
  const patterns =
    `abc? abc* ab+c? a|b (abc)?d* [ab]{2} a\\.c a.c ^https://api\\.test ^https?://ap(i|x) https://apis? (?i)AB ab{0}
    \\bab \\d* https://api\\.test/ab? ^$ $ . \\Qa.c\\E x*`.split(/\s+/)
  const sql = `SELECT word FROM UNNEST(${JSON.stringify(texts)}) AS word WHERE REGEXP_CONTAINS(word, @pattern) ORDER BY word`
  const sets = ['', null, ...patterns].map(value => [
    { name: 'pattern', type: { kind: 'STRING' } as const, value },
  ])
  const expected = (await alone(sql, sets))!.map(({ rows }) => rows)
  const found = (await together(sql, sets)) as Result[]
  expect(found.map(({ rows }) => rows)).toEqual(expected)
})

describe('rows are bounded by all sets together, before they are joined with any', () => {
  test.each([
    ['few values, by each', 'ts >= @since', manyTimes.slice(0, 2), [0, 1]],
    ['many values, by the least and the greatest', 'ts >= @since', [null, ...manyTimes], [1, 24]],
    ['on the other side', '@since > ts', manyTimes, [0, 23]],
    ['of a function of few values', 'ts >= TIMESTAMP_TRUNC(@since, DAY)', manyTimes.slice(0, 3), [0, 1, 2]],
    ['few, with NULL', '(@since IS NULL OR ts >= @since)', [null, ...manyTimes.slice(0, 2)], [0, 1, 2]],
  ])('%s', async (_, condition, times, places) => {
    const sets = since(times)
    const sql = `SELECT ts, n FROM logs WHERE ${condition} ORDER BY ts, n`
    const endpoint = endpointOf(sets)
    const statement = (await batchFor(engine, endpoint, { sql, rollups: [] }))(sets)
    const [, few] = statement.bindings
    expect((few!.value as Row[]).map(set => set[setColumn])).toEqual(places)
    const expected = (await alone(sql, sets))!.map(result => shown(result, true))
    const results = await together(sql, sets)
    expect((results as Result[]).map(result => shown(result, true))).toEqual(expected)
  })

  test.each(['ts >= TIMESTAMP_TRUNC(@since, DAY)', '(@since IS NULL OR ts >= @since)'])(
    'or not at all, where the windows of %s are many: each alone reads less',
    async condition => {
      const sql = `SELECT ts FROM logs WHERE ${condition}`
      expect(await together(sql, since(manyTimes))).toBe(
        'more windows of time than one statement is asked for',
      )
    },
  )
})

test('the columns of tables are asked for once, and again where the engine did not tell them', async () => {
  let asked = 0
  let isDown = true
  const describe: QueryEngine['describe'] = statement => {
    asked++
    return isDown ? Promise.reject(new Error('down')) : engine.describe(statement)
  }
  const counted: QueryEngine = Object.assign(Object.create(engine) as QueryEngine, { describe })
  const sets = [bindingsOf(['since'], new Random(1))]
  const query = { sql: 'SELECT ts FROM logs WHERE ts > @since', rollups: [] }
  const once = () => batchFor(counted, endpointOf(sets), query)
  await once().catch(() => {})
  isDown = false
  const made = await once()
  expect(asked).toBe(2)
  expect(await once()).toBe(made)
  expect(asked).toBe(2)
})

test(`${count} random queries answer many sets in one statement as they answer each`, async () => {
  const tally = { same: 0, filled: 0, ordered: 0, refused: 0, left: 0 }
  const reasons = new Map<string, number>()
  for (let seed = 1; seed <= count; seed++) {
    const random = new Random(seed)
    const { sql, isOrdered } = randomQuery(random)
    const names = [...parameterNames(parse(sql)).keys()].toSorted()
    const sets = random.some(2, 6, () => bindingsOf(names, random))
    const expected = names.length > 0 ? await alone(sql, [...sets, sets[0]!]) : null
    if (!expected) {
      tally.left++
      continue
    }
    const found = await together(sql, [...sets, sets[0]!])
    if (typeof found === 'string') {
      tally.refused++
      reasons.set(found, (reasons.get(found) ?? 0) + 1)
      continue
    }
    for (const [at, result] of found.entries())
      expect({ seed, sql, set: sets[at], rows: shown(result, isOrdered) }).toEqual({
        seed,
        sql,
        set: sets[at],
        rows: shown(expected[at]!, isOrdered),
      })
    tally.same++
    if (isOrdered) tally.ordered++
    if (expected.some(({ rows }) => rows.length > 0)) tally.filled++
  }
  if (count > 1_000) process.stdout.write(`seeds 1 to ${count}: ${JSON.stringify([tally, ...reasons])}\n`)
  expect(tally.same).toBeGreaterThan(count * 0.85)
  expect(tally.filled).toBeGreaterThan(count * 0.35)
})

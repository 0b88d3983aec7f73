/** What has a level by the hour, and what has none; and its rows against those of the log table, in 10,000 histories in the soak. */
import { afterAll, describe, expect, test } from '@jest/globals'
import { SqlError } from '../sql/error.ts'
import { LevelHistories, type Mutant } from './duckdb/testing/level-histories.ts'
import { type ByHour, byTheHour } from './rollup-levels.ts'

const columns = 'COUNT(*) AS n, MAX(t.v) AS most'
const rollup = {
  name: 'a.rollup',
  sql: `SELECT t.timestamp AS minute, t.k AS k, ${columns} FROM logs AS t GROUP BY minute, k`,
  partition: 'minute',
  cluster: [],
  refreshMinutes: 5,
}

function refusal(sql: string, of = rollup): string | null {
  try {
    byTheHour(of, sql)
    return null
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    return `${error.place!.column}: ${error.message}`
  }
}

const from = (items: string, where = 'TRUE') =>
  `SELECT ${items} FROM \`a.rollup\` AS r WHERE ${where} GROUP BY 1`
const hours = 'TIMESTAMP_TRUNC(r.minute, HOUR) AS h'

describe('a query has a level by the hour where', () => {
  test.each([
    ['it reads whole hours', from(`${hours}, SUM(n) AS n`)],
    ['or days', from('TIMESTAMP_TRUNC(minute, DAY), MAX(most)')],
    ['or no time', from('k, SUM(n)')],
    ['the time has bounds on either side', from(`${hours}, SUM(n)`, '@a < minute AND minute <= @b')],
    ['and BETWEEN', from(`${hours}, SUM(n)`, 'r.minute BETWEEN @a AND TIMESTAMP_TRUNC(@b, MINUTE)')],
    ['it computes with sums', from(`${hours}, SUM(n) / MAX(most)`)],
    ['it is inside another', `WITH x AS (${from(`${hours}, SUM(n) AS n`)}) SELECT * FROM x`],
  ])('%s', (_, sql) => {
    expect(refusal(sql)).toBeNull()
    expect(byTheHour(rollup, sql).decidedBy).toEqual([])
  })
})

describe('a query has none where', () => {
  test.each([
    ['it reads minutes', from('TIMESTAMP_TRUNC(minute, MINUTE), SUM(n)'), '8: minute is read by less'],
    ['or hours of a zone', from("TIMESTAMP_TRUNC(minute, DAY, 'Asia/Kolkata'), SUM(n)"), '24: minute is'],
    ['or the time itself', from('minute, SUM(n)'), '8: minute is read by less'],
    ['where rows decide', from("IF(k = 'a', minute, NULL), SUM(n)"), '20: minute is read by less'],
    ['it adds a MAX', from('k, SUM(most)'), '11: SUM of what is no sum'],
    ['or takes the greatest of a count', from('k, MAX(n)'), '11: MAX of what is no sum'],
    ['or one of each kind', from('k, SUM(DISTINCT n)'), '11: SUM of what is no sum'],
    ['or counts rows of the roll-up', from('k, COUNT(*)'), '11: COUNT of what is no sum'],
    ['a sum decides', from('k, SUM(n)', 'n > 1'), 'n is a sum'],
    ['or is read alone', from('k, n'), '11: n is added up by SUM alone'],
    [
      'the bound is of the row',
      from(`${hours}, SUM(n)`, 'minute > TIMESTAMP(k)'),
      'it bounds minute by more',
    ],
    ['or one of several', from(`${hours}, SUM(n)`, '@b IS NULL OR minute < @b'), 'it bounds minute by more'],
    ['or a text', from(`${hours}, SUM(n)`, "minute > '2026-01-01'"), 'it bounds minute by more'],
    ['or of a day', from(`${hours}, SUM(n)`, "minute > DATE '2026-01-01'"), 'it bounds minute by more'],
    ['or of another table', from('k, SUM(n)', 'EXISTS (SELECT 1 FROM b)'), 'it is of more than the roll-up'],
    ['nothing is added up', 'SELECT k FROM `a.rollup`', '1: it adds no sum up'],
    ['all is read', 'SELECT * FROM `a.rollup`', '8: *: name the columns'],
    ['another table is beside it', 'SELECT SUM(n) FROM `a.rollup`, b', 'no SELECT reads a.rollup alone'],
  ])('%s', (_, sql, expected) => {
    expect(refusal(sql)).toContain(expected)
  })

  test('the roll-up is by the hour already', () => {
    const sql = rollup.sql.replace('t.timestamp', 'TIMESTAMP_TRUNC(t.timestamp, HOUR)')
    expect(refusal(from('k, SUM(n)'), { ...rollup, sql })).toContain('to less than hours')
  })
})

describe('a parameter decides, by', () => {
  test.each([
    ["CASE @by WHEN 'm' THEN r.minute WHEN 'h' THEN TIMESTAMP_TRUNC(r.minute, HOUR) END", 'h d null'],
    ["IF(@by IN ('h', 'd'), TIMESTAMP_TRUNC(r.minute, HOUR), r.minute)", 'h d'],
    ["IF(NOT (@by = 'm'), TIMESTAMP_TRUNC(r.minute, HOUR), r.minute)", 'h d'],
    ["IF(@by IS NOT NULL AND @by <> 'h', r.minute, NULL)", 'h null'],
    ["IF(@by = 'm' OR @by IS NULL, r.minute, NULL)", 'h d'],
    ["IF(LOWER(@by) = 'm', r.minute, NULL)", ''],
  ])('%s', (bucket, expected) => {
    const made = byTheHour(rollup, from(`${bucket}, SUM(n)`))
    expect(made.decidedBy).toEqual(['by'])
    const values = ['m', 'h', 'd', null].filter(value => made.holds(new Map([['by', value]])))
    expect(values.map(String).join(' ')).toBe(expected)
  })
})

const all = new LevelHistories()
afterAll(() => all.close())

test('4 random histories have no cell that differs', async () => {
  for (let seed = 1; seed <= 4; seed++) await all.play(seed)
  expect(all.tally.filled).toBeGreaterThan(all.tally.queries / 3)
})

const inSql =
  (from: RegExp, to: string): Mutant =>
  made => ({ ...made, sql: made.sql.replaceAll(from, to) })
const inRollup =
  (from: RegExp, to: string): Mutant =>
  (made): ByHour => ({ ...made, rollup: { ...made.rollup, sql: made.rollup.sql.replaceAll(from, to) } })

/** Each with the first history that does. */
describe('the histories notice', () => {
  test.each([
    ['an hour in which the window begins', 5, inSql(/time_hour > /g, 'time_hour >= ')],
    [
      'hours that are one late',
      4,
      inSql(/time_hour > (@p\d+)/g, 'time_hour > TIMESTAMP_ADD($1, INTERVAL 1 HOUR)'),
    ],
    ['an hour in which the window ends', 4, inSql(/time_hour < /g, 'time_hour <= ')],
    ['an end that is cut by the minute', 4, inSql(/(time >= TIMESTAMP_TRUNC\(.*?), HOUR\)/g, '$1, MINUTE)')],
    [
      'a beginning that is cut by the minute',
      4,
      inSql(/(time <= TIMESTAMP_ADD\(TIMESTAMP_TRUNC\(.*?), HOUR\)/g, '$1, MINUTE)'),
    ],
    ['a first hour that is a microsecond too short', 13, inSql(/3599999999/g, '3599999998')],
    ['>= in place of >', 30, inSql(/time > @/g, 'time >= @')],
    ['> in place of >=', 5, inSql(/time >= @/g, 'time > @')],
    ['a MAX that is added', 1, inSql(/MAX\(most\)/g, 'SUM(most)')],
    ['a sum of which the greatest is taken', 1, inSql(/SUM\(total\)/g, 'MAX(total)')],
    ['hours that are days', 1, inRollup(/, HOUR\)/g, ', DAY)')],
    ['a part of the rows', 1, inRollup(/ FROM logs AS t/g, " FROM logs AS t WHERE t.k = 'a'")],
  ])('%s', async (_, seed, mutant) => {
    await expect(all.play(seed, mutant)).rejects.toThrow(/^seed \d+: /)
  })
})

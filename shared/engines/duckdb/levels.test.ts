/** A roll-up's level by the hour, against the log table; 10,000 histories in the soak. */
import { afterAll, describe, expect, test } from '@jest/globals'
import type { ByHour } from '../levels.ts'
import { LevelHistories, type Mutant } from './testing/level-histories.ts'

const all = new LevelHistories()
afterAll(() => all.close())

test('10 random histories have no cell that differs', async () => {
  for (let seed = 1; seed <= 10; seed++) await all.play(seed)
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

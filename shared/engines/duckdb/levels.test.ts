/** A roll-up's level by the hour, against the log table; 10,000 histories in the soak. */
import { afterAll, describe, expect, test } from '@jest/globals'
import type { ByHour } from '../levels.ts'
import { LevelHistories, type Mutant } from './testing/level-histories.ts'

const open: LevelHistories[] = []

function histories(mutant?: Mutant): LevelHistories {
  const made = new LevelHistories(mutant)
  open.push(made)
  return made
}

afterAll(async () => {
  for (const one of open) await one.close()
})

test('20 random histories have no cell that differs', async () => {
  const all = histories()
  for (let seed = 1; seed <= 20; seed++) await all.play(seed)
  expect(all.tally.filled).toBeGreaterThan(all.tally.queries / 3)
})

const inSql =
  (from: RegExp, to: string): Mutant =>
  made => ({ ...made, sql: made.sql.replaceAll(from, to) })
const inRollup =
  (from: RegExp, to: string): Mutant =>
  (made): ByHour => ({ ...made, rollup: { ...made.rollup, sql: made.rollup.sql.replaceAll(from, to) } })

describe('the histories notice', () => {
  test.each([
    ['an hour in which the window begins', inSql(/time_hour > /g, 'time_hour >= ')],
    [
      'hours that are one late',
      inSql(/time_hour > (@p\d+)/g, 'time_hour > TIMESTAMP_ADD($1, INTERVAL 1 HOUR)'),
    ],
    ['an hour in which the window ends', inSql(/time_hour < /g, 'time_hour <= ')],
    ['an end that is cut by the minute', inSql(/(time >= TIMESTAMP_TRUNC\(.*?), HOUR\)/g, '$1, MINUTE)')],
    [
      'a beginning that is cut by the minute',
      inSql(/(time <= TIMESTAMP_ADD\(TIMESTAMP_TRUNC\(.*?), HOUR\)/g, '$1, MINUTE)'),
    ],
    ['a first hour that is a microsecond too short', inSql(/3599999999/g, '3599999998')],
    ['>= in place of >', inSql(/time > @/g, 'time >= @')],
    ['> in place of >=', inSql(/time >= @/g, 'time > @')],
    ['a MAX that is added', inSql(/MAX\(most\)/g, 'SUM(most)')],
    ['a sum of which the greatest is taken', inSql(/SUM\(total\)/g, 'MAX(total)')],
    ['hours that are days', inRollup(/, HOUR\)/g, ', DAY)')],
    ['a part of the rows', inRollup(/ FROM logs AS t/g, " FROM logs AS t WHERE t.k = 'a'")],
  ])('%s', async (_, mutant) => {
    const all = histories(mutant)
    const play = async () => {
      for (let seed = 1; seed <= 60; seed++) await all.play(seed)
    }
    await expect(play()).rejects.toThrow(/^seed \d+: /)
  })
})

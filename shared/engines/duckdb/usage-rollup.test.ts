/** The usage chart from its roll-up, against the endpoint's own query as of the same minute; 10,000 in the soak. */
import { afterAll, expect, test } from '@jest/globals'
import { UsageHistories } from './testing/usage-histories.ts'

const histories = new UsageHistories()
afterAll(() => histories.close())

test('5 random histories have no cell that differs between roll-up, batch and own query', async () => {
  for (let seed = 1; seed <= 5; seed++) await histories.play(seed)
  const { charts, filled } = histories.tally
  expect(filled).toBeGreaterThan(charts / 5)
}, 120_000)

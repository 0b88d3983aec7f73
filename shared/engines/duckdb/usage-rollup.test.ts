/** The usage chart from its roll-ups, against the endpoint's own query at the same time; 10,000 in the soak. */
import { expect, test } from '@jest/globals'
import { UsageHistories } from './testing/usage-histories.ts'

test.each([
  ['duckdb', 5],
  ['bigquery', 2],
] as const)(
  'on %s, %i random histories have no cell that differs between answer, batch and own query',
  async (engine, count) => {
    const histories = new UsageHistories(engine)
    try {
      for (let seed = 1; seed <= count; seed++) await histories.play(seed)
    } finally {
      await histories.close()
    }
    const { charts, filled, summed } = histories.tally
    expect(filled).toBeGreaterThan(charts / 5)
    expect(summed).toBeGreaterThan(charts / 2)
  },
)

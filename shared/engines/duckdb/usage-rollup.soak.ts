/** `npm run soak -- usage-rollup`: HISTORIES (10,000, a tenth of them on BigQuery) from SEED (by the clock). */
import { expect, test } from '@jest/globals'
import { UsageHistories } from './testing/usage-histories.ts'

const all = Number(process.env['HISTORIES'] ?? 10_000)
const first = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000)

test.each([
  ['duckdb', all],
  ['bigquery', Math.ceil(all / 10)],
] as const)(
  'on %s, %i random histories have no cell that differs between answer, batch and own query',
  async (engine, count) => {
    const histories = new UsageHistories(engine)
    console.log(`seeds ${first} to ${first + count - 1}`)
    try {
      for (let seed = first; seed < first + count; seed++) {
        await histories.play(seed)
        if (histories.tally.histories % 1_000 === 0) console.log(JSON.stringify(histories.tally))
      }
    } finally {
      await histories.close()
    }
    expect(histories.tally.histories).toBe(count)
  },
  all * 60_000, // however busy the machine is
)

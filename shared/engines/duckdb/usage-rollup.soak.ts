/** `npm run soak -- usage-rollup`: HISTORIES (10,000) from SEED (by the clock). */
import { afterAll, expect, test } from '@jest/globals'
import { UsageHistories } from './testing/usage-histories.ts'

const count = Number(process.env['HISTORIES'] ?? 10_000)
const first = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000)

const histories = new UsageHistories()
afterAll(() => histories.close())

test(
  `${count} random histories have no cell that differs between roll-up, batch and own query`,
  async () => {
    console.log(`seeds ${first} to ${first + count - 1}`)
    for (let seed = first; seed < first + count; seed++) {
      await histories.play(seed)
      if (histories.tally.histories % 1_000 === 0) console.log(JSON.stringify(histories.tally))
    }
    expect(histories.tally.histories).toBe(count)
  },
  count * 2_000,
)

/** `npm run soak -- levels`: HISTORIES (10,000) from SEED (by the clock). */
import { expect, test } from '@jest/globals'
import { LevelHistories } from './duckdb/testing/level-histories.ts'

const count = Number(process.env['HISTORIES'] ?? 10_000)
const first = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000)

test(
  `${count} random histories have no cell that differs`,
  async () => {
    const all = new LevelHistories()
    console.log(`seeds ${first} to ${first + count - 1}`)
    try {
      for (let seed = first; seed < first + count; seed++) {
        await all.play(seed)
        if (all.tally.histories % 1_000 === 0) console.log(JSON.stringify(all.tally))
      }
    } finally {
      await all.close()
    }
    expect(all.tally.histories).toBe(count)
  },
  count * 2_000,
)

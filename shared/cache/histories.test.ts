/** A short form of `histories.soak.ts`, with new seeds each day: a failure names its seed. */
import { expect, test } from '@jest/globals'
import { playHistories } from './testing/histories.ts'

test('in 150 random histories of callers, processes and faults no answer is one that the model does not allow', async () => {
  const counts = await playHistories({ from: 150 * Math.floor(Date.now() / 86_400_000), count: 150 })
  expect(counts.reads).toBeGreaterThan(500)
  expect(counts.faults).toBeGreaterThan(100)
  expect(counts.kills).toBeGreaterThan(20)
}, 60_000)

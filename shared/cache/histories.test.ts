/** A short form of `histories.soak.ts`, with new seeds each day: a failure names its seed. */
import { expect, test } from '@jest/globals'
import { playHistories } from './testing/histories.ts'

test('in 50 random histories of callers, processes and faults no answer is one that the model does not allow', async () => {
  const counts = await playHistories({ from: 50 * Math.floor(Date.now() / 86_400_000), count: 50 })
  expect(counts.reads).toBeGreaterThan(150)
  expect(counts.faults).toBeGreaterThan(30)
  expect(counts.kills).toBeGreaterThan(5)
})

import { expect } from '@jest/globals'

/** Takes some 10 ms of a processor that does nothing else. */
function standardWork(): void {
  let hash = 0
  for (let n = 0; n < 8_000_000; n++) hash = Math.imul(hash ^ n, 16_777_619)
  if (hash === 1) throw new Error('never')
}

async function processorMs(act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Expects that an act takes at most so much time of the processor. A machine that has other work to do is slower, also by that time:
 * an act that takes longer is tried twice more, beside work of a known size.
 * @param ms of a machine with nothing else to do, several times what the act takes there
 */
export async function expectProcessorTime(ms: number, act: () => unknown): Promise<void> {
  let taken = await processorMs(act)
  for (let tries = 0; tries < 2 && taken > ms; tries++) {
    const slowness = Math.max(1, (await processorMs(standardWork)) / 10)
    taken = (await processorMs(act)) / slowness
  }
  expect(taken).toBeLessThanOrEqual(ms)
}

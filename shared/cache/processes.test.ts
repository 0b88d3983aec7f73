import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { type Crowd, startCrowd } from './testing/processes.ts'
import { tornReads } from './testing/torn-reads.ts'

const day = 86_400_000
let crowd: Crowd

afterEach(() => crowd.stop())

/** How much of each, so that the emulator takes no minutes. */
const amounts: Record<string, { rounds: number; reads: number; kills: number }> = {
  SQLite: { rounds: 100, reads: 300, kills: 2 },
  Firestore: { rounds: 20, reads: 50, kills: 1 },
}

describeStores('several processes', adapter => {
  const { rounds, reads, kills } = amounts[adapter.name]!

  test(`4 x 50 callers of a cold key cost exactly 1 run, ${rounds} rounds in a row`, async () => {
    crowd = await startCrowd(4, { adapter })
    for (let round = 0; round < rounds; round++) {
      const key = `round-${round}`
      const reports = await Promise.all(
        crowd.members.map(member => member.read({ key, callers: 50, runMs: 20 })),
      )
      expect(crowd.runs(key)).toHaveLength(1)
      expect(new Set(reports.flatMap(({ texts }) => texts)).size).toBe(1)
    }
  }, 120_000)

  test('clocks that are off by a day change nothing', async () => {
    crowd = await startCrowd(4, { adapter, skewMs: [0, day, -day, 25 * 3_600_000] })
    for (const key of ['a', 'b', 'c']) {
      await Promise.all(crowd.members.map(member => member.read({ key, callers: 10, runMs: 50 })))
      const again = await Promise.all(crowd.members.map(member => member.read({ key })))
      expect(again.map(({ statuses }) => statuses[0])).toEqual(['hit', 'hit', 'hit', 'hit'])
      expect(crowd.runs(key)).toHaveLength(1)
    }
  }, 30_000)

  test('a holder that is killed costs one lease, then another goes on', async () => {
    crowd = await startCrowd(2, { adapter })
    const [holder, other] = crowd.members as [Crowd['members'][0], Crowd['members'][0]]
    const lost = holder.read({ key: 'k', runMs: 60_000 })
    while (crowd.runs('k').length === 0) await sleep(10)
    const started = performance.now()
    const waiting = other.read({ key: 'k', callers: 20 })
    await sleep(100)
    holder.child.kill('SIGKILL')
    await expect(lost).rejects.toThrow('ended')
    const { texts } = await waiting
    expect(performance.now() - started).toBeLessThan(9000)
    expect(new Set(texts)).toEqual(new Set([`made by ${other.child.pid}`]))
    expect(crowd.runs('k')).toEqual([holder.child.pid, other.child.pid])
  }, 30_000)

  test('a holder that slept past its lease cannot publish over its successor', async () => {
    crowd = await startCrowd(2, { adapter })
    const [holder, other] = crowd.members as [Crowd['members'][0], Crowd['members'][0]]
    const late = holder.read({ key: 'k', runMs: 500 })
    while (crowd.runs('k').length === 0) await sleep(10)
    holder.child.kill('SIGSTOP')
    const { texts } = await other.read({ key: 'k' })
    expect(texts).toEqual([`made by ${other.child.pid}`])
    holder.child.kill('SIGCONT')
    expect((await late).texts).toEqual([`made by ${holder.child.pid}`])
    const third = await crowd.start()
    expect((await third.read({ key: 'k' })).texts).toEqual([`made by ${other.child.pid}`])
  }, 30_000)

  test('no read is torn or mixed while a writer rewrites and is killed', async () => {
    crowd = await startCrowd(1, { adapter })
    const result = await tornReads(crowd, { reads, kills })
    expect(result).toMatchObject({ torn: 0 })
    expect(result.reads).toBeGreaterThanOrEqual(reads)
    expect(result.generations).toBeGreaterThan(1)
  }, 150_000)
})

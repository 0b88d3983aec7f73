/** Warming answers that a roll-up gives. */
import { describe, expect, test } from '@jest/globals'
import { cacheKey, headAt, type Stored } from '../cache/head.ts'
import { EngineError } from '../engines/engine.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { endpointWith, keyFieldsFor, names, sceneOn, use, useMany } from './testing/fixture.ts'
import { rounds } from '../testing/rounds.ts'

const endpoint = endpointWith({
  batch: true,
  warm: { seconds: 300, maxSets: 3 },
  rollup: { query: 'a.rollup.sql', from: 'a.from.sql', when: { properties: { project: { pattern: '^p' } } } },
})

describeStores('warming from a roll-up', adapter => {
  const scene = sceneOn(adapter)
  const others = Array.from({ length: 5 }, (_, i) => `other${i}`)

  test('takes every answer in use, and of the others as many as the definition allows', async () => {
    const count = adapter.name === 'SQLite' ? 2_300 : rounds(20, 2_300)
    await useMany(scene.store, endpoint, [...names(count), ...others])
    const runs: [sets: number, fromRollup: boolean][] = []
    scene.engine.before = (projects, { rollups }) => void runs.push([projects.length, rollups!.length > 0])
    let calls = 0
    scene.faults.before = () => void calls++
    expect(await scene.run([endpoint])).toMatchObject({ refreshed: count + 3, failed: 0, skipped: 0 })
    const batches = count > 2_000 ? [2_000, count - 2_000] : [count]
    expect(runs).toEqual([...batches.map(sets => [sets, true]), [3, false]])
    // One write for each answer, and few calls for all.
    expect(calls).toBeLessThan(count + 25)
  })

  test('stores answers as of the moment before the run', async () => {
    for (const name of ['p0', 'p1'])
      await use(scene.store, endpoint, { keyFields: keyFieldsFor(endpoint, name) })
    const { readAt: before } = await scene.store.get(headAt('none'))
    await scene.run([endpoint])
    const { document, readAt } = await scene.store.get(headAt(cacheKey(keyFieldsFor(endpoint, 'p0'))))
    const { madeAt } = document!.fields['stored'] as unknown as Stored
    expect(madeAt).toBeGreaterThanOrEqual(before)
    expect(madeAt).toBeLessThanOrEqual(readAt)
    expect((document!.fields['expireAt'] as Date).getTime()).toBe(Math.floor(madeAt) + 900_000 + 3_600_000)
  })

  describe('that cannot be read', () => {
    test.each([1, 5])(
      'leaves %i to the endpoint’s own query, as many as that may, and logs it once',
      async count => {
        await useMany(scene.store, endpoint, names(count))
        scene.engine.before = (_, { rollups }) => {
          if (rollups!.length > 0) throw new EngineError('no_rollup', 'it is not there')
        }
        const report = await scene.run([endpoint])
        expect(report).toMatchObject({ refreshed: Math.min(count, 3), failed: 0, runs: 2 })
        expect(report.endpoints[0]!.skipped).toEqual(count > 3 ? { over_max_sets: count - 3 } : {})
        expect(scene.logged).toEqual([
          [
            'a roll-up could not be read',
            expect.objectContaining({ endpoint: 'a.counts', reason: 'no_rollup' }),
          ],
        ])
      },
    )
  })
})

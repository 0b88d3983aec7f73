import { describe, expect, test } from '@jest/globals'
import { cacheKey, headAt, type Stored } from '../cache/head.ts'
import { EngineError } from '../engines/engine.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import {
  bodyOf,
  endpointWith,
  names,
  keyFieldsFor,
  redacted,
  sceneOn,
  use,
  useMany,
} from './testing/fixture.ts'
import { rounds } from '../testing/rounds.ts'

const own = endpointWith()
const fromRollup = endpointWith({
  batch: true,
  warm: { seconds: 300, maxSets: 3 },
  rollup: { query: 'a.rollup.sql', from: 'a.from.sql', when: { properties: { project: { pattern: '^p' } } } },
})

describeStores('warming', adapter => {
  const scene = sceneOn(adapter)

  describe('a refresh', () => {
    const cases: [string, Parameters<typeof use>[2], boolean][] = [
      ['was read twice and is older than the interval', { keyFields: keyFieldsFor(own, 'a') }, true],
      [
        'is older than the interval less its margin',
        { keyFields: keyFieldsFor(own, 'a'), ageMs: 241_000 },
        true,
      ],
      ['is younger', { keyFields: keyFieldsFor(own, 'a'), ageMs: 239_000 }, false],
      ['was read once', { keyFields: keyFieldsFor(own, 'a'), uses: 1 }, false],
      ['was read too long ago', { keyFields: keyFieldsFor(own, 'a'), usedMs: 901_000 }, false],
      ['is of a caller’s own SQL', { keyFields: keyFieldsFor(own, 'a', { sql: 'select 1' }) }, false],
      ['is of another version', { keyFields: keyFieldsFor(own, 'a', { version: 'old' }) }, false],
      ['is of another redaction', { keyFields: keyFieldsFor(own, 'a', { variant: 'old' }) }, false],
      ['is redacted', { keyFields: keyFieldsFor(own, 'a', redacted) }, true],
      [
        'is of parameters that the endpoint does not have',
        { keyFields: keyFieldsFor(own, 'a', { parameters: '[["x",1]]' }) },
        false,
      ],
    ]
    test.each(cases)('of an answer that %s', async (_, usage, expected) => {
      await use(scene.store, own, usage)
      expect((await scene.run([own])).refreshed).toBe(expected ? 1 : 0)
      expect(scene.engine.ran).toHaveLength(expected ? 1 : 0)
    })

    test('stores what a reader’s run would have stored', async () => {
      const keyFields = keyFieldsFor(own, 'a')
      await use(scene.store, own, { keyFields })
      await scene.run([own])
      expect(JSON.parse((await bodyOf(scene.store, keyFields))!)).toEqual({
        result: [{ made: 'now', of: 'a' }],
        meta: { endpoint: 'a.counts', version: own.version, rows: 1, truncated: false, redacted: false },
      })
    })

    test('makes the clear answer and the redacted one from one run', async () => {
      const [clear, hidden] = [keyFieldsFor(own, '10.1.2.3'), keyFieldsFor(own, '10.1.2.3', redacted)]
      for (const keyFields of [clear, hidden]) await use(scene.store, own, { keyFields })
      expect(await scene.run([own])).toMatchObject({ refreshed: 2, runs: 1 })
      expect(await bodyOf(scene.store, clear)).toContain('"of":"10.1.2.3"')
      expect(await bodyOf(scene.store, hidden)).toContain('"of":"REDACTED"')
    })

    test('never makes the clear answer of an endpoint that redacts', async () => {
      const endpoint = endpointWith({ redact: true })
      await use(scene.store, endpoint, { keyFields: keyFieldsFor(endpoint, 'a') })
      expect((await scene.run([endpoint])).refreshed).toBe(0)
    })

    test('takes the answers used last, at most as many as the definition allows', async () => {
      const endpoint = endpointWith({ warm: { seconds: 300, maxSets: 3 } })
      for (const [i, name] of names(6).entries())
        await use(scene.store, endpoint, {
          keyFields: keyFieldsFor(endpoint, name),
          usedMs: 60_000 - i * 1000,
        })
      await scene.run([endpoint])
      expect(scene.engine.ran.flat().sort()).toEqual(['p3', 'p4', 'p5'])
    })

    test('takes all answers in use, however many pages of heads they fill', async () => {
      // A page of heads is 1,000. The emulator takes milliseconds for each; `store.query.test.ts` pages on it.
      const count = adapter.name === 'SQLite' ? 1_010 : rounds(30, 1_010)
      const warm = { seconds: 300, maxSets: 10_000 }
      const endpoint = endpointWith({ batch: true, warm })
      await useMany(scene.store, endpoint, names(count))
      let calls = 0
      scene.faults.before = () => void calls++
      const report = await scene.run([endpoint])
      expect(report).toMatchObject({ refreshed: count, failed: 0, runs: Math.ceil(count / 500) })
      // One write for each, and few calls for all.
      expect(calls).toBeLessThan(count + 20)
    })

    test('leaves out an endpoint without warming or without a cache', async () => {
      for (const endpoint of [endpointWith({ warm: undefined }), endpointWith({ cache: { seconds: 0 } })])
        expect((await scene.run([endpoint])).endpoints).toEqual([])
    })
  })
})

describeStores('warming from a roll-up', adapter => {
  const scene = sceneOn(adapter)
  const others = Array.from({ length: 5 }, (_, i) => `other${i}`)

  test('takes every answer in use, and of the others as many as the definition allows', async () => {
    const count = adapter.name === 'SQLite' ? 2_010 : rounds(20, 2_010)
    await useMany(scene.store, fromRollup, [...names(count), ...others])
    const runs: [sets: number, fromRollup: boolean][] = []
    scene.engine.before = (projects, { rollups }) => void runs.push([projects.length, rollups!.length > 0])
    let calls = 0
    scene.faults.before = () => void calls++
    expect(await scene.run([fromRollup])).toMatchObject({ refreshed: count + 3, failed: 0, skipped: 0 })
    const batches = count > 2_000 ? [2_000, count - 2_000] : [count]
    expect(runs).toEqual([...batches.map(sets => [sets, true]), [3, false]])
    // One write for each answer, and few calls for all.
    expect(calls).toBeLessThan(count + 25)
  })

  test('stores answers as of the moment before the run', async () => {
    for (const name of ['p0', 'p1'])
      await use(scene.store, fromRollup, { keyFields: keyFieldsFor(fromRollup, name) })
    const { readAt: before } = await scene.store.get(headAt('none'))
    await scene.run([fromRollup])
    const { document, readAt } = await scene.store.get(headAt(cacheKey(keyFieldsFor(fromRollup, 'p0'))))
    const { madeAt } = document!.fields['stored'] as unknown as Stored
    expect(madeAt).toBeGreaterThanOrEqual(before)
    expect(madeAt).toBeLessThanOrEqual(readAt)
    expect((document!.fields['expireAt'] as Date).getTime()).toBe(Math.floor(madeAt) + 900_000 + 3_600_000)
  })

  describe('that cannot be read', () => {
    test.each([1, 5])(
      'leaves %i to the endpoint’s own query, as many as that may, and logs it once',
      async count => {
        await useMany(scene.store, fromRollup, names(count))
        scene.engine.before = (_, { rollups }) => {
          if (rollups!.length > 0) throw new EngineError('no_rollup', 'it is not there')
        }
        const report = await scene.run([fromRollup])
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

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import pMap from 'p-map'
import { claim } from '../cache/refresh-claim.ts'
import { cacheKey, headAt } from '../cache/head.ts'
import { EngineError } from '../engines/engine.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { endpointWith, long, names, plenty, keyFieldsFor, sceneOn, use } from './testing/fixture.ts'
import { Budget } from './turn.ts'
import { findDue } from './due.ts'
import { refresh } from './refresh.ts'
import { Tally } from './report.ts'
import { rounds } from '../testing/rounds.ts'

const own = endpointWith()

describeStores('warming', adapter => {
  const scene = sceneOn(adapter)

  describe('calls that overlap or come again', () => {
    /** Fewer on the emulator, where a write takes 20 ms. */
    const count = adapter.name === 'SQLite' ? rounds(100, 200) : rounds(20, 200)
    const warm = { seconds: 300, maxSets: count }

    test.each([
      ['one run for each set', endpointWith({ warm }), count],
      ['one run where there is a batch', endpointWith({ batch: true, warm }), 1],
    ])('4 at once cost %s', async (_, endpoint, runs) => {
      const store = (name: string, i: number) =>
        use(scene.store, endpoint, { keyFields: keyFieldsFor(endpoint, name, i % 2 ? long(name) : {}) })
      await pMap(names(count), store, { concurrency: 10 })
      const reports = await Promise.all([1, 2, 3, 4].map(() => scene.run([endpoint])))
      expect(reports.reduce((sum, { refreshed }) => sum + refreshed, 0)).toBe(count)
      expect(scene.engine.ran).toHaveLength(runs)
      expect(new Set(scene.engine.ran.flat()).size).toBe(count)
      expect(reports.filter(({ endpoints }) => endpoints[0]!.skipped['another_call'])).toHaveLength(3)
    })

    test('two at once, even without the lease of the endpoint, run each set once', async () => {
      for (const name of names(10)) await use(scene.store, own, { keyFields: keyFieldsFor(own, name) })
      const { readAt } = await scene.store.get({ collection: 'warming', id: own.id })
      const due = await findDue(scene.store, own, readAt)
      const { engine, store } = scene
      const tally = new Tally(own.name, () => {})
      const work = { engine, store, endpoint: own, budget: new Budget(plenty), tally, now: () => readAt }
      await Promise.all([1, 2].map(() => refresh(work, due.sets)))
      expect(scene.engine.ran.flat().toSorted()).toEqual(names(10))
    })

    test('a second call finds nothing to do', async () => {
      await use(scene.store, own, { keyFields: keyFieldsFor(own, 'a') })
      await scene.run([own])
      expect(await scene.run([own])).toMatchObject({ refreshed: 0, skipped: 1, runs: 0 })
    })

    test('a lease that is not given back runs out', async () => {
      await use(scene.store, own, { keyFields: keyFieldsFor(own, 'a') })
      await scene.store.create({ collection: 'warming', id: own.id }, { lease: { nonce: 'dead', ms: 200 } })
      expect((await scene.run([own])).endpoints[0]).toMatchObject({ skipped: { another_call: 1 } })
      await sleep(250)
      expect((await scene.run([own])).refreshed).toBe(1)
    })

    test('an answer that a reader is refreshing is left to the reader, and a claim keeps readers from running it', async () => {
      const keyFields = keyFieldsFor(own, 'a')
      await use(scene.store, own, { keyFields, fields: { lease: { nonce: 'reader', ms: 6000 } } })
      expect((await scene.run([own])).endpoints[0]).toMatchObject({ skipped: { leased: 1 } })
      expect(scene.engine.ran).toEqual([])
      const wanted = { keyFields, freshMs: 900_000, olderThanMs: 0 }
      await scene.store.update(headAt(cacheKey(keyFields)), { set: {}, unset: ['lease'] })
      const first = await claim(scene.store, wanted)
      expect(typeof first).toBe('object')
      expect(await claim(scene.store, wanted)).toBe('leased')
      if (typeof first === 'object') await first.release()
      expect(typeof (await claim(scene.store, wanted))).toBe('object')
    })
  })

  describe('the budget', () => {
    test('of bytes ends the call before the next run', async () => {
      for (const name of names(20)) await use(scene.store, own, { keyFields: keyFieldsFor(own, name) })
      const report = await scene.run([own], { ...plenty, bytes: 350 })
      expect(report.runs).toBeGreaterThanOrEqual(4)
      expect(report.runs).toBeLessThanOrEqual(8)
      expect(report.endpoints[0]!.skipped).toEqual({ out_of_bytes: 20 - report.runs })
    })

    test('bounds each run by what is left, and one that would read more is left out, not failed', async () => {
      const limits: number[] = []
      scene.engine.before = ([project], _, { maxBytes }) => {
        limits.push(maxBytes!)
        const bytes = { estimate: 1000, limit: maxBytes! }
        if (project === 'p2') throw new EngineError('too_many_bytes', 'too many', { bytes })
      }
      for (const [i, name] of names(3).entries())
        await use(scene.store, own, { keyFields: keyFieldsFor(own, name), usedMs: 10_000 - i * 1000 })
      const { endpoints } = await scene.run([own], { ...plenty, bytes: 500 })
      expect(endpoints[0]).toMatchObject({ refreshed: 2, failed: {}, skipped: { out_of_bytes: 1 } })
      expect(Math.max(...limits)).toBe(500)
      expect(Math.min(...limits)).toBeGreaterThanOrEqual(300)
      scene.engine.before = () => {}
      expect((await scene.run([own])).endpoints[0]).toMatchObject({ refreshed: 1, skipped: { fresh: 2 } })
    })

    test('of time ends runs under way too, and no set counts as failed', async () => {
      for (const name of names(6)) await use(scene.store, own, { keyFields: keyFieldsFor(own, name) })
      scene.engine.before = (_, __, { signal }) =>
        new Promise((_resolve, reject) => {
          signal!.addEventListener('abort', () => reject(new EngineError('cancelled', 'time is up')))
        })
      expect((await scene.run([own], { ...plenty, ms: 200 })).endpoints[0]).toMatchObject({
        failed: {},
        skipped: { out_of_time: 6 },
      })
      scene.engine.before = () => {}
      expect((await scene.run([own])).refreshed).toBe(6)
    })

    test('bounds the runs at a time', async () => {
      for (const name of names(20)) await use(scene.store, own, { keyFields: keyFieldsFor(own, name) })
      let [now, most] = [0, 0]
      const { promise: four, resolve: begin } = Promise.withResolvers<void>()
      scene.engine.before = async () => {
        most = Math.max(most, ++now)
        if (now === 4) begin()
        await four
        await sleep(60) // a fifth would come
        now--
      }
      await scene.run([own])
      expect(most).toBe(4)
    })
  })
})

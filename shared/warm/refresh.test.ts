import { describe, expect, test } from '@jest/globals'
import { cacheKey, type CacheKeyFields, headAt } from '../cache/head.ts'
import { EngineError, type RunLimits } from '../engines/engine.ts'
import { ResultRows } from '../engines/rows.ts'
import { StoreError } from '../stores/store.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { bodyOf, endpointWith, long, names, keyFieldsFor, redacted, sceneOn, use } from './testing/fixture.ts'

const own = endpointWith()
const batched = endpointWith({ batch: true })

describeStores('warming', adapter => {
  const scene = sceneOn(adapter)

  describe('a batch', () => {
    test('is run once for all sets', async () => {
      for (const name of names(3)) {
        await use(scene.store, batched, { keyFields: keyFieldsFor(batched, name) })
        await use(scene.store, batched, {
          keyFields: keyFieldsFor(batched, `long-${name}`, long(`long-${name}`)),
        })
      }
      expect(await scene.run([batched])).toMatchObject({ refreshed: 6, runs: 1, bytes: 100 })
      expect(scene.engine.ran.map(projects => projects.toSorted())).toEqual([
        [...names(3).map(name => `long-${name}`), ...names(3)],
      ])
    })

    test('is not run for a single set, which the endpoint’s own query answers sooner', async () => {
      let sql = ''
      scene.engine.before = (_, statement) => void (sql = statement.sql)
      await use(scene.store, batched, { keyFields: keyFieldsFor(batched, 'a') })
      await scene.run([batched])
      expect(sql).toBe(batched.sql)
    })

    test('gives bodies that are those of the single query, byte for byte', async () => {
      const bodies: (string | null)[] = []
      for (const endpoint of [own, batched]) {
        const keyFieldsList = ['a', 'b'].map(name => keyFieldsFor(endpoint, name))
        for (const keyFields of keyFieldsList) await use(scene.store, endpoint, { keyFields })
        await scene.run([endpoint])
        for (const keyFields of keyFieldsList)
          bodies.push(((await bodyOf(scene.store, keyFields)) ?? '').replaceAll(endpoint.version, ''))
      }
      expect(bodies.slice(0, 2)).toEqual(bodies.slice(2))
    })

    test('that fails costs the sets nothing: each is tried alone', async () => {
      scene.engine.before = projects => {
        if (projects.length > 1) throw new EngineError('rejected', 'no')
      }
      for (const name of names(5)) await use(scene.store, batched, { keyFields: keyFieldsFor(batched, name) })
      expect(await scene.run([batched])).toMatchObject({ refreshed: 5, failed: 0, runs: 6 })
      expect(scene.logged.map(([message]) => message)).toEqual(['the batch failed'])
    })

    /** Makes the batch give each row of a project so many times. */
    const widen = (times: (project: string) => number) => {
      const { run } = scene.engine
      scene.engine.run = async (statement, limits) => {
        const result = await run(statement, limits)
        const rows = new ResultRows(limits)
        for (const row of result.rows) for (let n = times(row['of'] as string); n > 0; n--) rows.add(row)
        return { ...result, ...rows.result }
      }
    }

    test('is run once for sets with more rows than an answer has, which are cut', async () => {
      const wide = endpointWith({ batch: true, maxRows: 3 })
      widen(project => (project === 'p0' ? 1000 : 2))
      for (const name of names(5)) await use(scene.store, wide, { keyFields: keyFieldsFor(wide, name) })
      expect(await scene.run([wide])).toMatchObject({ refreshed: 5, failed: 0, runs: 1 })
      expect(scene.logged).toEqual([])
      const bodies = await Promise.all(names(2).map(name => bodyOf(scene.store, keyFieldsFor(wide, name))))
      expect(bodies.map(body => body!.split('"made":"now"').length - 1)).toEqual([3, 2])
    })

    test.each([
      [
        'rows',
        (limits: RunLimits) => (limits.maxRows === 1_000_000 ? { ...limits, maxRows: 100 } : limits),
        {},
      ],
      ['bytes', (limits: RunLimits) => limits, { maxResultBytes: 1_000 }],
    ])('that has too many %s is run in parts, and the reason is logged', async (_what, within, settings) => {
      const wide = endpointWith({ batch: true, maxRows: 50, ...settings })
      widen(project => (project === 'p0' ? 100 : 1))
      const { run } = scene.engine
      scene.engine.run = (statement, limits) => run(statement, within(limits))
      for (const name of names(24)) await use(scene.store, wide, { keyFields: keyFieldsFor(wide, name) })
      const report = await scene.run([wide])
      expect(report.refreshed + report.failed).toBe(24)
      expect(report.refreshed).toBeGreaterThanOrEqual(23)
      // All, eight parts of three sets, and the sets of the part that is too large.
      expect(report.runs).toBe(1 + 8 + 3)
      expect(scene.logged[0]).toEqual([
        'the batch failed',
        expect.objectContaining({ reason: 'result_too_large' }),
      ])
    })

    test('leaves an answer alone that a reader stores or runs meanwhile, and not one whose use is recorded', async () => {
      const [stored, leased, used] = names(3).map(name => keyFieldsFor(batched, name)) as [
        CacheKeyFields,
        CacheKeyFields,
        CacheKeyFields,
      ]
      for (const keyFields of [stored, leased, used]) await use(scene.store, batched, { keyFields })
      scene.engine.before = async () => {
        const at = headAt(cacheKey(stored))
        const { document } = await scene.store.get(at, ['stored'])
        const now = { ...(document!.fields['stored'] as object), generation: 'the reader’s' }
        await scene.store.update(at, { set: { stored: now } })
        await scene.store.update(headAt(cacheKey(leased)), { set: { lease: { nonce: 'reader', ms: 6000 } } })
        await scene.store.update(headAt(cacheKey(used)), { set: { uses: 3 } })
      }
      const { endpoints } = await scene.run([batched])
      expect(endpoints[0]).toMatchObject({ refreshed: 1, skipped: { not_stored: 2 } })
      expect(await bodyOf(scene.store, used)).toContain('"made":"now"')
      expect(await bodyOf(scene.store, leased)).toContain('"made":"before"')
    })

    test('that fails with the engine is not followed by more runs', async () => {
      scene.engine.before = () => {
        throw new EngineError('unavailable', 'down')
      }
      for (const name of names(5)) await use(scene.store, batched, { keyFields: keyFieldsFor(batched, name) })
      expect(await scene.run([batched])).toMatchObject({ refreshed: 0, failed: 5, runs: 1 })
    })
  })

  describe('a failure', () => {
    const three = () => names(3).map(name => keyFieldsFor(own, name))

    test('of one set does not stop the others, and that one backs off', async () => {
      for (const keyFields of three()) await use(scene.store, own, { keyFields })
      scene.engine.before = ([project]) => {
        if (project === 'p1')
          throw new EngineError('failed', 'BigQuery failed', { cause: new Error('poison 10.1.2.3') })
      }
      expect(await scene.run([own])).toMatchObject({ refreshed: 2, failed: 1 })
      const again = await scene.run([own])
      expect(again.endpoints[0]).toMatchObject({ refreshed: 0, skipped: { failing: 1, fresh: 2 } })
      expect(scene.engine.ran).toHaveLength(3)
      expect(JSON.stringify(scene.logged)).not.toMatch(/poison|p1/)
    })

    test('repeatedly is tried at growing intervals', async () => {
      const keyFields = keyFieldsFor(own, 'a')
      const failure = { ms: 8000, code: 'engine_error', detail: '', problems: [] }
      const tries: boolean[] = []
      for (const [count, minutes] of [
        [1, 3],
        [1, 5],
        [2, 5],
        [2, 9],
        [9, 59],
        [9, 61],
        [0, 59],
        [0, 61],
      ] as const) {
        await use(scene.store, own, {
          keyFields,
          fields: { failure: { ...failure, at: Date.now() - minutes * 60_000, count } },
        })
        const before = scene.engine.ran.length
        await scene.run([own])
        tries.push(scene.engine.ran.length > before)
      }
      expect(tries).toEqual([false, true, false, true, false, true, false, true])
    })

    test('of one set’s document does not stop the others', async () => {
      for (const keyFields of three()) await use(scene.store, own, { keyFields })
      const bad = cacheKey(three()[1]!)
      scene.faults.before = (operation, [at]) => {
        if (operation === 'update' && (at as { id: string }).id === bad)
          throw new StoreError('unavailable', 'lost')
      }
      expect((await scene.run([own])).endpoints[0]).toMatchObject({ refreshed: 2, failed: { StoreError: 1 } })
    })

    test('of one endpoint’s search does not stop the other endpoints', async () => {
      const other = endpointWith({ id: '00000000-0000-4000-8000-00000000000b' })
      for (const endpoint of [own, other])
        await use(scene.store, endpoint, { keyFields: keyFieldsFor(endpoint, 'a') })
      let searches = 0
      scene.faults.before = operation => {
        if (operation === 'query' && searches++ === 0) throw new StoreError('unavailable', 'away')
      }
      const { endpoints } = await scene.run([own, other])
      expect(endpoints.map(({ error, refreshed }) => [error, refreshed])).toEqual([
        ['StoreError', 0],
        [null, 1],
      ])
    })

    test('in the middle of a set gives its leases back', async () => {
      const keyFieldsList: CacheKeyFields[] = [keyFieldsFor(own, 'a'), keyFieldsFor(own, 'a', redacted)]
      for (const keyFields of keyFieldsList) await use(scene.store, own, { keyFields })
      scene.engine.before = () => {
        throw new TypeError('a bug')
      }
      expect((await scene.run([own])).endpoints[0]).toMatchObject({ failed: { TypeError: 2 } })
      for (const keyFields of keyFieldsList)
        expect((await scene.store.get(headAt(cacheKey(keyFields)))).document!.fields).not.toHaveProperty(
          'lease',
        )
    })
  })
})

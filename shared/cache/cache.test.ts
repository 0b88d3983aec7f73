import { setTimeout as sleep } from 'node:timers/promises'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { EngineError } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Store } from '../stores/store.ts'
import { type Faults, type Operation, withFaults } from '../stores/testing/faults.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { AnswerCache, type CacheRequest } from './cache.ts'
import { cacheKey, headAt } from './head.ts'
import { playHistories } from './testing/histories.ts'
import {
  begun,
  engine,
  engineDown,
  keyFields,
  lasting,
  lost,
  made,
  mistake,
  quick,
  request,
  textOf,
} from './testing/requests.ts'
import { type CacheTimes, cacheTimes } from './durations.ts'

/** Random bytes do not compress. */
const oversized = made(randomBytes(16_000_001))

describeStores('the cache', ({ open: openStore, rounds }) => {
  let plain: Store
  let store: Store
  let faults: Faults
  let calls: Operation[]
  let caches: AnswerCache[]

  beforeEach(async () => {
    plain = await openStore()
    calls = []
    faults = {}
    store = withFaults(plain, {
      before: (operation, args) => {
        calls.push(operation)
        return faults.before?.(operation, args)
      },
      after: (operation, args) => faults.after?.(operation, args),
    })
    caches = []
  })

  afterEach(async () => {
    faults.before = faults.after = undefined as never
    await Promise.all(caches.map(cache => cache.close()))
    await plain.close()
  })

  function open(times: Partial<CacheTimes> = quick): AnswerCache {
    const cache = new AnswerCache(store, times)
    caches.push(cache)
    return cache
  }

  describe('a fresh answer', () => {
    test('is made once and then served from the store, to other instances too', async () => {
      const state = engine()
      const [one, two] = [open(), open()]
      expect(await one.read(request(state.make))).toMatchObject({ status: 'miss', stored: true })
      await one.close()
      const served = await two.read(request(state.make))
      expect(served).toMatchObject({ status: 'hit' })
      expect(await textOf(served)).toBe('run 1')
      expect(state.runs).toBe(1)
    })

    test('that is hot costs no store read', async () => {
      const state = engine()
      const cache = open({ ...quick, memoryMs: 5000 })
      await cache.read(request(state.make))
      await cache.close()
      calls.length = 0
      for (let i = 0; i < 100; i++) expect((await cache.read(request(state.make))).status).toBe('hit')
      expect(calls).toEqual([])
    })

    test('that memory holds is checked without reading its payload again', async () => {
      const state = engine()
      const cache = open()
      await cache.read(request(state.make))
      await cache.close()
      const masks: unknown[] = []
      faults.before = (_, args) => void masks.push(args[1])
      expect((await cache.read(request(state.make))).status).toBe('hit')
      expect(masks).toEqual([expect.not.arrayContaining(['inline'])])
    })

    test('has an age that grows', async () => {
      const state = engine()
      const cache = open()
      const began = performance.now()
      const { ageMs } = await cache.read(request(state.make))
      expect(ageMs).toBeLessThan(performance.now() - began + 100) // of another clock
      await sleep(200)
      expect((await cache.read(request(state.make))).ageMs).toBeGreaterThan(ageMs + 150)
    })

    test.each([10_000, 900_001, 5_000_000])('of %i incompressible bytes comes back whole', async size => {
      const text = randomBytes(size / 2).toString('hex')
      const make = async () => ({ answer: made(text) })
      const [one, two] = [open(), open()]
      await one.read(request(make))
      await one.close()
      const served = await two.read(request(make))
      expect(served.status).toBe('hit')
      expect((await textOf(served)) === text).toBe(true)
    })

    test('over 16 MB gzipped is served and not stored', async () => {
      let runs = 0
      const make = async () => ({ answer: (runs++, oversized) })
      const [one, two] = [open(), open()]
      await one.read(request(make))
      await one.close()
      expect((await two.read(request(make))).status).toBe('miss')
      expect(runs).toBe(2)
    })
  })

  describe('one run for a cold key', () => {
    test('among callers of one process', async () => {
      const state = engine({ ms: 50 })
      const cache = open()
      const served = await Promise.all(Array.from({ length: 50 }, () => cache.read(request(state.make))))
      expect(state.runs).toBe(1)
      expect(served.map(({ status }) => status).filter(status => status === 'collapsed')).toHaveLength(49)
    })

    test('among instances', async () => {
      const state = engine({ ms: 50 })
      const instances = [open(lasting), open(lasting), open(lasting), open(lasting)]
      const reads = instances.flatMap(cache =>
        Array.from({ length: 50 }, () => cache.read(request(state.make))),
      )
      const texts = await Promise.all((await Promise.all(reads)).map(textOf))
      expect(state.runs).toBe(1)
      expect(new Set(texts)).toEqual(new Set(['run 1']))
    })

    test('also when the acknowledgement of the lease is lost', async () => {
      const state = engine()
      let losses = 1
      faults.after = operation => {
        if (operation === 'create' && losses-- > 0) lost()
      }
      expect(await open().read(request(state.make))).toMatchObject({ status: 'miss', stored: true })
      expect(state.runs).toBe(1)
    })

    test('also when the acknowledgement of the publishing is lost', async () => {
      const state = engine()
      const [one, two] = [open(), open()]
      faults.after = operation => {
        if (operation === 'update') lost()
      }
      await one.read(request(state.make))
      await one.close()
      faults.after = undefined as never
      expect(await two.read(request(state.make))).toMatchObject({ status: 'hit' })
      expect(state.runs).toBe(1)
    })
  })

  describe('a lease', () => {
    test('is renewed while a long run goes on', async () => {
      const state = engine({ ms: 2500 })
      const renewed = { ...quick, leaseMs: 2000, renewMs: 150 } // a renewal may take an emulator half a second
      const [one, two] = [open(renewed), open(renewed)]
      const first = one.read(request(state.make))
      await begun(state)
      expect((await two.read(request(state.make))).status).toBe('collapsed')
      await first
      expect(state.runs).toBe(1)
    })

    test('that is not renewed is taken over, and the first holder can publish nothing', async () => {
      let isDeaf = true
      const deaf = withFaults(plain, {
        before: operation => {
          if (operation === 'update' && isDeaf) lost()
        },
      })
      const [one, two] = [new AnswerCache(deaf, quick), open()]
      const succeeded = Promise.withResolvers<void>()
      const state = { runs: 0 }
      const make = async () => (state.runs++, await succeeded.promise, { answer: made('zombie') })
      const zombie = one.read(request(make))
      await begun(state)
      const successor = await two.read(request(async () => ({ answer: made('successor') })))
      expect(successor).toMatchObject({ status: 'miss', stored: true })
      isDeaf = false
      succeeded.resolve()
      await Promise.all([zombie, two.close()])
      await one.close()
      expect(await textOf(await open().read(request(engine().make)))).toBe('successor')
    })
  })

  describe('a stale copy', () => {
    const brief = (make: CacheRequest['make']) => request(make, { freshMs: 50 })

    test('is served at once to others while one refreshes', async () => {
      const state = engine()
      const [one, two] = [open(lasting), open(lasting)]
      await one.read(brief(state.make))
      await sleep(100)
      const { promise, resolve: end } = Promise.withResolvers()
      state.until = promise
      const refreshing = one.read(brief(state.make))
      await begun(state, 2)
      const others = await Promise.all([one.read(brief(state.make)), two.read(brief(state.make))])
      end(null)
      expect(others.map(({ status }) => status)).toEqual(['stale', 'stale'])
      expect(await Promise.all(others.map(textOf))).toEqual(['run 1', 'run 1'])
      expect(await refreshing.then(textOf)).toBe('run 2')
    })

    test('covers a failing engine, with few further runs', async () => {
      const state = engine()
      const cache = open({ ...quick, backOffMs: 300 })
      await cache.read(brief(state.make))
      await sleep(100)
      state.fail = engineDown
      const until = performance.now() + 540
      const failures = new Set<string | undefined>()
      while (performance.now() < until) {
        const served = await cache.read(brief(state.make))
        expect(served.status).toBe('stale')
        failures.add(served.failure?.code)
      }
      failures.delete(undefined) // while the failure is being recorded, another caller may seem to refresh
      expect([...failures]).toEqual(['engine_error'])
      expect(state.runs).toBeLessThanOrEqual(3)
    })

    test('never covers a mistake of the caller, which is remembered', async () => {
      const state = engine()
      const [one, two] = [open(), open()]
      await one.read(brief(state.make))
      await sleep(100)
      state.fail = mistake
      for (const cache of [one, one, two]) {
        await expect(cache.read(brief(state.make))).rejects.toMatchObject({ code: 'invalid_query' })
        await cache.close()
      }
      expect(state.runs).toBe(2)
    })

    test('covers what this caller cannot avoid, also where another caller can and it is remembered as a mistake', async () => {
      const state = engine()
      const [one, two] = [open(), open()]
      const innocent = { freshMs: 50, blame: engineDown }
      await one.read(brief(state.make))
      await sleep(100)
      state.fail = mistake
      await expect(one.read(brief(state.make))).rejects.toMatchObject({ code: 'invalid_query' })
      expect(await two.read(request(state.make, innocent))).toMatchObject({
        status: 'stale',
        failure: { code: 'engine_error' },
      })
      expect(state.runs).toBe(2)
    })

    test('is gone after its hour', async () => {
      const state = engine()
      const cache = open({ ...quick, staleMs: 50 })
      await cache.read(brief(state.make))
      await sleep(150)
      state.fail = engineDown
      await expect(cache.read(brief(state.make))).rejects.toMatchObject({ code: 'engine_error' })
    })
  })

  describe('a failure without a copy', () => {
    test('comes with a time to come back, and is not repeated before', async () => {
      const state = engine({ fail: engineDown })
      const cache = open({ ...quick, backOffMs: 90_000 })
      for (let i = 0; i < 5; i++)
        await expect(cache.read(request(state.make))).rejects.toMatchObject({
          code: 'engine_error',
          headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d$/) },
        })
      expect(state.runs).toBe(1)
    })

    test('is not remembered as a mistake where this caller cannot avoid it', async () => {
      const state = engine({ fail: mistake })
      const cache = open({ ...quick, backOffMs: 100 })
      const innocent = request(state.make, { blame: engineDown })
      await expect(cache.read(innocent)).rejects.toMatchObject({ code: 'engine_error' })
      state.fail = () => null
      await sleep(150)
      expect((await cache.read(innocent)).status).toBe('miss')
    })

    test('is over when the engine is back', async () => {
      const state = engine({ fail: engineDown })
      const cache = open({ ...quick, backOffMs: 200 })
      await expect(cache.read(request(state.make))).rejects.toThrow(ApiError)
      state.fail = () => null
      await sleep(250)
      expect((await cache.read(request(state.make))).status).toBe('miss')
    })
  })

  describe('without the store', () => {
    const down = () => lost()
    const other = { ...keyFields, parameters: '[["project","other"]]' }

    test('what memory holds is served', async () => {
      const state = engine()
      const cache = open()
      await cache.read(request(state.make))
      await cache.close()
      faults.before = down
      for (let i = 0; i < 20; i++) expect((await cache.read(request(state.make))).status).toBe('hit')
      expect(state.runs).toBe(1)
    })

    test('the log says why, once while it is left alone', async () => {
      const lines: unknown[] = []
      const times = { ...quick, storeDownMs: 10_000 }
      const cache = new AnswerCache(store, times, (...line) => void lines.push(line))
      faults.before = down
      for (let i = 0; i < 5; i++) await cache.read(request(engine().make))
      expect(lines).toEqual([
        ['WARNING', 'the store failed', expect.objectContaining({ reason: 'unavailable' })],
      ])
    })

    test('a few others are answered by the engine, the rest gets 503 and when to come back', async () => {
      const state = engine()
      const { promise, resolve: end } = Promise.withResolvers()
      state.until = promise
      const cache = open()
      faults.before = down
      const reads = Array.from({ length: 20 }, (_, i) =>
        cache.read(request(state.make, { keyFields: { ...other, parameters: String(i) } })),
      )
      let ended = 0
      for (const read of reads) read.catch(() => ++ended === 16 && end(null))
      const outcomes = await Promise.allSettled(reads)
      const refused = outcomes
        .filter(outcome => outcome.status === 'rejected')
        .map(({ reason }) => reason as ApiError)
      expect(state.runs).toBe(4)
      expect(refused).toHaveLength(16)
      for (const error of refused)
        expect(error).toMatchObject({ code: 'store_unavailable', headers: { 'Retry-After': '2' } })
    })

    test('that hangs, no caller waits for long', async () => {
      const state = engine()
      const cache = open({ ...quick, storeDownMs: 60_000 })
      faults.before = () => new Promise(() => {})
      expect((await cache.read(request(state.make))).status).toBe('miss')
      calls.length = 0
      expect((await cache.read(request(state.make))).status).toBe('hit')
      expect(calls).toEqual([]) // it is not asked again
    })

    test('that comes back, the cache is whole again after `storeDownMs`, a second at most', async () => {
      expect(cacheTimes.storeDownMs).toBeLessThanOrEqual(1000)
      const state = engine()
      const [one, two] = [open({ ...quick, storeDownMs: 300 }), open()]
      faults.before = down
      await one.read(request(state.make))
      faults.before = undefined as never
      await sleep(350)
      expect(await one.read(request(state.make, { keyFields: other }))).toMatchObject({
        status: 'miss',
        stored: true,
      })
      await one.close()
      expect((await two.read(request(state.make, { keyFields: other }))).status).toBe('hit')
    })
  })

  describe('the content of the store is not trusted', () => {
    test('a payload that was changed is replaced by a new run', async () => {
      const state = engine()
      const cache = open()
      await cache.read(request(state.make))
      await cache.close()
      await store.update(headAt(cacheKey(keyFields)), { set: { inline: Buffer.from('tampered') } })
      const served = await open().read(request(state.make))
      expect(await textOf(served)).toBe('run 2')
    })

    test('a document that is no head is replaced by one, whatever its fields', async () => {
      const value = fc.oneof(fc.constant(null), fc.string({ maxLength: 3 }), fc.integer(), fc.constant({}))
      const fields = ['question', 'stored', 'lease', 'failure', 'previous', 'usedAt', 'uses', 'ended']
      const document = fc.dictionary(fc.constantFrom(...fields), value, { noNullPrototype: true })
      let round = 0
      await fc.assert(
        fc.asyncProperty(document, async found => {
          const other = { ...keyFields, parameters: String(round++) }
          await plain.replace(headAt(cacheKey(other)), found)
          calls.length = 0
          const state = engine()
          const outcome = await open().read(request(state.make, { keyFields: other }))
          expect(outcome).toMatchObject({ status: 'miss', stored: true })
          expect(calls.length).toBeLessThan(10)
        }),
        { numRuns: rounds },
      )
    })

    test('a head of other key fields is not served', async () => {
      const state = engine()
      await open().read(request(state.make))
      await caches[0]!.close()
      await store.update(headAt(cacheKey(keyFields)), {
        set: { question: { ...keyFields, variant: 'other' } },
      })
      const served = await open().read(request(state.make))
      expect(await textOf(served)).toBe('run 2')
    })
  })

  describe('a caller who bypasses', () => {
    const bypassing = (make: CacheRequest['make']) => request(make, { bypass: true })

    test('gets a run of the engine, whose answer all callers get from then on', async () => {
      const state = engine()
      const [one, two] = [open(), open()]
      await one.read(request(state.make))
      expect(await textOf(await one.read(bypassing(state.make)))).toBe('run 2')
      expect(await textOf(await two.read(request(state.make)))).toBe('run 2')
    })

    test('gets a run that began after the request, also among many in several instances', async () => {
      const caches = [open(), open(), open()]
      let runs = 0
      const make = async () => {
        const began = performance.now()
        runs++
        await sleep(30)
        return { answer: made(String(began)) }
      }
      const callers = Array.from({ length: 50 }, async (_, i) => {
        await sleep(i * 5)
        const came = performance.now()
        return Number(await textOf(await caches[i % 3]!.read(bypassing(make)))) - came
      })
      expect(Math.min(...(await Promise.all(callers)))).toBeGreaterThanOrEqual(0)
      expect(runs).toBeLessThan(40)
    })

    test('gets the error where the engine fails, and no copy', async () => {
      const state = engine()
      const cache = open()
      await cache.read(request(state.make))
      state.fail = engineDown
      await expect(cache.read(bypassing(state.make))).rejects.toMatchObject({ code: 'engine_error' })
      expect((await cache.read(request(state.make))).status).toBe('hit')
    })

    test('gets no stale copy: neither while another caller refreshes it nor where the engine fails', async () => {
      const brief = (make: CacheRequest['make'], bypass = false) => request(make, { freshMs: 50, bypass })
      const state = engine()
      const [one, two] = [open(lasting), open(lasting)]
      await one.read(brief(state.make))
      await sleep(100)
      const { promise, resolve: end } = Promise.withResolvers()
      state.until = promise
      const refreshing = one.read(brief(state.make))
      await begun(state, 2)
      const asked = [one.read(brief(state.make, true)), two.read(brief(state.make, true))]
      expect((await two.read(brief(state.make))).status).toBe('stale')
      end(null)
      const texts = await Promise.all(asked.map(async read => textOf(await read)))
      // "run 2" began before these requests came.
      expect(await refreshing.then(textOf)).toBe('run 2')
      for (const text of texts) expect(['run 3', 'run 4']).toContain(text)
      await sleep(100)
      state.fail = engineDown
      for (const cache of [one, two]) {
        await expect(cache.read(brief(state.make, true))).rejects.toMatchObject({ code: 'engine_error' })
        expect((await cache.read(brief(state.make))).status).toBe('stale')
      }
    })

    test.each([
      ['a failure of the engine', engineDown],
      ['a caller’s mistake', mistake],
    ])('gets a run, not %s that is remembered', async (_, fail) => {
      const state = engine({ fail })
      const lasting = { ...quick, backOffMs: 60_000 }
      const [one, two] = [open(lasting), open(lasting)]
      await expect(one.read(request(state.make))).rejects.toThrow(ApiError)
      await expect(two.read(request(state.make))).rejects.toThrow(ApiError)
      expect(state.runs).toBe(1)
      state.fail = () => null
      for (const [cache, text] of [
        [two, 'run 2'],
        [one, 'run 3'],
      ] as const)
        expect(await textOf(await cache.read(bypassing(state.make)))).toBe(text)
    })

    test('is not joined to a run under way, and joins one that has not begun', async () => {
      const state = engine()
      const { promise, resolve: end } = Promise.withResolvers()
      state.until = promise
      const cache = open(lasting)
      const first = cache.read(request(state.make))
      await begun(state)
      const asked = [1, 2, 3].map(() => cache.read(bypassing(state.make)))
      end(null)
      expect(await first.then(textOf)).toBe('run 1')
      expect(await Promise.all(asked.map(async read => textOf(await read)))).toEqual(Array(3).fill('run 2'))
    })

    test('gets a run where the store is away, and no copy in memory', async () => {
      const state = engine()
      const cache = open()
      await cache.read(request(state.make))
      faults.before = lost
      expect(await textOf(await cache.read(bypassing(state.make)))).toBe('run 2')
      state.fail = engineDown
      await expect(cache.read(bypassing(state.make))).rejects.toMatchObject({ code: 'engine_error' })
    })
  })

  describe('a run that the budget of its caller refuses', () => {
    const refused = () => new ApiError('budget_exhausted', 'Nothing is left.')
    const poor = (make: CacheRequest['make']) => request(make, { maxBytes: 1 })

    test('is refused to callers with as little, and begun again for one with more', async () => {
      const poorly = engine({ ms: 50, fail: refused })
      const richly = engine()
      const cache = open()
      const reads = [
        cache.read(poor(poorly.make)),
        cache.read(poor(poorly.make)),
        cache.read(request(richly.make)),
      ]
      const [first, second, third] = await Promise.allSettled(reads)
      for (const one of [first, second])
        expect(one).toMatchObject({ status: 'rejected', reason: { code: 'budget_exhausted' } })
      expect(third).toMatchObject({ status: 'fulfilled', value: { status: 'miss', stored: true } })
      expect([poorly.runs, richly.runs]).toEqual([1, 1])
    })

    test('leaves no failure behind, and no lease', async () => {
      const state = engine({ fail: refused })
      await expect(open().read(poor(state.make))).rejects.toThrow()
      state.fail = () => null
      expect((await open().read(request(state.make))).status).toBe('miss')
    })
  })

  test('a run that is interrupted as its process ends leaves no failure behind, and no lease', async () => {
    const cause = new EngineError('cancelled', 'The query was cancelled')
    const state = engine({
      fail: () => new ApiError('engine_unavailable', 'The query was cancelled.', { cause }),
    })
    await expect(open().read(request(state.make))).rejects.toMatchObject({ code: 'engine_unavailable' })
    state.fail = () => null
    expect((await open().read(request(state.make))).status).toBe('miss')
  })

  describe('reads', () => {
    test('are noted for the warmer, seldom', async () => {
      const state = engine()
      const cache = open()
      const at = headAt(cacheKey(keyFields))
      await cache.read(request(state.make, { noteUse: true }))
      await cache.close()
      await store.update(at, { set: { usedAt: Date.now() - 120_000 } })
      for (let i = 0; i < 10; i++) {
        await cache.read(request(state.make, { noteUse: true }))
        await cache.close()
      }
      const { document } = await store.get(at, ['uses'])
      expect(document?.fields['uses']).toBe(2)
    })
  })
})

/** A short form of `cache.histories.soak.ts`, with new seeds each day: a failure names its seed. */
test('in 50 random histories of callers, processes and faults no answer is one that the model does not allow', async () => {
  const counts = await playHistories({ from: 50 * Math.floor(Date.now() / 86_400_000), count: 50 })
  expect(counts.reads).toBeGreaterThan(150)
  expect(counts.faults).toBeGreaterThan(30)
  expect(counts.kills).toBeGreaterThan(5)
})

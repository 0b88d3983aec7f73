/** What is written of an answer is written before its caller gets it: no later moment is sure to come. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Fields, Store } from '../stores/store.ts'
import { type Faults, withFaults } from '../stores/testing/faults.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { AnswerCache } from './cache.ts'
import { cacheKey, headAt } from './head.ts'
import { engine, engineDown, keyFields, made, mistake, quick, request } from './testing/requests.ts'

describeStores('before its caller gets it,', ({ open }) => {
  let plain: Store
  let faults: Faults
  let cache: AnswerCache
  /** Calls of the store that have not ended. */
  let underWay: number

  beforeEach(async () => {
    plain = await open()
    faults = {}
    underWay = 0
    const store = withFaults(plain, {
      async before(...call) {
        underWay++
        await faults.before?.(...call)
      },
      after: () => void underWay--,
    })
    cache = new AnswerCache(store, { ...quick, leaseMs: 20_000, renewMs: 5000, writeMs: 20_000 }) // for a busy machine
  })

  afterEach(() => plain.close())

  const at = headAt(cacheKey(keyFields))
  const headNow = async (): Promise<Fields> => (await plain.get(at)).document!.fields

  test.each([
    ['small', 100],
    ['in chunks', 3_000_000],
  ])('an answer is stored and its lease released: %s', async (_, size) => {
    const make = async () => ({
      answer: made(
        Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
          .toString('base64')
          .repeat(Math.ceil(size / 80_000)),
      ),
    })
    expect(await cache.read(request(make))).toMatchObject({ status: 'miss', stored: true })
    expect(underWay).toBe(0)
    expect(await headNow()).toMatchObject({ stored: {}, expireAt: expect.any(Date) })
    expect(await headNow()).not.toHaveProperty('lease')
  })

  test.each([
    ['of the engine', engineDown],
    ['of the caller', mistake],
  ])('a failure is recorded, with an expiry, and its lease released: one %s', async (_, fail) => {
    await expect(cache.read(request(engine({ fail }).make))).rejects.toThrow()
    expect(underWay).toBe(0)
    expect(await headNow()).toMatchObject({ failure: {}, expireAt: expect.any(Date) })
    expect(await headNow()).not.toHaveProperty('lease')
  })

  test('a use is recorded', async () => {
    const state = engine()
    await cache.read(request(state.make))
    await plain.update(at, { set: { usedAt: Date.now() - 120_000 } })
    expect((await cache.read(request(state.make, { noteUse: true }))).status).toBe('hit')
    expect(underWay).toBe(0)
    expect(await headNow()).toMatchObject({ uses: 2 })
  })

  test('or after `writeMs` without, and the answer says that it is not stored', async () => {
    cache = new AnswerCache(withFaults(plain, faults), { ...quick, writeMs: 200 })
    const { promise, resolve: write } = Promise.withResolvers()
    faults.before = async operation => {
      if (operation === 'update') await promise
    }
    const started = performance.now()
    expect(await cache.read(request(engine().make))).toMatchObject({ status: 'miss', stored: false })
    expect(performance.now() - started).toBeGreaterThan(190)
    write(null)
    await cache.close()
    expect(await headNow()).toMatchObject({ stored: {} })
  })

  test('all callers in a process get a new answer at one time, and none waits for it who can have a stale one', async () => {
    const state = engine()
    const brief = () => cache.read(request(state.make, { freshMs: 50 }))
    await brief()
    await sleep(60)
    const { promise, resolve: write } = Promise.withResolvers()
    faults.before = async operation => {
      if (operation === 'update') await promise
    }
    const first = brief()
    await sleep(100)
    expect(['stale', 'hit']).toContain((await brief()).status)
    write(null)
    expect((await first).status).toBe('revalidated')
  })
})

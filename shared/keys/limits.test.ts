import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ByteLimit, callCounter, openByteLimits } from './limits.ts'
import { StoreError, type Store } from '../stores/store.ts'
import { withFaults } from '../stores/testing/faults.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import type { Caller } from './authenticate.ts'

describe('counting a key’s calls', () => {
  const limited = { keyId: 'a', limits: { callsPerMinute: 2, bytesPerDay: null } }

  test('refuses too many in the minute that begins with the first, and names the seconds left', () => {
    let now = 1
    const count = callCounter({ now: () => now })
    count(limited)
    now += 45_500
    count(limited)
    expect(() => count(limited)).toThrow(
      expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '15' } }),
    )
    now += 14_501
    count(limited)
    count(limited)
    expect(() => count(limited)).toThrow()
  })

  test('of another key, and of one without a limit, is separate', () => {
    const count = callCounter()
    for (let call = 0; call < 100; call++) count({ keyId: 'b', limits: null })
    count(limited)
    count(limited)
    count({ ...limited, keyId: 'c' })
    expect(() => count(limited)).toThrow()
  })
})

function caller(bytesPerDay: number | null): Caller {
  const limits = { callsPerMinute: null, bytesPerDay }
  return { keyId: 'abc', name: 'test', endpoints: '*', pins: {}, rights: [], limits }
}

/** The limit as a process sees it that has just started. */
function limitIn(store: Store, bytesPerDay: number): ByteLimit {
  return openByteLimits(store)(caller(bytesPerDay))!
}

describeStores('the bytes of a key', ({ open }) => {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  test('that several processes read at once are added up, and seen by another', async () => {
    await Promise.all([1, 2, 3].map(() => limitIn(store, 60).spend(20)))
    const other = openByteLimits(store)
    expect(await other(caller(61))!.exhausted()).toBe(null)
    expect(await other(caller(60))!.exhausted()).toMatchObject({ code: 'budget_exhausted' })
  })
})

test('a day begins at midnight UTC by the store’s clock, and a refusal names the seconds until then', async () => {
  let now = Date.UTC(2026, 2, 10, 23, 59, 0)
  const store = openSqlite({ file: ':memory:', now: () => now })
  await limitIn(store, 10).spend(10)
  expect(await limitIn(store, 10).exhausted()).toMatchObject({ headers: { 'Retry-After': '60' } })
  now += 60_000
  expect(await limitIn(store, 10).exhausted()).toBe(null)
  await limitIn(store, 10).spend(9)
  expect(await limitIn(store, 10).exhausted()).toBe(null)
  await store.close()
})

test('a run that ends while another request reads the sum does not fail that request', async () => {
  let reads = 0
  const store = withFaults(openSqlite({ file: ':memory:' }), {
    async after(operation) {
      if (operation === 'get' && ++reads === 1) await limit.spend(1)
    },
  })
  const limit = limitIn(store, 10)
  expect(await limit.exhausted()).toBe(null)
  await store.close()
})

test('a key without the limit costs no call of the store, and no failure of the store ends an answer', async () => {
  let calls = 0
  const down = withFaults(openSqlite({ file: ':memory:' }), {
    before() {
      calls++
      throw new StoreError('unavailable', 'down')
    },
  })
  expect(openByteLimits(down)(caller(null))).toBe(null)
  expect(calls).toBe(0)
  const limit = limitIn(down, 1)
  await limit.spend(1)
  expect(await limit.exhausted()).toBe(null)
  expect(calls).toBe(2)
})

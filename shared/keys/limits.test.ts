import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Allowance, callCounter, openByteLimits } from './limits.ts'
import { StoreError, type Store } from '../stores/store.ts'
import { type Faults, withFaults } from '../stores/testing/faults.ts'
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

/** What is left to a process that has just started. */
function leftIn(store: Store, bytesPerDay: number): Promise<Allowance> {
  return openByteLimits(store)(caller(bytesPerDay))!.today()
}

const exhausted = { code: 'budget_exhausted' }

describeStores('the bytes of a key', ({ open }) => {
  let plain: Store
  let store: Store
  let faults: Faults
  beforeEach(async () => {
    plain = await open()
    faults = {}
    store = withFaults(plain, { after: (...call) => faults.after?.(...call) })
  })
  afterEach(() => plain.close())

  test('that 50 runs in three processes read at once are added up exactly, and seen by another', async () => {
    const processes = await Promise.all([1, 2, 3].map(() => leftIn(store, 1_000)))
    await Promise.all(Array.from({ length: 50 }, (_, i) => processes[i % 3]!.spend(i + 1)))
    expect((await leftIn(store, 1_276)).left).toBe(1)
    expect((await leftIn(store, 1_275)).left).toBe(0)
  })

  test('count once where an acknowledgement is lost, and where all of them are', async () => {
    const allowance = await leftIn(store, 100)
    let losses = 1
    faults.after = () => {
      if (losses-- > 0) throw new StoreError('unavailable', 'no acknowledgement')
    }
    await allowance.spend(10)
    losses = Infinity
    await allowance.spend(10)
    losses = 0
    expect((await leftIn(store, 100)).left).toBe(80)
  })

  test('have documents that expire', async () => {
    await (await leftIn(store, 10)).spend(1)
    const { documents } = await store.query({ collection: 'spending', limit: 10 })
    expect(documents).toHaveLength(2)
    for (const { fields } of documents) expect(Number(fields['expireAt'])).toBeGreaterThan(Date.now())
  })
})

test('a day begins with 0 at midnight UTC by the store’s clock, and a refusal names the seconds until then', async () => {
  let now = Date.UTC(2026, 2, 10, 23, 59, 0)
  const store = openSqlite({ file: ':memory:', now: () => now })
  const before = await leftIn(store, 10)
  await before.spend(10)
  expect((await leftIn(store, 10)).left).toBe(0)
  expect(before.refusal()).toMatchObject({ ...exhausted, headers: { 'Retry-After': '60' } })
  now += 60_000
  const after = await leftIn(store, 10)
  expect(after.left).toBe(10)
  await Promise.all([before.spend(10), after.spend(9)])
  expect((await leftIn(store, 10)).left).toBe(1)
  await store.close()
})

test('a refusal says what the run would read, what is left of how much, and when to come back, if ever', async () => {
  const store = openSqlite({ file: ':memory:' })
  const allowance = await leftIn(store, 100)
  await allowance.spend(10)
  const left = await leftIn(store, 100)
  expect(left.refusal(95)).toMatchObject({
    ...exhausted,
    message: expect.stringContaining('up to 95 bytes, and the runs for this API key may read 90 bytes more'),
    headers: { 'Retry-After': expect.any(String) },
  })
  expect(left.refusal(10_485_760)).toMatchObject({
    message: expect.stringContaining('10,485,760 bytes'),
    headers: {},
  })
  await store.close()
})

test('a run that ends while another request reads the sum does not fail that request', async () => {
  let reads = 0
  let allowance: Allowance | null = null
  const store = withFaults(openSqlite({ file: ':memory:' }), {
    async after(operation) {
      if (operation === 'get' && allowance && ++reads === 1) await allowance.spend(1)
    },
  })
  const limit = openByteLimits(store)(caller(10))!
  allowance = await limit.today()
  await allowance.spend(1)
  expect((await limit.today()).left).toBe(9)
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
  const allowance = await leftIn(down, 1)
  await allowance.spend(1)
  expect((await leftIn(down, 1)).left).toBe(1)
  expect(calls).toBeGreaterThan(2)
})

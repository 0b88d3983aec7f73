import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Allowance, limitHeaders, openByteLimits, openCallLimits } from './limits.ts'
import { StoreError, type Store } from '../stores/store.ts'
import { type Faults, withFaults } from '../stores/testing/faults.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import type { Caller } from './authenticate.ts'

describe('counting a key’s calls', () => {
  const limited = { keyId: 'a', limits: { callsPerMinute: 2, bytesPerDay: null } }

  test('refuses too many in the minute that begins with the first, and names the seconds left', () => {
    let now = 1
    const { count, left } = openCallLimits({ now: () => now })
    count(limited)
    now += 45_500
    count(limited)
    expect(() => count(limited)).toThrow(
      expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '15' } }),
    )
    now += 14_501
    count(limited)
    expect(left(limited)).toEqual({ left: 1, seconds: 60 })
    now += 20_000
    expect(left(limited)).toEqual({ left: 1, seconds: 40 })
    count(limited)
    expect(left(limited)).toEqual({ left: 0, seconds: 40 })
    expect(left({ keyId: 'a', limits: null })).toBeNull()
    expect(() => count(limited)).toThrow()
  })

  test('of another key, and of one without a limit, is separate', () => {
    const { count } = openCallLimits()
    for (let call = 0; call < 100; call++) count({ keyId: 'b', limits: null })
    count(limited)
    count(limited)
    count({ ...limited, keyId: 'c' })
    expect(() => count(limited)).toThrow()
  })
})

describe('the header fields of a key’s limits', () => {
  const known = { left: 5, seconds: 7 }

  test('name each policy, with what is left where it is known', () => {
    const limits = { callsPerMinute: 60, bytesPerDay: 2_000 }
    const policies = '"calls";q=60;w=60, "bytes";q=2000;qu="content-bytes";w=86400'
    expect(limitHeaders({ limits }, { calls: known, bytes: { left: 0, seconds: 1 } })).toEqual({
      'RateLimit-Policy': policies,
      RateLimit: '"calls";r=5;t=7, "bytes";r=0;t=1',
    })
    expect(limitHeaders({ limits }, { calls: null, bytes: null })).toEqual({ 'RateLimit-Policy': policies })
    expect(limitHeaders({ limits: null }, { calls: null, bytes: null })).toEqual({})
  })

  test('hold no larger numbers than Structured Fields have', () => {
    const limits = { callsPerMinute: null, bytesPerDay: Number.MAX_SAFE_INTEGER }
    const fields = limitHeaders({ limits }, { calls: null, bytes: { left: 2e15, seconds: 3 } })
    expect(Object.values(fields).join()).toMatch(/q=999999999999999;.*r=999999999999999;t=3$/)
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

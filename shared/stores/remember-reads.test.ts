/** What both memories do while the store does not answer: that of the keys, and that of the definitions. */
import { beforeEach, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../config.ts'
import { openEndpoints } from '../endpoints/lookup.ts'
import { createAuthenticator } from '../keys/authenticate.ts'
import { issueKey, revokeKey } from '../keys/records.ts'
import { openSqlite } from './sqlite/store.ts'
import { StoreError, type Store, type StoreErrorReason } from './store.ts'
import { rememberReads } from './remember-reads.ts'
import { withFaults } from './testing/faults.ts'

let clock: number
let failing: StoreErrorReason | null
let reads: number
let store: Store
beforeEach(() => {
  clock = Date.now()
  failing = null
  reads = 0
  store = withFaults(openSqlite({ file: ':memory:', now: () => clock }), {
    before(operation) {
      if (operation === 'get' || operation === 'query') reads++
      if (failing) throw new StoreError(failing, 'down')
    },
  })
})

const minute = 60_000
const common = {
  rememberMs: loadConfig({}).rememberMs,
  clock: { now: () => clock },
}

/** A memory of one document, which a caller can withdraw from the store. */
interface Remembered {
  use(): Promise<unknown>
  withdraw(): Promise<void>
  /** Of a use once the withdrawal holds. */
  refused: unknown
}

const memories: Record<string, () => Promise<Remembered>> = {
  async 'a key'() {
    const { key, id } = await issueKey(store, {
      name: 'a',
      endpoints: '*',
      pins: {},
      rights: [],
      expiresAt: null,
    })
    const authenticate = createAuthenticator(store, common)
    return {
      use: () => authenticate(key),
      withdraw: () => revokeKey(store, id),
      refused: { code: 'unauthenticated' },
    }
  },
  async 'a definition'() {
    const at = { collection: 'endpoints', id: '00000000-0000-4000-8000-00000000000c' }
    const endpoint = { id: at.id, name: 'plain', version: '1' }
    await store.create(at, { name: 'plain', version: '1', definition: JSON.stringify(endpoint) })
    const endpoints = openEndpoints(store, { ...common, maxResultBytes: 1 })
    const use = async () => {
      const found = await endpoints.find('plain')
      if (!found) throw Object.assign(new Error('gone'), { code: 'not_found' })
    }
    return { use, withdraw: () => store.remove(at), refused: { code: 'not_found' } }
  },
}

describe.each(Object.entries(memories))('%s', (_, remember) => {
  test('holds for five minutes while the store does not answer, and no longer', async () => {
    const { use } = await remember()
    await use()
    failing = 'unavailable'
    for (let second = 1; second < 300; second++) {
      clock += 1_000
      await use()
    }
    clock += 1_001
    await expect(use()).rejects.toMatchObject({ code: 'store_unavailable', headers: { 'Retry-After': '2' } })
  })

  test('that is withdrawn is so once it is no longer remembered', async () => {
    const { use, withdraw, refused } = await remember()
    await use()
    await withdraw()
    clock += common.rememberMs + 1
    await expect(use()).rejects.toMatchObject(refused as object)
  })

  test('that is withdrawn is so within 30 s where one read gets no answer', async () => {
    const { use, withdraw, refused } = await remember()
    await use()
    await withdraw()
    clock += common.rememberMs + 1
    failing = 'unavailable'
    await use()
    failing = null
    clock += 30_000 - common.rememberMs - 2
    await expect(use()).rejects.toMatchObject(refused as object)
  })

  test('that is withdrawn in an outage is so 5 s after its end', async () => {
    const { use, withdraw, refused } = await remember()
    await use()
    await withdraw()
    failing = 'unavailable'
    clock += 4 * minute
    await use()
    failing = null
    clock += 5_001
    await expect(use()).rejects.toMatchObject(refused as object)
  })

  test('lasts five minutes from the last answer of the store, however often it was used since', async () => {
    const { use } = await remember()
    await use()
    clock += minute
    await use()
    failing = 'unavailable'
    clock += 5 * minute - 1
    await use()
    clock += 2
    await expect(use()).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  test('asks a store that is away every 5 s', async () => {
    const { use } = await remember()
    await use()
    failing = 'unavailable'
    reads = 0
    clock += common.rememberMs + 1
    for (let call = 0; call < 100; call++) await use()
    expect(reads).toBe(1)
    clock += 5_001
    await use()
    expect(reads).toBe(2)
  })

  test('does not take a bug for an outage', async () => {
    const { use } = await remember()
    await use()
    failing = 'invalid'
    clock += common.rememberMs + 1
    await expect(use()).rejects.toMatchObject({ name: 'StoreError', reason: 'invalid' })
  })
})

test('a store that is silent holds a caller up for a second, where memory has the value', async () => {
  let silent = false
  const read = rememberReads({
    ...common,
    max: 1,
    unavailable: 'no',
    read: () => (silent ? new Promise<never>(() => {}) : Promise.resolve({ value: 'known' })),
  })
  await read('a')
  silent = true
  clock += common.rememberMs + 1
  expect(await read('a')).toBe('known')
})

test('in an outage one call in 5 s waits for the store, however many keys are known; unknown ones always ask', async () => {
  let down = false
  let asked = 0
  const read = rememberReads({
    ...common,
    max: 100,
    unavailable: 'no',
    async read(key) {
      asked++
      if (down) throw new StoreError('unavailable', 'down')
      return { value: key }
    },
  })
  const keys = Array.from({ length: 50 }, (_, n) => `key ${n}`)
  for (const key of keys) await read(key)
  down = true
  asked = 0
  clock += common.rememberMs + 1
  for (const key of keys) expect(await read(key)).toBe(key)
  expect(asked).toBe(1)
  await expect(read('unknown')).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(asked).toBe(2)
  down = false
  expect(await read('unknown')).toBe('unknown')
  clock += 5_001
  for (const key of keys) await read(key)
  expect(asked).toBe(3 + keys.length)
})

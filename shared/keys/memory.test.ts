import { beforeEach, describe, expect, test } from '@jest/globals'
import { StoreError, type Store } from '../stores/store.ts'
import { withFaults } from '../stores/testing/faults.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { createAuthenticator, issueKey, revokeKey } from './authenticate.ts'

const grant = {
  name: 'console',
  endpoints: ['logs.all'],
  pins: {},
  rights: [],
  expiresAt: null,
}

const unauthenticated = { name: 'ApiError', code: 'unauthenticated' }
const unavailable = { name: 'ApiError', code: 'store_unavailable', headers: { 'Retry-After': '2' } }

let clock: number
let reads: number
let down: boolean
let store: Store
beforeEach(() => {
  clock = Date.now()
  reads = 0
  down = false
  store = withFaults(openSqlite({ file: ':memory:', now: () => clock }), {
    before(operation) {
      if (operation === 'get') reads++
      if (down) throw new StoreError('unavailable', 'down')
    },
  })
})

describe('an authenticator', () => {
  /** Both clocks at once: the store's and the process's own. */
  const remembering = { clock: { now: () => clock } }

  test('reads the store once in 30 s for a key that holds', async () => {
    const { key } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store, remembering)
    reads = 0
    const callers = await Promise.all(Array.from({ length: 50 }, () => authenticated(key)))
    clock += 30_000
    expect(await authenticated(key)).toEqual(callers[0])
    expect(reads).toBe(1)
    clock += 1
    await authenticated(key)
    expect(reads).toBe(2)
  })

  test('lets a revoked key go on for 30 s at most', async () => {
    const { key, id } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store, remembering)
    await authenticated(key)
    await revokeKey(store, id)
    clock += 30_001
    await expect(authenticated(key)).rejects.toMatchObject(unauthenticated)
  })

  test('counts the 30 s from before the read, however long it took', async () => {
    const { key, id } = await issueKey(store, grant)
    const slow = withFaults(store, { after: () => void (clock += 20_000) })
    const authenticated = createAuthenticator(slow, remembering)
    await authenticated(key)
    await revokeKey(store, id)
    clock += 10_001
    await expect(authenticated(key)).rejects.toMatchObject(unauthenticated)
  })

  test('does not remember a key past its expiry', async () => {
    const { key } = await issueKey(store, { ...grant, expiresAt: new Date(clock + 5_000) })
    const authenticated = createAuthenticator(store, remembering)
    await authenticated(key)
    clock += 5_001
    await expect(authenticated(key)).rejects.toMatchObject(unauthenticated)
  })

  test('remembers a refusal for 2 s, and asks nothing for what is no key', async () => {
    const { key, id } = await issueKey(store, grant)
    const { document } = await store.get({ collection: 'keys', id })
    await store.remove({ collection: 'keys', id })
    const authenticated = createAuthenticator(store, remembering)
    reads = 0
    for (const sent of [key, key, 'garbage', undefined])
      await expect(authenticated(sent)).rejects.toMatchObject(unauthenticated)
    expect(reads).toBe(1)
    await store.create({ collection: 'keys', id }, document?.fields ?? {})
    clock += 2_001
    expect(await authenticated(key)).toMatchObject({ keyId: id })
  })

  test('while the store is down, lets remembered keys in for their 30 s and turns others away', async () => {
    const [known, other] = [await issueKey(store, grant), await issueKey(store, grant)]
    const authenticated = createAuthenticator(store, remembering)
    await authenticated(known.key)
    down = true
    clock += 30_000
    await authenticated(known.key)
    await expect(authenticated(other.key)).rejects.toMatchObject(unavailable)
    clock += 1
    await expect(authenticated(known.key)).rejects.toMatchObject(unavailable)
    down = false
    await authenticated(other.key)
  })

  test('keeps nothing where it is told to remember for no time', async () => {
    const { key, id } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store, { ...remembering, rememberMs: 0 })
    await authenticated(key)
    await revokeKey(store, id)
    await expect(authenticated(key)).rejects.toMatchObject(unauthenticated)
  })
})

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Fields, type Store, StoreError } from '../stores/store.ts'
import { withFaults } from '../stores/testing/faults.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { createAuthenticator, keyFromHeaders, mayCall } from './authenticate.ts'
import { makeKey, writeKey } from '../key-text.ts'
import { issueKey, KeyError, listKeys, revokeKey, rotateKey } from './records.ts'

const grant = {
  name: 'console',
  endpoints: ['logs.all'],
  pins: { project: 'abc' },
  rights: ['pii:read' as const],
  expiresAt: null,
}

/** The one refusal. */
const unauthenticated = {
  name: 'ApiError',
  code: 'unauthenticated',
  message: 'Send a valid API key, as X-API-KEY or as Authorization: Bearer.',
  problems: [],
  headers: { 'WWW-Authenticate': 'Bearer realm="log-query-endpoints"' },
}

/** While invented keys flood in. */
const tooMany = { name: 'ApiError', code: 'rate_limited', headers: { 'Retry-After': '10' } }

const unavailable = { name: 'ApiError', code: 'store_unavailable', headers: { 'Retry-After': '2' } }

/** Without a memory of earlier calls. */
const authenticate = (from: Store, key: string | undefined) => createAuthenticator(from)(key)

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

const record = async (id: string) => (await store.get({ collection: 'keys', id })).document?.fields ?? {}
const secretOf = (key: string) => key.split('_')[2]!.slice(0, 43)

describe('a key', () => {
  test('is accepted with its grant', async () => {
    const { key, id } = await issueKey(store, grant)
    const { expiresAt: _, ...granted } = grant
    expect(await authenticate(store, key)).toEqual({
      keyId: id,
      ...granted,
      redacted: false,
      limits: null,
    })
    expect(key).toMatch(new RegExp(`^lqe_${id}_[0-9A-Za-z]{49}$`))
  })

  test('keeps its limits, also through a rotation; one from before there were limits has none', async () => {
    const limits = { callsPerMinute: 60, bytesPerDay: 10e12 }
    const first = await issueKey(store, { ...grant, limits })
    const second = await rotateKey(store, first.id, 0)
    expect((await authenticate(store, second.key)).limits).toEqual(limits)
    await store.update({ collection: 'keys', id: second.id }, { set: {}, unset: ['limits'] })
    expect((await authenticate(store, second.key)).limits).toBe(null)
  })

  test('is different each time', async () => {
    const issued = await Promise.all(Array.from({ length: 100 }, () => issueKey(store, grant)))
    expect(new Set(issued.map(({ id }) => id)).size).toBe(100)
    expect(new Set(issued.map(({ key }) => secretOf(key))).size).toBe(100)
  })

  test('is neither in the store nor in the list', async () => {
    const { key } = await issueKey(store, grant)
    const { documents } = await store.query({ collection: 'keys', limit: 10 })
    const stored = JSON.stringify(documents)
    for (const part of [key, secretOf(key), key.slice(-20), Buffer.from(secretOf(key)).toString('base64')])
      expect(stored).not.toContain(part)
    expect(JSON.stringify(await listKeys(store))).not.toContain((await record(documents[0]!.id))['hash'])
  })

  test('is refused with any one character changed, without a read of the store', async () => {
    const { key } = await issueKey(store, grant)
    reads = 0
    const change = fc.tuple(
      fc.nat(key.length - 1),
      fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', '-', ' ', 'é'),
    )
    await fc.assert(
      fc.asyncProperty(change, async ([place, character]) => {
        fc.pre(key[place] !== character)
        const changed = key.slice(0, place) + character + key.slice(place + 1)
        await expect(authenticate(store, changed)).rejects.toMatchObject(unauthenticated)
      }),
      { numRuns: 150 },
    )
    expect(reads).toBe(0)
  })

  test.each(['', ' ', 'lqe_', 'lqe__', 'null', '🔑', 'x'.repeat(200)])('cannot be %j', async text => {
    await expect(authenticate(store, text)).rejects.toMatchObject(unauthenticated)
    await expect(authenticate(store, ` ${(await issueKey(store, grant)).key}`)).rejects.toMatchObject(
      unauthenticated,
    )
  })

  test('needs a name', async () => {
    await expect(issueKey(store, { ...grant, name: '' })).rejects.toBeInstanceOf(KeyError)
  })
})

describe('all refusals are one', () => {
  test('for no key, and for one that is unknown, expired or revoked', async () => {
    const elsewhere = openSqlite({ file: ':memory:' })
    const unknown = await issueKey(elsewhere, grant)
    const expired = await issueKey(store, { ...grant, expiresAt: new Date(clock) })
    const revoked = await issueKey(store, grant)
    await revokeKey(store, revoked.id)
    for (const key of [undefined, unknown.key, expired.key, revoked.key])
      await expect(authenticate(store, key)).rejects.toMatchObject(unauthenticated)
    await elsewhere.close()
  })

  test('for the right id with another key’s secret', async () => {
    const [mine, other] = [await issueKey(store, grant), await issueKey(store, grant)]
    const { hash: _, ...rest } = await record(mine.id)
    await store.replace(
      { collection: 'keys', id: mine.id },
      { ...rest, hash: (await record(other.id))['hash']! },
    )
    await expect(authenticate(store, mine.key)).rejects.toMatchObject(unauthenticated)
  })

  test.each<[string, Fields]>([
    ['no hash', { hash: null }],
    ['a hash cut short', { hash: 'abc' }],
    ['no name', { name: '' }],
    ['endpoints as text', { endpoints: 'logs.all' }],
    ['an endpoint that is a number', { endpoints: [1] }],
    ['pins as a list', { pins: ['project'] }],
    ['a pin that is a number', { pins: { project: 1 } }],
    ['an unknown right', { rights: ['everything'] }],
    ['an expiry as text', { expiresAt: '2030-01-01' }],
    ['a revocation as text', { revokedAt: 'yes' }],
    ['a limit as text', { limits: { callsPerMinute: '60', bytesPerDay: null } }],
    ['a redaction as text', { redacted: 'true' }],
    ['one limit of two', { limits: { callsPerMinute: 60 } }],
  ])('for a document edited to have %s', async (_, edit) => {
    const { key, id } = await issueKey(store, grant)
    await store.update({ collection: 'keys', id }, { set: edit })
    await expect(authenticate(store, key)).rejects.toMatchObject(unauthenticated)
    expect(await listKeys(store)).toEqual([])
    await revokeKey(store, id)
  })

  test('for a document that lacks a field', async () => {
    const { key, id } = await issueKey(store, grant)
    const { limits: _, redacted: __, format: ___, ...needed } = await record(id)
    for (const field of Object.keys(needed)) {
      const { [field]: _field, ...rest } = await record(id)
      const whole = await record(id)
      await store.replace({ collection: 'keys', id }, rest)
      await expect(authenticate(store, key)).rejects.toMatchObject(unauthenticated)
      await store.replace({ collection: 'keys', id }, whole)
    }
    await authenticate(store, key)
  })
})

test('a key ends at its expiry, by the store’s clock', async () => {
  const { key } = await issueKey(store, { ...grant, expiresAt: new Date(clock + 1_000) })
  clock += 999
  await authenticate(store, key)
  clock += 1
  await expect(authenticate(store, key)).rejects.toMatchObject(unauthenticated)
})

describe('an authenticator', () => {
  /** Both clocks at once: the store's and the process's own. */
  const remembering = { rememberMs: 20_000, clock: { now: () => clock } }

  test('reads the store once in the time that it remembers a valid key', async () => {
    const { key } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store, remembering)
    reads = 0
    const callers = await Promise.all(Array.from({ length: 50 }, () => authenticated(key)))
    clock += 20_000
    expect(await authenticated(key)).toEqual(callers[0])
    expect(reads).toBe(1)
    clock += 1
    await authenticated(key)
    expect(reads).toBe(2)
  })

  test('accepts a revoked key for that time at most', async () => {
    const { key, id } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store, remembering)
    await authenticated(key)
    await revokeKey(store, id)
    clock += 20_001
    await expect(authenticated(key)).rejects.toMatchObject(unauthenticated)
  })

  test('counts the time from before the read, however long it took', async () => {
    const { key, id } = await issueKey(store, grant)
    const slow = withFaults(store, { after: () => void (clock += 10_000) })
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

  test('remembers a refusal for 2 s, and reads nothing for a text that is not a key', async () => {
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

  test('looks up few invented keys, and goes on to find the real ones that it does not remember', async () => {
    const real = await Promise.all(Array.from({ length: 20 }, () => issueKey(store, grant)))
    const authenticated = createAuthenticator(store, remembering)
    const invent = (count: number) =>
      Promise.allSettled(Array.from({ length: count }, () => authenticated(writeKey(makeKey()))))
    reads = 0
    const refused = await invent(1_000)
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['rejected']))
    const ofList = 1 // for the store's time
    expect(reads).toBe(100 + ofList)
    for (let seconds = 0; seconds < 10; seconds++) {
      clock += 1_000
      await invent(100)
    }
    expect(reads).toBe(200 + ofList)
    for (const { key, id } of real) expect(await authenticated(key)).toMatchObject({ keyId: id })
    const late = await issueKey(store, grant)
    await invent(100)
    await expect(authenticated(late.key)).rejects.toMatchObject(tooMany)
    clock += 10_001
    await invent(1_000)
    expect(await authenticated(late.key)).toMatchObject({ keyId: late.id })
  })

  test('looks up a key once for all the wrong secrets that are sent with its id', async () => {
    const { key, id } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store, remembering)
    reads = 0
    for (let count = 0; count < 200; count++)
      await expect(authenticated(writeKey({ ...makeKey(), id }))).rejects.toMatchObject(unauthenticated)
    expect(await authenticated(key)).toMatchObject({ keyId: id })
    expect(reads).toBe(1)
  })

  test('refuses keys that it does not remember while the store is down', async () => {
    const [known, other] = [await issueKey(store, grant), await issueKey(store, grant)]
    const authenticated = createAuthenticator(store, remembering)
    await authenticated(known.key)
    down = true
    await expect(authenticated(other.key)).rejects.toMatchObject(unavailable)
    down = false
    await authenticated(other.key)
  })

  test('ends a key at its expiry also while the store is down', async () => {
    const { key } = await issueKey(store, { ...grant, expiresAt: new Date(clock + 60_000) })
    const authenticated = createAuthenticator(store, remembering)
    await authenticated(key)
    down = true
    clock += 59_999
    await authenticated(key)
    clock += 2
    await expect(authenticated(key)).rejects.toMatchObject(unavailable)
  })

  test('remembers nothing unless it is told to', async () => {
    const { key, id } = await issueKey(store, grant)
    const authenticated = createAuthenticator(store)
    await authenticated(key)
    await revokeKey(store, id)
    await expect(authenticated(key)).rejects.toMatchObject(unauthenticated)
  })
})

describeStores('more keys than one search finds', ({ open }) => {
  let many: Store
  beforeEach(async () => void (many = await open()))
  afterEach(() => many.close())

  test('are all accepted while invented ones flood in, and all listed', async () => {
    const old = await issueKey(many, grant)
    const { document } = await many.get({ collection: 'keys', id: old.id })
    const later = new Date(Date.now() + 1_000)
    for (let batch = 0; batch < 3; batch++)
      await many.batch(
        Array.from({ length: 400 }, () => ({
          type: 'create',
          at: { collection: 'keys', id: makeKey().id },
          fields: { ...document!.fields, createdAt: new Date(later.getTime() + batch) },
        })),
      )
    const authenticated = createAuthenticator(many, { rememberMs: 20_000 })
    await Promise.allSettled(Array.from({ length: 200 }, () => authenticated(writeKey(makeKey()))))
    expect(await authenticated(old.key)).toMatchObject({ keyId: old.id })
    expect((await listKeys(many)).map(({ id }) => id).indexOf(old.id)).toBe(1_200)
  })
})

describe('in the headers', () => {
  test.each([
    [{}, undefined],
    [{ 'x-api-key': 'a' }, 'a'],
    [{ authorization: 'Bearer a' }, 'a'],
    [{ authorization: 'bearer  a' }, 'a'],
    [{ 'x-api-key': 'a', authorization: 'Bearer a' }, 'a'],
    [{ 'x-api-key': 'a', authorization: 'Basic YTpi' }, 'a'],
    [{ 'x-api-key': '', authorization: 'Bearer a' }, 'a'],
    [{ authorization: 'Basic YTpi' }, undefined],
    [{ authorization: 'Bearer' }, undefined],
  ])('%j the key is %j', (headers, key) => {
    expect(keyFromHeaders(headers)).toBe(key)
  })

  test('two different keys are refused', () => {
    const headers = { 'x-api-key': 'a', authorization: 'Bearer lqe_b' }
    expect(() => keyFromHeaders(headers)).toThrow(expect.objectContaining(unauthenticated))
  })

  test('a token of another kind is left to the proxy that asked for it', () => {
    expect(keyFromHeaders({ 'x-api-key': 'a', authorization: 'Bearer b' })).toBe('a')
  })
})

test.each([
  [['logs.all'], 'logs.all', true],
  [['logs.all'], 'logs', false],
  [['*'], 'logs.all', false],
  [[], 'logs.all', false],
  ['*' as const, 'logs.all', true],
])('a key for %j may call %j: %j', (endpoints, endpoint, may) => {
  expect(mayCall({ keyId: 'a', name: 'a', endpoints, pins: {}, rights: [], limits: null }, endpoint)).toBe(
    may,
  )
})

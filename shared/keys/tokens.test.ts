/** How long a token, its issuer and its keys count, by a clock of the test; the issuer is a real server. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { withFaults } from '../stores/testing/faults.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import type { Authenticate } from './authenticate.ts'
import { addIssuer, issuerIn, type KnownIssuer, openIssuers, removeIssuer, storedIssuers } from './issuers.ts'
import { openCallLimits } from './limits.ts'
import { startIssuer, type TestIssuer } from './testing/issuer.ts'
import { openTokens } from './tokens.ts'

const rememberMs = 20_000
/** Seconds since 1970 UTC. */
const begin = 1_800_000_000
let time: number
let reads: number
let down: boolean
let store: Store
let issuer: TestIssuer
let authenticate: Authenticate

const clock = { now: () => time }
const refused = (claim: string) => ({ code: 'unauthenticated', problems: [{ claim }] })
const settings = (more = {}) => ({
  ...issuer.settings,
  pins: { project: '$.project' },
  endpoints: ['logs.all'],
  maxLifetimeSeconds: 86_400,
  ...more,
})
const open = (jwtIssuers: object[]) =>
  openTokens({
    issuers: openIssuers(store, { jwtIssuers, rememberMs, clock }),
    localKey: null,
    clock,
    now: () => begin * 1_000 + time - 1_000_000,
  })
const token = (claims = {}, header = {}) =>
  issuer.token({ project: 'abc', iat: begin, exp: begin + 40_000, ...claims }, header)
const wait = (ms: number) => (time += ms)

beforeEach(async () => {
  ;[time, reads, down] = [1_000_000, 0, false]
  store = withFaults(openSqlite({ file: ':memory:' }), {
    before() {
      reads++
      if (down) throw new StoreError('unavailable', 'down')
    },
  })
  issuer = await startIssuer('console')
  authenticate = open([settings()])
})

afterEach(async () => {
  await issuer.stop()
  await store.close()
})

describe('scopes', () => {
  beforeEach(() => {
    authenticate = open([
      settings({ endpoints: [], scopes: { 'logs:read': ['logs.all'], usage: ['usage'] } }),
    ])
  })

  test.each<[string, object, string[]]>([
    ['a text in scope', { scope: 'openid logs:read' }, ['logs.all']],
    ['a text in scp, as Entra ID has it', { scp: 'openid logs:read' }, ['logs.all']],
    ['a list in scp, as Okta has it', { scp: ['openid', 'logs:read'] }, ['logs.all']],
    ['both', { scope: 'usage', scp: ['logs:read'] }, ['logs.all', 'usage']],
    ['neither', {}, []],
  ])('are read from %s', async (_, claims, endpoints) => {
    expect(await authenticate(await token(claims))).toMatchObject({ endpoints })
  })

  test.each<[string, object]>([
    ['scope', { scope: ['logs:read'] }],
    ['scp', { scp: 7 }],
    ['scp', { scp: ['logs:read', { usage: true }] }],
    ['scp', { scp: null }],
  ])('in %s of another form are refused: %j', async (claim, claims) => {
    await expect(authenticate(await token(claims))).rejects.toMatchObject(refused(claim))
  })
})

describe('the keys of an issuer', () => {
  test('are fetched once in 20 s, whatever comes, and a token that was taken is the same caller again', async () => {
    const sent = await token()
    await Promise.all(Array.from({ length: 50 }, () => authenticate(sent)))
    const caller = await authenticate(sent)
    wait(20_000 - 1)
    expect(await authenticate(sent)).toBe(caller)
    expect([issuer.fetches, reads]).toEqual([1, 0])
    wait(2)
    expect(await authenticate(sent)).toBe(caller)
    expect(issuer.fetches).toBe(2)
  })

  test('that it takes out are refused within 20 s, for tokens that were taken, too', async () => {
    const sent = await token()
    await authenticate(sent)
    issuer.keys = []
    wait(20_001)
    await expect(authenticate(sent)).rejects.toMatchObject(refused('kid'))
    await issuer.rotate('ES256', 'one') // another key of the same id
    wait(20_001)
    await expect(authenticate(sent)).rejects.toMatchObject(refused('signature'))
  })

  test('that it adds are found by their id at once, and ids that are not there cost a fetch a minute', async () => {
    const before = await token()
    await authenticate(before)
    await issuer.rotate('EdDSA', 'two')
    const after = await token()
    for (const caller of await Promise.all([authenticate(after), authenticate(await token({ sub: 'b' }))]))
      expect(caller).toMatchObject({ pins: { project: 'abc' } })
    await expect(authenticate(before)).rejects.toMatchObject(refused('kid'))
    expect(issuer.fetches).toBe(2)
    for (let n = 0; n < 50; n++)
      await expect(authenticate(await token({}, { kid: `none-${n}` }))).rejects.toMatchObject(refused('kid'))
    expect(issuer.fetches).toBe(2)
    for (let seconds = 0; seconds < 60; seconds += 10) {
      wait(10_000)
      await expect(authenticate(await token({}, { kid: 'none' }))).rejects.toMatchObject(refused('kid'))
    }
    // Every 20 s by their age, and once for the id.
    expect(issuer.fetches).toBeLessThanOrEqual(2 + 3 + 1)
  })

  test.each<[string, TestIssuer['respond']]>([
    ['fails', (_, res) => void res.writeHead(500).end()],
    ['leads elsewhere', (_, res) => void res.writeHead(302, { Location: '/keys' }).end()],
    ['is no JSON', (_, res) => void res.end('<html>')],
    ['is no set of keys', (_, res) => void res.end('{"keys": {}}')],
    ['is too long', (_, res) => void res.end(JSON.stringify({ keys: [], more: 'x'.repeat(100_001) }))],
    ['breaks off', (_, res) => void (res.write('{'), setTimeout(() => res.destroy(), 5))],
  ])('serve for five minutes where its address %s', async (_, respond) => {
    const sent = await token()
    await authenticate(sent)
    issuer.respond = respond
    wait(20_001)
    await authenticate(sent)
    await authenticate(await token({ jti: 'new' }))
    expect(issuer.fetches).toBe(2) // and again after 5 s only
    wait(279_999)
    await authenticate(sent)
    wait(1)
    await expect(authenticate(sent)).rejects.toMatchObject({ code: 'issuer_unavailable' })
    issuer.respond = null
    wait(5_000)
    await authenticate(sent)
  })

  test('are waited for where they are old, and not where a fetch that began in time is slow', async () => {
    const sent = await token()
    await authenticate(sent)
    let answer = () => {}
    issuer.respond = (_, res) => void (answer = () => res.end('{"keys": []}'))
    wait(20_001)
    await authenticate(sent) // a second of patience, then the keys that are there
    wait(9_000)
    await authenticate(sent)
    answer()
    issuer.respond = (_, res) => void res.end('{"keys": []}')
    await new Promise(resolve => setTimeout(resolve, 100))
    await expect(authenticate(sent)).rejects.toMatchObject(refused('kid'))
    issuer.respond = (_, res) => void setTimeout(() => res.end(JSON.stringify({ keys: issuer.keys })), 1_500)
    wait(40_000) // too early to ask for the id of a key again
    await authenticate(sent)
  })

  test('cannot be had: the call may come again', async () => {
    issuer.respond = (_, res) => void res.writeHead(404).end()
    for (let n = 0; n < 10; n++)
      await expect(authenticate(await token())).rejects.toMatchObject({
        code: 'issuer_unavailable',
        headers: { 'Retry-After': '5' },
      })
    expect(issuer.fetches).toBe(1)
  })
})

describe('an issuer in the store', () => {
  const add = (more = {}) => addIssuer(store, issuerIn(settings(more)))
  beforeEach(() => void (authenticate = open([])))

  test('counts within 20 s of its addition, its change and its removal, and is read once meanwhile', async () => {
    const sent = await token()
    await expect(authenticate(sent)).rejects.toMatchObject(refused('iss'))
    await add()
    wait(20_001)
    reads = 0
    for (let n = 0; n < 20; n++) expect(await authenticate(sent)).toMatchObject({ endpoints: ['logs.all'] })
    expect(reads).toBe(1)
    await add({ endpoints: ['other'] })
    wait(20_001)
    expect(await authenticate(sent)).toMatchObject({ endpoints: ['other'] })
    await removeIssuer(store, 'console')
    wait(20_001)
    await expect(authenticate(sent)).rejects.toMatchObject(refused('iss'))
  })

  test('stays as it was for five minutes where the store does not answer', async () => {
    await add()
    const sent = await token()
    await authenticate(sent)
    down = true
    wait(299_000)
    await authenticate(sent)
    wait(2_000)
    await expect(authenticate(sent)).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  test('is no second one of the setting, and one iss has one name', async () => {
    await add({ endpoints: ['other'] })
    const jwtIssuers = [settings()]
    expect(await openIssuers(store, { jwtIssuers, rememberMs, clock }).all()).toHaveLength(1)
    expect(await open(jwtIssuers)(await token())).toMatchObject({ endpoints: ['logs.all'] })
    await expect(add({ name: 'again' })).rejects.toThrow('console has this issuer already')
    expect(await storedIssuers(store)).toHaveLength(1)
  })

  test('that was edited to something else is none', async () => {
    await store.create({ collection: 'issuers', id: 'x' }, { definition: '{"name":"x"}' })
    await store.create({ collection: 'issuers', id: 'y' }, { definition: 5 })
    await add()
    expect((await storedIssuers(store)).map(({ name }) => name)).toEqual(['console'])
  })
})

test('a token ends with its exp, also where it was remembered', async () => {
  const sent = await token({ exp: begin + 10 })
  await authenticate(sent)
  wait(14_000)
  await authenticate(sent) // 5 s are for clocks that differ
  wait(2_000)
  await expect(authenticate(sent)).rejects.toMatchObject(refused('exp'))
})

test.each(['$.constructor', '$.constructor.name', "$['__proto__'].constructor.name", '$.project.length'])(
  'what every object has is no claim: %s',
  async path => {
    const sent = open([settings({ pins: { project: path } })])(await token())
    await expect(sent).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('is missing'),
    })
  },
)

test('subjects of one issuer are as many callers; of a million, those that come again are counted and others forgotten', async () => {
  const [one, other] = [await token({ sub: 'a' }), await token({ sub: 'b' })]
  expect((await authenticate(one)).keyId).not.toBe((await authenticate(other)).keyId)
  const limits = openCallLimits(clock)
  const subject = (name: number | string) => ({
    keyId: `console.${name}`,
    limits: { callsPerMinute: 112, bytesPerDay: null },
  })
  for (let n = 0; n < 1_000_000; n++) {
    limits.count(subject(n))
    if (n % 9_000 === 0) limits.count(subject('again'))
  }
  expect(() => limits.count(subject('again'))).toThrow('112 times a minute')
  expect(limits.left(subject(1))).toMatchObject({ left: 112 })
})

describe('an issuer’s field', () => {
  test.each<[string, object]>([
    ['name', { name: 'Console' }],
    ['name', { name: 'warm' }],
    ['name', { name: 'a.b' }],
    ['issuer', { issuer: '' }],
    ['jwks', { jwks: 'http://example.com/keys' }],
    ['jwks', { jwks: 'file:///etc/passwd' }],
    ['jwks', { jwks: 'https://' }],
    ['audience', { audience: undefined }],
    ['audience', { audience: [] }],
    ['pins', { pins: undefined }],
    ['pins', { pins: { project: 'project' } }],
    ['pins', { pins: { project: '$' } }],
    ['pins', { pins: { project: '$..project' } }],
    ['pins', { pins: { project: '$.user_metadata.project' } }],
    ['pins', { pins: { project: "$['user_metadata'].project" } }],
    ['endpoints', { endpoints: 'logs.all' }],
    ['endpoints', { endpoints: [] }],
    ['scopes', { scopes: { 'a b': ['logs.all'] } }],
    ['scopes', { scopes: { a: 'logs.all' } }],
    ['rights', { rights: ['everything'] }],
    ['rights', { rights: ['pii:read'], redacted: true }],
    ['redacted', { redacted: 'yes' }],
    ['callsPerMinute', { callsPerMinute: 0 }],
    ['bytesPerDay', { bytesPerDay: 1.5 }],
    ['maxLifetimeSeconds', { maxLifetimeSeconds: 1e9 }],
    ['origins', { origins: ['https://a.example/b'] }],
    ['origins', { origins: '*' }],
    ['orgins', { orgins: [] }],
  ])('%s is named where it is %j', (field, more) => {
    expect(() => issuerIn(settings(more))).toThrow(new RegExp(`\\b${field}\\b`))
    expect(() => open([settings(more)])).toThrow(new RegExp(`^JWT_ISSUERS\\[0\\]: .*\\b${field}\\b`))
  })

  test('or the setting that has two of one name or of one issuer', () => {
    const other = { ...settings(), name: 'other' }
    for (const second of [settings(), other, { ...other, name: 'console', issuer: 'b' }])
      expect(() => open([settings(), second])).toThrow('JWT_ISSUERS[1]: its name or its issuer is there')
    expect((issuerIn(other) satisfies KnownIssuer).maxLifetimeSeconds).toBe(86_400)
  })
})

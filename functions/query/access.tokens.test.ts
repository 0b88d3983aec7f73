/** Tokens of identity providers as callers: what is taken, what is refused and in which words, and that each keeps to its pins. */
import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import pMap from 'p-map'
import { addIssuer, issuerIn, removeIssuer } from '../../shared/keys/issuers.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { startIssuer, type TestIssuer } from '../../shared/keys/testing/issuer.ts'
import { startService, type TestService } from '../testing/service.ts'

const query = '/api/endpoints/query'
const page = 'https://console.example.com'
const definitions = {
  mine: "SELECT @project AS project, '203.0.113.7' AS ip",
  other: 'SELECT @project AS project, 1 AS other',
  counted: 'SELECT @n AS n',
}
let folder: string
let issuer: TestIssuer
let scoped: TestIssuer
let service: TestService

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tokens-'))
  for (const [at, [name, sql]] of Object.entries(definitions).entries()) {
    writeFileSync(join(folder, `${name}.sql`), sql)
    const parameter = name === 'counted' ? 'n: {type: integer}' : 'project: {type: string, maxLength: 40}'
    writeFileSync(
      join(folder, `${name}.yaml`),
      `id: 00000000-0000-4000-8000-00000000000${at}\ndescription: d\ncache: {seconds: 60}\nparameters: {properties: {${parameter}}}\n`,
    )
  }
  ;[issuer, scoped] = await Promise.all([startIssuer('console'), startIssuer('agents', 'RS256')])
  const issuers = [
    {
      ...issuer.settings,
      audience: ['logs', 'more'],
      pins: { project: '$.app_metadata.project' },
      endpoints: ['mine'],
      redacted: true,
      callsPerMinute: 2_000,
      origins: [page],
    },
    {
      ...scoped.settings,
      pins: { n: "$['https://example.com/n']" },
      scopes: { 'logs:count': ['counted'] },
      maxLifetimeSeconds: 7_200,
    },
  ]
  service = await startService({
    tables: {},
    queries: folder,
    env: { JWT_ISSUERS: JSON.stringify(issuers), CORS_ORIGIN: 'https://other.example.com' },
  })
})

afterAll(async () => {
  await Promise.all([service.stop(), issuer.stop(), scoped.stop()])
  rmSync(folder, { recursive: true })
})

beforeEach(() => {
  service.logged.length = 0
})

interface Problem {
  code: string
  detail: string
  errors: { claim?: string }[]
}

const of = (project: unknown) => ({ app_metadata: { project } })
const ask = (token: string, path = `${query}/mine`, headers = {}) =>
  service.fetch(path, { key: null, headers: { Authorization: `Bearer ${token}`, ...headers } })
const refusalOf = async (token: string, path?: string) => {
  const response = await ask(token, path)
  const { code, errors } = (await response.json()) as Problem
  return [response.status, code, errors[0]?.claim]
}

describe('a token', () => {
  test('opens what its issuer says, for the project in its claim, redacted', async () => {
    const token = await issuer.token(of('abc'))
    const response = await ask(token)
    expect(await response.json()).toMatchObject({ result: [{ project: 'abc', ip: 'REDACTED' }] })
    expect((await ask(token, `${query}/mine?project=abc`)).status).toBe(200)
    const other = await ask(token, `${query}/mine?project=abd`)
    expect([other.status, ((await other.json()) as Problem).code]).toEqual([403, 'pinned_parameter'])
    expect((await ask(token, `${query}/other`)).status).toBe(404)
    const { result } = (await (await ask(token, '/api/endpoints')).json()) as { result: { name: string }[] }
    expect(result.map(({ name }) => name)).toEqual(['mine'])
  })

  test.each(['RS256', 'ES256', 'EdDSA'])('may be signed by %s', async alg => {
    const own = await startIssuer(`by-${alg.toLowerCase()}`, alg)
    const more = { ...own.settings, pins: {}, endpoints: ['mine'] }
    await addIssuer(service.services.store, issuerIn(more))
    const other = await startService({
      tables: {},
      queries: folder,
      env: { JWT_ISSUERS: JSON.stringify([more]) },
    })
    const headers = { Authorization: `Bearer ${await own.token()}` }
    expect((await other.fetch(`${query}/mine`, { key: null, headers })).status).toBe(200)
    await removeIssuer(service.services.store, more.name)
    await Promise.all([own.stop(), other.stop()])
  })

  test('is in the log by its issuer and a hash of its subject, which the token’s text does not tell', async () => {
    await ask(await issuer.token({ ...of('abc'), sub: 'jane@example.com' }))
    const { details } = service.logged.at(-1)!
    expect(details).toMatchObject({ key: 'console', subject: expect.stringMatching(/^[0-9a-f]{24}$/) })
    expect(JSON.stringify(service.logged)).not.toMatch(/jane|eyJ/)
  })

  test('has the limit of its subject, which another does not share', async () => {
    const headers = (response: Response) => response.headers.get('ratelimit')
    const first = await ask(await issuer.token({ ...of('abc'), sub: 'first' }))
    const again = await ask(await issuer.token({ ...of('abc'), sub: 'first', jti: '2' }))
    const other = await ask(await issuer.token({ ...of('abc'), sub: 'other' }))
    expect([first, again, other].map(headers)).toEqual([
      expect.stringContaining('r=1999'),
      expect.stringContaining('r=1998'),
      expect.stringContaining('r=1999'),
    ])
  })

  test('beside a key is left to the proxy that asked for it', async () => {
    const token = await issuer.token({ exp: 1 })
    expect((await ask(token, `${query}/other`, { 'X-API-KEY': service.key })).status).toBe(200)
  })
})

const now = Math.floor(Date.now() / 1000)

describe('a token is refused, and its problem names', () => {
  test.each<[claim: string, what: string, claims: object]>([
    ['aud', 'another audience', { aud: 'others' }],
    ['aud', 'no audience', { aud: undefined }],
    ['aud', 'audiences that are others', { aud: ['a', 'b'] }],
    ['iss', 'an unknown issuer', { iss: 'https://elsewhere.example.com' }],
    ['iss', 'the issuer with a slash more', { iss: 'SLASH' }],
    ['iss', 'no issuer', { iss: undefined }],
    ['iss', 'a list of issuers', { iss: ['LIST'] }],
    ['sub', 'no subject', { sub: undefined }],
    ['sub', 'an empty one', { sub: '' }],
    ['sub', 'a number for it', { sub: 5 }],
    ['sub', 'a long one', { sub: 'x'.repeat(256) }],
    ['exp', 'a time that is over', { iat: now - 60, exp: now - 10 }],
    ['exp', 'no end', { exp: undefined }],
    ['exp', 'an end in words', { exp: 'tomorrow' }],
    ['exp', 'a longer life than the largest', { exp: now + 7_000 }],
    ['exp', 'a life without end', { exp: 1e300 }],
    ['nbf', 'a beginning that is to come', { nbf: now + 60 }],
    ['iat', 'no time of issue', { iat: undefined }],
    ['iat', 'one that is to come', { iat: now + 600, exp: now + 900 }],
    ['iat', 'one that is too long ago', { iat: now - 3_700, exp: now + 600 }],
    ['app_metadata.project', 'no claim for the pin', {}],
    ['app_metadata.project', 'an empty one', of('')],
    ['app_metadata.project', 'null', of(null)],
    ['app_metadata.project', 'a list', of(['abc'])],
    ['app_metadata.project', 'a map', of({ $ne: '' })],
    ['app_metadata.project', 'half a number', of(1.5)],
    ['app_metadata.project', 'a number past 2^53', of(2 ** 53)],
    ['app_metadata.project', 'a long text', of('x'.repeat(1_001))],
    ['app_metadata.project', 'a list in place of a map', { app_metadata: [{ project: 'abc' }] }],
    ['app_metadata.project', 'a text in place of it', { app_metadata: 'project' }],
    ['scope', 'a list of scopes', { ...of('abc'), scope: ['a'] }],
  ])('%s for %s', async (claim, _, claims) => {
    const { iss } = claims as { iss?: unknown }
    const own = issuer.settings.issuer
    const said = iss === 'SLASH' ? `${own}/` : Array.isArray(iss) ? [own] : iss
    const given = {
      ...(claim.includes('.') ? {} : of('abc')),
      ...claims,
      ...('iss' in claims ? { iss: said } : {}),
    }
    expect(await refusalOf(await issuer.token(given))).toEqual([401, 'unauthenticated', claim])
    expect(service.logged.at(-1)!.details).toMatchObject({ error: 'unauthenticated', claim })
  })

  test.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', ''])('typ for %j', async typ => {
    expect(await refusalOf(await issuer.token(of('abc'), { typ }))).toEqual([401, 'unauthenticated', 'typ'])
    for (const good of ['jwt', 'at+jwt', 'application/at+jwt', undefined])
      expect((await ask(await issuer.token(of('abc'), { typ: good }))).status).toBe(200)
  })

  test('the parameter that a value does not fit', async () => {
    const n = (value: unknown) => scoped.token({ 'https://example.com/n': value, scope: 'logs:count' })
    expect(await (await ask(await n(7), `${query}/counted`)).json()).toMatchObject({ result: [{ n: 7 }] })
    for (const value of ['seven', true, '7; DROP'])
      expect(await refusalOf(await n(value), `${query}/counted`)).toEqual([
        403,
        'pinned_parameter',
        undefined,
      ])
    expect(await refusalOf(await issuer.token(of('x'.repeat(41))))).toEqual([
      403,
      'pinned_parameter',
      undefined,
    ])
  })

  test('the scope that it lacks, and no endpoint that none would open', async () => {
    const token = await scoped.token({ 'https://example.com/n': 7, scope: 'openid logs:counts' })
    const response = await ask(token, `${query}/counted`)
    expect([response.status, ((await response.json()) as Problem).code]).toEqual([403, 'insufficient_scope'])
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="log-query-endpoints", error="insufficient_scope", scope="logs:count"',
    )
    expect((await refusalOf(token, `${query}/mine`))[0]).toBe(404)
  })

  test('the algorithm, whatever key it is by', async () => {
    const publicKey = createPublicKey({ key: scoped.keys[0] as JsonWebKey, format: 'jwk' })
    const spki = publicKey.export({ type: 'spki', format: 'pem' }) as string
    const body = { iss: scoped.settings.issuer, aud: 'logs', sub: 'a', iat: now, exp: now + 60 }
    const parts = (header: object) =>
      [header, body].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const byHmac = (header: object, secret: string) =>
      `${parts(header)}.${createHmac('sha256', secret).update(parts(header)).digest('base64url')}`
    const jwk = JSON.stringify(scoped.keys[0])
    const tokens = [
      new UnsecuredJWT(body).encode(),
      `${parts({ alg: 'none', kid: 'one' })}.AAAA`,
      `${parts({ alg: 'None' })}.`,
      byHmac({ alg: 'HS256', kid: 'one' }, spki),
      byHmac({ alg: 'HS256' }, jwk),
      byHmac({ alg: 'RS256 ', kid: 'one' }, spki),
      await new SignJWT(body)
        .setProtectedHeader({ alg: 'ES384' })
        .sign((await generateKeyPair('ES384')).privateKey),
    ]
    for (const token of tokens) expect(await refusalOf(token)).toEqual([401, 'unauthenticated', 'alg'])
  })

  test('the key or the signature, where another’s key has signed, also one that the token brings', async () => {
    const own = await generateKeyPair('ES256', { extractable: true })
    const body = { iss: issuer.settings.issuer, aud: 'logs', sub: 'a', iat: now, exp: now + 60, ...of('abc') }
    const sign = (header: object) =>
      new SignJWT(body).setProtectedHeader({ alg: 'ES256', ...header }).sign(own.privateKey)
    expect(await refusalOf(await sign({ kid: 'one' }))).toEqual([401, 'unauthenticated', 'signature'])
    expect(await refusalOf(await sign({}))).toEqual([401, 'unauthenticated', 'signature'])
    expect(await refusalOf(await sign({ kid: 'two' }))).toEqual([401, 'unauthenticated', 'kid'])
    expect(await refusalOf(await sign({ kid: '__proto__' }))).toEqual([401, 'unauthenticated', 'kid'])
    const fetches = scoped.fetches
    const brought = { kid: 'one', jwk: scoped.keys[0]!, jku: scoped.settings.jwks, x5u: scoped.settings.jwks }
    expect(await refusalOf(await sign(brought))).toEqual([401, 'unauthenticated', 'signature'])
    expect(scoped.fetches).toBe(fetches)
    // Of one issuer, by another's key, and the other way round.
    const mixed = await scoped.token({ iss: issuer.settings.issuer, ...of('abc') })
    expect((await refusalOf(mixed))[0]).toBe(401)
  })

  test('what is no JWT, or has what it may not have', async () => {
    const good = await issuer.token(of('abc'))
    const [header, body] = good.split('.') as [string, string]
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const token of [
      `${header}.${body}.`,
      `a.b.c`,
      `${header}.${encoded([])}.AAAA`,
      `${encoded({ ...JSON.parse(Buffer.from(header, 'base64url').toString()), crit: ['b64'], b64: false })}.${body}.AAAA`,
    ])
      expect((await refusalOf(token)).slice(0, 2)).toEqual([401, 'unauthenticated'])
    const long = await issuer.token({ ...of('abc'), more: 'x'.repeat(8_000) })
    expect(await refusalOf(long)).toEqual([401, 'unauthenticated', 'token'])
  })

  test('nothing of what it holds, and nothing of the issuer’s settings', async () => {
    const secret = 'c0ffee-secret-value'
    for (const claims of [of([secret]), { ...of(secret), aud: secret }, { ...of(secret), exp: 5 }]) {
      const token = await issuer.token(claims)
      const response = await ask(token)
      const text = JSON.stringify([await response.text(), ...response.headers, service.logged])
      expect(response.status).toBe(401)
      for (const word of [secret, token, token.split('.')[1]!, '"logs"', issuer.settings.issuer])
        expect(text).not.toContain(word)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]+", error="invalid_token"/)
    }
  })
})

describe('web pages', () => {
  const options = (origin: string) =>
    service.fetch(`${query}/mine`, { key: null, method: 'OPTIONS', headers: { Origin: origin } })
  const allowed = (response: Response) => response.headers.get('access-control-allow-origin')

  test('of an issuer’s origins may send its tokens, read answers and refusals', async () => {
    expect(allowed(await options(page))).toBe(page)
    const good = await ask(await issuer.token(of('abc')), undefined, { Origin: page })
    const bad = await ask(await issuer.token(), undefined, { Origin: page })
    expect([good.status, allowed(good), bad.status, allowed(bad)]).toEqual([200, page, 401, page])
    expect(good.headers.get('vary')).toMatch(/Authorization.*Origin|Origin.*Authorization/)
  })

  test('of an issuer’s origins may call tools, others are no pages of this host', async () => {
    const token = await issuer.token(of('abc'))
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const list = async (origin: string) => {
      const headers = {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Origin: origin,
      }
      return (await service.fetch('/mcp', { key: null, method: 'POST', headers, body })).status
    }
    expect([await list(page), await list('https://elsewhere.example.com')]).toEqual([200, 403])
  })

  test('of others may not, not even of the one that CORS_ORIGIN names', async () => {
    expect(allowed(await options('https://elsewhere.example.com'))).not.toContain('elsewhere')
    for (const origin of ['https://elsewhere.example.com', 'https://other.example.com', 'null']) {
      const response = await ask(await issuer.token(of('abc')), undefined, { Origin: origin })
      expect([response.status, ((await response.json()) as Problem).code]).toEqual([403, 'forbidden_origin'])
    }
  })
})

const calls = rounds(300, 100_000)

test(`of ${calls} calls of two tenants through one issuer none sees the other`, async () => {
  const [tenants, users] = [['abc', 'abd'], 100]
  const tokenOf = (n: number) => issuer.token({ ...of(tenants[n % 2]), sub: `user-${n}` })
  const tokens = await Promise.all(Array.from({ length: 2 * users }, (_, n) => tokenOf(n)))
  const partOf = (n: number, part: number) => tokens[n % tokens.length]!.split('.')[part]
  const forged = (n: number) => [partOf(n, 0), partOf(n, 1), partOf(n + 1, 2)].join('.')
  const wrong: unknown[] = []
  const seen = { 200: 0, 401: 0, 403: 0 }
  await pMap(
    Array.from({ length: calls }, (_, n) => n),
    async n => {
      const user = (n * 7_919) % tokens.length
      const [mine, other] = user % 2 === 0 ? tenants : tenants.toReversed()
      const asked = [null, mine, other, null, mine][n % 5]
      const isForged = n % 11 === 0
      const path = asked ? `${query}/mine?project=${asked}` : `${query}/mine`
      const response = await ask(isForged ? forged(user) : tokens[user]!, path)
      const text = await response.text()
      const expected = isForged ? 401 : asked === other ? 403 : 200
      const isRight = expected === 200 ? text.includes(`"project":"${mine}"`) : true
      if (response.status !== expected || !isRight || text.includes(`"${other}"`)) wrong.push([n, path, text])
      seen[expected]++
    },
    { concurrency: 8 },
  )
  expect(wrong.slice(0, 5)).toEqual([])
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(calls / 20)
})

/** Three thousand tokens, each a good one with something changed: none is taken, and all refusals are in words. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pMap from 'p-map'
import { rounds } from '../testing/rounds.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import type { Store } from '../stores/store.ts'
import type { Authenticate } from './authenticate.ts'
import { openIssuers } from './issuers.ts'
import { isToken } from '../key-text.ts'
import { startIssuer, type TestIssuer } from './testing/issuer.ts'
import { openTokens } from './tokens.ts'

const seed = 20_261_123
const algorithms = ['ES256', 'RS256', 'EdDSA']
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
let issuers: TestIssuer[]
let store: Store
let authenticate: Authenticate
/** Two of each issuer, for two subjects. */
let tokens: string[]

beforeAll(async () => {
  store = openSqlite({ file: ':memory:' })
  issuers = await Promise.all(algorithms.map(alg => startIssuer(alg.toLowerCase(), alg)))
  const jwtIssuers = issuers.map(({ settings }) => ({
    ...settings,
    pins: { project: '$.project' },
    endpoints: ['logs.all'],
  }))
  authenticate = openTokens({
    issuers: openIssuers(store, { jwtIssuers, rememberMs: 3_600_000 }),
    localKey: null,
  })
  const of = (project: string) => issuers.map(issuer => issuer.token({ sub: project, project }))
  tokens = await Promise.all(['abc', 'abd'].flatMap(of))
  // They are good, and remembered: a mutant may be near enough to one to be taken for it.
  for (const token of tokens) await authenticate(token)
})

afterAll(async () => {
  await Promise.all([store.close(), ...issuers.map(issuer => issuer.stop())])
})

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object
const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const digit = fc.constantFrom(...digits.split(''))
const json = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
)

type Parts = [header: string, body: string, signature: string]
/** A place in a part: the last characters have bits that decoders leave out. */
const place = ({ length }: string, share: number) => Math.floor(share * length)

const mutations = fc.oneof(
  fc.record({ what: fc.constant('character'), part: fc.nat(2), share: at, digit }),
  fc.record({ what: fc.constant('end'), part: fc.nat(2), share: fc.constant(0.9999), digit }),
  fc.record({ what: fc.constant('insert'), part: fc.nat(2), share: at, digit }),
  fc.record({ what: fc.constant('cut'), part: fc.nat(2), share: at, digit }),
  fc.record({ what: fc.constant('other'), part: fc.nat(2), share: at, digit }),
  fc.record({
    what: fc.constant('claim'),
    part: fc.constant(1),
    name: fc.constantFrom('sub', 'project', 'exp', 'iat', 'aud', 'iss', 'nbf', 'scope', 'scp', '__proto__'),
    value: json,
  }),
  fc.record({
    what: fc.constant('header'),
    part: fc.constant(0),
    name: fc.constantFrom('alg', 'kid', 'crit', 'b64', 'jwk', 'x5c', 'jku', 'typ', 'zip'),
    value: fc.oneof(json, fc.constantFrom('none', 'HS256', 'RS256', 'ES256', 'EdDSA', 'PS256', ['b64'])),
  }),
)
type Mutation = { what: string; part: number; share?: number; digit?: string; name?: string; value?: unknown }

function mutated(token: string, other: string, { what, part, share = 0, digit = '', name, value }: Mutation) {
  const parts = token.split('.') as Parts
  const text = parts[part]!
  const spot = place(text, share)
  const to: Record<string, () => string> = {
    character: () => text.slice(0, spot) + digit + text.slice(spot + 1),
    end: () => text.slice(0, spot) + digit + text.slice(spot + 1),
    insert: () => text.slice(0, spot) + digit + text.slice(spot),
    cut: () => text.slice(0, spot) + text.slice(spot + 1),
    other: () => other.split('.')[part]!,
    claim: () => encoded({ ...decoded(text), [name!]: value }),
    header: () => encoded({ ...decoded(text), [name!]: value }),
  }
  parts[part] = to[what]!()
  return parts.join('.')
}

test(`of 3,000 mutated tokens none is taken (seed ${seed})`, async () => {
  const wrong: unknown[] = []
  const claims = new Map<string, number>()
  const cases = fc.sample(fc.tuple(fc.nat(5), fc.nat(5), mutations), {
    numRuns: rounds(3_150, 200_000),
    seed,
  })
  const sent = cases
    .map(([one, other, mutation]) => mutated(tokens[one]!, tokens[other]!, mutation))
    .filter(token => !tokens.includes(token))
  await pMap(
    sent,
    async token => {
      const outcome = await authenticate(token).catch((error: unknown) => error)
      const { code, problems } = outcome as { code?: string; problems?: { claim: string }[] }
      if (code !== 'unauthenticated') wrong.push([token, outcome])
      const claim = isToken(token) ? (problems?.[0]?.claim ?? 'none') : 'no token by its form'
      claims.set(claim, (claims.get(claim) ?? 0) + 1)
    },
    { concurrency: 8 },
  )
  expect(wrong.slice(0, 5)).toEqual([])
  expect(sent.length).toBeGreaterThanOrEqual(rounds(3_000, 190_000))
  // Each way in which a token may be wrong was tried.
  expect([...claims.keys()]).toEqual(expect.arrayContaining(['signature', 'token', 'iss', 'alg', 'kid']))
})

/**
 * Who sends a token (JWT, RFC 7519) of a known issuer: its claims become the caller's pins. By RFC 8725 the issuer is looked up
 * first, its keys alone are tried, and every algorithm but three is refused, whatever the token says.
 */
import { LRUCache } from 'lru-cache'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { localKeyId } from '../data-folder.ts'
import { ApiError } from '../errors.ts'
import type { Authenticate, Caller } from './authenticate.ts'
import { type Claims, pinsOf, refusal } from './claims.ts'
import type { Issuers, KnownIssuer } from './issuers.ts'
import { sha256 } from '../key-text.ts'
import { KeySet, type Keys, fetchKeys, readLocalKey } from './key-set.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA']
const requiredClaims = ['iss', 'sub', 'aud', 'iat', 'exp']

/** Of users and of access (RFC 9068), but not those of a logout or a DPoP proof, which their issuer may sign by the same key. */
const kinds = /^(application\/)?(at\+)?jwt$/i

/** Tokens remembered: a kilobyte each. */
const max = 10_000
const mostCharacters = 8_000
/** Clocks differ. */
const toleranceSeconds = 5

/** A verified token, with its issuer and keys. It is verified again when either changes. */
interface Verified {
  caller: Caller
  iss: string
  kid: unknown
  issuer: string
  keys: string
  expiresAt: number
}

interface Options {
  issuers: Issuers
  /** File of the key that `lqe token` signs with; `null` = it makes no tokens for this service. */
  localKey: string | null
  /** Milliseconds from any start but 0. */
  clock?: { now(): number }
  /** Milliseconds since 1970 UTC. */
  now?: () => number
}

/**
 * Who sends a token. A verified token is cached by its hash until it expires, or its issuer or the
 * issuer's keys change: all within 30 s.
 * @returns throws ApiError `unauthenticated` naming the claim that is wrong, `store_unavailable` or `issuer_unavailable`
 */
export function openTokens({
  issuers,
  localKey,
  clock = performance,
  now = Date.now,
}: Options): Authenticate {
  const verified = new LRUCache<string, Verified>({ maxSize: max, sizeCalculation: () => 1 })
  const keySets = new Map<string, KeySet>()
  const local = localKey === null ? null : new KeySet(() => readLocalKey(localKey), clock)
  const keySetOf = ({ jwks }: KnownIssuer, kid: unknown): KeySet => {
    if (local && kid === localKeyId) return local
    const known = keySets.get(jwks)
    if (known) return known
    const made = new KeySet(() => fetchKeys(jwks), clock)
    keySets.set(jwks, made)
    return made
  }
  return async (token = '') => {
    const id = sha256(token)
    const known = verified.get(id)
    const { iss, kid } = known ?? partsOf(token)
    const issuer = await issuers.of(iss)
    if (!issuer) throw refusal('iss', 'is no issuer whose tokens are taken here')
    const keySet = keySetOf(issuer, kid)
    const keys = await keySet.current()
    if (known?.issuer === issuer.text && known.keys === keys.text && now() < known.expiresAt)
      return known.caller
    const [claims, by] = await verify(token, issuer, { keySet, keys, now: now() })
    const caller = callerOf(claims, issuer)
    const { text } = issuer
    const expiresAt = (claims.exp! + toleranceSeconds) * 1_000
    verified.set(id, { caller, iss: claims.iss!, kid, issuer: text, keys: by.text, expiresAt })
    return caller
  }
}

/** What the token says of itself, before anything is known of it. */
function partsOf(token: string): { iss: unknown; kid: unknown } {
  if (token.length > mostCharacters) throw refusal('token', `is longer than ${mostCharacters} characters`)
  // The unused bits of a signature's last character could differ: one token would have several texts, and cache entries.
  const signature = token.slice(token.lastIndexOf('.') + 1)
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature)
    throw refusal('signature', 'is not written in Base64 for URLs')
  try {
    return { iss: decodeJwt(token).iss, kid: decodeProtectedHeader(token).kid }
  } catch (error) {
    throw refusal('token', 'is no JWT', error)
  }
}

async function verify(
  token: string,
  issuer: KnownIssuer,
  { keySet, keys, now }: { keySet: KeySet; keys: Keys; now: number },
): Promise<[claims: JWTPayload, by: Keys]> {
  try {
    return [await claimsOf(token, issuer, keys, now), keys]
  } catch (error) {
    const renewed = error instanceof errors.JWKSNoMatchingKey ? await keySet.renewed() : null
    if (!renewed) throw toRefusal(error)
    return [await claimsOf(token, issuer, renewed, now).catch(throwRefusal), renewed]
  }
}

/** @throws errors of jose, and ApiError for a lifetime that is too long */
async function claimsOf(
  token: string,
  { issuer, audience, maxLifetimeSeconds }: KnownIssuer,
  { find }: Keys,
  now: number,
): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(token, find, {
    algorithms,
    issuer,
    audience,
    requiredClaims,
    clockTolerance: toleranceSeconds,
    maxTokenAge: maxLifetimeSeconds,
    currentDate: new Date(now),
  })
  if (!kinds.test(protectedHeader.typ ?? 'JWT')) throw refusal('typ', 'is that of another kind of token')
  if (payload.exp! - payload.iat! > maxLifetimeSeconds)
    throw refusal('exp', `is more than ${maxLifetimeSeconds} seconds after iat`)
  return payload
}

/** In words, by jose's code of the error, and the claim that it names. */
const words: Record<string, readonly [claim: string, detail: string]> = {
  ERR_JOSE_ALG_NOT_ALLOWED: ['alg', `must be ${algorithms.join(', ')}`],
  ERR_JWKS_NO_MATCHING_KEY: ['kid', 'is none of the issuer’s keys'],
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: ['kid', 'is missing, and the issuer has several keys'],
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: ['signature', 'is not by the issuer’s key'],
}
const claimWords: Record<string, string> = {
  aud: 'does not name this service',
  exp: 'is in the past',
  nbf: 'is in the future',
  iat: 'is in the future, or longer ago than a token may live',
}

function toRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim, reason } = error
    const detail = reason === 'missing' ? 'is missing' : reason === 'check_failed' && claimWords[claim]
    return refusal(claim, detail || 'is not valid', error)
  }
  const [claim, detail] = words[(error as { code?: string }).code ?? ''] ?? ['token', 'is no valid JWT']
  return refusal(claim, detail, error)
}

function throwRefusal(error: unknown): never {
  throw toRefusal(error)
}

/** @throws ApiError as `openTokens` says */
function callerOf(claims: JWTPayload, issuer: KnownIssuer): Caller {
  const { sub } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > 255)
    throw refusal('sub', 'must be a text of at most 255 characters')
  const granted = scopesIn(claims)
  const opened = Object.entries(issuer.scopes).flatMap(([scope, names]) => (granted.has(scope) ? names : []))
  const { name, endpoints, rights, redacted, callsPerMinute, bytesPerDay, origins } = issuer
  const lacking = Object.fromEntries(Object.entries(issuer.scopes).filter(([scope]) => !granted.has(scope)))
  return {
    keyId: `${name}.${sha256(`${name}\n${sub}`).slice(0, 24)}`,
    name,
    endpoints: endpoints === '*' ? '*' : [...new Set([...endpoints, ...opened])],
    pins: pinsOf(claims, issuer.pins),
    rights,
    redacted,
    limits: callsPerMinute === null && bytesPerDay === null ? null : { callsPerMinute, bytesPerDay },
    ...(Object.keys(lacking).length > 0 ? { lacking } : {}),
    ...(origins ? { origins } : {}),
  }
}

/**
 * RFC 9068, 2.2.3: `scope` is one text, a space between two. Entra ID has such a text in `scp`
 * (https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference), Okta a list
 * (https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/).
 */
function scopesIn({ scope = '', scp = [] }: Claims): ReadonlySet<string> {
  if (typeof scope !== 'string') throw refusal('scope', 'must be a text')
  const listed: unknown = typeof scp === 'string' ? scp.split(' ') : scp
  if (!isTexts(listed)) throw refusal('scp', 'must be a text or a list of texts')
  return new Set([...scope.split(' '), ...listed])
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

/** What a token says, its claims, and how a refusal names them. A value of a token is in no message. */
import { ApiError } from '../errors.ts'
import { type Caller, realm } from './authenticate.ts'

export type Claims = Readonly<Record<string, unknown>>

const step = String.raw`\.([\w-]+)|\['([^'\p{Cc}]+)'\]`
const path = new RegExp(`^\\$(?:${step})+$`, 'u')

/** `$.app_metadata.project`, or `$['https://example.com/project']` for other names. */
export function isClaimPath(text: unknown): boolean {
  return (
    typeof text === 'string' && text.length <= 300 && path.test(text) && namesIn(text)[0] !== 'user_metadata'
  )
}

function namesIn(text: string): string[] {
  return [...text.matchAll(new RegExp(step, 'gu'))].map(([, plain, quoted]) => plain ?? quoted!)
}

/** Characters of a value; a parameter's own bounds come on top. */
const longest = 1_000

/**
 * The values of parameters that a token fixes.
 * @param paths of the claims, by parameter
 * @throws ApiError `unauthenticated` naming the claim that is missing, or no text, whole number or truth value
 */
export function pinsOf(claims: Claims, paths: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(paths).map(([parameter, at]) => {
      const names = namesIn(at)
      const value = names.reduce<unknown>(ownValue, claims)
      const claim = names.join('.')
      if (value === undefined || value === null || value === '') throw refusal(claim, 'is missing')
      if (!isScalar(value)) throw refusal(claim, 'must be a text, a whole number, true or false')
      const text = String(value)
      if (text.length > longest) throw refusal(claim, `is longer than ${longest} characters`)
      return [parameter, text]
    }),
  )
}

function ownValue(value: unknown, name: string): unknown {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMap && Object.hasOwn(value, name) ? (value as Claims)[name] : undefined
}

/** Integers up to 2^53 alone: of larger ones, two different claims could become the same number. */
function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

/** @returns `null` where no scope that the token lacks opens the endpoint, so that others are told of none */
export function insufficientScope(
  { lacking = {} }: Pick<Caller, 'lacking'>,
  endpoint: string,
): ApiError | null {
  const scopes = Object.entries(lacking).filter(([, opened]) => opened.includes(endpoint))
  return scopes.length > 0 ? scopeMissing(scopes.map(([scope]) => scope)) : null
}

/** RFC 6750, 3.1. @param scopes any of which would do */
export function scopeMissing(scopes: string[]): ApiError {
  const challenge = `${realm}, error="insufficient_scope", scope="${scopes.join(' ')}"`
  return new ApiError('insufficient_scope', `The token needs the scope ${scopes.join(' or ')}.`, {
    problems: [{ claim: 'scope', detail: `needs ${scopes.join(' or ')}` }],
    headers: { 'WWW-Authenticate': challenge },
  })
}

/** Without a token's value or an issuer's setting, as anyone may send one. @param claim or what else is wrong with the token */
export function refusal(claim: string, detail: string, cause?: unknown): ApiError {
  const description = `${claim} ${detail}`.replaceAll(notInChallenge, '')
  const headers = {
    'WWW-Authenticate': `${realm}, error="invalid_token", error_description="${description}"`,
  }
  const problems = [{ claim, detail }]
  return new ApiError('unauthenticated', `The token is refused: ${claim} ${detail}.`, {
    problems,
    headers,
    cause,
  })
}

/** RFC 6750, 3. */
const notInChallenge = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g

/** Who may have answers made anew: Cloud Scheduler, as one service account, with a token made out to this function. */
import type { Certificates, TokenPayload } from 'google-auth-library'
import type { Config } from '../../shared/config.ts'
import { ApiError } from '../../shared/errors.ts'

/** How the caller was made sure of, for the log. */
export type Assurance = 'signature' | 'cloud_run' | 'none'

/** Google's public keys by their id, as PEM. */
export type PublicKeys = () => Promise<Certificates>

export type CallerCheck = (authorization: string | undefined) => Promise<Assurance>

type Claims = Partial<TokenPayload>

const issuers = ['https://accounts.google.com', 'accounts.google.com']

/**
 * Cloud Run checks the token of a call to a function that is not public and then takes its signature away, putting
 * these words in its place. There the claims are all that is left to check; a token with a signature is checked in
 * full, wherever it comes in.
 */
const signatureRemoved = '.SIGNATURE_REMOVED_BY_GOOGLE'

/** Clocks differ; Google's own client allows as much. */
const toleranceSeconds = 300

/**
 * The returned check throws ApiError `unauthenticated`, with one message for all reasons, and `engine_unavailable`
 * where Google's keys cannot be had. Without settings it lets anybody in on a laptop, and nobody on Cloud Run.
 */
export function callerCheck(config: Config, publicKeys: PublicKeys = googleKeys()): CallerCheck {
  const { warmAudience: audience, warmServiceAccount: serviceAccount, service } = config
  return async authorization => {
    if (audience === null || serviceAccount === null) {
      if (service === null) return 'none'
      throw refused(new Error('WARM_AUDIENCE and WARM_SERVICE_ACCOUNT are not set'))
    }
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? '')?.[1]
    if (!token) throw refused()
    const checked = service !== null && token.endsWith(signatureRemoved)
    const claims = checked ? claimsIn(token) : await signedClaims(token, publicKeys)
    if (!fits(claims, { audience, serviceAccount, now: Date.now() / 1000 })) throw refused()
    return checked ? 'cloud_run' : 'signature'
  }
}

function fits(
  { iss = '', aud, email, email_verified, iat = Infinity, exp = 0 }: Claims,
  wanted: { audience: string; serviceAccount: string; now: number },
): boolean {
  return (
    issuers.includes(iss) &&
    aud === wanted.audience &&
    email === wanted.serviceAccount &&
    email_verified === true &&
    iat <= wanted.now + toleranceSeconds &&
    exp >= wanted.now - toleranceSeconds
  )
}

async function signedClaims(token: string, publicKeys: PublicKeys): Promise<Claims> {
  const { OAuth2Client } = await import('google-auth-library')
  const keys = await publicKeys().catch((cause: unknown) => {
    throw new ApiError('engine_unavailable', 'The caller cannot be checked at the moment.', { cause })
  })
  const ticket = await new OAuth2Client().verifySignedJwtWithCertsAsync(token, keys).catch(refuse)
  return ticket.getPayload() ?? {}
}

function claimsIn(token: string): Claims {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims
  } catch (error) {
    return refuse(error)
  }
}

/** Fetched when first needed, and kept for as long as Google says. */
function googleKeys(): PublicKeys {
  let client: Promise<{ getFederatedSignonCertsAsync(): Promise<{ certs: Certificates }> }> | undefined
  return async () => {
    client ??= import('google-auth-library').then(({ OAuth2Client }) => new OAuth2Client())
    const { certs } = await (await client).getFederatedSignonCertsAsync()
    return certs
  }
}

function refuse(cause: unknown): never {
  throw refused(cause)
}

function refused(cause?: unknown): ApiError {
  return new ApiError(
    'unauthenticated',
    'A token of the service account that calls this function is needed.',
    {
      headers: { 'WWW-Authenticate': 'Bearer' },
      cause,
    },
  )
}

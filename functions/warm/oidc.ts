/** Checks the OIDC token of a call: Cloud Scheduler sends one of its service account, with this function as audience. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Certificates, OAuth2Client, TokenPayload } from 'google-auth-library'
import type { Config } from '../../shared/config.ts'
import { ApiError } from '../../shared/errors.ts'

/** Google's public keys by their id, as PEM. */
export type PublicKeys = () => Promise<Certificates>

/** Who checked the signature, for the log. */
type Assurance = 'signature' | 'cloud_run' | 'none'

type Claims = Partial<TokenPayload>

const issuers = ['https://accounts.google.com', 'accounts.google.com']

/**
 * Cloud Run checks the token of a call to a function that is not public, and replaces its signature by these words:
 * https://cloud.google.com/run/docs/troubleshooting. There only the claims are left to check. A token with a signature
 * is checked in full everywhere. Where X-Serverless-Authorization is sent, too, Cloud Run checks that one alone, and hands on
 * an Authorization that anyone has written: https://cloud.google.com/run/docs/authenticating/service-to-service.
 */
const signatureRemoved = '.SIGNATURE_REMOVED_BY_GOOGLE'

/** Clocks differ; google-auth-library allows as much. */
const toleranceSeconds = 300

/**
 * Without settings, every call is allowed on a laptop and none on Cloud Run.
 * @returns checks the headers of a call; throws ApiError `unauthenticated`, with one message for all reasons, and
 *   `engine_unavailable` where Google's keys cannot be read
 */
export function oidcCheck(
  config: Config,
  publicKeys: PublicKeys = googleKeys(),
): (headers: IncomingHttpHeaders) => Promise<Assurance> {
  const { warmAudience: audience, warmServiceAccount: serviceAccount, service } = config
  return async ({ authorization, 'x-serverless-authorization': another }) => {
    if (audience === null || serviceAccount === null) {
      if (service === null) return 'none'
      throw refusal(new Error('WARM_AUDIENCE and WARM_SERVICE_ACCOUNT are not set'))
    }
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? '')?.[1]
    if (!token) throw refusal()
    const checked = service !== null && another === undefined && token.endsWith(signatureRemoved)
    const claims = checked ? claimsIn(token) : await signedClaims(token, publicKeys)
    if (!fits(claims, { audience, serviceAccount, now: Date.now() / 1000 })) throw refusal()
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
  const library = await import('google-auth-library')
  const keys = await publicKeys().catch((cause: unknown) => {
    throw new ApiError('engine_unavailable', 'The caller cannot be checked at the moment.', { cause })
  })
  const ticket = await new library.OAuth2Client().verifySignedJwtWithCertsAsync(token, keys).catch(refuse)
  return ticket.getPayload() ?? {}
}

function claimsIn(token: string): Claims {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims
  } catch (error) {
    return refuse(error)
  }
}

/** Fetched when first needed; the client keeps them for as long as Google's Cache-Control allows. */
function googleKeys(): PublicKeys {
  let client: OAuth2Client | undefined
  return async () => {
    const library = await import('google-auth-library')
    client ??= new library.OAuth2Client()
    return (await client.getFederatedSignonCertsAsync()).certs
  }
}

function refuse(cause: unknown): never {
  throw refusal(cause)
}

function refusal(cause?: unknown): ApiError {
  const headers = { 'WWW-Authenticate': 'Bearer' }
  const detail = 'A token of the service account that calls this function is needed.'
  return new ApiError('unauthenticated', detail, { headers, cause })
}

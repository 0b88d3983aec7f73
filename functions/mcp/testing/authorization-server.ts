/** An authorization server on this machine, whose one user signs in at once and agrees to what the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

interface AuthorizationServer {
  issuer: string
  /** What the user agrees to of what is asked for. */
  agrees: string[]
  stop(): Promise<void>
}

/** @param scopes that it knows @param claims of every access token */
export async function startAuthorizationServer(
  scopes: string[],
  claims: object,
): Promise<AuthorizationServer> {
  let handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>
  const server = createServer((req, res) => void handle(req, res))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }
  const ofResource = (_: unknown, audience: string) => ({
    scope: scopes.join(' '),
    audience,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: 'ES256' } },
  })
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    ttl: { Interaction: 600, Session: 600, Grant: 600 },
    cookies: { keys: ['secret'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    scopes: ['openid', 'offline_access', ...scopes],
    extraTokenClaims: () => claims,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: ofResource,
        useGrantedResource: () => true,
        defaultResource: () => undefined,
      },
    },
  })
  const answer = provider.callback()
  handle = (req, res) => (req.url?.startsWith('/interaction/') ? interact(req, res) : answer(req, res))

  async function interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { prompt, params } = await provider.interactionDetails(req, res)
    if (prompt.name === 'login')
      return provider.interactionFinished(req, res, { login: { accountId: 'someone' } })
    const grant = new provider.Grant({ accountId: 'someone', clientId: params.client_id })
    grant.addOIDCScope(`openid offline_access ${scopes.join(' ')}`)
    for (const scope of (params.scope ?? '').split(' ').filter(one => scopes.includes(one)))
      if (made.agrees.includes(scope)) grant.addResourceScope(params.resource!, scope)
      else grant.rejectResourceScope(params.resource!, scope)
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } })
  }

  const made: AuthorizationServer = {
    issuer,
    agrees: scopes,
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return made
}

/** A browser that goes where it is sent. @returns the first address that begins with `end` */
export async function browse(from: URL, end: string): Promise<URL> {
  const cookies = new Map<string, string>()
  for (let at = from, steps = 0; steps < 20; steps++) {
    if (at.href.startsWith(end)) return at
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(at, { redirect: 'manual', headers: { Cookie: cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      const equals = pair.indexOf('=')
      cookies.set(pair.slice(0, equals), pair.slice(equals + 1))
    }
    const next = response.headers.get('location')
    if (next === null) throw new Error(`${at.href} answered ${response.status}: ${await response.text()}`)
    at = new URL(next, at)
  }
  throw new Error('goes round in circles')
}

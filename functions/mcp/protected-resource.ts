/**
 * `/mcp` as a protected resource of OAuth 2 (RFC 9728): where a client without a key learns from whom it gets a token. Issuers
 * with scopes are its authorization servers; where there are none, there is nothing of it.
 */
import { ApiError } from '../../shared/errors.ts'
import type { KnownIssuer } from '../../shared/keys/issuers.ts'
import type { Call } from '../http/call.ts'
import { allowAnyOrigin } from '../http/cors.ts'
import { nothingHere } from '../http/problem.ts'

const wellKnown = '/.well-known/oauth-protected-resource'

/** `GET /.well-known/oauth-protected-resource` */
export async function describeResource(call: Call): Promise<void> {
  const [servers, base] = [await authorizationServers(call), baseOf(call, wellKnown)]
  if (servers.length === 0 || base === null) throw nothingHere()
  allowAnyOrigin(call)
  call.res.setHeader('Cache-Control', 'no-store')
  call.res.status(200).json({
    resource: `${base}/mcp`,
    resource_name: 'Log query endpoints',
    authorization_servers: servers.map(({ issuer }) => issuer),
    scopes_supported: [...new Set(servers.flatMap(({ scopes }) => Object.keys(scopes)))],
    bearer_methods_supported: ['header'],
  })
}

/** An error whose challenge says where that is (RFC 9728, 5.1); others as they are. */
export async function withResource(call: Call, error: unknown): Promise<unknown> {
  const challenge = error instanceof ApiError && error.headers['WWW-Authenticate']
  const base = challenge ? baseOf(call, '/mcp') : null
  if (!challenge || base === null) return error
  const servers = await authorizationServers(call).catch(() => [])
  if (servers.length === 0) return error
  const more = `${challenge}, resource_metadata="${base}${wellKnown}/mcp"`
  return error.with({ headers: { ...error.headers, 'WWW-Authenticate': more } })
}

async function authorizationServers({ services }: Call): Promise<KnownIssuer[]> {
  return (await services.issuers.all()).filter(({ scopes }) => Object.keys(scopes).length > 0)
}

/**
 * What stands before an address in the client's own words, which it compares with the document; `null` for a host that is none.
 * @param path of the address, before which a gateway's may stand
 */
function baseOf({ req, config, path }: Call, address: string): string | null {
  if (config.publicUrl !== null) return config.publicUrl
  const isSecure = config.service !== null || req.headers['x-forwarded-proto'] === 'https'
  const url = `${isSecure ? 'https' : 'http'}://${req.headers.host ?? ''}`
  return URL.canParse(url) ? new URL(url).origin + path.slice(0, path.indexOf(address)) : null
}

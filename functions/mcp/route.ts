/**
 * `POST /mcp`: the Model Context Protocol over HTTP, without sessions, in its revisions of 2026-07-28 and 2025
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). The same keys, limits, cache, redaction and log
 * line as for every other call.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Call } from '../http/call.ts'
import { allowAnyOrigin, isOfIssuer } from '../http/cors.ts'
import { hostnameOf, isLocal } from '../http/network.ts'
import { nothingHere } from '../http/problem.ts'
import type { AnswerMessage } from './server.ts'
import { authenticate } from '../query/access.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { scopeMissing } from '../../shared/keys/claims.ts'
import type { KnownIssuer } from '../../shared/keys/issuers.ts'
import { redactText } from '../../shared/redact/redact.ts'

/** The protocol's library is loaded by the first request that needs it. */
let loading: Promise<AnswerMessage> | null = null
const loadAnswerer = (): Promise<AnswerMessage> =>
  (loading ??= import('./server.ts').then(({ answerMessage }) => answerMessage))

/** Answers a call of the protocol. @param load gets what answers its methods */
export async function mcp(call: Call, load = loadAnswerer): Promise<void> {
  await assertOrigin(call)
  await answer(call, load).catch(async (error: unknown) => {
    throw await withResource(call, error)
  })
}

async function answer(call: Call, load: typeof loadAnswerer): Promise<void> {
  const { res } = call
  const caller = await authenticate(call)
  assertScope(caller)
  const { body: message } = call.req
  if (Array.isArray(message))
    return refuse(call, 'Send one message with each request: the protocol has no batches since 2025-06-18.')
  if (caller.redacted && hasPersonalId(message))
    return refuse(call, 'Send an id without personal data, such as a number: it comes back with the answer.')
  const answerMessage = await load()
  const { status, headers, body } = await answerMessage(call, caller)
  for (const [name, value] of headers) if (name !== 'connection') res.setHeader(name, value)
  res.setHeader('Cache-Control', 'no-store')
  res.status(status)
  if (!(body instanceof Readable)) return void res.end(body)
  await pipeline(body, res).catch(() => {}) // the client has gone
}

/** A batch would be many calls, and the request counts, and is logged, as one. */
function refuse({ res, notes }: Call, message: string): void {
  notes.error = 'invalid_request'
  res.status(400).json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
}

/** A token without any endpoint is refused with the scopes that would open some, so that its client can ask for them. */
function assertScope({ endpoints, lacking = {} }: Caller): void {
  if (endpoints.length === 0 && Object.keys(lacking).length > 0) throw scopeMissing(Object.keys(lacking))
}

function hasPersonalId(message: unknown): boolean {
  const { id } = (message ?? {}) as { id?: unknown }
  return typeof id === 'string' && redactText(id) !== id
}

/**
 * A page may call from the server's own host, from `CORS_ORIGIN`, or from an issuer's origins. `*` lets any page read answers, and lets none call here:
 * "Security Warning" of the specification.
 */
async function assertOrigin({ req, config, services }: Call): Promise<void> {
  const { origin, host } = req.headers
  if (origin === undefined || origin === config.corsOrigin) return
  const from = URL.canParse(origin) ? new URL(origin) : null
  // On a laptop any name may lead to this host (DNS rebinding), so that an equal host proves nothing.
  const isOwn =
    config.service === null ? isLocal(hostnameOf(host)) && isLocal(from?.hostname) : from?.host === host
  if (isOwn || (await isOfIssuer(services.issuers, origin))) return
  throw new ApiError(
    'forbidden_origin',
    'Pages of this origin may not call: CORS_ORIGIN names the one that may.',
  )
}

// ---- `/mcp` as a protected resource of OAuth 2 (RFC 9728): where a client without a key learns from whom it gets a token. Issuers
// with scopes are its authorization servers; where there are none, there is nothing of it.

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
async function withResource(call: Call, error: unknown): Promise<unknown> {
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
 * The origin and prefix by which the client called, which it compares with the document; `null` for an invalid host.
 * @param path of the address, before which a gateway's may stand
 */
function baseOf({ req, config, path }: Call, address: string): string | null {
  if (config.publicUrl !== null) return config.publicUrl
  const isSecure = config.service !== null || req.headers['x-forwarded-proto'] === 'https'
  const url = `${isSecure ? 'https' : 'http'}://${req.headers.host ?? ''}`
  return URL.canParse(url) ? new URL(url).origin + path.slice(0, path.indexOf(address)) : null
}

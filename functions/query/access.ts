/** The endpoints that a call's API key may reach. `shared/keys` verifies the key and has the rules. */
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import { canCall, type Caller, keyFromHeaders, mayCall } from '../../shared/keys/authenticate.ts'
import { insufficientScope } from '../../shared/keys/claims.ts'
import { limitHeaders } from '../../shared/keys/limits.ts'
import { nearestName } from '../../shared/sql/hints.ts'
import type { Call } from '../http/call.ts'
import { allowAnyOrigin } from '../http/cors.ts'
import { networkOf } from '../http/network.ts'
import { namesVersion, versionFor } from './headers.ts'

interface Access {
  caller: Caller
  endpoint: Endpoint
}

/**
 * The endpoint that the call names, in the version that it asks for. The key comes first, so that a call without one learns
 * nothing about endpoints. An unknown endpoint and one out of the key's scope get one answer, so that names cannot be
 * guessed.
 * @throws ApiError `unauthenticated`, `insufficient_scope`, `rate_limited`, `not_found`, `invalid_parameter`
 */
export async function accessEndpoint(call: Call): Promise<Access> {
  const key = keyFromHeaders(call.req.headers)
  const open = key === undefined && call.address.handler === 'answer' ? await accessPublic(call) : null
  if (open) return open
  const caller = await authenticate(call, key)
  const endpoint = await call.services.endpoints.find(call.name)
  const isOpen = endpoint && mayCall(caller, endpoint.name)
  if (!isOpen || (call.address.handler !== 'answer' && !canCall(caller, endpoint)))
    throw (endpoint && insufficientScope(caller, endpoint.name)) ?? (await notCallable(call, caller))
  call.notes.endpoint = endpoint.name
  return { caller, endpoint: await versionFor(call, endpoint) }
}

/** Who sends no key. */
const anyone: Caller = {
  keyId: 'public',
  name: 'public',
  endpoints: [],
  pins: {},
  rights: [],
  redacted: true,
  limits: null,
}

/**
 * A public endpoint, for a call without a key: its current version only, as earlier ones may show more. `null` where the call
 * names none.
 * @throws ApiError `rate_limited`
 */
async function accessPublic(call: Call): Promise<Access | null> {
  const { name, req, services, config, notes } = call
  const endpoint = await services.endpoints.findPublic(name)
  if (!endpoint || namesVersion(req.headers)) return null
  Object.assign(notes, { key: anyone.keyId, endpoint: endpoint.name, version: endpoint.version })
  allowAnyOrigin(call)
  const limits = { callsPerMinute: endpoint.publicCallsPerMinute!, bytesPerDay: null }
  const keyId = `${anyone.keyId} ${endpoint.id} ${networkOf(req, config.service !== null)}`
  services.callLimits.count({ keyId, limits }, 'This endpoint without an API key')
  return { caller: anyone, endpoint }
}

/** Answers the preflight request of a page of any origin for a public endpoint. */
export async function openToPages(call: Call): Promise<void> {
  if (call.config.corsOrigin !== '*' && (await call.services.endpoints.findPublic(call.name)))
    allowAnyOrigin(call)
}

/** The error suggests a similar name only among endpoints that the key may call: others must stay hidden. */
async function notCallable({ name, services }: Call, caller: Caller): Promise<ApiError> {
  const callable = (await services.endpoints.remembered()).filter(endpoint => canCall(caller, endpoint))
  const near = nearestName(
    name,
    callable.map(endpoint => endpoint.name),
  )
  const hint = near === null ? '.' : `; did you mean ${near}?`
  return new ApiError('not_found', `There is no such endpoint, or this API key may not call it${hint}`)
}

/**
 * All endpoints that the key may call, by name.
 * @throws ApiError `unauthenticated`, `rate_limited`
 */
export async function accessibleEndpoints(call: Call): Promise<{ caller: Caller; endpoints: Endpoint[] }> {
  const caller = await authenticate(call)
  const endpoints = (await call.services.endpoints.all()).filter(endpoint => canCall(caller, endpoint))
  return { caller, endpoints }
}

/** @throws ApiError `unauthenticated`, `forbidden_origin`, `rate_limited` */
export async function authenticate(call: Call, key = keyFromHeaders(call.req.headers)): Promise<Caller> {
  const { services, notes, req } = call
  const caller = await services.authenticate(key)
  const [name, subject] = caller.keyId.split('.')
  Object.assign(notes, { key: name }, subject === undefined ? {} : { subject })
  assertOrigin(caller, req.headers.origin)
  try {
    services.callLimits.count(caller)
  } finally {
    tellLimits(call, caller)
  }
  return caller
}

/** Only browsers send an `Origin` header, and a page cannot forge it; a program without one passes. */
function assertOrigin({ origins, name }: Caller, origin: string | undefined): void {
  if (!origins || origin === undefined || origins.includes(origin)) return
  throw new ApiError('forbidden_origin', `Pages of this origin may not send tokens of ${name}.`)
}

/** Sets the headers that say what is left of the key's limits, as far as this process knows. A later call overwrites them. */
export function tellLimits({ res, services }: Pick<Call, 'res' | 'services'>, caller: Caller): void {
  if (!caller.limits) return
  const calls = services.callLimits.left(caller)
  const bytes = services.byteLimits(caller)?.known() ?? null
  for (const [name, value] of Object.entries(limitHeaders(caller, { calls, bytes })))
    res.setHeader(name, value)
}

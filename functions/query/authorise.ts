import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import { type Caller, keyFromHeaders, mayCall } from '../../shared/keys/authenticate.ts'
import type { Call } from './handler.ts'

/**
 * Who calls, and the endpoint they name. The key comes first, so that without one nothing is told of endpoints; an
 * unknown endpoint and one out of the key's scope get one answer, so that names cannot be found out.
 * @throws ApiError `unauthenticated`, `not_found`
 */
export async function authorise({
  req,
  name,
  services,
  notes,
}: Call): Promise<{ caller: Caller; endpoint: Endpoint }> {
  const caller = await services.authenticate(keyFromHeaders(req.headers))
  notes['key'] = caller.keyId
  const endpoint = await services.endpoints.find(name)
  if (!endpoint || !mayCall(caller, endpoint.name))
    throw new ApiError('not_found', 'There is no such endpoint, or this API key may not call it.')
  notes['endpoint'] = endpoint.name
  return { caller, endpoint }
}

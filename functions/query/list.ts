import { typeOf } from '../../shared/endpoints/definition.ts'
import { keyFromHeaders, mayCall } from '../../shared/keys/authenticate.ts'
import type { Call } from './handler.ts'

/** `GET /api/endpoints`: what the caller's key may call, by name. */
export async function listEndpoints({ req, res, services, notes }: Call): Promise<void> {
  const caller = await services.authenticate(keyFromHeaders(req.headers))
  notes['key'] = caller.keyId
  const endpoints = (await services.endpoints.all()).filter(endpoint => mayCall(caller, endpoint.name))
  res.setHeader('Cache-Control', 'private, no-cache')
  res.status(200).json({
    result: endpoints.map(({ id, name, description, sandbox, redact, cacheSeconds, ...endpoint }) => ({
      id,
      name,
      description,
      url: `/api/endpoints/query/${name}`,
      parameters: Object.entries(endpoint.parameters).map(([parameter, definition]) => ({
        name: parameter,
        required: endpoint.required.includes(parameter),
        boundAs: typeOf(definition).kind,
        ...definition,
      })),
      maxRows: endpoint.maxRows,
      cacheSeconds,
      sandbox,
      redact,
      version: endpoint.version,
    })),
  })
}

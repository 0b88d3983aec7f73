import { typeOf } from '../../shared/endpoints/definition.ts'
import { limitOf } from '../../shared/endpoints/saved-query.ts'
import type { Call } from '../http/call.ts'
import { accessibleEndpoints } from './access.ts'

/** `GET /api/endpoints`: the endpoints that the caller's key may call, by name, and the key's rights. */
export async function listEndpoints(call: Call): Promise<void> {
  const { caller, endpoints } = await accessibleEndpoints(call)
  call.res.setHeader('Cache-Control', 'private, no-cache')
  call.res.status(200).json({
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
        ...(Object.hasOwn(caller.pins, parameter) ? { pinned: caller.pins[parameter] } : {}),
      })),
      maxRows: endpoint.maxRows,
      limit: limitOf(endpoint),
      maxResultBytes: endpoint.maxResultBytes,
      cacheSeconds,
      sandbox,
      redact,
      chart: endpoint.chart,
      version: endpoint.version,
    })),
    meta: { rights: caller.rights },
  })
}

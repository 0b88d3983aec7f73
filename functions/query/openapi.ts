import { EngineError } from '../../shared/engines/engine.ts'
import { keyFromHeaders, mayCall } from '../../shared/keys/authenticate.ts'
import { columnsOf } from './describe.ts'
import type { Call } from './handler.ts'
import { type Described, openApiDocument } from './openapi/document.ts'

/** `GET /openapi.json`: what the key may call; without a key, the general part. */
export async function describeApi({ req, res, services, notes }: Call): Promise<void> {
  const key = keyFromHeaders(req.headers)
  res.setHeader('Cache-Control', 'private, no-cache')
  res.setHeader('Vary', 'X-API-KEY, Authorization')
  if (key === undefined) return void res.status(200).json(openApiDocument([]))
  const caller = await services.authenticate(key)
  notes['key'] = caller.keyId
  const endpoints = (await services.endpoints.all()).filter(({ name }) => mayCall(caller, name))
  const described = endpoints.map(async (endpoint): Promise<Described> => {
    return {
      endpoint,
      columns: await columnsOf(services.engine, endpoint, endpoint.sql).catch(unknownColumns),
    }
  })
  res.status(200).json(openApiDocument(await Promise.all(described)))
}

/** One endpoint that the engine cannot describe at the moment keeps nobody from reading about the others. */
function unknownColumns(error: unknown): null {
  if (error instanceof EngineError) return null
  throw error
}

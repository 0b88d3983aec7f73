import { ApiError } from '../../shared/errors.ts'
import type { Call } from '../http/call.ts'
import { accessEndpoint } from './access.ts'
import { foundUpstream } from './answer.ts'
import { dryRunError } from './tables.ts'

/** `GET /api/endpoints/<name>/explain`: the SQL that answers its calls, for keys with the right `definitions:read`. */
export async function explainEndpoint(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  if (!caller.rights.includes('definitions:read'))
    throw new ApiError(
      'right_missing',
      'The SQL of endpoints is for API keys with the right definitions:read.',
    )
  // Only these calls need what makes batches and levels, which a cold start should not read.
  const { explain } = await import('../../shared/warm/explain.ts')
  const found = await foundUpstream(call.services, endpoint)
  const result = await explain(found, call.services.engine).catch((error: unknown) => {
    throw dryRunError(error, found)
  })
  call.res.setHeader('Cache-Control', 'no-store')
  call.res.status(200).json({ result })
}

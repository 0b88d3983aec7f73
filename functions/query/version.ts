import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Call } from '../http/call.ts'

/** Of requests; an answer has the first. Logflare's other headers begin as the second does. */
const names = ['svc-endpoint-version', 'lf-endpoint-version']

/**
 * The endpoint in the version that the call's header names, or the one in force.
 * @throws ApiError `invalid_parameter`, `not_found`
 */
export async function versionFor({ req, services, notes }: Call, endpoint: Endpoint): Promise<Endpoint> {
  const asked = versionAsked(req.headers)
  notes['version'] = asked ?? endpoint.version
  if (asked === null || asked === endpoint.version) return endpoint
  const past = await services.endpoints.version(endpoint, asked)
  if (!past) throw unknownVersion()
  return past
}

/** `null` for the one in force. */
function versionAsked(headers: IncomingHttpHeaders): string | null {
  let asked: string | null = null
  for (const name of names) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (!/^[0-9a-f]{16}$/.test(String(value)) || (asked !== null && asked !== value)) throw notOne(name)
    asked = String(value)
  }
  return asked
}

function notOne(header: string): ApiError {
  const detail = 'must be one version, 16 of 0-9 and a-f, as an answer has it in meta.version'
  return new ApiError('invalid_parameter', `${header} ${detail}`, { problems: [{ header, detail }] })
}

function unknownVersion(): ApiError {
  const detail = 'names no version of this endpoint that was applied'
  return new ApiError('not_found', `${names[0]} ${detail}`, { problems: [{ header: names[0]!, detail }] })
}

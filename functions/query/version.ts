/** The version of an endpoint that a request's header names. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Call } from '../http/call.ts'

/** Of requests; an answer has the first. Logflare's other headers begin as the second does. */
const names = ['svc-endpoint-version', 'lf-endpoint-version'] as const

/**
 * The endpoint in the version that the call's header names, or the one in force.
 * @throws ApiError `invalid_parameter`, `not_found`
 */
export async function versionFor({ req, services, notes }: Call, endpoint: Endpoint): Promise<Endpoint> {
  const asked = versionAsked(req.headers)
  const found =
    asked === null || asked === endpoint.version
      ? endpoint
      : await services.endpoints.version(endpoint, asked)
  if (!found)
    throw ApiError.of('not_found', {
      header: names[0],
      detail: 'names no version of this endpoint that was applied',
    })
  notes.version = found.version
  return found
}

/** Whether the call's headers name one, a wrong one too. */
export function namesVersion(headers: IncomingHttpHeaders): boolean {
  return names.some(name => Boolean(headers[name]))
}

/** `null` for the one in force. */
function versionAsked(headers: IncomingHttpHeaders): string | null {
  let asked: string | null = null
  for (const name of names) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (!/^[0-9a-f]{16}$/.test(String(value)))
      throw invalid(name, 'must be one version, 16 of 0-9 and a-f, as an answer has it in meta.version')
    if (asked !== null && asked !== value)
      throw invalid(name, `names another version than ${names[0]}: send one of the two`)
    asked = String(value)
  }
  return asked
}

function invalid(header: string, detail: string): ApiError {
  return ApiError.of('invalid_parameter', { header, detail })
}

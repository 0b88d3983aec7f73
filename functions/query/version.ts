import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../shared/errors.ts'

/** Of requests; an answer has the first. Logflare's other headers begin as the second does. */
const names = ['svc-endpoint-version', 'lf-endpoint-version']

/**
 * The version of the endpoint that this call wants; `null` for the one in force.
 * @throws ApiError `invalid_parameter`
 */
export function versionAsked(headers: IncomingHttpHeaders): string | null {
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

export function unknownVersion(): ApiError {
  const detail = 'names no version of this endpoint that was applied'
  return new ApiError('not_found', `${names[0]} ${detail}`, { problems: [{ header: names[0]!, detail }] })
}

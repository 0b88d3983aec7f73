import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { booleans } from '../../shared/endpoints/query-string.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'

/** Logflare's clients send the second. */
const names = ['svc-endpoint-redact-pii', 'lf-endpoint-redact-pii']

/**
 * Whether this call's answer is redacted: by the endpoint, the key or the call. Only the right `pii:read` lifts the endpoint's
 * redaction; nothing lifts the key's.
 * @throws ApiError `invalid_parameter`, `redaction_locked`
 */
export function redactionFor(endpoint: Endpoint, caller: Caller, headers: IncomingHttpHeaders): boolean {
  const asked = names.map(name => readHeader(name, headers[name])).filter(choice => choice !== null)
  const redacted = endpoint.redact || caller.redacted === true
  if (asked.includes(true)) return true
  if (asked.length === 0 || !redacted) return redacted
  if (caller.rights.includes('pii:read') && !caller.redacted) return false
  throw new ApiError(
    'redaction_locked',
    'Personal data is redacted here, and this API key may not lift that.',
    { problems: [{ header: names[0]!, detail: 'false needs the right pii:read' }] },
  )
}

function readHeader(name: string, value: string | string[] | undefined): boolean | null {
  if (value === undefined || value === '') return null
  const choice = booleans.get(String(value).trim().toLowerCase())
  if (choice === undefined)
    throw ApiError.of('invalid_parameter', { header: name, detail: 'must be true or false' })
  return choice
}

/** What the headers of a call choose: the version of the endpoint, redaction, labels. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '../http/call.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { booleans } from '../../shared/endpoints/query-string.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'

/** Either in a request; the first in an answer. Logflare's clients send the second. */
const versionHeaders = ['svc-endpoint-version', 'lf-endpoint-version'] as const

/**
 * The endpoint in the version that the call's header names, or the current one.
 * @throws ApiError `invalid_parameter`, `not_found`
 */
export async function versionFor({ req, services, notes }: Call, endpoint: Endpoint): Promise<Endpoint> {
  const asked = requestedVersion(req.headers)
  const found =
    asked === null || asked === endpoint.version
      ? endpoint
      : await services.endpoints.version(endpoint, asked)
  if (!found)
    throw ApiError.of('not_found', {
      header: versionHeaders[0],
      detail: 'names no version of this endpoint that was applied',
    })
  notes.version = found.version
  return found
}

/** Whether a header names a version, valid or not. */
export function namesVersion(headers: IncomingHttpHeaders): boolean {
  return versionHeaders.some(name => Boolean(headers[name]))
}

/** `null` = the current version. */
function requestedVersion(headers: IncomingHttpHeaders): string | null {
  let asked: string | null = null
  for (const name of versionHeaders) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (!/^[0-9a-f]{16}$/.test(String(value)))
      throw invalid(name, 'must be one version, 16 of 0-9 and a-f, as an answer has it in meta.version')
    if (asked !== null && asked !== value)
      throw invalid(name, `names another version than ${versionHeaders[0]}: send one of the two`)
    asked = String(value)
  }
  return asked
}

/** Logflare's clients send the second. */
const redactionHeaders = ['svc-endpoint-redact-pii', 'lf-endpoint-redact-pii']

/**
 * Whether this call's answer is redacted: by the endpoint, the key or the call. Only the right `pii:read` lifts the endpoint's
 * redaction; nothing lifts the key's.
 * @throws ApiError `invalid_parameter`, `redaction_locked`
 */
export function redactionFor(endpoint: Endpoint, caller: Caller, headers: IncomingHttpHeaders): boolean {
  const asked = redactionHeaders
    .map(name => readHeader(name, headers[name]))
    .filter(choice => choice !== null)
  const redacted = endpoint.redact || caller.redacted === true
  if (asked.includes(true)) return true
  if (asked.length === 0 || !redacted) return redacted
  if (caller.rights.includes('pii:read') && !caller.redacted) return false
  throw new ApiError(
    'redaction_locked',
    'Personal data is redacted here, and this API key may not lift that.',
    { problems: [{ header: redactionHeaders[0]!, detail: 'false needs the right pii:read' }] },
  )
}

function readHeader(name: string, value: string | string[] | undefined): boolean | null {
  if (value === undefined || value === '') return null
  const choice = booleans.get(String(value).trim().toLowerCase())
  if (choice === undefined) throw invalid(name, 'must be true or false')
  return choice
}

/** Logflare's clients send the second. */
const labelHeaders = ['svc-endpoint-labels', 'lf-endpoint-labels']

/**
 * The labels of a call that the endpoint takes: `team=search,page=errors`. Others are ignored, as by Logflare: labels
 * decide no answer. An endpoint that takes none reads no header.
 * @throws ApiError `invalid_parameter`
 */
export function labelsFor({ callerLabels }: Endpoint, sent: IncomingHttpHeaders): Record<string, string> {
  if (callerLabels.length === 0) return {}
  const labels = new Map<string, string>()
  for (const header of labelHeaders) {
    const text = String(sent[header] ?? '')
    for (const pair of text === '' ? [] : text.split(',')) {
      const [, name = '', value = ''] = /^\s*([^=\s]+)=([a-z0-9_-]{0,63})\s*$/.exec(pair) ?? []
      if (name === '') throw invalid(header, form)
      if (!callerLabels.includes(name)) continue
      if ((labels.get(name) ?? value) !== value)
        throw invalid(header, `gives the label ${name} a second value`)
      labels.set(name, value)
    }
  }
  return Object.fromEntries(labels)
}

const form =
  'must be name=value, with commas between several; a value has at most 63 small letters, digits, _ and -'

function invalid(header: string, detail: string): ApiError {
  return ApiError.of('invalid_parameter', { header, detail })
}

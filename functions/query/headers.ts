/** What the headers of a call choose: the version of the endpoint, redaction, labels. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '../http/call.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { booleans } from '../../shared/endpoints/query-string.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'

// Each choice may be made by two headers, of which Logflare's clients send the second.

/** The first is in answers, too. */
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
  return readHeaders(headers, versionHeaders).length > 0
}

/** `null` = the current version. */
function requestedVersion(headers: IncomingHttpHeaders): string | null {
  const sent = readHeaders(headers, versionHeaders)
  const asked = sent[0]?.[1] ?? null
  for (const [name, version] of sent) {
    if (!/^[0-9a-f]{16}$/.test(version))
      throw invalid(name, 'must be one version, 16 of 0-9 and a-f, as an answer has it in meta.version')
    if (version !== asked)
      throw invalid(name, `names another version than ${versionHeaders[0]}: send one of the two`)
  }
  return asked
}

const redactionHeaders = ['svc-endpoint-redact-pii', 'lf-endpoint-redact-pii'] as const

/**
 * Whether this call's answer is redacted: by the endpoint, the key or the call. Only the right `pii:read` lifts the endpoint's
 * redaction; nothing lifts the key's.
 * @throws ApiError `invalid_parameter`, `redaction_locked`
 */
export function redactionFor(endpoint: Endpoint, caller: Caller, headers: IncomingHttpHeaders): boolean {
  const asked = readHeaders(headers, redactionHeaders).map(header => choiceIn(...header))
  const redacted = endpoint.redact || caller.redacted === true
  if (asked.includes(true)) return true
  if (asked.length === 0 || !redacted) return redacted
  if (caller.rights.includes('pii:read') && !caller.redacted) return false
  throw new ApiError(
    'redaction_locked',
    'Personal data is redacted here, and this API key may not lift that.',
    { problems: [{ header: redactionHeaders[0], detail: 'false needs the right pii:read' }] },
  )
}

function choiceIn(header: string, text: string): boolean {
  const choice = booleans.get(text.trim().toLowerCase())
  if (choice === undefined) throw invalid(header, 'must be true or false')
  return choice
}

const labelHeaders = ['svc-endpoint-labels', 'lf-endpoint-labels'] as const

/**
 * The labels of a call that the endpoint takes: `team=search,page=errors`. Others are ignored, as by Logflare: labels
 * decide no answer. An endpoint that takes none reads no header.
 * @throws ApiError `invalid_parameter`
 */
export function labelsFor({ callerLabels }: Endpoint, sent: IncomingHttpHeaders): Record<string, string> {
  if (callerLabels.length === 0) return {}
  const labels = new Map<string, string>()
  for (const [header, text] of readHeaders(sent, labelHeaders))
    for (const pair of text.split(',')) {
      const [, name = '', value = ''] = /^\s*([^=\s]+)=([a-z0-9_-]{0,63})\s*$/.exec(pair) ?? []
      if (name === '') throw invalid(header, form)
      if (!callerLabels.includes(name)) continue
      if ((labels.get(name) ?? value) !== value)
        throw invalid(header, `gives the label ${name} a second value`)
      labels.set(name, value)
    }
  return Object.fromEntries(labels)
}

const form =
  'must be name=value, with commas between several; a value has at most 63 small letters, digits, _ and -'

/** Those of the headers that are sent, with their texts; an empty one counts as none. */
function readHeaders(headers: IncomingHttpHeaders, names: readonly string[]): [name: string, text: string][] {
  return names.flatMap(name => (headers[name] ? [[name, String(headers[name])]] : []))
}

function invalid(header: string, detail: string): ApiError {
  return ApiError.of('invalid_parameter', { header, detail })
}

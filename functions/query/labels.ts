import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'

/** Logflare's clients send the second. */
const headers = ['svc-endpoint-labels', 'lf-endpoint-labels']
const none: Record<string, string> = {}

/**
 * The labels of a call that the endpoint takes: `team=search,page=errors`. Others are ignored, as by Logflare: labels
 * decide no answer. An endpoint that takes none reads no header.
 * @throws ApiError `invalid_parameter`
 */
export function labelsFor({ callerLabels }: Endpoint, sent: IncomingHttpHeaders): Record<string, string> {
  if (callerLabels.length === 0) return none
  const labels = new Map<string, string>()
  for (const header of headers) {
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

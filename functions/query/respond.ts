/** Sending a finished answer, with the headers that say how it came about. */
import { encode, type Encoding } from '../../shared/answers/answer.ts'
import { memoryOfRows } from '../../shared/answers/in-flight.ts'
import type { AnswerResult } from '../../shared/run/query-request.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { queryText, splitQuery } from '../../shared/endpoints/query-string.ts'
import { type Parameters, someOf } from '../../shared/endpoints/parameters.ts'
import { sha256 } from '../../shared/key-text.ts'
import { describeError, type Details } from '../../shared/log.ts'
import { redactText } from '../../shared/redact/redact.ts'
import type { Timing } from '../../shared/timing.ts'
import type { Call } from '../http/call.ts'
import { sendRepresentation } from '../http/representation.ts'
import { type Format, inFormat } from './formats.ts'

interface AnswerToSend {
  endpoint: Endpoint
  result: AnswerResult
  format: Format
  timing: Timing
  parameters: Parameters
}

const vary = [
  'Accept, X-API-KEY, Authorization, SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII',
  'SVC-ENDPOINT-VERSION, LF-ENDPOINT-VERSION, Accept-Encoding',
].join(', ')

/** Sends the answer as the call wants it. @throws ApiError `overloaded` */
export async function respond(call: Call, response: AnswerToSend): Promise<void> {
  const { format, result } = response
  const { answer } = result
  const note = noteFor(response)
  Object.assign(call.notes, { cache: result.status, rows: answer.summary.rows, ...coveredFailure(result) })
  await sendRepresentation(call, {
    mediaType: `${format.mediaType}; charset=utf-8`,
    hash: (note ? sha256(answer.tag + note) : answer.tag).slice(0, 32),
    ...(format.write ? { format: format.name } : {}),
    encodings: ['gzip', 'br', 'identity'],
    bytes: encoding => bodyOf(call, response, encoding),
    vary,
    headers: headersOf(call, response),
  })
}

/** A stale copy hides a failure from callers; the log line has it. */
function coveredFailure({ failure }: AnswerResult): Details {
  if (!failure) return {}
  const { error, ...details } = describeError(failure)
  return { failure: error!, ...details }
}

/** Bodies of at least so many bytes of JSON count as memory in flight; smaller ones are never refused. */
const largeBytes = 250_000

/** @throws ApiError `overloaded` */
function bodyOf({ res, services }: Call, response: AnswerToSend, encoding: Encoding): Promise<Buffer> {
  const { format, result } = response
  const { answer } = result
  const { write } = format
  const note = noteFor(response)
  const make = async () => {
    if (write) return encode(await inFormat(answer, write), encoding)
    return note ? encode(withNote(await answer.bytes('identity'), note), encoding) : answer.bytes(encoding)
  }
  if (answer.rawBytes < largeBytes) return make()
  const isStored = !write && !note
  return services.inFlight.body(res, {
    key: `${answer.tag} ${format.name} ${note} ${encoding}`,
    cost: isStored && answer.has(encoding) ? 0 : memoryOfRows * answer.rawBytes,
    make,
    held: body => answer.heldBytes + (isStored ? 0 : body.length),
  })
}

/** Members of `meta` about this call, as JSON: parameters that were ignored. Empty where there are none. */
function noteFor({ format, parameters: { undeclared, misspelt } }: AnswerToSend): string {
  if (undeclared.length === 0 || format.write) return ''
  const meant = Object.keys(misspelt).length > 0 ? { didYouMean: misspelt } : {}
  return `,${JSON.stringify({ ignored: someOf(undeclared), ...meant }).slice(1, -1)}`
}

/** The stored body is a function of the rows alone, so a copy gets the note, at the end of its `meta`. */
function withNote(body: Buffer, note: string): Buffer {
  const ends = '}}'
  return Buffer.concat([body.subarray(0, -ends.length), Buffer.from(note + ends)])
}

function headersOf(
  { req, query, notes }: Call,
  { endpoint, result, timing, parameters }: AnswerToSend,
): Record<string, string> {
  const { answer, madeAt, ageMs } = result
  const left = Math.floor(endpoint.cacheSeconds - ageMs / 1000)
  const headers: Record<string, string> = {
    'Cache-Control': cacheControl(req, result, left),
    'Cache-Status': cacheStatus(result, left),
    'Server-Timing': timing.toString(),
    'SVC-ENDPOINT-VERSION': endpoint.version,
  }
  if (!Number.isNaN(madeAt)) headers['Last-Modified'] = new Date(madeAt).toUTCString()
  if (result.status !== 'uncached') headers['Age'] = String(Math.floor(ageMs / 1000))
  if (answer.summary.truncated) headers['X-Result-Truncated'] = 'true'
  const { page, redacted } = answer.summary
  const link = page?.next ? linkTo(query, endpoint, page.next, redacted) : null
  if (link !== null) headers['Link'] = `<${link}>; rel="next"`
  const { bytes } = notes
  if (bytes != null) headers['X-Bytes-Read'] = String(bytes)
  const { ignored, undeclared, resolved } = parameters
  const more = undeclared.length > ignored.length ? ['...'] : []
  const times = Object.entries(resolved).map(([name, time]) => `${name}=${time}`)
  if (undeclared.length > 0) headers['X-Ignored-Parameters'] = [...ignored, ...more].join(', ')
  if (times.length > 0) headers['X-Resolved-Times'] = times.join(', ')
  return headers
}

/** A call with a body is not cached by HTTP: caches compare addresses, and the body may hold other parameters. */
function cacheControl({ body }: Call['req'], { status }: AnswerResult, left: number): string {
  if (body !== undefined) return 'no-store'
  return status === 'uncached' ? 'private, no-cache' : `private, max-age=${Math.max(0, left)}`
}

/** RFC 9211. A stale copy is a hit with a negative time to live; after a failed run it is a failed forward. */
function cacheStatus({ status, stored, failure }: AnswerResult, left: number): string {
  if (status === 'hit') return `lqe; hit; ttl=${Math.max(0, left)}`
  if (status === 'collapsed') return 'lqe; fwd=miss; collapsed'
  if (status !== 'stale') return `lqe; fwd=${forwards[status]}${stored ? '; stored' : ''}`
  return failure
    ? `lqe; fwd=stale; fwd-status=${failure.status}; detail=${failure.code}`
    : `lqe; hit; ttl=${Math.min(-1, left)}; detail=refreshing`
}

const forwards = { miss: 'miss', revalidated: 'stale', uncached: 'bypass' }

/**
 * The call with another cursor, relative to its address (RFC 8288, RFC 3986). What it does not declare is left out, as it has no
 * bound: clients and proxies refuse long headers.
 * @returns `null` where redaction takes out a value of the call: with another one the link would lead elsewhere
 */
function linkTo(query: string, { parameters }: Endpoint, cursor: string, redacted: boolean): string | null {
  const declared = splitQuery(query).filter(
    ({ name }) => name === 'format' || Object.hasOwn(parameters, name),
  )
  const pairs = declared.map(({ name, value }) => [name, value])
  const sent = queryText(Object.fromEntries(pairs))
  if (redacted && redactText(sent) !== sent) return null
  return `?${[sent, queryText({ cursor })].filter(Boolean).join('&')}`
}

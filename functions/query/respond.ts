/** Sending a finished answer: representation, validators, and the headers that tell how it came about. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Answer, Encoding } from '../../shared/answers/answer.ts'
import type { AnswerResult } from '../../shared/answers/read-through.ts'
import type { Timing } from '../../shared/timing.ts'
import { type Format, inFormat } from './formats.ts'
import type { Call } from './handler.ts'

export interface Response {
  endpoint: Endpoint
  outcome: AnswerResult
  format: Format
  timing: Timing
  /** Parameters that were sent and are not declared. */
  ignored: string[]
}

/** Everything in a request that the answer depends on, beside its URL. */
const vary = [
  'Accept, Accept-Encoding, X-API-KEY, Authorization',
  'SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII',
].join(', ')

/** The body is a function of the rows, so its tag is the same after a refresh that changed nothing, and 304 goes on. */
export async function respond({ req, res, notes, config }: Call, response: Response): Promise<void> {
  const { outcome, format } = response
  const { answer } = outcome
  const encoding = encodingFor(req.headers['accept-encoding'])
  const etag = `"${answer.tag.slice(0, 32)}${suffix(format, encoding)}"`
  notes['cache'] = outcome.status
  notes['rows'] = answer.summary.rows
  const headers = {
    ...headersOf(response),
    ETag: etag,
    Vary: config.corsOrigin === '*' ? vary : `${vary}, Origin`,
  }
  if (req.method !== 'POST' && matches(req.headers['if-none-match'], answer.tag.slice(0, 32))) {
    res.writeHead(304, headers).end()
    return
  }
  const body = await bodyOf(answer, format, encoding)
  res.writeHead(200, {
    ...headers,
    'Content-Type': `${format.mediaType}; charset=utf-8`,
    'Content-Length': body.length,
    ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
  })
  res.end(body)
}

function headersOf({ endpoint, outcome, timing, ignored }: Response): Record<string, string> {
  const { answer, madeAt, ageMs } = outcome
  const left = Math.max(0, Math.floor(endpoint.cacheSeconds - ageMs / 1000))
  const headers: Record<string, string> = {
    'Cache-Control': outcome.status === 'uncached' ? 'private, no-cache' : `private, max-age=${left}`,
    'Cache-Status': cacheStatus(outcome, left),
    'Server-Timing': timing.toString(),
  }
  if (!Number.isNaN(madeAt)) headers['Last-Modified'] = new Date(madeAt).toUTCString()
  if (outcome.status !== 'uncached') headers['Age'] = String(Math.floor(ageMs / 1000))
  if (answer.summary.truncated) headers['X-Result-Truncated'] = 'true'
  if (ignored.length > 0) headers['X-Ignored-Parameters'] = ignored.join(', ')
  return headers
}

/** RFC 9211. A stale copy is a hit with a time to live below zero, or what came of a failed forward. */
function cacheStatus({ status, stored, failure, ageMs }: AnswerResult, left: number): string {
  const past = `ttl=-${Math.max(1, Math.floor(ageMs / 1000))}`
  const texts: Record<AnswerResult['status'], string> = {
    hit: `hit; ttl=${left}`,
    stale: failure
      ? `fwd=stale; fwd-status=${failure.status}; detail=${failure.code}`
      : `hit; ${past}; detail=refreshing`,
    miss: `fwd=miss${stored ? '; stored' : ''}`,
    revalidated: `fwd=stale${stored ? '; stored' : ''}`,
    collapsed: 'fwd=miss; collapsed',
    uncached: 'fwd=bypass',
  }
  return `lqe; ${texts[status]}`
}

/** By the caller's preference; where it has none, what is stored already. */
function encodingFor(accepted: string | undefined): Encoding {
  if (accepted === undefined || accepted === '') return 'identity'
  const weights = new Map(accepted.toLowerCase().split(',').map(weightOf))
  const weight = (encoding: string) => weights.get(encoding) ?? weights.get('*') ?? 0
  const best = (['gzip', 'br'] as const).toSorted((a, b) => weight(b) - weight(a))[0]!
  return weight(best) > 0 && weight(best) >= (weights.get('identity') ?? 0) ? best : 'identity'
}

function weightOf(part: string): [string, number] {
  const [name = '', ...parameters] = part.split(';').map(text => text.trim())
  const q = parameters.find(parameter => parameter.startsWith('q='))
  return [name, q ? Number(q.slice(2)) || 0 : 1]
}

function suffix(format: Format, encoding: Encoding): string {
  return `${format.name === 'json' ? '' : `-${format.name}`}${encoding === 'identity' ? '' : `-${encoding}`}`
}

/** Any of our representations of the same rows will do: RFC 9110 compares weakly for If-None-Match. */
function matches(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.includes(`"${tag}`))
}

async function bodyOf(answer: Answer, format: Format, encoding: Encoding): Promise<Buffer> {
  if (!format.write) return answer.bytes(encoding)
  const text = await inFormat(answer, format)
  return encoders[encoding](text)
}

const encoders: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  identity: async bytes => bytes,
  gzip: bytes => promisify(gzip)(bytes),
  br: bytes => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
}

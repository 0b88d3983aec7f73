import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../shared/errors.ts'
import { isDeepJson, tooDeep } from '../../shared/nesting.ts'

/** Room for 64 KB of SQL (`shared/sql`), however it is escaped in JSON. */
const maxBodyBytes = 256 * 1024

/**
 * Reads and parses a request's JSON body into `req.body`. A request without a body is left as it is, whatever its
 * Content-Type; one with a body of another type has its body ignored.
 * @throws ApiError `payload_too_large`, `invalid_request`
 */
export async function readBody(req: IncomingMessage & { body?: unknown }): Promise<void> {
  const length = Number(req.headers['content-length'] ?? 0)
  if (length === 0 && req.headers['transfer-encoding'] === undefined) return
  if (length > maxBodyBytes) throw tooLarge()
  const bytes = await collect(req).catch((cause: unknown) => cutShort(req, cause))
  req.body = undefined
  if (bytes.length === 0 || !isJson(req.headers['content-type'])) return
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ApiError('invalid_request', 'Send the body without Content-Encoding.')
  req.body = parse(bytes)
}

async function collect(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  // Destroyed, the request would take its connection with it, and the caller would see no answer.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The caller went away, or ended its half of the connection, in the middle of the body. */
function cutShort({ socket }: IncomingMessage, cause: unknown): never {
  if (cause instanceof ApiError) throw cause
  if (socket.destroyed) throw new ApiError('client_closed_request', 'The client has gone.', { cause })
  throw new ApiError('invalid_request', 'The body ends before its length.', { cause })
}

function isJson(contentType = ''): boolean {
  return /^application\/(json|[a-z0-9.+-]+\+json)\s*(;|$)/i.test(contentType)
}

/** The parser's own message quotes the body, so it is dropped. */
function parse(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!isDeepJson(text)) return JSON.parse(text)
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid JSON in UTF-8.')
  }
  throw new ApiError('invalid_request', `The body ${tooDeep}.`)
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', `The body may hold at most ${maxBodyBytes} bytes.`, {
    headers: { Connection: 'close' }, // the rest of it is not read
  })
}

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../shared/errors.ts'
import { redactSent } from '../../shared/redact/redact.ts'
import { visible } from '../../shared/visible-text.ts'
import { isDeepJson, tooDeep } from '../../shared/nesting.ts'

/** Room for 64 KB of SQL (`shared/sql`), however it is escaped in JSON. */
const maxBodyBytes = 256 * 1024

/**
 * Reads and parses a request's JSON body into `req.body`. A request without a body is left unchanged, whatever its
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
  if (otherCharset.test(req.headers['content-type']!))
    throw new ApiError('invalid_request', 'Send the body in UTF-8: its Content-Type names another charset.')
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ApiError('invalid_request', 'Send the body without Content-Encoding.')
  req.body = parse(bytes)
}

async function collect(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  // By default the iterator destroys the request, and with it the connection that the error is to be sent on.
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

const otherCharset = /;\s*charset\s*=(?!\s*"?(?:utf-?8|us-ascii)"?\s*(?:;|$))/i

function parse(bytes: Buffer): unknown {
  const text = isUtf8(bytes) ? bytes.toString().replace(/^\uFEFF/, '') : ''
  if (isDeepJson(text)) throw new ApiError('invalid_request', `The body ${tooDeep}.`)
  const body = parseJson(text)
  const twice = nameTwice(text)
  if (twice === undefined) return body
  const name = JSON.stringify(visible(redactSent(twice)))
  throw new ApiError('invalid_request', `The body has the name ${name} twice in one object: send it once.`)
}

/** The parser's own message quotes the body, so it is dropped. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid JSON in UTF-8.')
  }
}

/** The first name that an object has twice: `JSON.parse` takes the last value and other parsers the first. @param json valid */
function nameTwice(json: string): string | undefined {
  const objects: Set<string>[] = []
  for (const [token, string] of json.matchAll(/[{}]|("(?:[^"\\]|\\.)*")(?:\s*:)?/g))
    if (token === '{') objects.push(new Set())
    else if (token === '}') objects.pop()
    else if (token.endsWith(':')) {
      const name = JSON.parse(string!) as string
      if (objects.at(-1)!.has(name)) return name
      objects.at(-1)!.add(name)
    }
  return undefined
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', `The body may hold at most ${maxBodyBytes} bytes.`, {
    headers: { Connection: 'close' }, // the rest of it is not read
  })
}

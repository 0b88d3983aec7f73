/** Sending a body in the encoding that the caller prefers, with an ETag, or 304 where the caller has it. */
import type { Request } from '@google-cloud/functions-framework'
import type { Encoding } from '../../shared/answers/answer.ts'
import type { Exchange } from './call.ts'

interface Representation<E extends Encoding> {
  /** With its charset. */
  mediaType: string
  /** Hash of the content, the same in every format and encoding. */
  hash: string
  /** Sets the tag of a format apart from those of other formats of the same content. */
  format?: string
  /** `identity` among them. */
  encodings: E[]
  bytes(encoding: E): Promise<Buffer>
  /** Headers of the request that decide the representation. */
  vary: string
  headers: Record<string, string>
}

/** The tag comes from the content, so it stays the same after a refresh that changed nothing. */
export async function sendRepresentation<E extends Encoding>(
  { req, res }: Exchange,
  { mediaType, hash, format, encodings, bytes, vary, headers }: Representation<E>,
): Promise<void> {
  const encoding = preferredEncoding(req, encodings)
  const marks = [format, encoding === 'identity' ? undefined : encoding]
  const common = {
    ...headers,
    Vary: [res.getHeader('Vary') ?? [], vary].flat().join(', '),
    ETag: tagOf(hash, ...marks),
  }
  if (req.method !== 'POST' && matches(req.headers['if-none-match'], () => tagsOf(hash, format, encodings))) {
    res.writeHead(304, common).end()
    return
  }
  const body = await bytes(encoding)
  res.writeHead(200, {
    ...common,
    'Content-Type': mediaType,
    'Content-Length': body.length,
    ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
  })
  res.end(body)
}

/**
 * Of equal weights gzip goes first, as the cache stores it; Express takes the one that the header names first. A header
 * without weights needs no parser, which is a tenth of a hot answer's own CPU.
 */
function preferredEncoding<E extends Encoding>(req: Request, encodings: E[]): E {
  const header = req.headers['accept-encoding'] ?? ''
  if (header === '') return 'identity' as E
  if (!header.includes(';') && /\bgzip\b/i.test(header)) return 'gzip' as E
  const isGzip = (member: string) => Number(member.includes('gzip'))
  const members = req.headers['accept-encoding']?.split(',')
  if (members) req.headers['accept-encoding'] = members.toSorted((a, b) => isGzip(b) - isGzip(a)).join(',')
  return (req.acceptsEncodings(encodings) || 'identity') as E
}

function tagOf(...parts: (string | undefined)[]): string {
  return `"${parts.filter(part => part !== undefined).join('-')}"`
}

/** In every encoding: they are decoded to the same bytes, and RFC 9110, section 13.1.2, compares weakly. */
function tagsOf(hash: string, format: string | undefined, encodings: Encoding[]): string[] {
  return encodings.map(encoding => tagOf(hash, format, encoding === 'identity' ? undefined : encoding))
}

function matches(header: string | undefined, tags: () => string[]): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || tags().some(tag => header.includes(tag))
}

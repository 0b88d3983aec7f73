/** The explorer: a page at `/` and its files, read from a folder when first asked for, and kept. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ApiError } from '../../shared/errors.ts'
import type { Call } from './handler.ts'

interface Kept {
  plain: Buffer
  gzipped: Buffer
  etag: string
}

const mediaTypes: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Nothing from another host, nothing inline, no frame around it, and no text of a row can become code. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** `GET /`: asked for anew each time, so that a new release shows at once. */
export async function explorerPage(call: Call): Promise<void> {
  await send(call, 'index.html', {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': contentSecurityPolicy,
    'Referrer-Policy': 'no-referrer',
  })
}

/** `GET /explorer/<name>-<hash>.js`: another content has another name, so a copy is good for ever. */
export async function explorerFile(call: Call): Promise<void> {
  if (!/^\w+-\w{8}\.(js|css)$/.test(call.name)) throw notFound()
  await send(call, call.name, { 'Cache-Control': 'public, max-age=31536000, immutable' })
}

async function send({ req, res, config }: Call, file: string, own: Record<string, string>): Promise<void> {
  if (config.explorerDir === null) throw notFound()
  const { plain, gzipped, etag } = await read(join(config.explorerDir, file))
  const headers = { ...own, ETag: etag, Vary: 'Accept-Encoding', 'X-Content-Type-Options': 'nosniff' }
  if (req.get('if-none-match')?.includes(etag)) {
    res.writeHead(304, headers).end()
    return
  }
  const zipped = req.acceptsEncodings('gzip') === 'gzip'
  const body = zipped ? gzipped : plain
  res.writeHead(200, {
    ...headers,
    'Content-Type': mediaTypes[file.slice(file.lastIndexOf('.') + 1)],
    'Content-Length': body.length,
    ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
  })
  res.end(body)
}

const kept = new Map<string, Kept>()

async function read(path: string): Promise<Kept> {
  const known = kept.get(path)
  if (known) return known
  const plain = await readFile(path).catch(() => {
    throw notFound()
  })
  const gzipped = await promisify(gzip)(plain, { level: 9 })
  // Weak, as one tag stands for both encodings.
  const etag = `W/"${createHash('sha256').update(plain).digest('hex').slice(0, 32)}"`
  const made = { plain, gzipped, etag }
  kept.set(path, made)
  return made
}

function notFound(): ApiError {
  return new ApiError(
    'not_found',
    'There is nothing at this address. Endpoints are at /api/endpoints/query/<name>.',
  )
}

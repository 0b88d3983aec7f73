/** The explorer's files: a page at `/`, and the scripts and styles that it names. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { encode } from '../../shared/answers/answer.ts'
import type { Config } from '../../shared/config.ts'
import type { Call } from '../http/call.ts'
import { nothingHere } from '../http/problem.ts'
import { sendRepresentation } from '../http/representation.ts'

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/**
 * Nothing from another host, nothing inline but the page's own script by its hash, no frame around the page, and no text
 * of a row can become code.
 */
function contentSecurityPolicy(page: string): string {
  const inline = [...page.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script!)
  const hashes = inline.map(script => `'sha256-${hash('sha256', script, 'base64')}'`)
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

/** Revalidated at each visit, so that a new release shows at once. */
function pageHeaders(page: Buffer): Record<string, string> {
  return {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': contentSecurityPolicy(page.toString()),
    'Referrer-Policy': 'no-referrer',
  }
}

/** Files are named by their content (`page-1A2B3C4D.js`), so a copy never goes out of date. */
const assetHeaders = () => ({ 'Cache-Control': 'public, max-age=31536000, immutable' })

interface Asset {
  hash: string
  bytes: Record<'gzip' | 'identity', Buffer>
}

/** Names as the build makes them: nothing else in the folder is served. */
const fileName = /^\w[\w-]*-\w{8}\.(?:js|css)$/

/** Handlers of `GET /` and `GET /explorer/<file>`; none where the page is turned off. Files are read once. */
export function explorerHandlers({ explorerDir }: Config) {
  if (explorerDir === null) return {}
  const files = new LRUCache<string, Asset>({
    max: 50,
    fetchMethod: name => readBuilt(join(explorerDir, name)),
  })
  const send = async (call: Call, name: string, headersOf: (content: Buffer) => Record<string, string>) => {
    const file = await files.forceFetch(name)
    await sendRepresentation(call, {
      mediaType: mediaTypes[extname(name)]!,
      hash: file.hash,
      encodings: ['gzip', 'identity'],
      bytes: async encoding => file.bytes[encoding],
      vary: 'Accept-Encoding',
      headers: headersOf(file.bytes.identity),
    })
  }
  return {
    page: (call: Call) => send(call, 'index.html', pageHeaders),
    file: async (call: Call) => {
      if (!fileName.test(call.name)) throw nothingHere()
      await send(call, call.name, assetHeaders)
    },
  }
}

/** @throws ApiError `not_found` */
async function readBuilt(path: string): Promise<Asset> {
  const identity = await readFile(path).catch(() => {
    throw nothingHere()
  })
  return {
    hash: hash('sha256', identity).slice(0, 32),
    bytes: { identity, gzip: await encode(identity, 'gzip') },
  }
}

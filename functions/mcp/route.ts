/**
 * `POST /mcp`: the Model Context Protocol over HTTP, without sessions, in its revisions of 2026-07-28 and 2025
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). The same keys, limits, cache, redaction and log
 * line as for every other call.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '../../shared/errors.ts'
import type { Call } from '../http/call.ts'
import { authenticate } from '../query/access.ts'
import type { AnswerMessage } from './server.ts'

/** The protocol's library is loaded by the first request that needs it. */
let loading: Promise<AnswerMessage> | null = null
const loadAnswerer = (): Promise<AnswerMessage> =>
  (loading ??= import('./server.ts').then(({ answerMessage }) => answerMessage))

/** Answers a call of the protocol. @param load gets what answers its methods */
export async function mcp(call: Call, load = loadAnswerer): Promise<void> {
  const { res } = call
  assertOrigin(call)
  const caller = await authenticate(call)
  if (Array.isArray(call.req.body)) return refuseBatch(call)
  const answerMessage = await load()
  const { status, headers, body } = await answerMessage(call, caller)
  for (const [name, value] of headers) if (name !== 'connection') res.setHeader(name, value)
  res.setHeader('Cache-Control', 'no-store')
  res.status(status)
  if (!(body instanceof Readable)) return void res.end(body)
  await pipeline(body, res).catch(() => {}) // the client has gone
}

/** As 2025-06-18 has it: a batch would be many calls, and the request counts, and is logged, as one. */
function refuseBatch({ res, notes }: Call): void {
  notes.error = 'invalid_request'
  const message = 'Send one message with each request: the protocol has no batches since 2025-06-18.'
  res.status(400).json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
}

/**
 * A page may call from the server's own host or from `CORS_ORIGIN`. `*` lets any page read answers, and lets none call here:
 * "Security Warning" of the specification.
 */
function assertOrigin({ req, config }: Call): void {
  const { origin, host } = req.headers
  if (origin === undefined || origin === config.corsOrigin) return
  const from = URL.canParse(origin) ? new URL(origin) : null
  // On a laptop any name may lead to this host (DNS rebinding), so that an equal host proves nothing.
  const isOwn =
    config.service === null ? isLocal(hostnameOf(host)) && isLocal(from?.hostname) : from?.host === host
  if (isOwn) return
  throw new ApiError(
    'forbidden_origin',
    'Pages of this origin may not call: CORS_ORIGIN names the one that may.',
  )
}

function hostnameOf(host = ''): string {
  return host.replace(/:\d+$/, '')
}

function isLocal(hostname = ''): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

import type { Config } from '../../shared/config.ts'
import type { Call } from '../query/handler.ts'

const readable = [
  'X-Request-Id, X-Ignored-Parameters, X-Result-Truncated, Age, Cache-Status, ETag, Last-Modified, Server-Timing',
  'Retry-After, WWW-Authenticate',
].join(', ')

const sendable = [
  'X-API-KEY, Authorization, Content-Type, Accept, If-None-Match, Cache-Control',
  'SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII, traceparent',
].join(', ')

/** On every answer, so that a page at the allowed origin may read it and its headers. Keys travel in a header, never in cookies. */
export function corsHeaders(config: Config): [name: string, value: string][] {
  const headers: [string, string][] = [
    ['Access-Control-Allow-Origin', config.corsOrigin],
    ['Access-Control-Expose-Headers', readable],
  ]
  return config.corsOrigin === '*' ? headers : [...headers, ['Vary', 'Origin']]
}

/** Answers a browser's question before the real request. */
export function preflight({ res }: Call): void {
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS')
  res.setHeader('Access-Control-Allow-Headers', sendable)
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

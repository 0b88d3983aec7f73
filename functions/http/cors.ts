import type { Config } from '../../shared/config.ts'
import type { Exchange } from './call.ts'

const readable = [
  'X-Request-Id, X-Ignored-Parameters, X-Resolved-Times, X-Result-Truncated, Link, Age, Cache-Status, ETag',
  'Last-Modified, Server-Timing, X-Bytes-Read, SVC-ENDPOINT-VERSION, Retry-After, WWW-Authenticate',
  'RateLimit, RateLimit-Policy',
].join(', ')

const sendable = [
  'X-API-KEY, Authorization, Content-Type, Accept, If-None-Match, Cache-Control',
  'SVC-ENDPOINT-REDACT-PII, LF-ENDPOINT-REDACT-PII, SVC-ENDPOINT-VERSION, LF-ENDPOINT-VERSION, traceparent',
  'SVC-ENDPOINT-LABELS, LF-ENDPOINT-LABELS, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
].join(', ')

/** Lets a page at the allowed origin read every answer and its headers. Keys travel in a header, never in cookies. */
export function allowOrigin({ res }: Exchange, { corsOrigin }: Config): void {
  res.setHeader('Access-Control-Allow-Origin', corsOrigin)
  res.setHeader('Access-Control-Expose-Headers', readable)
  if (corsOrigin !== '*') res.vary('Origin')
}

/** Answers OPTIONS, which a browser sends before a request with headers of its own. */
export function preflight({ res }: Exchange): void {
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS')
  res.setHeader('Access-Control-Allow-Headers', sendable)
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

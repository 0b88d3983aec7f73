import type { Config } from '../../shared/config.ts'
import type { Exchange } from './call.ts'

/** Every header but this one (Fetch, "CORS protocol"): a page's own tools add what no list here would foresee. */
const sendable = 'Authorization, *'

/** Lets a page at the allowed origin read every answer and its headers. Keys travel in a header, never in cookies. */
export function allowOrigin({ res }: Exchange, { corsOrigin }: Config): void {
  res.common['Access-Control-Allow-Origin'] = corsOrigin
  res.common['Access-Control-Expose-Headers'] = '*'
  if (corsOrigin !== '*') res.vary('Origin')
}

/** Lets a page at any origin read the answer. */
export function allowAnyOrigin({ res }: Exchange): void {
  res.common['Access-Control-Allow-Origin'] = '*'
}

/** Answers OPTIONS, which a browser sends before a request with headers of its own. */
export function preflight({ res }: Exchange): void {
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS')
  res.setHeader('Access-Control-Allow-Headers', sendable)
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

import type { Config } from '../../shared/config.ts'
import type { Issuers } from '../../shared/keys/issuers.ts'
import type { Exchange } from './call.ts'

/** `*` is every header but Authorization (Fetch, "CORS protocol"). No list: tools of a page add headers of their own. */
const sendable = 'Authorization, *'

/** Lets a page at the allowed origin read every answer and its headers. Keys travel in a header, never in cookies. */
export function allowOrigin({ res }: Exchange, { corsOrigin }: Config): void {
  res.common['Access-Control-Allow-Origin'] = corsOrigin
  res.common['Access-Control-Expose-Headers'] = '*'
  if (corsOrigin !== '*') res.vary('Origin')
}

/** Lets a page of an issuer's origins read the answer; its token decides what it may ask. */
export async function allowIssuersOrigins(
  { req, res }: Exchange,
  { corsOrigin }: Config,
  issuers: Issuers,
): Promise<void> {
  const { origin } = req.headers
  if (corsOrigin === '*' || origin === undefined || origin === corsOrigin) return
  if (await isOfIssuer(issuers, origin)) res.common['Access-Control-Allow-Origin'] = origin
}

/** Whether it is an origin of an issuer; `false` while the store does not answer. */
export async function isOfIssuer(issuers: Issuers, origin: string): Promise<boolean> {
  const all = await issuers.all().catch(() => [])
  return all.some(({ origins }) => origins?.includes(origin))
}

/** Lets a page at any origin read the answer. */
export function allowAnyOrigin({ res }: Exchange): void {
  res.common['Access-Control-Allow-Origin'] = '*'
}

/** Answers OPTIONS, which a browser sends before a request with headers of its own. @param allowed the address's methods */
export function preflight({ res }: Exchange, allowed: string): void {
  res.setHeader('Access-Control-Allow-Methods', allowed)
  res.setHeader('Access-Control-Allow-Headers', sendable)
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

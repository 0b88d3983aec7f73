import { hash } from 'node:crypto'

/** Everything that decides an answer. The caller's API key is absent: its pins and rights have been applied before. */
export interface CacheKeyFields {
  endpointId: string
  /** Hash of the definition: a changed definition has other keys. */
  version: string
  /** Canonical parameters, from the very object that is bound. */
  parameters: string
  /** Normal form of the caller's SQL; `null` for the endpoint's own query. */
  sql: string | null
  /** The cursor of a page; absent for the first one, and without pages. */
  cursor?: string
  /** Of the endpoints that this one reads: their versions and parameters; absent where it reads none. */
  upstream?: string
  /** `clear`, or the version of the redaction policy that was applied. */
  variant: string
}

const keys = new WeakMap<CacheKeyFields, string>()

/** The cache key, 64 hex digits. @param fields never change after it */
export function cacheKey(fields: Readonly<CacheKeyFields>): string {
  const known = keys.get(fields)
  if (known !== undefined) return known
  const key = hashOf(fields)
  keys.set(fields, key)
  return key
}

/** JSON separates the fields, so that two different lists never run into one text. */
function hashOf(fields: CacheKeyFields): string {
  const { endpointId, version, parameters, sql, cursor, variant, upstream } = fields
  const own = [endpointId, version, parameters, sql, variant]
  // What most keys do not have is left out, so that their answers stay in use.
  const rest = upstream === undefined ? [cursor].slice(0, cursor ? 1 : 0) : [cursor ?? null, upstream]
  return hash('sha256', JSON.stringify([...own, ...rest]))
}

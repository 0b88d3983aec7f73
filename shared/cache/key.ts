import { hash } from 'node:crypto'

/** All that decides an answer. The caller's API key is not in it: its pins and rights have been applied before. */
export interface CacheKeyFields {
  endpointId: string
  /** Hash of the definition: a changed one is a new question. */
  version: string
  /** Canonical parameters, from the very object that is bound. */
  parameters: string
  /** Normal form of the caller's SQL; `null` for the endpoint's own query. */
  sql: string | null
  /** `clear`, or the version of the redaction policy that was applied. */
  variant: string
}

/** The cache key, 64 hex digits. JSON keeps the parts apart, so that no two questions run into each other. */
export function cacheKey({ endpointId, version, parameters, sql, variant }: CacheKeyFields): string {
  const text = JSON.stringify([endpointId, version, parameters, sql, variant])
  return hash('sha256', text)
}

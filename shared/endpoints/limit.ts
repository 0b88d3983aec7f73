/** The LIMIT of a saved query, by which a caller knows whether rows were left out. */
import { LRUCache } from 'lru-cache'
import { parse } from '../sql/parser.ts'
import type { Endpoint } from './definition.ts'

const known = new LRUCache<string, { limit: number | null }>({
  max: 400,
  memoMethod: sql => ({ limit: read(sql) }),
})

/** @returns rows; `null` where the query has no LIMIT, or one that a parameter decides */
export function limitOf({ sql }: Pick<Endpoint, 'sql'>): number | null {
  return known.memo(sql).limit
}

function read(sql: string): number | null {
  const { limit } = parse(sql)
  return limit?.kind === 'Literal' ? Number(limit.text) : null
}
